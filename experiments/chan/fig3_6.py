"""Chan 2004, figure 3.6: throughput over time when the reverse path is congested."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from experiments.chan import single_bottleneck as net
from waymark import (
    CHAN,
    MODERN,
    Expectation,
    Experiment,
    OnInterfaces,
    Row,
    Runs,
    Scale,
    Scenario,
    Span,
    at_scale,
    criteria,
    plots,
)
from waymark.result import Result

LOAD = 0.9
TRAFFIC_FROM_S = 50.0
END_S = 200.0

PAPER_KBPS = {"vegas": 521, "rovegas": 1092}
NS2_KBPS = {"vegas": 505, "rovegas": None}
SETTLED_FROM_S = 10.0
ALONE_KBPS = {"vegas": 1600}
ALONE_RATIO = 0.992
"""Until 50 s Vegas "stabilizes at 1.6 Mb/s", RoVegas is 0.8 % lower."""

ALONE, LOADED = (
    f"{from_s:g}-{to_s:g} s"
    for from_s, to_s in ((SETTLED_FROM_S, TRAFFIC_FROM_S), (TRAFFIC_FROM_S, END_S))
)


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Vegas and RoVegas, one at a time, against the same traffic."""
    traffic = net.backward_traffic(LOAD, TRAFFIC_FROM_S)
    return {
        algorithm: net.run(algorithm, algorithm, net.topology(), traffic, END_S, seed)
        for algorithm in net.ALGORITHMS
    }


LIVE_PROFILE = replace(
    MODERN, packet_octets=1000, initial_window=1, delayed_ack_s=0.0, pacing=False
)
"""On interfaces: as near to the paper's as hosts there come."""

LIVE_TIMES_S: Mapping[Scale, tuple[float, float]] = {
    "quick": (10.0, 40.0),
    "full": (TRAFFIC_FROM_S, END_S),
}
"""When the traffic starts and when the run ends, in real time."""


def live_scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """The same, between hosts as they are on interfaces."""
    from_s, end_s = at_scale(LIVE_TIMES_S, scale)
    traffic = net.backward_traffic(LOAD, from_s)
    runs = {
        algorithm: net.run(algorithm, algorithm, net.topology(), traffic, end_s, seed)
        for algorithm in reversed(net.ALGORITHMS)
    }
    return {
        label: replace(run, flows=(replace(run.flows[0], profile=LIVE_PROFILE),))
        for label, run in runs.items()
    }


def live_spans(scale: Scale) -> list[Span]:
    """Before and while the reverse path is congested; the paper's numbers are of its own times."""
    from_s, end_s = at_scale(LIVE_TIMES_S, scale)
    if end_s != END_S:
        return [Span(0.0, from_s), Span(from_s, end_s)]
    return [Span(SETTLED_FROM_S, from_s, ALONE_KBPS), Span(from_s, end_s, PAPER_KBPS)]


def rows(runs: Runs) -> list[Row]:
    """Average throughput before and while the reverse path is congested."""
    alone = {a: _kbps(runs[a], SETTLED_FROM_S, TRAFFIC_FROM_S) for a in net.ALGORITHMS}
    loaded = {a: _kbps(runs[a], TRAFFIC_FROM_S, END_S) for a in net.ALGORITHMS}
    table: list[Row] = []
    for algorithm in net.ALGORITHMS:
        name = plots.NAMES[algorithm]
        table += [
            Row.of(f"{name}, {ALONE}", "kb/s", alone[algorithm], ALONE_KBPS.get(algorithm)),
            Row.of(
                f"{name}, {LOADED}",
                "kb/s",
                loaded[algorithm],
                PAPER_KBPS[algorithm],
                NS2_KBPS[algorithm],
            ),
        ]
    derived = PAPER_KBPS["rovegas"] / PAPER_KBPS["vegas"]
    return [
        *table,
        Row.ratio_of(f"RoVegas/Vegas, {ALONE}", alone["rovegas"], alone["vegas"], ALONE_RATIO),
        Row.ratio_of(
            f"RoVegas/Vegas, {LOADED}", loaded["rovegas"], loaded["vegas"], derived=derived
        ),
    ]


def _kbps(results: Sequence[Result], from_s: float, to_s: float) -> list[float]:
    return [r.throughput_bps(0, from_s, to_s) / 1e3 for r in results]


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput over time: the seeds' mean, a band of one standard deviation, the first seed."""
    figure = plots.new_figure()
    axes = figure.subplots()
    axes.axvspan(TRAFFIC_FROM_S, END_S, color="#f4f4f4", zorder=0, linewidth=0)
    averages = {row.quantity: row.waymark for row in table}
    for algorithm in net.ALGORITHMS:
        name, colour = plots.NAMES[algorithm], plots.COLOURS[algorithm]
        over_time = np.array([r.throughput_over_time_bps(0) / 1e3 for r in runs[algorithm]])
        mean, sd = over_time.mean(axis=0), over_time.std(axis=0)
        times_s = runs[algorithm][0].times_s
        average = averages[f"{name}, {LOADED}"]
        axes.fill_between(times_s, mean - sd, mean + sd, color=colour, alpha=0.2, linewidth=0)
        axes.plot(times_s, over_time[0], color=colour, linewidth=0.6, alpha=0.7)
        label = f"{name}, average {average:.0f}"
        axes.plot(times_s, mean, color=colour, linewidth=2, label=label)
        axes.hlines(
            PAPER_KBPS[algorithm],
            TRAFFIC_FROM_S,
            END_S,
            color=plots.COLOURS["paper"],
            linestyle=plots.DASHES[algorithm],
            linewidth=1.2,
            zorder=4,
            label=f"{name} in the paper, {PAPER_KBPS[algorithm]}",
        )
        ns2 = NS2_KBPS[algorithm]
        if ns2 is not None:
            middle_s = (TRAFFIC_FROM_S + END_S) / 2
            axes.plot([middle_s], [ns2], **plots.NS2, label=f"{name} in ns-2.35, {ns2}")
    seeds = len(runs["vegas"])
    plots.finish(
        axes,
        title=f"Chan 2004, figure 3.6: backward load {LOAD} from {TRAFFIC_FROM_S:g} s on",
        x="time (s)",
        y="throughput (kb/s)",
        legend_title=(
            "averages from 50 s on, kb/s\n"
            f"thick: mean of {seeds} seeds\nband: ± one deviation\nthin: the first seed"
        ),
    )
    axes.set_xlim(0, END_S)
    axes.set_ylim(0, 1700)
    return figure


LIVE_NOTES = (
    "At full length and seed 1, on two idle cores, RoVegas had 1026 kb/s and Vegas 419 from 50 s "
    "on, simulated 1025 and 425. All 28007 cross packets are the simulator's; they left 50 to 55 "
    "µs late on average (a timer's wake-up), 23 ms at worst. The marks agree: ACKs reported 62.2 "
    "ms of queueing on the reverse path, simulated 62.1. What differs is the time that processes "
    "take "
    "to wake up: the least round trip is 51.5 ms, simulated 51.0. Alone (0-50 s) RoVegas keeps 1.6 "
    "packets waiting (AQT 8.2 ms) instead of .8: any number from α to β is an equilibrium. What is "
    "left of Vegas' difference, 1.4 %, was not traced; with half a millisecond more of delay the "
    "simulator gives 428."
)
"""From the table and the traces of both."""

KERNEL_NOTES = (
    "At full length and seed 1, RoVegas in Linux had 1198 kb/s and Vegas 421 from 50 s on, "
    "simulated 1201 and 428. RoVegas has more than between Waymark's hosts because its segments "
    "are paced, in virtual time too. The initial window is 1, and every segment is acknowledged "
    "(route options initcwnd and quickack). Vegas' packets carry AQT, which it does not read. The "
    "machine was not idle."
)
"""From the table, and that of the hosts in user space."""

EXPERIMENT = Experiment(
    id="chan/fig3.6",
    paper="Chan 2004, figure 3.6 (section 3.5.1)",
    claim="With backward load 0.9 RoVegas keeps twice the throughput of Vegas: 1092 for 521 kb/s",
    parameters=net.PARAMETERS
    | {
        "backward_load": LOAD,
        "traffic_from_s": TRAFFIC_FROM_S,
        "end_s": END_S,
        "queue_packets": 50,
    },
    seeds={"quick": 4, "full": 60},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "While the reverse path is congested RoVegas gets twice the throughput of Vegas",
            f"{net.ONE_RUN_REASON}; 1092/521 is 2.10",
            criteria.as_derived(f"RoVegas/Vegas, {LOADED}", within=net.ONE_RUN),
        ),
        Expectation(
            "Vegas gets 521 kb/s then, RoVegas 1092",
            net.ONE_RUN_REASON,
            criteria.as_printed(f"Vegas, {LOADED}", f"RoVegas, {LOADED}", within=net.ONE_RUN),
        ),
        Expectation(
            "Alone, Vegas gets 1.6 Mb/s, and RoVegas 0.8 % less for its option",
            "within 0.05 %, half of the last printed digit: nothing is random before 50 s",
            criteria.as_printed(f"Vegas, {ALONE}", f"RoVegas/Vegas, {ALONE}", within=0.0005),
        ),
    ),
    choices=(net.VBR_CHOICE,),
    notes=(
        "A run's average over 150 s depends on its seed: the standard error of the mean is 7 kb/s "
        "with 20 seeds and 4 with 60, hence 60. With the same cross traffic, packet by packet, "
        "ns-2.35 delivers the same number of packets (tests/test_ns2.py); with random traffic of "
        "its own it gives Vegas 495 ± 26 kb/s over 200 seeds. Vegas loses no data packet and has "
        "no timeout: its window is small because its Diff counts the queueing of its ACKs."
    ),
    on_interfaces=OnInterfaces(
        scenarios=live_scenarios,
        profile=CHAN,
        spans=live_spans,
        notes=LIVE_NOTES,
        kernel_notes=KERNEL_NOTES,
    ),
)
