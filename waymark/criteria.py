"""Criteria that claims of experiments have in common."""

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from waymark.experiment import Row, all_of

Criterion = Callable[[Mapping[str, Row]], bool | None]
"""Whether a table, by quantity, meets the claim; None: it has none of the quantities."""


@dataclass(frozen=True)
class AsPrinted:
    """Whether quantities equal the paper's printed numbers; see :func:`as_printed`.

    Attributes:
        quantities: their names.
        within: the largest difference, relative to the printed number.
        within_absolute: the largest difference, in the quantity's unit; the larger limit applies.
    """

    quantities: tuple[str, ...]
    within: float
    within_absolute: float

    def __call__(self, rows: Mapping[str, Row]) -> bool | None:
        """Whether this holds for all quantities in the table; None: the table has none of them."""
        return all_of(
            abs(rows[name].waymark - paper) <= self.margin(paper)
            for name in self.quantities
            if name in rows and (paper := rows[name].paper) is not None
        )

    def margin(self, paper: float) -> float:
        """The greatest difference from a printed number, in its unit."""
        # A few units in the last place are for the subtraction.
        return max(self.within * abs(paper), self.within_absolute) + 1e-12 * abs(paper)


def as_printed(*quantities: str, within: float = 0.0, within_absolute: float = 0.0) -> AsPrinted:
    """Each quantity is this close to the paper's number; equal to it if no width is given.

    Args:
        quantities: their names; tables of smaller scales may lack some.
        within: relative to the printed number, such as 0.05.
        within_absolute: in the quantity's unit, such as half of the last printed digit.
    """
    return AsPrinted(quantities, within, within_absolute)


def as_derived(*quantities: str, within: float = 0.0, within_absolute: float = 0.0) -> Criterion:
    """Each quantity is this close to the number derived from the paper's model; equal to it if no
    width is given.

    Args:
        quantities: their names; tables of smaller scales may lack some.
        within: relative to the derived number.
        within_absolute: in the quantity's unit; the larger limit applies.
    """
    return lambda rows: all_of(
        abs(row.waymark - row.derived)
        <= max(within * abs(row.derived), within_absolute) + 1e-12 * abs(row.derived)
        for row in _known(rows, quantities)
        if row.derived is not None
    )


def together(*criteria: Criterion) -> Criterion:
    """All criteria hold that the table can decide."""
    return lambda rows: all_of(
        holds for criterion in criteria if (holds := criterion(rows)) is not None
    )


def at_least(least: float, *quantities: str) -> Criterion:
    """Each quantity that the table has is ``least`` or more."""
    return lambda rows: all_of(row.waymark >= least for row in _known(rows, quantities))


def at_most(most: float, *quantities: str) -> Criterion:
    """Each quantity that the table has is ``most`` or less."""
    return lambda rows: all_of(row.waymark <= most for row in _known(rows, quantities))


def more_than(bound: float, *quantities: str) -> Criterion:
    """Each quantity that the table has is more than ``bound``."""
    return lambda rows: all_of(row.waymark > bound for row in _known(rows, quantities))


def less_than(bound: float, *quantities: str) -> Criterion:
    """Each quantity that the table has is less than ``bound``."""
    return lambda rows: all_of(row.waymark < bound for row in _known(rows, quantities))


def between(least: float, most: float, *quantities: str) -> Criterion:
    """Each quantity that the table has is in a range, its ends included."""
    return lambda rows: all_of(least <= row.waymark <= most for row in _known(rows, quantities))


def ascending(*quantities: str) -> Criterion:
    """Each quantity is more than the one before it; None where the table lacks one."""
    return lambda rows: _in_order(rows, quantities, operator.lt)


def descending(*quantities: str) -> Criterion:
    """Each quantity is less than the one before it; None where the table lacks one."""
    return lambda rows: _in_order(rows, quantities, operator.gt)


def _known(rows: Mapping[str, Row], quantities: Iterable[str]) -> list[Row]:
    return [rows[name] for name in quantities if name in rows]


def _in_order(
    rows: Mapping[str, Row], quantities: tuple[str, ...], order: Callable[[float, float], bool]
) -> bool | None:
    known = _known(rows, quantities)
    if len(known) < len(quantities):
        return None
    numbers = [row.waymark for row in known]
    return all(order(one, next_) for one, next_ in pairwise(numbers))
