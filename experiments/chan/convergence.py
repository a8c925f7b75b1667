"""What figures 5.4 to 5.6 of Chan 2004 have in common: time to settle over the bandwidth."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.chan import quick as net
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, at_scale, plots

CAPACITIES_MBPS: Mapping[Scale, tuple[int, ...]] = {
    "quick": (1, 5, 10),
    "full": (1, 5, 10, 20, 30, 40, 50, 60, 80, 100),
}


def times_s(mbps: int) -> tuple[float, float, float]:
    """When the CBR source begins and ends, and the run: long enough for Vegas to settle."""
    from_s = 15.0 + 1.4 * mbps
    to_s = from_s + 15.0 + 1.2 * mbps
    return from_s, to_s, to_s + 15.0 + 0.9 * mbps


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run per capacity and algorithm, the same for all three figures."""
    return {
        _label(a, mbps): net.halved_and_doubled(_label(a, mbps), a, mbps * 1e6, times_s(mbps), seed)
        for mbps in at_scale(CAPACITIES_MBPS, scale)
        for a in net.ALGORITHMS
    }


def _label(algorithm: str, mbps: int) -> str:
    return f"{algorithm} {mbps} Mb/s"


def _capacities(runs: Runs) -> list[int]:
    return [mbps for mbps in CAPACITIES_MBPS["full"] if _label("vegas", mbps) in runs]


def bandwidth_delay_kb(mbps: float) -> float:
    """The bandwidth-delay product in kilobits, the figures' axis."""
    return mbps * 1e3 * net.BASE_RTT_S


def experiment(
    figure: str,
    phase: str,
    claim: str,
    ns2: Mapping[int, float],
    *expectations: Expectation,
) -> Experiment:
    """One of the three figures.

    Args:
        figure: ``"5.4"``.
        phase: which of :data:`quick.PHASES` it shows.
        claim: of the paper.
        ns2: Vegas' times by Mb/s.
        expectations: the claims on :func:`ratios`.
    """

    def rows(runs: Runs) -> list[Row]:
        table: list[Row] = []
        for algorithm in net.ALGORITHMS:
            for mbps in _capacities(runs):
                values = [
                    net.settling_s(r, times_s(mbps))[phase] / net.BASE_RTT_S
                    for r in runs[_label(algorithm, mbps)]
                ]
                known = ns2.get(mbps) if algorithm == "vegas" else None
                name = f"{plots.NAMES[algorithm]}, {mbps} Mb/s"
                table.append(Row.of(name, "BaseRTT", values, ns2=known))
        for mbps in _capacities(runs):
            vegas, quick = (
                [net.settling_s(r, times_s(mbps))[phase] for r in runs[_label(algorithm, mbps)]]
                for algorithm in net.ALGORITHMS
            )
            table.append(Row.ratio_of(_ratio(mbps), quick, vegas))
        return table

    def draw(runs: Runs, table: Sequence[Row]) -> Figure:
        drawing = plots.new_figure()
        axes = drawing.subplots()
        by_name = {row.quantity: row for row in table}
        for algorithm in net.ALGORITHMS:
            name = plots.NAMES[algorithm]
            points = {
                bandwidth_delay_kb(mbps): by_name[f"{name}, {mbps} Mb/s"]
                for mbps in _capacities(runs)
            }
            plots.series(axes, points, plots.COLOURS[algorithm], name)
        plots.finish(
            axes,
            title=f"Chan 2004, figure {figure}: time to settle, {_WHAT[phase]}",
            x="bandwidth-delay product (kb)",
            y="time to settle (BaseRTT, 0.1 s)",
        )
        axes.set_ylim(0)
        return drawing

    return Experiment(
        id=f"chan/fig{figure}",
        paper=f"Chan 2004, figure {figure} (section 5.4.2)",
        claim=claim,
        parameters=net.PARAMETERS
        | {
            "bottleneck_mbps": list(CAPACITIES_MBPS["full"]),
            "cbr_from_to_end_s": {str(c): list(times_s(c)) for c in CAPACITIES_MBPS["full"]},
            "queue_packets": net.QUEUE_PACKETS,
        },
        seeds={"quick": 1, "full": 1},
        scenarios=scenarios,
        rows=rows,
        draw=draw,
        expectations=expectations,
        choices=(net.SETTLED_CHOICE, net.WINDOW_CHOICE),
        notes=(
            "Nothing in this network is random: one seed is enough. ns-2.35's numbers are from its "
            "queue and throughput by the same measure, whose bins of 0.1 s are one BaseRTT. At 1 "
            "Mb/s it delivers the same packets; a time there is uncertain by one bin. There a "
            "change of bandwidth costs Vegas 17 and 8 BaseRTTs and Quick Vegas 11 and 5; from 5 "
            "Mb/s on Quick Vegas takes at most 0.41 of Vegas' time."
        ),
    )


_WHAT = {"new": "new flow", "halved": "bandwidth halved", "doubled": "bandwidth doubled"}


def _ratio(mbps: int) -> str:
    return f"Quick Vegas/Vegas, {mbps} Mb/s"


def ratios(above_kb: float) -> list[str]:
    """The rows of Quick Vegas' time over Vegas', where the bandwidth-delay product is larger."""
    return [_ratio(c) for c in CAPACITIES_MBPS["full"] if bandwidth_delay_kb(c) > above_kb]
