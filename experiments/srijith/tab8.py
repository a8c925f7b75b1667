"""Srijith et al., table 8: a file of 10 MB against the length of the queue."""

from collections.abc import Iterator, Mapping, Sequence

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

BUFFERS = (10, 15, 20, 25, 30)
PACKETS = 10000
RATES_BPS = (1e6, 0.5e6, 1e6)
PRINTED_MS, FITTED_MS = 40, 60
RTTS_MS = (PRINTED_MS, FITTED_MS)
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
NS2_RESENT = {
    ("newreno", 40): (113, 79, 63, 57, 55),
    ("newreno", 60): (106, 74, 61, 56, 55),
    ("vegas", 40): (0, 0, 0, 0, 0),
    ("vegas", 60): (0, 0, 0, 0, 0),
}
NS2_S = {
    ("newreno", 40): (160.9, 161.1, 161.3, 161.5, 161.7),
    ("newreno", 60): (161.2, 161.5, 161.9, 162.2, 162.5),
    ("vegas", 40): (160.3, 160.3, 160.3, 160.3, 160.3),
    ("vegas", 60): (160.4, 160.4, 160.4, 160.4, 160.4),
}


def _name(algorithm: str, rtt_ms: int, buffer: int) -> str:
    return f"{plots.NAMES[algorithm]}, RTT {rtt_ms} ms, buffer {buffer}"


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One transfer per round-trip time, buffer and algorithm."""
    return {
        _name(algorithm, rtt_ms, buffer): transfer.run(
            _name(algorithm, rtt_ms, buffer),
            algorithm,
            [(rate_bps, rtt_ms / 6e3) for rate_bps in RATES_BPS],
            PACKETS,
            buffer,
            seed,
        )
        for algorithm in transfer.ALGORITHMS
        for rtt_ms in RTTS_MS
        for buffer in BUFFERS
    }


def rows(runs: Runs) -> list[Row]:
    """Retransmissions and times."""
    table: list[Row] = []
    for algorithm in transfer.ALGORITHMS:
        for rtt_ms in RTTS_MS:
            for place, buffer in enumerate(BUFFERS):
                name = _name(algorithm, rtt_ms, buffer)
                for what, unit, values, paper, ns2 in (
                    ("resent", "packets", transfer.resent(runs[name]), PAPER_RESENT, NS2_RESENT),
                    ("time", "s", transfer.finished_s(runs[name]), PAPER_S, NS2_S),
                ):
                    printed = paper[algorithm][place]
                    known = ns2.get((algorithm, rtt_ms))
                    table.append(
                        Row.of(
                            f"{name}, {what}",
                            unit,
                            values,
                            printed,
                            None if known is None else known[place],
                        )
                    )
    return table


def draw(_runs: Runs, table: Sequence[Row]) -> Figure:
    """Retransmissions over the buffer, one panel per round-trip time."""
    figure = plots.new_figure(9.0, 4.2)
    panels = figure.subplots(1, len(RTTS_MS), sharey=True)
    by_name = {row.quantity: row for row in table}
    for axes, rtt_ms in zip(panels, RTTS_MS, strict=True):
        for algorithm in transfer.ALGORITHMS:
            points = {float(b): by_name[f"{_name(algorithm, rtt_ms, b)}, resent"] for b in BUFFERS}
            plots.series(axes, points, plots.COLOURS[algorithm], plots.NAMES[algorithm])
        axes.set_title(f"RTT {rtt_ms} ms{' (printed)' if rtt_ms == PRINTED_MS else ''}")
        axes.set_xlabel("buffer (packets)")
    panels[0].set_ylabel("retransmitted packets")
    panels[1].legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize="small")
    title = "Srijith et al., table 8: retransmissions of a 10 MB transfer"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def _claims(rtt_ms: int, variant: str) -> Iterator[Expectation]:
    def each(what: str, algorithm: str, buffers: Sequence[int] = BUFFERS) -> list[str]:
        return [f"{_name(algorithm, rtt_ms, b)}, {what}" for b in buffers]

    for algorithm, printed in PAPER_RESENT.items():
        yield Expectation(
            f"{plots.NAMES[algorithm]} resends {', '.join(map(str, printed))} packets",
            "exactly: nothing is random",
            criteria.as_printed(*each("resent", algorithm)),
            variant,
        )
    yield Expectation(
        "Vegas-A resends at most 2 packets",
        "for all buffers",
        criteria.at_most(2, *each("resent", "vegasa")),
        variant,
    )
    yield Expectation(
        "With 25 and 30 packets Vegas-A behaves as Vegas",
        "nothing resent",
        criteria.at_most(0, *each("resent", "vegasa", (25, 30))),
        variant,
    )
    for algorithm in transfer.ALGORITHMS:
        yield Expectation(
            f"{plots.NAMES[algorithm]} takes the printed times",
            "to the printed tenth of a second",
            criteria.as_printed(*each("time", algorithm), within_absolute=0.05),
            variant,
        )


EXPERIMENT = Experiment(
    id="srijith/tab8",
    paper="Srijith et al., table 8 (section VI.F)",
    claim="With small buffers NewReno resends 55 to 106 packets, Vegas none, Vegas-A at most 2",
    parameters=common.PARAMETERS
    | {
        "rates_bps": list(RATES_BPS),
        "rtts_ms": list(RTTS_MS),
        "packets": PACKETS,
        "queue_packets": list(BUFFERS),
    },
    seeds={"quick": 1, "full": 1},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        *_claims(PRINTED_MS, ""),
        *_claims(FITTED_MS, f"a round-trip time of {FITTED_MS} ms"),
    ),
    choices=(
        common.PROFILE_CHOICE,
        Choice(
            "how the round-trip time is split",
            "one third for each of the three links",
            "the paper prints the sum, 40 ms",
            "none on NewReno; with 5, 10 and 5 ms one way Vegas-A resends 3, 2, 1, 0 and 0 packets",
        ),
        Choice(
            "whose buffers",
            "the routers'; the sender's own queue drops nothing",
            "the paper varies 'the router queue sizes'; with 60 ms NewReno then resends exactly "
            "what is printed",
            "with the sender's queue limited too it resends 103, 73, 64, 55 and 57 packets",
            fitted=True,
        ),
        Choice(
            "round-trip time of the variant",
            f"{FITTED_MS} ms",
            "with it NewReno resends exactly the printed numbers",
            "see the rows for 40 ms",
            fitted=True,
        ),
    ),
    notes=common.ONE_RUN
    + common.AS_IN_NS2
    + common.ROUNDING
    + "Neither round-trip time gives the whole table: with the printed 40 ms Vegas-A resends the "
    "printed packets and NewReno up to 7 more, with 60 ms NewReno the printed ones and Vegas-A 3 "
    "and 2 for 2 and 1.",
)
