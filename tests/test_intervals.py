"""Confidence intervals: Student's t, and how often Fieller's interval has the true ratio."""

import random

import pytest

from waymark.analysis import intervals


def test_students_t_is_as_tables_print_it() -> None:
    assert intervals.student_t(1) == 12.706
    assert intervals.student_t(10) == 2.228
    for degrees, printed in ((31, 2.040), (40, 2.021), (60, 2.000), (120, 1.980)):
        assert intervals.student_t(degrees) == pytest.approx(printed, abs=1e-3)


def test_one_seed_has_no_interval() -> None:
    assert intervals.of_mean([1.0]) is None
    assert intervals.of_ratio([1.0], [2.0]) is None


def test_a_mean_has_its_textbook_interval() -> None:
    # Mean 3, s^2 = 2.5, s / sqrt(5) = 0.7071, times 2.776.
    assert intervals.of_mean([1, 2, 3, 4, 5]) == pytest.approx((1.037, 4.963), abs=1e-3)


def test_a_ratio_to_a_constant_has_the_interval_of_its_numerator() -> None:
    above = [1.0, 2.0, 3.0, 4.0, 5.0]
    low, high = intervals.of_mean(above) or (0, 0)
    assert intervals.of_ratio(above, [2.0] * 5) == pytest.approx((low / 2, high / 2))


def test_a_denominator_that_may_be_zero_bounds_nothing() -> None:
    assert intervals.of_ratio([1.0, 2.0], [-1.0, 1.1]) is None
    assert intervals.of_ratio([1.0, 2.0], [0.0, 0.0]) is None


def test_the_interval_of_a_ratio_has_the_true_one_in_95_percent() -> None:
    source = random.Random(1)
    hits, trials = 0, 4000
    for _ in range(trials):
        below = [source.gauss(10, 2) for _ in range(5)]
        above = [2 * x + source.gauss(0, 3) for x in below]
        low, high = intervals.of_ratio(above, below) or (0, 0)
        hits += low <= 2 <= high
    assert hits / trials == pytest.approx(0.95, abs=0.011)  # three standard errors
