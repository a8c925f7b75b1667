"""Reno and Vegas flows over one link, and what figures 3 to 5 of Kurata et al. have in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from waymark import (
    STOCK,
    Choice,
    Expectation,
    Experiment,
    Flow,
    Row,
    Runs,
    Scale,
    Scenario,
    all_of,
    at_scale,
    plots,
)
from waymark.analysis.kurata import Mix, Shares
from waymark.networks import chain
from waymark.red import ConstantDrop, Red

RATE_BPS = 1.5e6
BOTTLENECK_DELAY_S = 0.005
ACCESS = (10e6, 0.0015)
END_S = 300.0
FROM_S = 50.0
START_WITHIN_S = 1.0
QUEUE = "r1->d"
RENO = replace(STOCK, packet_octets=1040)
OTHER_QUEUES = 1000
BUFFERS: Mapping[Scale, tuple[int, ...]] = {
    "quick": (10, 100),
    "full": (10, 20, 30, 50, 75, 100, 150, 200),
}
REALISTIC = (20, 30, 50, 75, 100, 150, 200)
"""Buffers that are not "very small (< 20 packets)", as the paper calls them."""
LARGE = (100, 150, 200)
CLOSE = 0.05
"""Numbers this near to each other count as equal throughout the project; the paper does not say
how near its model comes."""


class Case(NamedTuple):
    """How many flows there are of each kind."""

    reno: int
    vegas: int

    @property
    def label(self) -> str:
        """``"5+10"``: Reno first."""
        return f"{self.reno}+{self.vegas}"

    @property
    def mix(self) -> Mix:
        """For the models."""
        return Mix(self.reno, self.vegas, RATE_BPS / 8000, ACCESS[1] + BOTTLENECK_DELAY_S)


CASES = (Case(5, 5), Case(5, 10), Case(10, 5))

PARAMETERS: dict[str, object] = {
    "access": "10 Mb/s, 1.5 ms",
    "bottleneck": "1.5 Mb/s, 5 ms",
    "profile": STOCK.by_family(),
    "vegas_alpha_beta_gamma": [1, 3, 1],
    "average_s": [FROM_S, END_S],
    "start_within_s": START_WITHIN_S,
}

CHOICES = (
    Choice(
        "length and starts",
        "300 s, the first 50 not counted; starts uniform in the first second, 10 seeds",
        "the paper gives none",
        "drop-tail mixes of many flows are chaotic: see the deviation over the seeds",
    ),
    Choice(
        "α and β",
        "1 and 3",
        "the paper leaves them as symbols; ns-2's defaults",
        "the models' Vegas window is in proportion to α + β",
    ),
)

MODEL_NOTE = (
    "The paper prints curves and no numbers. The column 'derived' is its analytical model "
    "(section 4), computed here. A packet is 1000 octets on the wire, one of Reno 1040. Each "
    "delivered packet counts once: with small buffers up to 5 % of the deliveries are duplicates. "
    "The column 'ns-2' is the mean over the same starts in ns-2.35. "
)


def run(
    name: str, case: Case, buffer: int, seed: int, early: Red | ConstantDrop | None = None
) -> Scenario:
    """All flows to one receiver behind the bottleneck."""
    count = case.reno + case.vegas
    hosts = {f"s{i}": "r1" for i in range(1, count + 1)} | {"d": "r1"}
    access = dict.fromkeys(hosts, ACCESS) | {"d": (RATE_BPS, BOTTLENECK_DELAY_S)}
    network = chain([], hosts, access, OTHER_QUEUES)
    # ns-2's limit: of those that wait with RED, and one less with drop-tail.
    limit = buffer + isinstance(early, Red)
    network = network.with_link("r1", "d", queue_packets=limit, red=early)
    starts_s = np.random.default_rng(seed).uniform(0, START_WITHIN_S, count)
    flows = tuple(
        Flow(f"s{i + 1}", "d", "reno", RENO, start_s=float(starts_s[i]))
        if i < case.reno
        else Flow(f"s{i + 1}", "d", "vegas", STOCK, start_s=float(starts_s[i]))
        for i in range(count)
    )
    return Scenario(name, network, END_S, flows=flows, seed=seed)


def kbps(runs: Runs, label: str, case: Case) -> tuple[list[float], list[float]]:
    """Mean throughput of a Reno flow and of a Vegas flow, by seed."""

    def share(flows: range) -> list[float]:
        return [fmean(r.useful_bps(f, FROM_S, END_S) for f in flows) / 1e3 for r in runs[label]]

    return share(range(case.reno)), share(range(case.reno, case.reno + case.vegas))


@dataclass(frozen=True)
class Reference:
    """Another queue, with which a figure is compared.

    Attributes:
        name: of the queue, as in the table.
        early: RED's settings by buffer.
    """

    name: str
    early: Callable[[int], Red | None]

    def of(self, case: Case, buffer: int) -> str:
        """The label of its run."""
        return f"{self.name}, {label_of(case, buffer)}"


def label_of(case: Case, buffer: int) -> str:
    """``"5+10, B = 20"``."""
    return f"{case.label}, B = {buffer}"


def labels(buffers: Sequence[int], what: str = "") -> list[str]:
    """The rows' names for all mixes of flows, such as ``"Reno/Vegas, 5+5, B = 100"``."""
    return [f"{what}{label_of(case, buffer)}" for case in CASES for buffer in buffers]


def rows_of(
    runs: Runs,
    label: str,
    case: Case,
    model: Shares | None = None,
    ns2: tuple[float, float] | None = None,
) -> list[Row]:
    """A flow's throughput of each kind, their ratio, and the total.

    Args:
        runs: all runs.
        label: which run.
        case: its flows.
        model: what the paper's model gives.
        ns2: what ns-2.35 gives, kb/s for a flow of Reno and one of Vegas.
    """
    reno, vegas = kbps(runs, label, case)
    known = ns2 or (None, None)
    derived = (model.reno_pps * 8, model.vegas_pps * 8) if model else (None, None)
    total = [case.reno * r + case.vegas * v for r, v in zip(reno, vegas, strict=True)]
    return [
        Row.of(f"Reno, {label}", "kb/s per flow", reno, ns2=known[0], derived=derived[0]),
        Row.of(f"Vegas, {label}", "kb/s per flow", vegas, ns2=known[1], derived=derived[1]),
        Row.ratio_of(
            f"Reno/Vegas, {label}",
            reno,
            vegas,
            ns2=ns2[0] / ns2[1] if ns2 else None,
            derived=model.reno_pps / model.vegas_pps if model else None,
        ),
        Row.of(
            f"total, {label}",
            "kb/s",
            total,
            ns2=case.reno * ns2[0] + case.vegas * ns2[1] if ns2 else None,
        ),
    ]


def over_buffers(
    figure: int,
    what: str,
    claim: str,
    early: Callable[[int], Red | None],
    model: Callable[[Mix, int], Shares],
    ns2: Mapping[str, tuple[float, float]],
    expectations: Sequence[Expectation],
    parameters: Mapping[str, object],
    notes: str = "",
    reference: Reference | None = None,
) -> Experiment:
    """Figure 3, 4 or 5.

    Args:
        figure: its number.
        what: of the title.
        claim: of the paper.
        early: RED's settings by buffer.
        model: the paper's, by buffer.
        ns2: Reno's and Vegas' kb/s per flow by mix and buffer, as in ``"5+10, B = 20"``.
        expectations: the paper's claims.
        parameters: in addition to the common ones.
        notes: after those that all have in common.
        reference: the queue that the figure is compared with at large buffers.
    """

    def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
        runs: dict[str, Scenario] = {}
        for case in CASES:
            for buffer in at_scale(BUFFERS, scale):
                label = label_of(case, buffer)
                runs[label] = run(label, case, buffer, seed, early(buffer))
                if reference and buffer in LARGE:
                    queue = reference.early(buffer)
                    runs[reference.of(case, buffer)] = run(label, case, buffer, seed, queue)
        return runs

    def rows(runs: Runs) -> list[Row]:
        table: list[Row] = []
        for case in CASES:
            for buffer in _buffers(runs):
                label = label_of(case, buffer)
                table += rows_of(runs, label, case, model(case.mix, buffer), ns2.get(label))
        if reference:
            for case in CASES:
                for buffer in _buffers(runs):
                    if buffer in LARGE:
                        table += rows_of(runs, reference.of(case, buffer), case)
        return table

    def draw(runs: Runs, table: Sequence[Row]) -> Figure:
        drawing = plots.new_figure(10.0, 4.4)
        panels = drawing.subplots(1, len(CASES), sharey=True)
        by_name = {row.quantity: row for row in table}
        for axes, case in zip(panels, CASES, strict=True):
            for name, key in (("Reno", "reno"), ("Vegas", "vegas")):
                points = {float(b): by_name[f"{name}, {label_of(case, b)}"] for b in _buffers(runs)}
                plots.series(axes, points, plots.COLOURS[key], name)
                bs = range(10, 201, 5)
                curve = [getattr(model(case.mix, b), f"{key}_pps") * 8 for b in bs]
                style: Any = {"color": plots.COLOURS[key], "linestyle": ":"}
                axes.plot(bs, curve, **style, label=f"{name}, the paper's model")
            axes.set_title(f"{case.reno} Reno, {case.vegas} Vegas")
            axes.set_xlabel("buffer (packets)")
            axes.set_ylim(0)
        panels[0].set_ylabel("throughput (kb/s per flow)")
        drawing.legend(
            *panels[0].get_legend_handles_labels(),
            loc="outside lower center",
            ncols=6,
            fontsize="small",
        )
        title = f"Kurata et al., figure {figure}: {what}"
        drawing.suptitle(title, x=0.01, ha="left", fontsize=11)
        return drawing

    return Experiment(
        id=f"kurata/fig{figure}",
        paper=f"Kurata et al., figure {figure} (section 5)",
        claim=claim,
        parameters={**PARAMETERS, "buffers": list(BUFFERS["full"]), **parameters},
        seeds={"quick": 1, "full": 10},
        scenarios=scenarios,
        rows=rows,
        draw=draw,
        expectations=expectations,
        choices=CHOICES,
        notes=MODEL_NOTE + notes,
    )


def _buffers(runs: Runs) -> list[int]:
    return [buffer for buffer in BUFFERS["full"] if label_of(CASES[0], buffer) in runs]


def as_modelled(*quantities: str) -> Callable[[Mapping[str, Row]], bool | None]:
    """Whether quantities are within 5 % of what the paper's model gives."""
    return lambda row: all_of(
        abs(row[name].waymark - derived) <= CLOSE * derived
        for name in quantities
        if name in row and (derived := row[name].derived) is not None
    )
