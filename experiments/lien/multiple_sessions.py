"""Simulation 2 of Lien and Chung: four routers, four flows, bursts along the whole chain."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from matplotlib.figure import Figure

from experiments.lien import common
from waymark import (
    Choice,
    Expectation,
    Experiment,
    OnOff,
    Row,
    Runs,
    Scale,
    Scenario,
    Topology,
    plots,
)
from waymark.networks import chain
from waymark.result import Result
from waymark.traffic import Algorithm

ALGORITHMS: tuple[Algorithm, ...] = ("tahoe", "reno", "vegas", "muzha")
FLOWS = ((1, 4), (1, 3), (2, 4), (1, 2))
"""From which router's host to which."""
ROUTERS = 4
ACCESS = (10e6, 0.003)
MEAN_ON_S = 0.5
SEEDS: Mapping[Scale, int] = {"quick": 1, "full": 5}

Metric = Literal["throughput", "loss"]
UNITS: Mapping[Metric, str] = {"throughput": "kb/s per flow", "loss": "%"}


@dataclass(frozen=True)
class Setting:
    """The chain's links and the traffic on it.

    Attributes:
        rate_bps, delay_s: of each link between routers.
        buffer: of every queue.
        load_bps: mean rate of the bursts from the first router to the last.
    """

    rate_bps: float
    delay_s: float
    buffer: int
    load_bps: float


@dataclass(frozen=True)
class Sweep:
    """One panel's settings over its x axis; the label names a point in the rows."""

    title: str
    x: str
    label: Callable[[float], str]
    points: Mapping[float, Setting]


Panels = Callable[[Scale], Sequence[Sweep]]

LAYOUT_CHOICE = Choice(
    "layout",
    "a chain of four routers; flows R1-R4, R1-R3, R2-R4 and R1-R2",
    "the paper shows it only in figure 4.4, an image",
    "with other flows, other links are shared by how many: levels move, the order less",
)
BURST_CHOICE = Choice(
    "bursts",
    "R1-R4, exponential, mean ON 0.5 s and OFF 0.5 s, twice the load while ON",
    "the paper gives the load alone; ns-2's defaults",
    "shorter bursts fit into a buffer and lose less",
)

PARAMETERS: dict[str, object] = common.PARAMETERS | {
    "routers": ROUTERS,
    "flows": list(FLOWS),
    "access": "10 Mb/s, 3 ms",
    "bursts": {"from_to": [1, ROUTERS], "mean_on_s": MEAN_ON_S, "mean_off_s": MEAN_ON_S},
    "start_within_s": common.START_WITHIN_S,
    "end_s": common.END_S,
}


def network(setting: Setting) -> Topology:
    """Hosts s1, d1, … for the flows, s0 and d0 for the bursts."""
    hosts: dict[str, str] = {"s0": "r1", "d0": f"r{ROUTERS}"}
    for number, (first, last) in enumerate(FLOWS, start=1):
        hosts |= {f"s{number}": f"r{first}", f"d{number}": f"r{last}"}
    links = [(setting.rate_bps, setting.delay_s)] * (ROUTERS - 1)
    return common.routers(chain(links, hosts, ACCESS), setting.buffer)


def run(name: str, algorithm: Algorithm, setting: Setting, seed: int) -> Scenario:
    """All four flows with one algorithm."""
    bursts = OnOff("s0", "d0", 2 * setting.load_bps, MEAN_ON_S, MEAN_ON_S)
    starts_s = common.starts_s(seed, len(FLOWS))
    flows = tuple(
        common.flow(f"s{number}", f"d{number}", algorithm, start_s)
        for number, start_s in enumerate(starts_s, start=1)
    )
    return Scenario(name, network(setting), common.END_S, flows=flows, sources=(bursts,), seed=seed)


def measure(metric: Metric, result: Result) -> float:
    """One of the paper's metrics: mean throughput of a flow, or loss of all."""
    if metric == "loss":
        return common.loss_percent(result)
    return fmean(common.kbps(result, flow) for flow in range(len(FLOWS)))


def runs_of(
    sweeps: Sequence[Sweep], algorithms: Sequence[Algorithm], seed: int
) -> dict[str, Scenario]:
    """One run per point and algorithm, with labels such as ``"Reno, B = 5"``."""
    return {
        label: run(label, algorithm, setting, seed)
        for sweep in sweeps
        for x, setting in sweep.points.items()
        for algorithm in algorithms
        if (label := f"{plots.NAMES[algorithm]}, {sweep.label(x)}")
    }


def experiment(
    *,
    figures: Sequence[str],
    section: str,
    claim: str,
    parameters: Mapping[str, object],
    panels: Panels,
    ns2: Mapping[str, Sequence[float]],
    expectations: Sequence[Expectation],
    notes: str = "",
) -> Experiment:
    """A figure of simulation 2, or two that show the same runs.

    Args:
        figures: their numbers; the first names the experiment.
        section: of the paper.
        claim: of the paper.
        parameters: in addition to the common ones.
        panels: what is swept, by scale.
        ns2: throughput and loss in ns-2.35, by the run's label.
        expectations: the paper's claims.
        notes: after what all have in common.
    """

    def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
        return runs_of(panels(scale), ALGORITHMS, seed)

    def rows(runs: Runs) -> list[Row]:
        return [
            Row.of(
                f"{label}, {metric}",
                UNITS[metric],
                [measure(metric, r) for r in results],
                ns2=ns2[label][place] if label in ns2 else None,
            )
            for place, metric in enumerate(UNITS)
            for label, results in runs.items()
        ]

    def draw(_runs: Runs, table: Sequence[Row]) -> Figure:
        by_name = {row.quantity: row for row in table}
        sweeps = [
            sweep for sweep in panels("full") if any(_points(by_name, sweep, "throughput", "reno"))
        ]
        figure = plots.new_figure(9.5, 3.4 * len(sweeps) + 0.3)
        grid = figure.subplots(len(sweeps), 2, squeeze=False)
        for line, sweep in zip(grid, sweeps, strict=True):
            for axes, metric in zip(line, UNITS, strict=True):
                for algorithm in ALGORITHMS:
                    points = _points(by_name, sweep, metric, algorithm)
                    plots.series(axes, points, plots.COLOURS[algorithm], plots.NAMES[algorithm])
                axes.set_title(sweep.title)
                axes.set_xlabel(sweep.x)
                axes.set_ylabel(f"{metric} ({UNITS[metric]})")
                common.from_zero(axes)
        common.legend_below(figure, grid[0][0], 2 * len(ALGORITHMS) - 1)
        where = " and ".join(figures)
        title = f"Lien and Chung, figure{'s' if len(figures) > 1 else ''} {where}: four flows"
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        return figure

    first, *others = (f"lien/fig{number}" for number in figures)
    return Experiment(
        id=first,
        also=tuple(others),
        paper=f"Lien and Chung, figure{'s' if others else ''} {' and '.join(figures)} ({section})",
        claim=claim,
        parameters={**PARAMETERS, **parameters},
        seeds=SEEDS,
        scenarios=scenarios,
        rows=rows,
        draw=draw,
        expectations=expectations,
        choices=(common.DRAI_CHOICE, LAYOUT_CHOICE, BURST_CHOICE, common.START_CHOICE),
        notes=common.OCTETS_NOTE + notes,
    )


def _points(
    by_name: Mapping[str, Row], sweep: Sweep, metric: Metric, algorithm: Algorithm
) -> dict[float, Row]:
    names = {x: name(algorithm, sweep.label(x), metric) for x in sweep.points}
    return {x: by_name[name] for x, name in names.items() if name in by_name}


SHORT_PATHS_NOTE = (
    "The mean over flows hides who gets it: Muzha's flows that cross two busy links follow the "
    "lower of two indices and starve (2 Mb/s, a buffer of 60, 300 kb/s of bursts: R1-R4 66, R1-R3 "
    "84, R2-R4 1546, R1-R2 1540 kb/s; Vegas 405, 471, 810, 808). The mean is highest where the "
    "long paths get nothing, so Muzha is above Vegas at all buffers and loads, also where the "
    "paper has it below. "
)


def name(algorithm: Algorithm, label: str, metric: Metric) -> str:
    """A row's name."""
    return f"{plots.NAMES[algorithm]}, {label}, {metric}"


def of(row: Mapping[str, Row], algorithm: Algorithm, label: str, metric: Metric) -> float:
    """Waymark's number at a point."""
    return row[name(algorithm, label, metric)].waymark


def measured(row: Mapping[str, Row], label: str) -> bool:
    """Whether the scale has this point."""
    return f"Muzha, {label}, loss" in row
