"""Confidence intervals over seeds: of a mean, and of a ratio of means."""

import math
from collections.abc import Sequence
from statistics import covariance, fmean, variance

# Student's t at 97.5 % with 1 to 30 degrees of freedom.
_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


def student_t(degrees: int) -> float:
    """Student's t at 97.5 %, within 0.001; ``degrees`` of freedom are at least 1."""
    if degrees <= len(_T):
        return _T[degrees - 1]
    # Cornish and Fisher's expansion around the normal distribution's quantile.
    z = 1.959964
    return z + (z**3 + z) / (4 * degrees) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)


def of_mean(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % confidence interval of a mean over seeds; None with less than two values."""
    if len(values) < 2:
        return None
    half = student_t(len(values) - 1) * math.sqrt(variance(values) / len(values))
    return fmean(values) - half, fmean(values) + half


def of_ratio(
    numerators: Sequence[float], denominators: Sequence[float]
) -> tuple[float, float] | None:
    """The 95 % confidence interval of a ratio of two means over the same seeds (Fieller 1954).

    None with less than two seeds, or where the denominators' mean does not differ from 0.
    """
    n = len(numerators)
    if n < 2:
        return None
    above, below = fmean(numerators), fmean(denominators)
    v_above, v_below = variance(numerators) / n, variance(denominators) / n
    both = covariance(numerators, denominators) / n
    t2 = student_t(n - 1) ** 2
    # The ends are the roots of a x^2 - 2 b x + c: the ratios that a t test would not reject.
    a = below**2 - t2 * v_below
    b = above * below - t2 * both
    c = above**2 - t2 * v_above
    if a <= 0:
        return None
    half = math.sqrt(max(0.0, b * b - a * c))
    return (b - half) / a, (b + half) / a
