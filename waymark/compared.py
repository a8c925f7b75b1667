"""Controls compared with each other: the report's page "Benefit of each signal"."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from waymark.controls import CONTROLS
from waymark.experiment import OCTETS, Comparison, Experiment
from waymark.tables import digits

Numbers = Mapping[str, float]
"""A table: the measured numbers, by quantity."""

OURS = "Waymark"
TITLES = tuple(control.title for control in CONTROLS)


@dataclass(frozen=True)
class Column:
    """A measure in a scenario.

    Attributes:
        experiment: its id.
        scenario: its short name.
        measure: with its unit.
        numbers: by the control's title.
        comparison: says which is better.
    """

    experiment: str
    scenario: str
    measure: str
    numbers: Numbers
    comparison: Comparison

    def cell(self, title: str) -> str:
        """A control's number as text; empty: it has none."""
        return digits(self.numbers.get(title))

    def is_best(self, title: str) -> bool:
        """Whether no control's number is better."""
        own = self.numbers.get(title)
        return own is not None and not any(
            _is_better(self.comparison, other, own) for other in self.numbers.values()
        )

    def is_beaten(self, title: str) -> bool:
        """Whether the control is Waymark, and a current transport is better."""
        return title == OURS and bool(beaten_by(self.comparison, self.numbers))


@dataclass(frozen=True)
class Matrix:
    """Signals by scenarios.

    Attributes:
        signals: what each control reads, by its title; only controls that have a column.
        octets: of a full data packet that carry the signal, by title.
        columns: in the order of the experiments.
    """

    signals: Mapping[str, str]
    octets: Numbers
    columns: Sequence[Column]

    @property
    def scenarios(self) -> list[tuple[str, str, int]]:
        """Id and name of each scenario, and how many columns it has."""
        found: dict[tuple[str, str], int] = {}
        for column in self.columns:
            key = column.experiment, column.scenario
            found[key] = found.get(key, 0) + 1
        return [(*key, count) for key, count in found.items()]


def matrix(tables: Iterable[tuple[Experiment, Mapping[str, str], Numbers]]) -> Matrix:
    """The matrix of experiments: each with the units and the numbers of its table."""
    signals: dict[str, str] = {}
    octets: dict[str, float] = {}
    columns: list[Column] = []
    for experiment, units, numbers in tables:
        shown = [c for c in experiment.comparisons if c.scenario]
        for comparison in shown:
            own = _of(comparison, numbers)
            if not own:
                continue  # a smaller scale lacks the point
            unit = units[comparison.quantity.format(next(iter(own)))]
            measure = comparison.measure if unit == "1" else f"{comparison.measure} ({unit})"
            columns.append(Column(experiment.id, comparison.scenario, measure, own, comparison))
        if shown:
            signals |= experiment.parameters["signals"]
            octets |= {t: numbers[q] for t in signals if (q := OCTETS.format(t)) in numbers}
    measured = {title for column in columns for title in column.numbers}
    signals = {title: reads for title, reads in signals.items() if title in measured}
    return Matrix(signals, octets, columns)


def beaten_by(comparison: Comparison, own: Numbers) -> list[str]:
    """The current transports whose number is better than Waymark's."""
    if OURS not in own:
        return []
    return [
        title
        for title in comparison.rivals
        if title in own and _is_better(comparison, own[title], own[OURS])
    ]


def count(experiment: Experiment, numbers: Numbers) -> int:
    """How many of Waymark's quantities are compared with those of current transports."""
    return sum(OURS in _of(comparison, numbers) for comparison in experiment.comparisons)


def beaten(experiment: Experiment, numbers: Numbers) -> dict[str, list[str]]:
    """Waymark's quantities in which current transports are better, with these transports."""
    found = {
        comparison.quantity.format(OURS): beaten_by(comparison, _of(comparison, numbers))
        for comparison in experiment.comparisons
    }
    return {quantity: by for quantity, by in found.items() if by}


def _of(comparison: Comparison, numbers: Numbers) -> Numbers:
    """The numbers that a table has, by the control's title."""
    named = {title: comparison.quantity.format(title) for title in TITLES}
    return {title: numbers[name] for title, name in named.items() if name in numbers}


def _is_better(comparison: Comparison, one: float, other: float) -> bool:
    """Compare the numbers as they are shown; a missing number (NaN) is never better."""
    one, other = (n if isnan(n) else float(digits(n)) for n in (one, other))
    return one > other if comparison.better == "more" else one < other
