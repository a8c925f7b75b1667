"""RED, random early detection (Floyd and Jacobson 1993), as the steps of table ``red``.

The drop probability rises from 0 at thmin to pmax at thmax, and is 1 above (not "gentle"). A table
has no slope, so the rise consists of equal steps, each with the probability of its middle. The
average counts waiting packets without the one in service, with 16 fractional bits; probabilities
are in units of 2^-16. Drops are spaced as in ns-2: a gap between two drops is 1 to 2 times the
inverse of the probability, 1.5 times on average.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from waymark.drai import MAX_DEPTH

CERTAIN = 2**16
"""The probability 1."""

STEPS = 16
"""Steps from thmin to thmax: they are within pmax/32 of the line."""

FRACTION_BITS = 16
MAX_AVERAGE = 2**48 - 1  # bit<48>
MAX_W = 15  # bit<4>


@dataclass(frozen=True)
class Red:
    """RED on one queue.

    Attributes:
        thmin: no drops below this average, waiting packets.
        thmax: all dropped from this average on, waiting packets.
        pmax: the probability just below thmax, above 0 and at most 1.
        w: each arrival weighs 2^-w in the average, 0 to 15; 9 is the paper's 0.002.
    """

    thmin: float
    thmax: float
    pmax: float
    w: int = 9


@dataclass(frozen=True)
class ConstantDrop:
    """The same drop probability for every packet, independent of the queue: RED's table with one
    step, and no spacing.

    Attributes:
        probability: above 0 and at most 1.
    """

    probability: float
    w: int = 0


@dataclass(frozen=True)
class RedStep:
    """An entry of table ``red``.

    Attributes:
        bounds: from and to: of the average in waiting packets · 2^16, or of the depth in cells.
        probability: in 2^16ths.
        spaced: whether drops are spaced, or independent.
    """

    bounds: tuple[int, int]
    probability: int
    spaced: bool = True


def red_steps(red: Red | ConstantDrop) -> list[RedStep]:
    """The steps from thmin to thmax, and certain drops above; nothing below thmin."""
    if isinstance(red, ConstantDrop):
        probability = min(2**16 - 1, round(red.probability * 2**16))
        return [RedStep((0, MAX_AVERAGE), probability, spaced=False)]
    bounds = [
        ceil((red.thmin + (red.thmax - red.thmin) * step / STEPS) * 2**FRACTION_BITS)
        for step in range(STEPS + 1)
    ]
    stair = [
        RedStep((low, high - 1), round(red.pmax * (step + 0.5) / STEPS * 2**16))
        for step, (low, high) in enumerate(pairwise(bounds))
        if low < high
    ]
    return [*stair, RedStep((bounds[-1], MAX_AVERAGE), CERTAIN)]


def red_steps_of_depth(red: Red | ConstantDrop, cells: int) -> list[RedStep]:
    """The same steps of the depth that a packet found, for programs without an average.

    Args:
        red: its ``w`` has no effect.
        cells: of the packet buffer that a waiting packet takes.

    Returns:
        Steps for whole numbers of waiting packets; a step that covers none is omitted.
    """
    steps: list[RedStep] = []
    for step in red_steps(red):
        first, last = (bound >> FRACTION_BITS for bound in step.bounds)
        first += step.bounds[0] % 2**FRACTION_BITS > 0
        depths = (first * cells, min((last + 1) * cells - 1, MAX_DEPTH))
        if depths[0] <= depths[1]:
            steps.append(RedStep(depths, step.probability, step.spaced))
    return steps
