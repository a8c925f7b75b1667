"""What tables 6 and 7 of Srijith et al. have in common."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.srijith import common, transfer
from waymark import Choice, Expectation, Experiment, Row, Runs, Scale, Scenario, plots

PACKETS = {"5 MB": 5000, "10 MB": 10000}
Numbers = Mapping[tuple[str, str], tuple[float, float, float]]
"""Time, queue and retransmissions by algorithm and file."""


def experiment(
    number: int,
    delays_s: tuple[float, float, float],
    paper: Numbers,
    ns2: Mapping[str, tuple[int, int]],
) -> Experiment:
    """The table with this number.

    Args:
        number: 6 or 7.
        delays_s: of the three links, one way.
        paper: what the paper prints.
        ns2: NewReno's retransmissions in ns-2, by algorithm, for both files.
    """
    links = tuple(zip((1e6, 0.25e6, 1e6), delays_s, strict=True))

    def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
        return {
            f"{algorithm} {file}": transfer.run(
                f"{algorithm} {file}", algorithm, links, packets, 50, seed
            )
            for algorithm in transfer.ALGORITHMS
            for file, packets in PACKETS.items()
        }

    def rows(runs: Runs) -> list[Row]:
        table: list[Row] = []
        for algorithm in transfer.ALGORITHMS:
            for place, file in enumerate(PACKETS):
                results = runs[f"{algorithm} {file}"]
                time, queue, resent = paper[algorithm, file]
                name = f"{plots.NAMES[algorithm]}, {file}"
                known = ns2[algorithm][place] if algorithm in ns2 else None
                table += [
                    Row.of(f"{name}, time", "s", transfer.finished_s(results), time),
                    Row.of(f"{name}, queue", "packets", transfer.queue(results), queue),
                    Row.of(f"{name}, resent", "packets", transfer.resent(results), resent, known),
                ]
        return table

    def draw(_runs: Runs, table: Sequence[Row]) -> Figure:
        figure = plots.new_figure(10.0, 3.6)
        panels = figure.subplots(1, 3)
        for axes, (what, unit) in zip(
            panels, (("time", "s"), ("queue", "packets"), ("resent", "packets")), strict=True
        ):
            chosen = [row for row in table if row.quantity.endswith(what)]
            plots.compare(axes, chosen)
            axes.set_xlabel(f"{what} ({unit})")
            axes.set_xlim(0)
            if axes is not panels[0]:
                axes.set_yticklabels([])
            else:
                axes.set_yticklabels([row.quantity.removesuffix(", time") for row in chosen])
        panels[2].legend(fontsize="small")
        title = f"Srijith et al., table {number}: a file over 1, 0.25 and 1 Mb/s"
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        return figure

    return Experiment(
        id=f"srijith/tab{number}",
        paper=f"Srijith et al., table {number} (section VI.F)",
        claim="Alone, Vegas-A is as fast as Vegas and loses nothing; its queue is longer",
        parameters=common.PARAMETERS
        | {
            "rates_bps": [1e6, 0.25e6, 1e6],
            "delays_s": list(delays_s),
            "packets": PACKETS,
            "start_s": transfer.START_S,
        },
        seeds={"quick": 1, "full": 1},
        scenarios=scenarios,
        rows=rows,
        draw=draw,
        expectations=(
            Expectation(
                "All times are as printed",
                "within 1 %: the bottleneck is busy all the time but for slow start",
                lambda row: all(
                    abs((r.ratio or 0) - 1) <= 0.01 for name, r in row.items() if "time" in name
                ),
            ),
            Expectation(
                "Vegas and Vegas-A lose nothing, NewReno as many packets as printed",
                "0, and within 3 packets",
                lambda row: all(
                    abs(r.waymark - (r.paper or 0)) <= (3 if r.paper else 0)
                    for name, r in row.items()
                    if "resent" in name
                ),
            ),
            Expectation(
                "Vegas-A's queue is longer than Vegas' and shorter than NewReno's",
                "for both files",
                lambda row: all(
                    row[f"Vegas, {file}, queue"].waymark
                    < row[f"Vegas-A, {file}, queue"].waymark
                    < row[f"NewReno, {file}, queue"].waymark
                    for file in PACKETS
                ),
            ),
        ),
        choices=(
            Choice(
                "how the delay is split among the links",
                f"{', '.join(f'{d * 1e3:g}' for d in delays_s)} ms one way",
                "only the sum shows in the printed times",
                "none: with 5, 10, 5 or 1, 18, 1 ms in table 6 and 10, 40, 10 or 1, 58, 1 ms in "
                "table 7 no number moves",
            ),
            Choice(
                "average queue",
                "its integral over a fixed 500 s",
                "a file twice as long has twice the average in the paper, for Vegas too",
                "over the transfer's own time, Vegas would have the same average in both",
            ),
        ),
        notes=common.ONE_RUN + common.ROUNDING,
    )
