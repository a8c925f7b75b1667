"""How evenly flows share a link."""

from collections.abc import Sequence


def jain(shares: Sequence[float]) -> float:
    """Jain's fairness index: 1 where all shares are equal, 1/n where one flow has all.

    Jain, Chiu and Hawe 1984; Chan 2004, eq. 5.3.
    """
    squares = sum(share * share for share in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else 1.0
