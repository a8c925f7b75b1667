"""Chan 2004, figure 3.14: how flows that join one after another share the link."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.chan import fairness
from experiments.chan import single_bottleneck as net
from waymark import Choice, Experiment, Row, Runs, Scale, Scenario
from waymark.networks import dumbbell

JOIN_EVERY_S = 30.0
END_S = 150.0
AVERAGE_FROM_S = 120.0
NS2_JAIN = {"Vegas (1, 3)": 0.84, "Vegas (2, 2)": 0.66}


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Five flows of one variant, one more every 30 s."""
    network = dumbbell(fairness.FLOWS, (net.BOTTLENECK_BPS, 0.02), (10e6, 0.001))
    starts_s = [number * JOIN_EVERY_S for number in range(fairness.FLOWS)]
    return fairness.scenarios(network, starts_s, END_S, seed)


def rows(runs: Runs) -> list[Row]:
    """Shares while all five are there."""
    return fairness.rows(runs, AVERAGE_FROM_S, END_S, NS2_JAIN)


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput over time."""
    title = "Chan 2004, figure 3.14: five flows, one more every 30 s"
    return fairness.draw(runs, table, title, END_S)


EXPERIMENT = Experiment(
    id="chan/fig3.14",
    paper="Chan 2004, figure 3.14 (section 3.5.3)",
    claim="Of flows that join one after another, only RoVegas with α = β shares fairly",
    parameters=net.PARAMETERS
    | {
        "flows": fairness.FLOWS,
        "join_every_s": JOIN_EVERY_S,
        "variants": [variant.label for variant in fairness.VARIANTS],
        "average_s": [AVERAGE_FROM_S, END_S],
        "queue_packets": 50,
    },
    seeds={"quick": 1, "full": 1},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=fairness.EXPECTATIONS,
    choices=(
        net.LINKS_CHOICE,
        Choice(
            "when the shares are taken",
            "120-150 s",
            "the time with all five flows; the paper shows curves",
            "a later time would be after the figure",
        ),
    ),
    notes="Nothing in this network is random: one seed is enough.",
)
