"""Experiments: a figure or table of a paper as data, and how to measure it again."""

import csv
import importlib
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from waymark import project
from waymark.analysis import intervals
from waymark.errors import WaymarkError, os_errors
from waymark.result import Result, mean_sd
from waymark.scenario import Scenario
from waymark.traffic import Profile

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Scale = Literal["quick", "full", "paper"]
"""``quick`` asserts orderings in a test; ``full`` draws the figure, with a spread over seeds;
``paper`` is as long as the paper ran it, with one seed."""

Verdict = Literal["reproduced", "partly", "not reproduced", "measured"]
"""Whether all, some or none of the claims pass; ``measured``: the experiment has no claims."""

PAPERS = ("chan", "srijith", "kurata", "lien", "dahal", "beyond", "today")
"""The folders of ``experiments/``, in listing order; the last one compares the papers' claims with
current transports."""

T = TypeVar("T")

Runs = Mapping[str, Sequence[Result]]
"""The results of each scenario's label, one per seed, in the order of the seeds."""


@dataclass(frozen=True)
class Row:
    """A quantity with the paper's number.

    Attributes:
        paper: the number in the paper's text, table or curve; None if it prints none.
        ns2: ns-2.35's number under the same parameters; None if it is not known.
        waymark: mean over the seeds; of a ratio, the ratio of two means.
        waymark_sd: standard deviation over the seeds (n - 1); None with one seed, of a ratio, or
            where the quantity does not depend on the seed.
        waymark_range: smallest and largest over the seeds; None with one.
        waymark_ci: 95 % confidence interval; None with one seed, or if it is not bounded.
        derived: the number that follows from the paper's model or text but is not printed there.
    """

    quantity: str
    unit: str
    paper: float | None
    ns2: float | None
    waymark: float
    waymark_sd: float | None = None
    waymark_range: tuple[float, float] | None = None
    waymark_ci: tuple[float, float] | None = None
    derived: float | None = None

    @staticmethod
    def of(
        quantity: str,
        unit: str,
        values: Sequence[float],
        paper: float | None = None,
        ns2: float | None = None,
        derived: float | None = None,
    ) -> "Row":
        """A row with one value per seed."""
        spread = (min(values), max(values)) if len(values) > 1 else None
        mean, sd = mean_sd(values)
        return Row(quantity, unit, paper, ns2, mean, sd, spread, intervals.of_mean(values), derived)

    @staticmethod
    def ratio_of(
        quantity: str,
        numerators: Sequence[float],
        denominators: Sequence[float],
        paper: float | None = None,
        ns2: float | None = None,
        derived: float | None = None,
    ) -> "Row":
        """The ratio of two means over the same seeds; NaN if the denominators' mean is 0.

        The mean of the seeds' own ratios would overstate it: a seed with a small denominator
        would outweigh the others.
        """
        below = fmean(denominators)
        ratio = fmean(numerators) / below if below else math.nan
        interval = intervals.of_ratio(numerators, denominators)
        return Row(quantity, "1", paper, ns2, ratio, waymark_ci=interval, derived=derived)

    @property
    def order(self) -> float:
        """The measured number, to find the row with the largest or smallest. Claims about that row
        read its other fields."""
        return self.waymark

    @property
    def agrees_with_ns2(self) -> bool | None:
        """Whether ns-2's number is within 5 %, or within the range over the seeds (of a ratio: the
        confidence interval); None: unknown."""
        if self.ns2 is None:
            return None
        low, high = self.waymark_range or self.waymark_ci or (self.waymark, self.waymark)
        return low <= self.ns2 <= high or abs(self.waymark - self.ns2) <= 0.05 * abs(self.ns2)

    @property
    def ratio(self) -> float | None:
        """Waymark's number divided by the paper's, or by ns-2's if the paper gives none."""
        reference = self.paper if self.paper is not None else self.ns2
        return self.waymark / reference if reference else None


@dataclass(frozen=True)
class Expectation:
    """A claim that a table can confirm or refute.

    Attributes:
        claim: one sentence.
        criterion: the condition that the table must meet for the claim to pass, and its reason.
        holds: whether a table meets it; None: the table, of a smaller scale, cannot decide.
        variant: the setting that the claim is about, if it is not the paper's own.
    """

    claim: str
    criterion: str
    holds: Callable[[Mapping[str, Row]], bool | None]
    variant: str = ""

    def undecided_by(self, rows: Sequence[Row]) -> list[str]:
        """The quantities whose confidence interval has an end at which the result changes.

        Other seeds may then change the result too.
        """
        by_name = {row.quantity: row for row in rows}
        result = self.holds(by_name)
        return [
            row.quantity
            for row in rows
            if any(
                self.holds(by_name | {row.quantity: replace(row, waymark=end)}) is not result
                for end in row.waymark_ci or ()
            )
        ]


@dataclass(frozen=True)
class Choice:
    """A parameter that the paper does not give.

    Attributes:
        parameter: its name.
        value: the chosen value.
        why: the reason.
        sensitivity: the effect of another value.
        fitted: whether it was chosen to bring a result nearest to a printed number.
    """

    parameter: str
    value: str
    why: str
    sensitivity: str
    fitted: bool = False


@dataclass(frozen=True)
class Span:
    """A part of a run whose averages are compared.

    Attributes:
        from_s, to_s: when, in seconds.
        paper_kbps: the paper's average for it, by the scenario's label.
    """

    from_s: float
    to_s: float
    paper_kbps: Mapping[str, float] = field(default_factory=dict[str, float])


OCTETS = "{}: octets of the signal"
"""The quantity of a control's signal in a full data packet."""


@dataclass(frozen=True)
class Comparison:
    """A measure by which controls are compared with each other.

    Attributes:
        quantity: its rows' name, with ``{}`` for the control's title.
        better: whether smaller or larger numbers are better.
        rivals: the titles of current transports; Waymark's number is red in the report if one of
            them beats it.
        scenario: the column's name on the report's page "Benefit of each signal"; empty: no column.
        measure: its name within the scenario.
    """

    quantity: str
    better: Literal["more", "less"]
    rivals: Sequence[str]
    scenario: str = ""
    measure: str = ""


@dataclass(frozen=True)
class OnInterfaces:
    """How an experiment runs in real time on this machine's interfaces, compared with virtual time.

    Attributes:
        scenarios: the runs of one seed at a scale, by label; each has one flow, in a profile that
            hosts on interfaces can have.
        profile: the flow's in virtual time as the paper has it, for a third column.
        spans: the spans that are compared at a scale.
        notes: why the two differ, as measured.
        kernel_notes: the same for hosts in Linux's own TCP.
    """

    scenarios: Callable[[Scale, int], Mapping[str, Scenario]]
    profile: Profile
    spans: Callable[[Scale], Sequence[Span]]
    notes: str
    kernel_notes: str = ""


@dataclass(frozen=True)
class Experiment:
    """One figure or table of a paper, or several that show the same runs.

    Attributes:
        id: paper and figure: ``"chan/fig3.6"``.
        also: ids of the other figures and tables that the same runs measure.
        paper: the paper, and the figure and section in it.
        claim: the paper's statement about it, in one line.
        parameters: every parameter, as data for the record.
        seeds: how many seeds each scale takes; paper: 1.
        scenarios: the runs of one seed at a scale, by label.
        rows: the table from the runs.
        draw: the picture from the runs and the table.
        expectations: the claims that the table is held against.
        choices: values of parameters that the paper leaves open.
        notes: causes of departures, and other information for readers.
        on_interfaces: how it runs there; None: in virtual time only.
        comparisons: the measures by which controls are compared.
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
    choices: Sequence[Choice] = ()
    notes: str = ""
    also: Sequence[str] = ()
    on_interfaces: OnInterfaces | None = None
    comparisons: Sequence[Comparison] = ()

    def seeds_at(self, scale: Scale) -> int:
        """How many seeds the scale takes."""
        return 1 if scale == "paper" else self.seeds[scale]

    def cost(self, scale: Scale) -> tuple[int, float]:
        """Number of runs, and simulated seconds in all, at the scale's own number of seeds."""
        runs = self.scenarios(scale, 1).values()
        seeds = self.seeds_at(scale)
        return len(runs) * seeds, sum(run.end_s for run in runs) * seeds

    def verdict(self, rows: Sequence[Row]) -> Verdict:
        """Whether all, some or none of the paper's claims pass, among those that the table can
        decide.

        Claims about a variant of the setting do not count here.
        """
        return self._verdict(rows, "")

    def variant_verdicts(self, rows: Sequence[Row]) -> dict[str, Verdict]:
        """The same of the claims about each variant of the setting."""
        variants = dict.fromkeys(e.variant for e in self.expectations if e.variant)
        return {variant: self._verdict(rows, variant) for variant in variants}

    def failed(self, rows: Sequence[Row]) -> list[Expectation]:
        """The claims of the paper's own setting that the table refutes."""
        by_name = {row.quantity: row for row in rows}
        own = (one for one in self.expectations if not one.variant)
        return [one for one in own if one.holds(by_name) is False]

    def _verdict(self, rows: Sequence[Row], variant: str) -> Verdict:
        by_name = {row.quantity: row for row in rows}
        judged = [e.holds(by_name) for e in self.expectations if e.variant == variant]
        if not judged:
            return "measured"
        if not any(judged):
            return "not reproduced"
        return "partly" if False in judged else "reproduced"


def all_of(judged: Iterable[bool]) -> bool | None:
    """Whether all hold; None where there are none: nothing holds by default."""
    known = list(judged)
    return all(known) if known else None


def at_scale(values: Mapping[Scale, T], scale: Scale) -> T:
    """The value for a scale; ``paper`` defaults to the value of ``full``."""
    return values[scale] if scale in values else values["full"]


def find(experiment_id: str) -> Experiment:
    """The experiment with this id.

    Raises:
        WaymarkError: there is none; the message has the nearest ids.
    """
    files = _files()
    if experiment_id in files:
        return _load(files[experiment_id])
    for experiment in everything():
        if experiment_id in experiment.also:
            return experiment
    near = get_close_matches(experiment_id, files, n=3, cutoff=0.5)
    own = "see: waymark list; your own file: ./my_figure.py"
    hint = f"did you mean {' or '.join(near)}?" if near else own
    raise WaymarkError(f"no experiment {experiment_id!r}; {hint}")


def select(patterns: Sequence[str]) -> list[Experiment]:
    """The experiments that match ids or patterns such as ``chan/fig3*``, each once, in list order.

    Raises:
        WaymarkError: an id or pattern matches none.
    """
    chosen: set[str] = set()
    for pattern in patterns:
        if any(sign in pattern for sign in "*?["):
            matched = {
                one.id
                for one in everything()
                if any(fnmatchcase(name, pattern) for name in (one.id, *one.also))
            }
            if not matched:
                raise WaymarkError(f"no experiment matches {pattern!r}; see: waymark list")
            chosen |= matched
        else:
            chosen.add(find(pattern).id)
    return [_load(path) for name, path in _files().items() if name in chosen]


def cost(experiment: Experiment, scale: Scale) -> tuple[int, float]:
    """The same as :meth:`Experiment.cost`, of the project's experiments from ``costs.csv``.

    To build all scenarios takes seconds. ``tests/test_experiments.py`` renews the file.
    """
    return _costs().get((experiment.id, scale)) or experiment.cost(scale)


def costs_path() -> Path:
    """The file with the costs of the project's experiments."""
    return project.root() / "experiments" / "costs.csv"


def costs_text() -> str:
    """What the file has to hold."""
    lines = [
        f"{one.id},{scale},{runs},{simulated_s!r}"
        for one in everything()
        for scale in get_args(Scale)
        for runs, simulated_s in [one.cost(scale)]
    ]
    return "\n".join(["id,scale,runs,simulated_s", *lines, ""])


@cache
def _costs() -> Mapping[tuple[str, str], tuple[int, float]]:
    with os_errors(costs_path()), costs_path().open(encoding="utf-8", newline="") as file:
        return {
            (line["id"], line["scale"]): (int(line["runs"]), float(line["simulated_s"]))
            for line in csv.DictReader(file)
        }


def is_of_project(experiment_id: str) -> bool:
    """Whether an experiment of ``experiments/`` has this id."""
    return experiment_id in _files()


def at_path(path: Path) -> Experiment | None:
    """The experiment that a file of ``experiments/`` declares; None: it is no such file."""
    of_project = path.resolve() in {file.resolve() for file in _files().values()}
    return _load(path.resolve()) if of_project else None


def ids() -> list[str]:
    """The ids of all experiments, in the order of :func:`everything`."""
    return list(_files())


def everything() -> list[Experiment]:
    """All experiments: the papers in their order, then by chapter, kind and number."""
    return [_load(path) for path in _files().values()]


_FIGURE = re.compile(r"(fig|tab|eq|sec)\d+(_\d+)?")


def _files() -> dict[str, Path]:
    """``chan/fig3.6`` from ``experiments/chan/fig3_6.py``, by chapter and kind: figures, tables,
    equations, and a section's claims about several of them."""
    paths = [
        path
        for paper in PAPERS
        for path in (project.root() / "experiments" / paper).glob("*.py")
        if _FIGURE.fullmatch(path.stem)
    ]
    paths.sort(key=_place)
    return {f"{path.parent.name}/{path.stem.replace('_', '.')}": path for path in paths}


def _place(path: Path) -> tuple[int, int, str, int]:
    kind = path.stem.rstrip("0123456789_")
    first, _, second = path.stem[len(kind) :].partition("_")
    # "fig3_6": chapter 3, figure 6; "tab8": no chapter, the eighth.
    chapter, number = (int(first), int(second)) if second else (0, int(first))
    return PAPERS.index(path.parent.name), chapter, kind, number


def _load(path: Path) -> Experiment:
    folder, prefix = project.python_path()
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    module = importlib.import_module(f"{prefix}experiments.{path.parent.name}.{path.stem}")
    experiment = getattr(module, "EXPERIMENT", None)
    if not isinstance(experiment, Experiment):
        raise WaymarkError(f"{path}: no EXPERIMENT = Experiment(...) in it")
    return experiment
