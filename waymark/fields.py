"""Fields of a file's model (pydantic) that topologies and controllers share."""

from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from waymark.drai import MAX_DEPTH
from waymark.dual_pi2 import MAX_COUPLING, MAX_US, DualPi2
from waymark.errors import WaymarkError
from waymark.red import MAX_W, Red
from waymark.trim import LEAST_OCTETS, MOST_OCTETS, Trim
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


_SCHEMA = WithJsonSchema({"type": ["number", "string"]})

Rate = Annotated[float, BeforeValidator(_rate), _SCHEMA]
"""Bits per second, at least 1, from what :func:`waymark.units.parse_rate` reads."""

Time = Annotated[float, BeforeValidator(_time), _SCHEMA]
"""Seconds, from what :func:`waymark.units.parse_time` reads."""

Mac = Annotated[
    str, Field(pattern=r"^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$"), AfterValidator(str.lower)
]
"""A MAC address, in lower case."""


MAX_S = MAX_US / 1e6
"""Of a time that a program has as 32 bits of µs."""


class DualPi2Settings(BaseModel):
    """DualPI2 at a port."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    target: Time = Field(
        0.015, le=MAX_S, description="0 to 4294 s: the target delay of the Classic queue"
    )
    step: Time = Field(
        0.001, le=MAX_S, description="0 to 4294 s: L4S packets that waited longer are marked"
    )
    coupling: int = Field(2, ge=0, le=MAX_COUPLING, strict=True, description="0 to 255: k")
    alpha: float = Field(0.16, ge=0, le=15, description="0 to 15 Hz")
    beta: float = Field(3.2, ge=0, le=15, description="0 to 15 Hz")

    def to_dual_pi2(self) -> DualPi2:
        """The settings for `waymark.dual_pi2`."""
        return DualPi2(self.target, self.step, self.coupling, self.alpha, self.beta)


class TrimSettings(BaseModel):
    """Packet trimming at a port."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    octets: int = Field(
        Trim.octets,
        ge=LEAST_OCTETS,
        le=MOST_OCTETS,
        strict=True,
        description=f"{LEAST_OCTETS} to {MOST_OCTETS}: what is left of a frame",
    )
    queue: int = Field(
        Trim.queue_packets,
        ge=2,
        le=MAX_DEPTH,
        strict=True,
        description="2 or more trimmed packets",
    )

    def to_trim(self) -> Trim:
        """The settings for `waymark.trim`."""
        return Trim(self.octets, self.queue)


class RedSettings(BaseModel):
    """RED on a queue; thresholds are waiting packets."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    thmin: float = Field(
        ge=0, description="0 or more packets: below this average, no packet is dropped"
    )
    thmax: float = Field(
        gt=0, description="packets, above thmin: from this average on, all packets are dropped"
    )
    pmax: float = Field(gt=0, le=1, description="a probability above 0, at most 1")
    w: int = Field(
        9,
        ge=0,
        le=MAX_W,
        strict=True,
        description="0 to 15: an arrival has weight 2^-w in the average",
    )

    def to_red(self) -> Red:
        """The settings for `waymark.red`."""
        return Red(self.thmin, self.thmax, self.pmax, self.w)
