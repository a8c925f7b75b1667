"""Numbers as the thesis prints them: each is one run's, rounded to its last digit."""

from collections.abc import Mapping

from waymark import Expectation, criteria

CRITERION = (
    "within half of the last printed digit; the thesis reports no spread over runs, and prints "
    "{digits}"
)


def as_printed(
    what: str, digits: str, decimals: Mapping[str, int], variant: str = ""
) -> Expectation:
    """The claim that quantities equal their printed numbers.

    Args:
        what: the quantities, in plural.
        digits: what the thesis prints of them, in words.
        decimals: how many decimals it prints of each.
        variant: as of :class:`Expectation`.
    """
    return Expectation(
        f"{what} are as printed",
        CRITERION.format(digits=digits),
        criteria.together(
            *(
                criteria.as_printed(quantity, within_absolute=0.5 * 10.0**-places)
                for quantity, places in decimals.items()
            )
        ),
        variant,
    )
