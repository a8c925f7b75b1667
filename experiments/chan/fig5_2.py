"""Chan 2004, figures 5.2 and 5.3: one flow while the available bandwidth is halved and doubled."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.chan import quick as net
from waymark import (
    Choice,
    Expectation,
    Experiment,
    Row,
    Runs,
    Scale,
    Scenario,
    Tracing,
    WaymarkError,
    at_scale,
    criteria,
    plots,
)
from waymark.result import Result
from waymark.trace import Trace

CAPACITY_BPS: Mapping[Scale, float] = {"quick": 10e6, "full": 50e6}
TIMES_S: Mapping[Scale, tuple[float, float, float]] = {
    "quick": (25.0, 45.0, 65.0),
    "full": (80.0, 160.0, 200.0),
}
TRACED_EVERY_S = 0.02
AT_85_S = (80.0, 85.0)
"""See :data:`AT_85_S_CHOICE`."""

PAPER_S = {
    "vegas": {"new": 59, "halved": 47.9, "doubled": 31.8},
    "quickvegas": {"new": 27, "halved": 6.7, "doubled": 3.9},
}
NS2_S = {"vegas": {"new": 59.0, "halved": 47.7, "doubled": 31.6}, "quickvegas": {}}
PAPER_SLOW_START_S = {"vegas": 1.9}
PAPER_QUEUE = {"vegas": 620, "quickvegas": 540}
NS2_QUEUE = {"vegas": 620}
PAPER_MBPS_AT_85_S = {"vegas": 25.9, "quickvegas": 23.2}


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run of each algorithm, its window traced; at quick scale over a fifth of the capacity."""
    return {
        a: _traced(
            net.halved_and_doubled(
                a, a, at_scale(CAPACITY_BPS, scale), at_scale(TIMES_S, scale), seed
            )
        )
        for a in net.ALGORITHMS
    }


def _traced(run: Scenario) -> Scenario:
    flow = replace(run.flows[0], trace=Tracing(every_s=TRACED_EVERY_S))
    return replace(run, flows=(flow,))


def rows(runs: Runs) -> list[Row]:
    """The paper's numbers and ours; at quick scale only the times to settle and the queue."""
    table: list[Row] = []
    for algorithm, results in runs.items():
        name = plots.NAMES[algorithm]
        full, times_s = _times(results[0])
        for phase in net.PHASES:
            values = [net.settling_s(r, times_s)[phase] for r in results]
            paper = PAPER_S[algorithm][phase] if full else None
            ns2 = NS2_S[algorithm].get(phase) if full else None
            table.append(Row.of(f"{name}, {phase}", "s", values, paper, ns2))
        peaks = [float(r.queues[net.QUEUE].peak) for r in results]
        paper = PAPER_QUEUE[algorithm] if full else None
        ns2 = NS2_QUEUE.get(algorithm) if full else None
        table.append(Row.of(f"{name}, longest queue", "packets", peaks, paper, ns2))
        if full:
            ends = [_slow_start_ends_s(_trace(r)) for r in results]
            paper = PAPER_SLOW_START_S.get(algorithm)
            table.append(Row.of(f"{name}, slow start ends", "s", ends, paper))
            at_85 = [r.throughput_bps(0, *AT_85_S) / 1e6 for r in results]
            paper = PAPER_MBPS_AT_85_S[algorithm]
            table.append(Row.of(f"{name}, throughput at 85 s", "Mb/s", at_85, paper))
    return table


def _times(result: Result) -> tuple[bool, tuple[float, float, float]]:
    full = result.times_s[-1] > TIMES_S["quick"][2]
    return full, TIMES_S["full" if full else "quick"]


def _trace(result: Result) -> Trace:
    trace = result.flows[0].trace
    if trace is None:
        raise WaymarkError("the run was not traced")
    return trace


def _slow_start_ends_s(trace: Trace) -> float:
    """When the first avoidance begins, to the trace's resolution."""
    return float(trace.time_s[np.flatnonzero(trace.phase != trace.phase[0])[0]])


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Window, queue and throughput over time, with the paper's numbers."""
    figure = plots.new_figure(9.0, 8.0)
    window, queue, throughput = figure.subplots(3, 1, sharex=True)
    by_name = {row.quantity: row for row in table}
    for algorithm, results in runs.items():
        result, name, colour = results[0], plots.NAMES[algorithm], plots.COLOURS[algorithm]
        _, (from_s, to_s, end_s) = _times(result)
        trace = _trace(result)
        window.plot(trace.time_s, np.floor(trace.cwnd), color=colour, linewidth=1, label=name)
        settled = [
            (start_s, by_name[f"{name}, {phase}"])
            for start_s, phase in zip((0.0, from_s, to_s), net.PHASES, strict=True)
        ]
        _on_curve(window, trace, [t + row.waymark for t, row in settled], "o", colour)
        printed = [t + row.paper for t, row in settled if row.paper is not None]
        _on_curve(window, trace, printed, "D", colour)
        waiting = result.queues[net.QUEUE].waiting
        queue.plot(result.times_s, waiting, color=colour, linewidth=1)
        longest = by_name[f"{name}, longest queue"].paper
        if longest is not None:
            queue.plot([from_s], [longest], **plots.PAPER | {"color": colour})
        mbps = result.throughput_over_time_bps(0) / 1e6
        throughput.plot(result.times_s, mbps, color=colour, linewidth=1)
        at_85 = by_name.get(f"{name}, throughput at 85 s")
        if at_85 is not None:
            throughput.plot([85], [at_85.paper], **plots.PAPER | {"color": colour})
        window.set_xlim(0, end_s)
    window.legend(
        fontsize="small", loc="lower right", title="dots: settled", title_fontsize="small"
    )
    window.set_ylabel("window (packets)")
    queue.set_ylabel("queue (packets)")
    throughput.set_ylabel("throughput (Mb/s)")
    throughput.set_xlabel("time (s); diamonds: the paper's numbers")
    for axes in (window, queue, throughput):
        axes.set_ylim(0)
    title = "Chan 2004, figures 5.2 and 5.3: CBR takes half of the link for a while"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def _on_curve(axes: Axes, trace: Trace, times_s: Sequence[float], marker: str, colour: str) -> None:
    """Marks on the window's curve."""
    windows = np.interp(times_s, trace.time_s, np.floor(trace.cwnd))
    style: dict[str, Any] = plots.PAPER | {"color": colour, "marker": marker}
    if marker == "o":
        style |= {"markerfacecolor": colour, "markersize": 4}
    axes.plot(times_s, windows, **style)


AT_85_S_CHOICE = Choice(
    "what 'at 85 second' means",
    "the mean of 80 to 85 s",
    "with this the throughputs come nearest to the printed 25.9 and 23.2 Mb/s",
    "the mean of 84 to 85 s is 25.0 Mb/s with Vegas and 24.6 with Quick Vegas, of 83 to 85 s 25.0 "
    "and 23.8",
    fitted=True,
)


def _settled(algorithm: str) -> tuple[str, ...]:
    return tuple(f"{plots.NAMES[algorithm]}, {phase}" for phase in net.PHASES)


EXPERIMENT = Experiment(
    id="chan/fig5.2",
    also=("chan/fig5.3",),
    paper="Chan 2004, figures 5.2 and 5.3 (section 5.4.1)",
    claim="Quick Vegas settles sooner than Vegas: 27 s for 59, 6.7 for 47.9, 3.9 for 31.8",
    parameters=net.PARAMETERS
    | {
        "bottleneck_bps": CAPACITY_BPS["full"],
        "cbr_from_to_end_s": list(TIMES_S["full"]),
        "queue_packets": net.QUEUE_PACKETS,
        "traced_every_s": TRACED_EVERY_S,
    },
    seeds={"quick": 1, "full": 1},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Quick Vegas settles sooner than Vegas in every phase, and its longest queue is "
            "shorter",
            "any amount, all four",
            criteria.together(
                *(
                    criteria.ascending(f"Quick Vegas, {what}", f"Vegas, {what}")
                    for what in (*net.PHASES, "longest queue")
                )
            ),
        ),
        Expectation(
            "Vegas settles in 59, 47.9 and 31.8 s",
            "within 0.5 s, half of the last digit of 59: nothing is random, and what counts as "
            "settled changes these times by 0.3 s",
            criteria.as_printed(*_settled("vegas"), within_absolute=0.5),
        ),
        Expectation(
            "Quick Vegas settles in 27, 6.7 and 3.9 s",
            "within 0.5 s, as for Vegas",
            criteria.as_printed(*_settled("quickvegas"), within_absolute=0.5),
        ),
        Expectation(
            "The longest queue is 620 packets with Vegas, 540 with Quick Vegas",
            "within 5 packets, half of the last printed digit that is not 0",
            criteria.as_printed(
                "Vegas, longest queue", "Quick Vegas, longest queue", within_absolute=5
            ),
        ),
        Expectation(
            "Vegas leaves slow start at 1.9 s",
            "within 0.05 s, half of the last printed digit",
            criteria.as_printed("Vegas, slow start ends", within_absolute=0.05),
        ),
        Expectation(
            "At 85 s Quick Vegas has less throughput than Vegas",
            "any amount",
            criteria.ascending("Quick Vegas, throughput at 85 s", "Vegas, throughput at 85 s"),
        ),
        Expectation(
            "At 85 s Vegas has 25.9 Mb/s and Quick Vegas 23.2",
            "within 0.05 Mb/s, half of the last printed digit",
            criteria.as_printed(
                "Vegas, throughput at 85 s", "Quick Vegas, throughput at 85 s", within_absolute=0.05
            ),
        ),
    ),
    choices=(net.SETTLED_CHOICE, net.WINDOW_CHOICE, AT_85_S_CHOICE),
    notes=(
        "Nothing in this network is random: one seed is enough. ns-2.35's Vegas leaves slow start "
        "at 1.403 s too, with a window of 64 packets cut to 56; the printed 1.9 s is not "
        "explained. What differs for Quick Vegas is within a few adjustments of its window; "
        "whether Δ is rounded to whole packets matters as much (without rounding 23.9, 7.4 and 3.0 "
        "s and a queue of 521 packets)."
    ),
)
