"""Chan 2004, figures 5.2 and 5.3: one flow while the available bandwidth is halved and doubled."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.chan import quick as net
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, all_of, at_scale, plots

CAPACITY_BPS: Mapping[Scale, float] = {"quick": 10e6, "full": 50e6}
TIMES_S: Mapping[Scale, tuple[float, float, float]] = {
    "quick": (25.0, 45.0, 65.0),
    "full": (80.0, 160.0, 200.0),
}
PAPER_S = {
    "vegas": {"new": 59, "halved": 47.9, "doubled": 31.8},
    "quickvegas": {"new": 27, "halved": 6.7, "doubled": 3.9},
}
NS2_S = {"vegas": {"new": 59.0, "halved": 47.7, "doubled": 31.6}, "quickvegas": {}}
PAPER_QUEUE = {"vegas": 620, "quickvegas": 540}
NS2_QUEUE = {"vegas": 620}


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run of each algorithm; the quick ones over a fifth of the capacity."""
    return {
        a: net.halved_and_doubled(
            a, a, at_scale(CAPACITY_BPS, scale), at_scale(TIMES_S, scale), seed
        )
        for a in net.ALGORITHMS
    }


def rows(runs: Runs) -> list[Row]:
    """Time to settle in each phase, and the longest queue; references at full capacity only."""
    table: list[Row] = []
    for algorithm, results in runs.items():
        name = plots.NAMES[algorithm]
        full, times_s = _times(results[0].times_s[-1])
        for phase in net.PHASES:
            values = [net.settling_s(r, times_s)[phase] for r in results]
            paper = PAPER_S[algorithm][phase] if full else None
            ns2 = NS2_S[algorithm].get(phase) if full else None
            table.append(Row.of(f"{name}, {phase}", "s", values, paper, ns2))
        peaks = [float(r.queues[net.QUEUE].peak) for r in results]
        paper = PAPER_QUEUE[algorithm] if full else None
        ns2 = NS2_QUEUE.get(algorithm) if full else None
        table.append(Row.of(f"{name}, longest queue", "packets", peaks, paper, ns2))
    return table


def _times(last_s: float) -> tuple[bool, tuple[float, float, float]]:
    full = last_s > TIMES_S["quick"][2]
    return full, TIMES_S["full" if full else "quick"]


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput and queue over time; the dots show when each phase had settled."""
    figure = plots.new_figure(9.0, 6.0)
    above, below = figure.subplots(2, 1, sharex=True)
    by_name = {row.quantity: row for row in table}
    for algorithm, results in runs.items():
        result, name, colour = results[0], plots.NAMES[algorithm], plots.COLOURS[algorithm]
        _, (from_s, to_s, end_s) = _times(result.times_s[-1])
        mbps = result.throughput_over_time_bps(0) / 1e6
        above.plot(result.times_s, mbps, color=colour, linewidth=1, label=name)
        waiting = result.queues[net.QUEUE].waiting
        below.plot(result.times_s, waiting, color=colour, linewidth=1, label=name)
        for start_s, phase in zip((0.0, from_s, to_s), net.PHASES, strict=True):
            row = by_name[f"{name}, {phase}"]
            below.plot([start_s + row.waymark], [0], "o", color=colour, clip_on=False, zorder=5)
            if row.paper is not None:
                mark = plots.PAPER | {"color": colour}
                below.plot([start_s + row.paper], [0], **mark, clip_on=False)
        below.set_xlim(0, end_s)
    above.set_ylabel("throughput (Mb/s)")
    above.legend(fontsize="small", loc="lower right")
    below.set_ylabel("queue (packets)")
    below.set_xlabel("time (s); dots: settled, diamonds: settled in the paper")
    above.set_ylim(0)
    below.set_ylim(0)
    title = "Chan 2004, figures 5.2 and 5.3: CBR takes half of the link for a while"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


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
    },
    seeds={"quick": 1, "full": 1},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Quick Vegas settles sooner in every phase and its longest queue is shorter",
            "all four",
            lambda row: all(
                row[f"Quick Vegas, {what}"].waymark < row[f"Vegas, {what}"].waymark
                for what in (*net.PHASES, "longest queue")
            ),
        ),
        Expectation(
            "All times and queues are as printed",
            "within 15 %, or 2 s; the quick scale has another link and is not held to them",
            lambda row: all_of(
                abs(r.waymark - r.paper) <= max(0.15 * r.paper, 2 if r.unit == "s" else 0)
                for r in row.values()
                if r.paper is not None
            ),
        ),
    ),
    choices=(net.SETTLED_CHOICE, net.WINDOW_CHOICE),
    notes="Nothing in this network is random: one seed is enough.",
)
