"""Srijith et al., table 8: a file of 10 MB against the length of the queue."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.srijith import common, transfer
from waymark import Choice, Expectation, Experiment, Row, Runs, Scale, Scenario, plots

BUFFERS = (10, 15, 20, 25, 30)
PACKETS = 10000
LINKS = ((1e6, 0.01), (0.5e6, 0.01), (1e6, 0.01))
PAPER_RESENT = {
    "newreno": (106, 74, 61, 56, 55),
    "vegas": (0, 0, 0, 0, 0),
    "vegasa": (2, 1, 1, 0, 0),
}
PAPER_S = {
    "newreno": (161.3, 161.6, 161.9, 162.2, 162.5),
    "vegas": (160.4, 160.4, 160.4, 160.4, 160.4),
    "vegasa": (160.5, 160.6, 160.6, 160.4, 160.4),
}
NS2_RESENT = {"newreno": (106, 74, 61, 56, 55)}


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One transfer a buffer and algorithm."""
    return {
        f"{algorithm} {buffer}": transfer.run(
            f"{algorithm} {buffer}", algorithm, LINKS, PACKETS, buffer, seed
        )
        for algorithm in transfer.ALGORITHMS
        for buffer in BUFFERS
    }


def rows(runs: Runs) -> list[Row]:
    """Retransmissions and times."""
    table: list[Row] = []
    for algorithm in transfer.ALGORITHMS:
        for place, buffer in enumerate(BUFFERS):
            results = runs[f"{algorithm} {buffer}"]
            name = f"{plots.NAMES[algorithm]}, buffer {buffer}"
            ns2 = NS2_RESENT[algorithm][place] if algorithm in NS2_RESENT else None
            resent, time = PAPER_RESENT[algorithm][place], PAPER_S[algorithm][place]
            table.append(
                Row.of(f"{name}, resent", "packets", transfer.resent(results), resent, ns2)
            )
            table.append(Row.of(f"{name}, time", "s", transfer.finished_s(results), time))
    return table


def draw(_runs: Runs, table: Sequence[Row]) -> Figure:
    """Retransmissions over the buffer."""
    figure = plots.new_figure()
    axes = figure.subplots()
    by_name = {row.quantity: row for row in table}
    for algorithm in transfer.ALGORITHMS:
        name = plots.NAMES[algorithm]
        points = {float(b): by_name[f"{name}, buffer {b}, resent"] for b in BUFFERS}
        plots.series(axes, points, plots.COLOURS[algorithm], name)
    plots.finish(
        axes,
        title="Srijith et al., table 8: retransmissions of a 10 MB transfer",
        x="buffer (packets)",
        y="retransmitted packets",
    )
    return figure


EXPERIMENT = Experiment(
    id="srijith/tab8",
    paper="Srijith et al., table 8 (section VI.F)",
    claim="With any buffer NewReno resends 55 to 106 packets, Vegas none, Vegas-A at most 2",
    parameters=common.PARAMETERS
    | {
        "rates_bps": [rate for rate, _ in LINKS],
        "delays_s": [delay for _, delay in LINKS],
        "packets": PACKETS,
        "queue_packets": list(BUFFERS),
    },
    seeds={"quick": 1, "full": 1},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "NewReno resends 106, 74, 61, 56 and 55 packets",
            "exactly: nothing random",
            lambda row: all(
                row[f"NewReno, buffer {b}, resent"].waymark == paper
                for b, paper in zip(BUFFERS, PAPER_RESENT["newreno"], strict=True)
            ),
        ),
        Expectation(
            "Vegas resends nothing",
            "exactly: nothing random",
            lambda row: all(row[f"Vegas, buffer {b}, resent"].waymark == 0 for b in BUFFERS),
        ),
        Expectation(
            "Vegas-A resends 2, 1, 1, 0 and 0 packets",
            "each within 1",
            lambda row: all(
                abs(row[f"Vegas-A, buffer {b}, resent"].waymark - paper) <= 1
                for b, paper in zip(BUFFERS, PAPER_RESENT["vegasa"], strict=True)
            ),
        ),
        Expectation(
            "All take 160 to 163 s",
            "each within 1 % of the printed time",
            lambda row: all(
                abs((r.ratio or 0) - 1) <= 0.01 for name, r in row.items() if "time" in name
            ),
        ),
    ),
    choices=(
        Choice(
            "whose buffers",
            "the routers'; the sender's own queue drops nothing",
            "the paper varies 'the router queue sizes'; so NewReno resends exactly what is printed",
            "with the sender's queue limited too it resends 103, 73, 64, 55 and 57 packets",
        ),
        Choice(
            "round-trip time",
            "60 ms (10 ms one way on each link)",
            "the paper prints 40; with 60 ns-2's NewReno resends exactly the printed numbers",
            "with 40 (6.7 ms a link) it resends 113, 79, 63, 57 and 55",
        ),
    ),
    notes=common.ONE_RUN + common.ROUNDING,
)
