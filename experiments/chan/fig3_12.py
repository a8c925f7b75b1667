"""Chan 2004, figure 3.12: the queue that flows build up when they join one after another."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from experiments.chan import single_bottleneck as net
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
from waymark.networks import in_file

FLOWS = 8
JOIN_EVERY_S = 20.0
END_S = FLOWS * JOIN_EVERY_S
SAMPLE_S = 0.5
QUEUE = "r1->r2"

PAPER_PACKETS = {("vegas", 4): 15, ("vegas", 8): 40, ("rovegas", 8): 18}
NS2_PACKETS = {("vegas", 4): 15, ("vegas", 8): 41}


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Eight flows of one algorithm, one more every 20 s."""
    network = in_file("eight_pairs")
    return {
        algorithm: Scenario(
            algorithm,
            network,
            END_S,
            flows=tuple(
                replace(
                    net.flow(algorithm),
                    source=f"s{i}",
                    target=f"d{i}",
                    start_s=(i - 1) * JOIN_EVERY_S,
                )
                for i in range(1, FLOWS + 1)
            ),
            seed=seed,
            sample_s=SAMPLE_S,
        )
        for algorithm in net.ALGORITHMS
    }


def rows(runs: Runs) -> list[Row]:
    """Mean waiting packets in the 20 s after each join."""
    return [
        Row.of(
            quantity(algorithm, joined),
            "packets",
            [
                r.mean_waiting(QUEUE, (joined - 1) * JOIN_EVERY_S, joined * JOIN_EVERY_S)
                for r in runs[algorithm]
            ],
            PAPER_PACKETS.get((algorithm, joined)),
            NS2_PACKETS.get((algorithm, joined)),
        )
        for algorithm in net.ALGORITHMS
        for joined in range(1, FLOWS + 1)
    ]


def quantity(algorithm: str, joined: int) -> str:
    """The row of the queue once this many flows have joined."""
    return f"{plots.NAMES[algorithm]}, queue after join {joined}"


def draw(runs: Runs, _rows: Sequence[Row]) -> Figure:
    """The bottleneck's queue over time."""
    figure = plots.new_figure()
    axes = figure.subplots()
    for algorithm in net.ALGORITHMS:
        result = runs[algorithm][0]
        axes.plot(
            result.times_s,
            result.queues[QUEUE].waiting,
            color=plots.COLOURS[algorithm],
            label=plots.NAMES[algorithm],
        )
    for numbers, marks, name in (
        (PAPER_PACKETS, plots.PAPER, "paper"),
        (NS2_PACKETS, plots.NS2, "ns-2.35 (Vegas)"),
    ):
        middles = [(joined - 0.5) * JOIN_EVERY_S for _, joined in numbers]
        axes.plot(middles, list(numbers.values()), **marks, label=name)
    plots.finish(
        axes,
        title="Chan 2004, figure 3.12: queue of the bottleneck, one more flow every 20 s",
        x="time (s)",
        y="waiting packets (mean of 0.5 s)",
    )
    axes.set_xlim(0, END_S)
    axes.set_xticks([i * JOIN_EVERY_S for i in range(FLOWS + 1)])
    axes.set_ylim(0, 50)
    return figure


EXPERIMENT = Experiment(
    id="chan/fig3.12",
    paper="Chan 2004, figure 3.12 (section 3.5.2)",
    claim=(
        "Eight Vegas flows that join one after another keep 40 packets in the queue, 5 each; eight "
        "RoVegas flows keep 18"
    ),
    parameters=net.PARAMETERS
    | {
        "flows": FLOWS,
        "join_every_s": JOIN_EVERY_S,
        "end_s": END_S,
        "queue_packets": 50,
        "sample_s": SAMPLE_S,
    },
    seeds={"quick": 1, "full": 1},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "The queue holds 15 packets when 4 Vegas flows have joined, and 40, 5 each, with 8",
            "within a packet: nothing is random, and the paper reads whole packets off a curve",
            criteria.as_printed(quantity("vegas", 4), quantity("vegas", 8), within_absolute=1),
        ),
        Expectation(
            "The queue holds 18 packets when 8 RoVegas flows have joined",
            "within a packet: nothing is random, and the paper reads whole packets off a curve",
            criteria.as_printed(quantity("rovegas", 8), within_absolute=1),
        ),
        Expectation(
            "Vegas keeps more than the β packets per flow that it should, RoVegas α to β",
            "4 and 8 Vegas flows keep more than 12 and 24 packets, 8 RoVegas flows 8 to 24",
            criteria.together(
                criteria.more_than(12, quantity("vegas", 4)),
                criteria.more_than(24, quantity("vegas", 8)),
                criteria.between(8, 24, quantity("rovegas", 8)),
            ),
        ),
    ),
    choices=(
        net.LINKS_CHOICE,
        Choice(
            "what the printed queue is",
            "the mean of waiting packets over the 20 s after a join",
            "the paper reads it off a curve",
            "the mean of the last 10 s is 14.8, 40.8 and 17.8 for 14.8, 39.9 and 17.8",
        ),
    ),
    notes=(
        "The eighth flow's slow start overflows the queue of 50 (3 packets lost, one timeout), "
        "which shows as the dip at 143 s; with a queue of 100 nothing is lost, and 8 Vegas flows "
        "keep 44.6 packets. Nothing in this network is random: one seed is enough."
    ),
)
