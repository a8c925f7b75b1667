"""Chan 2004, figure 3.4: Vegas in asymmetric networks."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.chan import asymmetric, single_bottleneck
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, criteria, plots

DERIVED_KBPS = {k: single_bottleneck.BOTTLENECK_BPS / 1e3 / k for k in asymmetric.FACTORS}
"""u_f/k (3.17), to which the paper finds its simulation to conform."""

NS2_KBPS = {2: 800, 4: 400, 8: 200, 16: 100, 32: 50}


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run of Vegas per factor."""
    return asymmetric.scenarios("vegas", seed)


def rows(runs: Runs) -> list[Row]:
    """Throughput and u_f/k."""
    return [
        Row.of(
            f"Vegas, k = {k}",
            "kb/s",
            asymmetric.steady_kbps(runs, "vegas", k),
            ns2=NS2_KBPS[k],
            derived=DERIVED_KBPS[k],
        )
        for k in asymmetric.FACTORS
    ]


def draw(runs: Runs, _rows: Sequence[Row]) -> Figure:
    """Throughput over time."""
    return asymmetric.draw_curves(
        runs,
        "vegas",
        "Chan 2004, figure 3.4: Vegas, reverse path k times slower",
        (
            (DERIVED_KBPS, plots.PAPER, "$u_f/k$ (3.17)"),
            (NS2_KBPS, plots.NS2, "ns-2.35"),
        ),
    )


EXPERIMENT = Experiment(
    id="chan/fig3.4",
    paper="Chan 2004, figure 3.4 (section 3.5.1)",
    claim="Where the reverse path is k times slower, Vegas gets u_f/k",
    parameters=asymmetric.parameters(),
    seeds={"quick": 1, "full": 1},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Vegas' throughput is u_f/k at every k (3.17)",
            "within 0.08 kb/s, one packet in 100 s: nothing is random, and the reverse path never "
            "idles",
            criteria.as_derived(
                *(f"Vegas, k = {k}" for k in asymmetric.FACTORS), within_absolute=0.08
            ),
        ),
    ),
    notes="Nothing in this network is random: one seed is enough.",
)
