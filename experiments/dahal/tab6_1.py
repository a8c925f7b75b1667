"""Dahal 2007, table 6.1: the four versions of SCTP."""

from collections.abc import Callable, Mapping, Sequence

from matplotlib.figure import Figure

from experiments.dahal import fig6_2, fig6_5, fig6_9, sweep
from experiments.dahal import paths as net
from experiments.dahal.printed import as_printed
from waymark import (
    Expectation,
    Experiment,
    Result,
    Row,
    Runs,
    Scale,
    Scenario,
    criteria,
    plots,
)

COUNTS = (5, 25)
ERRORS = (5, 10)
WIDER = 2.3
MEASURES: Mapping[str, tuple[str, Callable[[Result], float]]] = {
    "loss": ("%", net.loss_percent),
    "latency": ("s", net.latency_s),
    "jitter": ("s", net.jitter_s),
    "throughput": ("% of capacity", net.utilisation_percent),
    "fairness": ("1", net.fairness),
}
"""Unit and measure of each column but the last, which is throughput with errors."""


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Loads, the wider threshold, errors."""
    runs: dict[str, Scenario] = {}
    for name, scheme in net.WITH_NS2.items():
        for count in COUNTS:
            label = f"{name} ({count})"
            runs[label] = net.run(label, name, count, seed)
        for error in ERRORS:
            label = f"{name} ({error} % errors)"
            runs[label] = net.run(label, name, 1, seed, loss=error / 100)
        if scheme.control == "rbca":
            label = f"{name} F = {WIDER} (5)"
            runs[label] = net.run(label, name, COUNTS[0], seed, factor=WIDER)
    return runs


def rows(runs: Runs) -> list[Row]:
    """The table, column by column."""

    def row(label: str, what: str, run: str, paper: float | None, ns2: float | None = None) -> Row:
        unit, measure = MEASURES[what]
        return Row.of(f"{label}, {what}", unit, [measure(r) for r in runs[run]], paper, ns2)

    table: list[Row] = []
    loads: tuple[sweep.Metric, ...] = ("loss", "throughput", "fairness")
    for what in loads:
        for name in net.WITH_NS2:
            for count in COUNTS:
                point = (name, float(count), what)
                label = f"{name} ({count})"
                known = fig6_2.PAPER.get(point), fig6_2.NS2.get(point)
                table.append(row(label, what, label, *known))
    for place, what in enumerate(("latency", "jitter")):
        for printed, numbers in fig6_5.PAPER.items():
            label = f"{printed.replace(',', '')} (5)"
            table.append(row(label, what, label, numbers[place]))
    label = f"{net.NS2_STD} (5)"
    table.append(row(label, "latency", label, None, fig6_5.NS2_STD_LATENCY_S))
    table.append(row(label, "jitter", label, None, fig6_5.NS2_STD_JITTER_S))
    for name in net.WITH_NS2:
        for error in ERRORS:
            label = f"{name} ({error} % errors)"
            known = fig6_9.PAPER.get((name, error)), fig6_9.NS2.get((name, error))
            table.append(row(label, "throughput", label, *known))
    return table


def draw(_runs: Runs, table: Sequence[Row]) -> Figure:
    """A panel a column."""
    columns: Mapping[str, Callable[[str], bool]] = {
        "loss (%)": lambda name: name.endswith("loss"),
        "latency (s)": lambda name: name.endswith("latency"),
        "jitter (s)": lambda name: name.endswith("jitter"),
        "throughput (%)": lambda name: name.endswith("throughput") and "errors" not in name,
        "fairness": lambda name: name.endswith("fairness"),
        "throughput with errors (%)": lambda name: "errors" in name,
    }
    figure = plots.new_figure(12.0, 6.0)
    for axes, (title, belongs) in zip(figure.subplots(2, 3).flat, columns.items(), strict=True):
        chosen = [row for row in table if belongs(row.quantity)]
        plots.compare(axes, chosen)
        axes.set_yticklabels([row.quantity.rpartition(",")[0] for row in chosen])
        axes.set_xlabel(title)
        axes.set_xlim(0)
        if title == "loss (%)":
            axes.legend(fontsize="small")
    title = "Dahal 2007, table 6.1: the four versions of SCTP"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


_LOADS = [f"{name} ({count})" for name in net.SCHEMES for count in COUNTS]
_NEW = [name for name in net.SCHEMES if name != "Std"]
_WITH_F = [f"{printed.replace(',', '')} (5)" for printed in fig6_5.PAPER]
_ERRORS = [f"{name} ({error} % errors)" for name in net.SCHEMES for error in ERRORS]

EXPERIMENT = Experiment(
    id="dahal/tab6.1",
    paper="Dahal 2007, table 6.1 (section 6.4)",
    claim="RBCA and SPC reduce loss, latency and jitter; SPC uses more of both paths' capacity; "
    "both use more with errors",
    parameters=net.PARAMETERS
    | {"pairs": list(COUNTS), "F": [2.0, WIDER], "errors_percent": list(ERRORS)},
    seeds={"quick": 1, "full": 10},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "RBCA and SPC reduce loss",
            "each below Std, with 5 and with 25 pairs",
            criteria.together(
                *(
                    criteria.descending(f"Std ({count}), loss", f"{name} ({count}), loss")
                    for name in _NEW
                    for count in COUNTS
                )
            ),
        ),
        Expectation(
            "RBCA and SPC reduce latency and jitter",
            "each below Std, with 5 pairs",
            criteria.together(
                *(
                    criteria.descending(f"Std (5), {what}", f"{name} (5), {what}")
                    for name in _NEW
                    for what in ("latency", "jitter")
                )
            ),
        ),
        Expectation(
            "SPC uses more of both paths' capacity",
            "RBCA & SPC and SPC above Std, with 5 and with 25 pairs",
            criteria.together(
                *(
                    criteria.ascending(
                        f"Std ({count}), throughput", f"{name} ({count}), throughput"
                    )
                    for name in ("RBCA & SPC", "SPC")
                    for count in COUNTS
                )
            ),
        ),
        Expectation(
            "With errors all three use more capacity than Std",
            "each above Std, at 5 and at 10 %",
            criteria.together(
                *(
                    criteria.ascending(
                        f"Std ({error} % errors), throughput",
                        f"{name} ({error} % errors), throughput",
                    )
                    for name in _NEW
                    for error in ERRORS
                )
            ),
        ),
        as_printed(
            "Losses",
            "two decimals, and 0 % in whole per cent",
            {
                f"{name} ({count}), loss": 2 if fig6_2.PAPER[name, count, "loss"] else 0
                for name in net.SCHEMES
                for count in COUNTS
            },
        ),
        as_printed("Latencies", "four decimals", {f"{label}, latency": 4 for label in _WITH_F}),
        as_printed("Jitters", "five decimals", {f"{label}, jitter": 5 for label in _WITH_F}),
        as_printed(
            "Capacity utilisations",
            "whole per cent",
            {f"{label}, throughput": 0 for label in _LOADS},
        ),
        as_printed(
            "Indices of fairness", "two decimals", {f"{label}, fairness": 2 for label in _LOADS}
        ),
        as_printed(
            "Utilisations with errors",
            "whole per cent",
            {f"{label}, throughput": 0 for label in _ERRORS},
        ),
    ),
    choices=fig6_9.EXPERIMENT.choices,
    notes=net.MEASURES
    + net.NS2_NOTE
    + net.LATENCY_NOTE
    + "See figures 6.2, 6.5 and 6.9. SPC alone fills more of the paths at 5 pairs than printed (88 "
    "for 82 %), and less with errors: unexplained.",
)
