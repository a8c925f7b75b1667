"""Kurata et al., figure 6: throughput over the drop probability."""

from collections.abc import Iterator, Mapping, Sequence

from matplotlib.figure import Figure

from experiments.kurata import early
from experiments.kurata import shared_link as net
from waymark import Choice, Expectation, Experiment, Row, Runs, Scale, Scenario, at_scale, plots
from waymark.red import ConstantDrop

BUFFER = 100
CASE = net.CASES[0]
PROBABILITIES: Mapping[Scale, tuple[float, ...]] = {
    "quick": (0.01, 0.1, 0.3),
    "full": (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3),
}
NS2_TOTAL = {0.01: 1498, 0.1: 1453, 0.3: 142}
RED, CONSTANT = KINDS = ("p as max_p", "constant p")


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Two runs per probability: as RED's max_p, and as a constant drop probability."""
    runs: dict[str, Scenario] = {}
    for p in at_scale(PROBABILITIES, scale):
        for kind, drops in zip(KINDS, (early.settings(BUFFER, p), ConstantDrop(p)), strict=True):
            name = f"{kind}, {p:g}"
            runs[name] = net.run(name, CASE, BUFFER, seed, drops)
    return runs


def rows(runs: Runs) -> list[Row]:
    """Throughput of a flow of each kind, their ratio, and the total."""
    table: list[Row] = []
    for label in runs:
        reno, vegas = net.kbps(runs, label, CASE)
        total = [CASE.reno * r + CASE.vegas * v for r, v in zip(reno, vegas, strict=True)]
        kind, p = label.rsplit(", ", 1)
        known = NS2_TOTAL.get(float(p)) if kind == CONSTANT else None
        table += [
            Row.of(f"{label}: Reno", "kb/s per flow", reno),
            Row.of(f"{label}: Vegas", "kb/s per flow", vegas),
            Row.ratio_of(f"{label}: Reno/Vegas", reno, vegas),
            Row.of(f"{label}: total", "kb/s", total, ns2=known),
        ]
    return table


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput over p, a panel a kind."""
    figure = plots.new_figure(9.0, 4.4)
    panels = figure.subplots(1, 2, sharey=True)
    by_name = {row.quantity: row for row in table}
    ps = [p for p in PROBABILITIES["full"] if f"{KINDS[0]}, {p:g}" in runs]
    for axes, kind in zip(panels, KINDS, strict=True):
        for what, colour in (("Reno", "reno"), ("Vegas", "vegas"), ("total", "model")):
            points = {p: by_name[f"{kind}, {p:g}: {what}"] for p in ps}
            plots.series(axes, points, plots.COLOURS[colour], what)
        axes.set_xscale("log")
        axes.set_xlabel("p")
        axes.set_title(kind)
        axes.set_ylim(0)
    panels[0].set_ylabel("throughput (kb/s; Reno, Vegas: per flow)")
    figure.legend(
        *panels[1].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=4,
        fontsize="small",
    )
    title = "Kurata et al., figure 6: 5 Reno and 5 Vegas flows, B = 100"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def _claims(kind: str, variant: str) -> Iterator[Expectation]:
    yield Expectation(
        "Fairness improves much with p",
        "Reno/Vegas at .1 nearer to 1 than at .01, by at least half of the distance",
        lambda row: (
            abs(row[f"{kind}, 0.1: Reno/Vegas"].waymark - 1)
            <= 0.5 * abs(row[f"{kind}, 0.01: Reno/Vegas"].waymark - 1)
        ),
        variant,
    )
    yield Expectation(
        "The total throughput falls when p becomes large",
        "at .3 more than 5 % below that at .01",
        lambda row: (
            row[f"{kind}, 0.3: total"].waymark
            < (1 - net.CLOSE) * row[f"{kind}, 0.01: total"].waymark
        ),
        variant,
    )


EXPERIMENT = Experiment(
    id="kurata/fig6",
    paper="Kurata et al., figure 6 (section 5.2)",
    claim="A larger p shares more fairly and wastes throughput: a trade-off",
    parameters=net.PARAMETERS
    | {"buffer": BUFFER, "flows": CASE.label, "p": list(PROBABILITIES["full"])},
    seeds={"quick": 1, "full": 10},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        *_claims(RED, ""),
        *_claims(CONSTANT, "every packet dropped with probability p"),
    ),
    choices=(
        *net.CHOICES,
        Choice(
            "what p is",
            "RED's max_p, as in figures 4 and 5; in the variant a constant drop probability",
            "the paper calls p 'the packet-dropping probability of the RED algorithm'; its "
            "analysis drops every packet with probability p, and only so does the total fall",
            "see the two panels",
            fitted=True,
        ),
    ),
    notes=(
        "As RED's max_p, p up to .3 leaves the average queue above thmin and the link busy: the "
        "total falls by 2 %. "
        "A constant p is one step of RED's table over all averages, each packet drawn for by "
        "itself, so that packets are dropped from an empty queue too; in ns-2, a loss module "
        "before a drop-tail queue. At .3 ns-2's total lacks what its defect of Vegas costs: with "
        "it enabled (phantom_rtt) the total is 139 kb/s for ns-2's 142, and 154 without it (ten "
        "seeds)."
    ),
)
