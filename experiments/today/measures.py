"""What every scenario of ``today/*`` measures, in rows with the same names."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.today import signals
from waymark import MODERN, Row, Runs, plots
from waymark.analysis.fairness import jain
from waymark.experiment import OCTETS, Comparison
from waymark.result import Result, Values
from waymark.workload import HEADER_OCTETS

Better = Literal["more", "less"]


def rows(
    label: str,
    results: Sequence[Result],
    *,
    links: Sequence[str],
    span_s: tuple[float, float],
    available_bps: float,
    flows: Sequence[int],
) -> list[Row]:
    """Use, queues and fairness of greedy flows.

    Args:
        label: the control and the point, such as ``"CUBIC, load 0.9"``.
        links: those whose queues are summed.
        span_s: when.
        available_bps: what the flows can have in all.
        flows: those that count.
    """
    shares = [[r.throughput_bps(flow, *span_s) for flow in flows] for r in results]
    table = [use(label, [100 * sum(each) / available_bps for each in shares])]
    table += queue(label, results, links, span_s)
    return [*table, fairness(label, shares)] if len(flows) > 1 else table


def fairness(label: str, shares: Sequence[Sequence[float]]) -> Row:
    """Jain's index of the flows' shares."""
    return Row.of(f"{label}: Jain's index", "1", [jain(each) for each in shares])


def use(label: str, percent: Sequence[float]) -> Row:
    """The part of what is available that flows got, without octets of their signal."""
    return Row.of(f"{label}: use", "%", percent)


def queue(
    label: str, results: Sequence[Result], links: Sequence[str], span_s: tuple[float, float]
) -> list[Row]:
    """Mean and 99th percentile of the packets that wait, summed over links."""
    return _queue(label, [np.sum(_waiting(r, links, span_s), axis=0) for r in results])


def _queue(label: str, waiting: Sequence[Values]) -> list[Row]:
    return [
        Row.of(f"{label}: waiting", "packets", [float(np.mean(w)) for w in waiting]),
        Row.of(f"{label}: waiting, p99", "packets", [float(np.percentile(w, 99)) for w in waiting]),
    ]


def longest_queue(
    label: str, results: Sequence[Result], links: Sequence[str], span_s: tuple[float, float]
) -> list[Row]:
    """As :func:`queue`, of the longest queue of all at each time."""
    longest = [np.max(_waiting(r, links, span_s), axis=0) for r in results]
    return _queue(label, longest)


def _waiting(result: Result, links: Sequence[str], span_s: tuple[float, float]) -> list[Values]:
    first, last = (round(time_s / result.sample_s) for time_s in span_s)
    return [result.queues[link].waiting[first:last] for link in links]


def completion(
    label: str, results: Sequence[Result], flows: Callable[[Result], Iterable[int]]
) -> list[Row]:
    """Median and 99th percentile of completion times; lower bounds where flows have not ended."""
    results = [r for r in results if list(flows(r))]
    if not results:
        return []
    times = [completion_ms(r, flows(r)) for r in results]
    ended = [[r.flows[f].finished_s is not None for f in flows(r)] for r in results]
    return [
        Row.of(f"{label}: FCT, p50", "ms", [float(np.percentile(t, 50)) for t in times]),
        Row.of(f"{label}: FCT, p99", "ms", [float(np.percentile(t, 99)) for t in times]),
        Row.of(f"{label}: completed", "%", [100 * float(np.mean(each)) for each in ended]),
    ]


def completion_ms(result: Result, flows: Iterable[int]) -> list[float]:
    """Completion times; of a flow that has not ended, the time from its start to the run's end."""

    def taken_s(flow: int) -> float:
        its = result.flows[flow]
        return result.end_s - its.start_s if its.completion_s is None else its.completion_s

    return [1e3 * taken_s(flow) for flow in flows]


def octets(results_by_control: Iterable[tuple[str, Sequence[Result]]]) -> list[Row]:
    """Octets that the signal takes from a full data packet, by control: a tag of its own, or what
    there is less of data."""
    payload = MODERN.packet_octets - HEADER_OCTETS
    return [
        Row.of(
            OCTETS.format(plots.NAMES[control]),
            "octets",
            [
                float(max(r.flows[0].feedback_octets, payload - r.flows[0].payload_octets))
                for r in results
            ],
        )
        for control, results in results_by_control
    ]


BETTER: Mapping[str, Better] = {
    "use": "more",
    "share": "more",
    "waiting": "less",
    "waiting, p99": "less",
    "Jain's index": "more",
    "FCT, p50": "less",
    "FCT, p99": "less",
    "completed": "more",
}
"""Which direction is better, of each measure."""

LOAD = ("use", "waiting", "waiting, p99")
COMPLETION = ("FCT, p50", "FCT, p99", "completed")


def comparisons(
    points: Sequence[str], measures: Sequence[str], scenario: str = "", shown: Sequence[str] = ()
) -> tuple[Comparison, ...]:
    """Measures of which less or more is better, at points.

    Args:
        points: such as ``", load 0.9"``; of smaller scales some may be missing.
        measures: those that the table has there.
        scenario: its short name on the page "Benefit of each signal".
        shown: the measures that it shows of the last point.
    """
    return tuple(
        Comparison(
            f"{{}}{point}: {measure}",
            BETTER[measure],
            signals.OF_TODAY,
            scenario if point == points[-1] and measure in shown else "",
            measure,
        )
        for point in points
        for measure in measures
    )


def scatter(
    axes: Axes,
    table: Sequence[Row],
    point: str,
    x: str,
    y: str,
    colour: str | None = None,
    *,
    labelled: bool = True,
) -> None:
    """A marker per control, each in its colour or all in one: a measure over another at a point."""
    of = {row.quantity: row.waymark for row in table}
    for place, (control, marker) in enumerate(signals.MARKERS.items()):
        name = f"{plots.NAMES[control]}{point}"
        if f"{name}: {x}" in of:
            axes.plot(
                of[f"{name}: {x}"],
                of[f"{name}: {y}"],
                marker=marker,
                linestyle="none",
                color=colour or plots.PALETTE[place % len(plots.PALETTE)],
                label=plots.NAMES[control] if labelled else None,
            )


def completion_picture(
    runs: Runs, table: Sequence[Row], point: str, x: str, x_label: str, title: str
) -> Figure:
    """The 99th percentile of completion times over another measure at a point."""
    figure = plots.new_figure()
    axes = figure.subplots()
    scatter(axes, table, point, x, "FCT, p99")
    axes.set_yscale("log")
    plots.finish(
        axes,
        title=title,
        x=x_label,
        y="completion time, 99th percentile (ms)",
        legend_title=plots.mean_of(len(next(iter(runs.values())))),
    )
    return figure


def lines(axes: Axes, table: Sequence[Row], points: Mapping[float, str], measure: str) -> None:
    """A line per control: a measure over x, whose points the labels end in."""
    of = {row.quantity: row for row in table}
    for place, (control, marker) in enumerate(signals.MARKERS.items()):
        names = {x: f"{plots.NAMES[control]}{point}: {measure}" for x, point in points.items()}
        plots.series(
            axes,
            {x: of[name] for x, name in names.items() if name in of},
            plots.PALETTE[place % len(plots.PALETTE)],
            plots.NAMES[control],
            "-" if place < len(plots.PALETTE) else "--",
            marker,
        )
