"""Quantities as fields of a file's model (pydantic), which topologies and controllers share."""

from collections.abc import Callable
from typing import Annotated

from pydantic import BeforeValidator

from waymark.errors import WaymarkError
from waymark.units import parse_rate, parse_time


def _quantity(value: object, parse: Callable[[str | float], float], what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"not a {what}")
    try:
        return parse(value)
    except WaymarkError as error:
        raise ValueError(f"not a {what}") from error


def _rate(value: object) -> float:
    rate_bps = _quantity(value, parse_rate, "rate")
    if rate_bps < 1:
        raise ValueError("less than 1 b/s")
    return rate_bps


def _time(value: object) -> float:
    return _quantity(value, parse_time, "time")


Rate = Annotated[float, BeforeValidator(_rate)]
"""Bits per second, at least 1, from what :func:`waymark.units.parse_rate` reads."""

Time = Annotated[float, BeforeValidator(_time)]
"""Seconds, from what :func:`waymark.units.parse_time` reads."""
