"""Quantities in files and on the command line: ``"1.6 Mb/s"``, ``"20 ms"``.

All use one grammar: a number, an optional space, a unit. A number without a unit is in bits per
second, in seconds or in octets. Prefixes of rates are decimal and of either case, as in the papers,
ns-2 and tc(8): 1.6 Mb/s = 1.6mbit = 1.6Mbps = 1 600 000 bits per second (tc reads "bps" as bytes).
Sizes have decimal (kB, MB) and binary (KiB, MiB) prefixes.
"""

import math
import re
from collections.abc import Callable, Mapping

from waymark.errors import WaymarkError

_PREFIXES: Mapping[str, int] = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_RATES: Mapping[str, float] = {
    f"{prefix}{unit}": factor
    for prefix, factor in _PREFIXES.items()
    for unit in ("b/s", "bit/s", "bits/s", "bps", "bit")
}
_TIMES: Mapping[str, float] = {
    name: factor
    for factor, names in {
        1e-9: ("ns", "nsec", "nsecs"),
        1e-6: ("us", "µs", "μs", "usec", "usecs"),  # the micro sign, and the Greek letter
        1e-3: ("ms", "msec", "msecs"),
        1: ("s", "sec", "secs"),
        60: ("min",),
        3600: ("h",),
    }.items()
    for name in names
}
_SIZES: Mapping[str, float] = {
    "b": 1, "octets": 1, "bytes": 1,
    "kb": 10**3, "mb": 10**6, "gb": 10**9,
    "kib": 2**10, "mib": 2**20, "gib": 2**30,
}  # fmt: skip
_QUANTITY = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)\s*(\S*)\s*")

RATE = '"1.6 Mb/s" or 1.6mbit (b/s, kb/s, Mb/s, Gb/s)'
"""The format of a rate, for messages and descriptions."""

TIME = '"20 ms" or 20ms (ns, us, ms, s, min, h)'
"""The format of a time."""

SIZE = '"10 MB" or 10MiB (octets, kB, MB, GB, KiB, MiB, GiB)'
"""The format of a size."""


def parse_rate(text: str | float) -> float:
    """Bits per second from ``"1.6 Mb/s"``; a bare number is taken as bits per second.

    Raises:
        WaymarkError: it is not a rate; one in bytes per second is refused.
    """

    def factor(unit: str) -> float | None:
        in_bytes = re.search(r"B(/s|ps)?$|B(yte|YTE)", unit) is not None
        return None if in_bytes else _RATES.get(unit.lower())

    return _parse(text, factor, "rate", RATE)


def parse_time(text: str | float) -> float:
    """Seconds from ``"20 ms"``; a bare number is taken as seconds.

    Raises:
        WaymarkError: it is not a time.
    """
    return _parse(text, _TIMES.get, "time", TIME)


def parse_size(text: str | float) -> int:
    """Octets from ``"10 MB"``; a bare number is taken as octets.

    Raises:
        WaymarkError: it is not a size.
    """
    return round(_parse(text, lambda unit: _SIZES.get(unit.lower()), "size", SIZE))


def _parse(
    text: str | float, factor_of: Callable[[str], float | None], what: str, expected: str
) -> float:
    number = factor = None
    if isinstance(text, int | float) and not isinstance(text, bool):
        number, factor = float(text), 1.0
    elif match := _QUANTITY.fullmatch(str(text)):
        number, factor = float(match[1]), factor_of(match[2]) if match[2] else 1.0
    quantity = math.nan
    if number is not None and factor is not None:
        # Dividing gives the float nearest to 0.02 for 20 ms; multiplying by 1e-3 may not.
        quantity = number * factor if factor >= 1 else number / round(1 / factor)
    if not 0 <= quantity < math.inf:
        raise WaymarkError(f"{text!r} is not a {what}; expected a number and a unit: {expected}")
    return quantity


def format_rate(bps: float) -> str:
    """``"1.6 Mb/s"`` from bits per second, in the largest unit of which there is at least 1."""
    for unit, factor in (("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3)):
        if bps >= factor:
            return f"{bps / factor:g} {unit}"
    return f"{bps:g} b/s"
