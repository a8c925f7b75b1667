"""Quantities as people write them in topology files: ``"1.6 Mb/s"``, ``"20 ms"``.

Rates are in bits per second and times in seconds wherever a number has no unit of its own;
prefixes are decimal, as in the papers and in ns-2 (1.6 Mb/s = 1 600 000 bits per second).
"""

import re
from collections.abc import Mapping

from waymark.errors import WaymarkError

_RATES: Mapping[str, float] = {"b/s": 1, "kb/s": 10**3, "Mb/s": 10**6, "Gb/s": 10**9}
_TIMES: Mapping[str, float] = {"ns": 10**-9, "us": 10**-6, "µs": 10**-6, "ms": 10**-3, "s": 1}
_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)\s*(\S*)\s*")


def parse_rate(text: str | float) -> float:
    """Bits per second from ``"1.6 Mb/s"``; a bare number is taken as bits per second."""
    return _parse(text, _RATES, "rate", "1.6 Mb/s")


def parse_time(text: str | float) -> float:
    """Seconds from ``"20 ms"``; a bare number is taken as seconds."""
    return _parse(text, _TIMES, "time", "20 ms")


def _parse(text: str | float, units: Mapping[str, float], what: str, example: str) -> float:
    if isinstance(text, int | float) and not isinstance(text, bool):
        return float(text)
    match = _QUANTITY.fullmatch(str(text))
    if match is None or match[2] not in units:
        raise WaymarkError(
            f'{text!r} is not a {what}: write a number and a unit, such as "{example}" '
            f"(units: {', '.join(units)})"
        )
    # Dividing keeps 20 ms at the float nearest to 0.02, where multiplying by 1e-3 need not.
    factor = units[match[2]]
    number = float(match[1])
    return number * factor if factor >= 1 else number / round(1 / factor)


def format_rate(bps: float) -> str:
    """``"1.6 Mb/s"`` from bits per second, in the largest unit of which there is at least 1."""
    for unit, factor in reversed(list(_RATES.items())):
        if bps >= factor:
            return f"{bps / factor:g} {unit}"
    return f"{bps:g} b/s"
