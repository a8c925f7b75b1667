"""Kurata et al., figure 6: throughput over the drop probability."""

from collections.abc import Mapping, Sequence

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
KINDS = ("constant p", "p as max_p")


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One run a probability, once for every packet and once as RED's max_p."""
    runs: dict[str, Scenario] = {}
    for p in at_scale(PROBABILITIES, scale):
        for kind, drops in zip(KINDS, (ConstantDrop(p), early.settings(BUFFER, p)), strict=True):
            name = f"{kind}, {p:g}"
            runs[name] = net.run(name, CASE, BUFFER, seed, drops)
    return runs


def rows(runs: Runs) -> list[Row]:
    """Throughput of a flow of each kind, and of all."""
    table: list[Row] = []
    for label in runs:
        reno, vegas = net.kbps(runs, label, CASE)
        total = [CASE.reno * r + CASE.vegas * v for r, v in zip(reno, vegas, strict=True)]
        kind, p = label.rsplit(", ", 1)
        known = NS2_TOTAL.get(float(p)) if kind == KINDS[0] else None
        table.append(Row.of(f"{label}: Reno", "kb/s a flow", reno))
        table.append(Row.of(f"{label}: Vegas", "kb/s a flow", vegas))
        table.append(Row.of(f"{label}: total", "kb/s", total, ns2=known))
    return table


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput over p, a panel a kind."""
    figure = plots.new_figure(9.0, 4.0)
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
    panels[0].set_ylabel("throughput (kb/s; Reno, Vegas: a flow)")
    panels[0].legend(fontsize="small")
    title = "Kurata et al., figure 6: 5 Reno and 5 Vegas flows, B = 100"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def _unfairness(row: Mapping[str, Row], p: float) -> float:
    return row[f"constant p, {p:g}: Reno"].waymark / row[f"constant p, {p:g}: Vegas"].waymark


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
        Expectation(
            "Fairness improves with p",
            "Reno/Vegas at .1 below that at .01, p constant",
            lambda row: _unfairness(row, 0.1) < _unfairness(row, 0.01),
        ),
        Expectation(
            "The total throughput falls with p",
            "at .3 less than half of that at .01, p constant",
            lambda row: (
                row["constant p, 0.3: total"].waymark < 0.5 * row["constant p, 0.01: total"].waymark
            ),
        ),
    ),
    choices=(
        *net.CHOICES,
        Choice(
            "what p is",
            "a constant drop probability",
            "only then does the total fall as the paper says",
            "as RED's max_p (right panel) the average queue stays above thmin and the link busy",
        ),
    ),
    notes=(
        "A constant p is one step of RED's table over all averages, each packet drawn for by "
        "itself, so that packets are dropped from an empty queue too; in ns-2, a loss module "
        "ahead of a drop-tail queue. At .3 ns-2's total lacks what its defect of Vegas costs: with "
        "it on here too (phantom_rtt) it is 139 kb/s for ns-2's 142, and 154 without (ten seeds)."
    ),
)
