"""What tables 6 and 7 of Srijith et al. have in common."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.srijith import common, transfer
from waymark import (
    Choice,
    Expectation,
    Experiment,
    Row,
    Runs,
    Scale,
    Scenario,
    criteria,
    plots,
)

PACKETS = {"5 MB": 5000, "10 MB": 10000}
MIDDLE_BPS = 0.25e6
PACKET_S = 8000 / MIDDLE_BPS
"""Time that the slowest link takes for a packet."""

Numbers = Mapping[tuple[str, str], tuple[float, float, float]]
"""Time, queue and retransmissions by algorithm and file."""


def experiment(
    number: int, delays_s: tuple[float, float, float], paper: Numbers, ns2: Numbers
) -> Experiment:
    """The table with this number.

    Args:
        number: 6 or 7.
        delays_s: of the three links, one way.
        paper: what the paper prints.
        ns2: what ns-2.35 gives for NewReno and Vegas.
    """
    links = tuple(zip((1e6, MIDDLE_BPS, 1e6), delays_s, strict=True))

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
            for file in PACKETS:
                results = runs[f"{algorithm} {file}"]
                name = f"{plots.NAMES[algorithm]}, {file}"
                printed = paper[algorithm, file]
                known = ns2.get((algorithm, file), (None, None, None))
                values = (
                    ("time", "s", transfer.finished_s(results)),
                    ("queue", "packets", transfer.queue(results)),
                    ("resent", "packets", transfer.resent(results)),
                )
                table += [
                    Row.of(f"{name}, {what}", unit, measured, printed[place], known[place])
                    for place, (what, unit, measured) in enumerate(values)
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
        figure.legend(
            *panels[0].get_legend_handles_labels(),
            loc="outside lower center",
            ncols=3,
            fontsize="small",
        )
        title = f"Srijith et al., table {number}: a file over 1, 0.25 and 1 Mb/s"
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        return figure

    def each(what: str, *algorithms: str) -> list[str]:
        return [f"{plots.NAMES[a]}, {file}, {what}" for a in algorithms for file in PACKETS]

    one_packet = (
        f"within {PACKET_S * 1e3:g} ms, one packet on the slowest link: the paper does not say "
        "which packet or ACK ends a transfer, and all that keep the link busy take nearly as long"
    )
    return Experiment(
        id=f"srijith/tab{number}",
        paper=f"Srijith et al., table {number} (section VI.F)",
        claim="Alone, Vegas-A is as fast as Vegas and resends nothing; its queue is longer",
        parameters=common.PARAMETERS
        | {
            "rates_bps": [1e6, MIDDLE_BPS, 1e6],
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
                "Vegas and Vegas-A take the printed times",
                one_packet,
                criteria.as_printed(*each("time", "vegas", "vegasa"), within_absolute=PACKET_S),
            ),
            Expectation(
                "NewReno takes the printed times",
                one_packet,
                criteria.as_printed(*each("time", "newreno"), within_absolute=PACKET_S),
            ),
            Expectation(
                "Vegas-A is as fast as Vegas",
                "within 3 ms, the greatest printed difference, for both files",
                lambda row: all(
                    abs(row[f"Vegas-A, {file}, time"].waymark - row[f"Vegas, {file}, time"].waymark)
                    <= 0.003 + 1e-9
                    for file in PACKETS
                ),
            ),
            Expectation(
                "Vegas and Vegas-A outperform NewReno",
                "less time, a shorter queue and less resent, for both files",
                lambda row: all(
                    row[f"{ours}, {file}, {what}"].waymark < row[f"NewReno, {file}, {what}"].waymark
                    for ours in ("Vegas", "Vegas-A")
                    for file in PACKETS
                    for what in ("time", "queue", "resent")
                ),
            ),
            Expectation(
                "Vegas and Vegas-A resend nothing",
                "exactly: nothing is random",
                criteria.as_printed(*each("resent", "vegas", "vegasa")),
            ),
            Expectation(
                "NewReno resends as many packets as printed",
                "exactly: nothing is random",
                criteria.as_printed(*each("resent", "newreno")),
            ),
            Expectation(
                "Vegas-A's queue is longer than Vegas'",
                "for both files",
                lambda row: all(
                    row[f"Vegas-A, {file}, queue"].waymark > row[f"Vegas, {file}, queue"].waymark
                    for file in PACKETS
                ),
            ),
            *(
                Expectation(
                    f"The average queue of {plots.NAMES[algorithm]} is as printed",
                    "within 5 % for both files",
                    criteria.as_printed(*each("queue", algorithm), within=common.CLOSE),
                )
                for algorithm in transfer.ALGORITHMS
            ),
        ),
        choices=(
            common.PROFILE_CHOICE,
            Choice(
                "delays of the links",
                f"{', '.join(f'{d * 1e3:g}' for d in delays_s)} ms one way",
                "the paper prints RTTs of 5, 5 and 10 ms (table 6) and 45, 45 and 10 ms (table 7); "
                "with these delays the times come nearest to the printed ones",
                "with half of the printed RTTs one way, Vegas takes 0.06 s less (table 6) and "
                "0.1 s less (table 7), NewReno 0.7 and 1.1 s less; another split of the sum "
                "changes nothing",
                fitted=True,
            ),
            Choice(
                "start",
                f"at {transfer.START_S} s; times count from 0",
                "comes nearest to the printed times",
                "counted from the start, every time is 0.1 s less",
                fitted=True,
            ),
            Choice(
                "average queue",
                "its integral divided by 500 s for both files",
                "in the paper a file twice as long has twice the average, for Vegas too; with "
                "500 s the averages come nearest to the printed ones",
                "over the transfer's own time, Vegas would have the same average in both",
                fitted=True,
            ),
        ),
        notes=common.ONE_RUN + common.AS_IN_NS2 + common.ROUNDING,
    )
