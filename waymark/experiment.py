"""What an experiment is: a figure or table of a paper as data, and how to measure it again."""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from waymark import project
from waymark.errors import WaymarkError
from waymark.result import Result
from waymark.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scale = Literal["quick", "full"]
"""``quick`` asserts orderings in a test; ``full`` draws the figure."""

Runs = Mapping[str, Sequence[Result]]
"""The results of each scenario's label, one a seed, in the order of the seeds."""


@dataclass(frozen=True)
class Row:
    """A quantity beside the paper's number.

    Attributes:
        paper: what the paper reports; None where it reports nothing.
        ns2: what ns-2.35 gives under the same parameters; None where it is not known.
        waymark: mean over the seeds.
        waymark_sd: standard deviation over the seeds (n - 1); None with one seed, or where the
            quantity does not depend on the seed.
    """

    quantity: str
    unit: str
    paper: float | None
    ns2: float | None
    waymark: float
    waymark_sd: float | None = None

    @property
    def ratio(self) -> float | None:
        """Waymark's number over the paper's; over ns-2's where the paper gives none."""
        reference = self.paper if self.paper is not None else self.ns2
        return self.waymark / reference if reference else None


@dataclass(frozen=True)
class Expectation:
    """Something the paper claims, in a form that a run can bear out or refute.

    Attributes:
        claim: one sentence.
        tolerance: what counts as borne out, and why so.
        holds: whether it is borne out by a table.
    """

    claim: str
    tolerance: str
    holds: Callable[[Mapping[str, Row]], bool]


@dataclass(frozen=True)
class Experiment:
    """One figure or table of a paper.

    Attributes:
        id: paper and figure: ``"chan/fig3.6"``.
        paper: where it stands.
        claim: what the paper says it shows, in one line.
        parameters: every parameter, as data for the record.
        seeds: how many seeds each scale takes.
        scenarios: the runs of one seed at a scale, by label.
        rows: the table from the runs.
        draw: the picture from the runs and the table.
        expectations: the claims that the table is held against.
        notes: choices where the paper leaves a parameter open, and causes of departures.
    """

    id: str
    paper: str
    claim: str
    parameters: Mapping[str, Any]
    seeds: Mapping[Scale, int]
    scenarios: Callable[[Scale, int], Mapping[str, Scenario]]
    rows: Callable[[Runs], Sequence[Row]]
    draw: Callable[[Runs, Sequence[Row]], "Figure"]
    expectations: Sequence[Expectation] = ()
    notes: str = ""

    def cost(self, scale: Scale) -> tuple[int, float]:
        """Number of runs, and simulated seconds in all, at the scale's own number of seeds."""
        runs = self.scenarios(scale, 1).values()
        seeds = self.seeds[scale]
        return len(runs) * seeds, sum(run.end_s for run in runs) * seeds


def find(experiment_id: str) -> Experiment:
    """The experiment with this id.

    Raises:
        WaymarkError: there is none; the message has the nearest ids.
    """
    files = _files()
    if experiment_id not in files:
        near = get_close_matches(experiment_id, files, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else "see: waymark list"
        raise WaymarkError(f"no experiment {experiment_id!r}; {hint}")
    return _load(files[experiment_id])


def everything() -> list[Experiment]:
    """All experiments, in the order of their figures."""
    return [_load(path) for path in _files().values()]


def _files() -> dict[str, Path]:
    """``chan/fig3.6`` from ``experiments/chan/fig3_6.py``, figures in numerical order."""
    paths = sorted(
        (project.root() / "experiments").glob("*/*[0-9]*_*[0-9]*.py"),
        key=lambda p: (p.parent.name, [int(n) if n.isdigit() else n for n in _parts(p.stem)]),
    )
    return {f"{path.parent.name}/{path.stem.replace('_', '.')}": path for path in paths}


def _parts(stem: str) -> list[str]:
    head = stem.rstrip("0123456789_")
    return [head, *stem[len(head) :].split("_")]


def _load(path: Path) -> Experiment:
    checkout = str(path.parents[2])
    if checkout not in sys.path:
        sys.path.insert(0, checkout)
    module = importlib.import_module(f"experiments.{path.parent.name}.{path.stem}")
    experiment = getattr(module, "EXPERIMENT", None)
    if not isinstance(experiment, Experiment):
        raise WaymarkError(f"{path}: no EXPERIMENT = Experiment(...) in it")
    return experiment
