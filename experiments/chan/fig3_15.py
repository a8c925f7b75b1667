"""Chan 2004, figure 3.15: how flows with different delays share the link."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from experiments.chan import fairness
from experiments.chan import single_bottleneck as net
from waymark import Choice, Experiment, Row, Runs, Scale, Scenario
from waymark.networks import chain

END_S = 150.0
AVERAGE_FROM_S = 50.0
START_WITHIN_S = 0.1
NS2_JAIN = {"Vegas (1, 3)": 0.907, "Vegas (2, 2)": 0.972}


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Five flows of one variant, over one to five links: with the first seed all from one instant,
    with others from within the first 0.1 s."""
    last = f"r{fairness.FLOWS + 1}"
    numbers = range(1, fairness.FLOWS + 1)
    hosts = {f"s{i}": f"r{i}" for i in numbers} | {f"d{i}": last for i in numbers}
    network = chain([(net.BOTTLENECK_BPS, 0.01)] * fairness.FLOWS, hosts, (10e6, 0.001))
    within_s = 0.0 if seed == 1 else START_WITHIN_S
    starts_s = np.random.default_rng(seed).uniform(0, within_s, fairness.FLOWS)
    return fairness.scenarios(network, starts_s.tolist(), END_S, seed)


def rows(runs: Runs) -> list[Row]:
    """Shares once the flows have settled."""
    return fairness.rows(runs, AVERAGE_FROM_S, END_S, NS2_JAIN)


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput over time."""
    title = "Chan 2004, figure 3.15: five flows over 5, 4, 3, 2 and 1 links (first seed)"
    return fairness.draw(runs, table, title, END_S)


EXPERIMENT = Experiment(
    id="chan/fig3.15",
    paper="Chan 2004, figure 3.15 (section 3.5.3)",
    claim="Of flows with different delays, only RoVegas with α = β shares fairly",
    parameters=net.PARAMETERS
    | {
        "links": f"{fairness.FLOWS} of 1.6 Mb/s, 10 ms",
        "start_within_s": START_WITHIN_S,
        "variants": [variant.label for variant in fairness.VARIANTS],
        "average_s": [AVERAGE_FROM_S, END_S],
        "queue_packets": 50,
    },
    seeds={"quick": 2, "full": 11},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=fairness.EXPECTATIONS,
    choices=(
        Choice(
            "where the pairs are",
            "s1 … s5 at r1 … r5, all receivers at r6, so that the last link is shared by all",
            "figure 3.13 is lost; the text gives 'different propagation delays' and the links",
            "not swept",
        ),
        Choice(
            "when the flows start",
            "the first run at one instant, ten uniformly in the first 0.1 s",
            "the paper has 'at the same time', which leaves the first packets' order to chance",
            "at one instant Vegas' index is 0.996 (1, 3) and 0.991 (2, 2), from the ten draws 0.83 "
            "to 0.94 and 0.91 to 0.99",
        ),
    ),
    notes=(
        "From the same eleven starts ns-2.35 gives Vegas the same indices, to three digits each; "
        "the numbers here are the means."
    ),
)
