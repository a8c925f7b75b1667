"""Marks that a user declares: IPv4 options whose fields hops write and receivers echo.

``docs/new-mark.md`` is a tutorial. On the wire, an option has its type, its length, its fields, and
the same fields once more, in which an acknowledgement echoes what the data collected.
"""

import keyword
import re
from collections import namedtuple
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast, get_args

from waymark.errors import WaymarkError, check_choice

Aggregation = Literal["sum", "min", "max", "last"]
"""A hop's operation on a field: add to it, keep the smaller or the larger value, or replace it."""

OPTION_OCTETS = 40
"""Space for options in an IPv4 header: 60 octets without the fixed 20."""

MAX_FIELDS = 8
"""Fields of all marks of a control."""

_TAKEN = {0x5E: "AQT", 0xDE: "AVBW-S", 0x00: "the end of the options", 0x01: "padding (NOP)"}
# https://www.iana.org/assignments/ip-parameters, without the types for experiments.
_ASSIGNED = frozenset(
    {7, 10, 11, 12, 15, 25, 68, 82, 130, 131, 133, 134, 136, 137, 142, 144, 145, 147, 148, 149, 151}
    | {152, 205}
)
_FREE = "0x1e and 0x9e are for experiments (RFC 4727)"


@dataclass(frozen=True)
class Field:
    """A field of a mark, an unsigned number.

    Attributes:
        name: letters, digits and underscores.
        bits: its width, 1 to 64.
        aggregation: a hop's operation, which determines the initial value: ``"sum"``, ``"max"`` and
            ``"last"`` begin at 0, ``"min"`` at the largest value. If one acknowledgement covers
            several data packets, it echoes the smallest (``"min"``), the largest (``"max"``) or the
            newest value of theirs.

    Raises:
        WaymarkError: a name, a width or an aggregation is not valid.
    """

    name: str
    bits: int
    aggregation: Aggregation

    def __post_init__(self) -> None:
        _check_name("field", self.name)
        where = f"field {self.name}"
        if not _is_int(self.bits) or not 1 <= self.bits <= 64:
            raise WaymarkError(f"{where}: bits: found {self.bits!r}; valid: 1 to 64")
        check_choice(f"{where}: aggregation", self.aggregation, get_args(Aggregation))

    @property
    def initial(self) -> int:
        """Its value before any hop: the sender's."""
        return 2**self.bits - 1 if self.aggregation == "min" else 0


@dataclass(frozen=True)
class Mark:
    """An IPv4 option that hops write into.

    Attributes:
        name: letters, digits and underscores; the key of :attr:`waymark.AckEvent.marks`.
        option: the option's type, 2 to 255. 0x1e and 0x9e are for experiments (RFC 4727).
        fields: in the order of the header, whole octets in all.

    Raises:
        WaymarkError: the declaration is not valid.
    """

    name: str
    option: int
    fields: tuple[Field, ...]

    def __post_init__(self) -> None:
        _check_name("mark", self.name)
        where = f"mark {self.name}"
        if not _is_int(self.option) or not 0 <= self.option <= 255:
            raise WaymarkError(f"{where}: option: found {self.option!r}; valid: 2 to 255; {_FREE}")
        if self.option in _TAKEN:
            meaning = _TAKEN[self.option]
            raise WaymarkError(f"{where}: option {self.option:#04x} is used by {meaning}; {_FREE}")
        if self.option in _ASSIGNED:
            raise WaymarkError(
                f"{where}: option {self.option:#04x} is assigned by IANA to another use; {_FREE}"
            )
        if not _is_tuple_of(Field, self.fields):
            raise WaymarkError(
                f"{where}: fields: found {self.fields!r}; valid: a tuple of waymark.Field, such as "
                '(Field("depth", 16, "max"),)'
            )
        _check_distinct(f"{where}: names in the header", [name for name, _ in self._header])
        bits = sum(field.bits for field in self.fields)
        if bits == 0 or bits % 8 != 0:
            raise WaymarkError(
                f"{where}: its fields have {bits} bits in all; valid: a multiple of 8, 8 or more"
            )

    @property
    def _header(self) -> list[tuple[str, int]]:
        """Names and widths of all parts of the option."""
        fields = [(field.name, field.bits) for field in self.fields]
        echo = [(f"{name}_echo", bits) for name, bits in fields]
        return [("option_type", 8), ("length", 8), *fields, *echo]

    @property
    def octets(self) -> int:
        """The option's length: type, length, the fields and their echo; without padding."""
        return 2 + 2 * sum(field.bits for field in self.fields) // 8

    @property
    def values(self) -> type[Any]:
        """The class of its values, a named tuple with one number per field."""
        return _values(self.name, tuple(field.name for field in self.fields))

    def p4_header(self) -> str:
        """The option as a P4 header, ``<name>_h``."""
        notes = {"option_type": f"  // {self.option:#04x}", "length": f"  // {self.octets}"}
        fields = [f"    bit<{bits}> {name};{notes.get(name, '')}\n" for name, bits in self._header]
        return f"header {self.name}_h {{\n{''.join(fields)}}}\n"

    def to_core(self) -> dict[str, Any]:
        """The mark in the core's format (``crates/netsim/src/scenario/mark.rs``)."""
        fields = [{"bits": f.bits, "aggregation": f.aggregation} for f in self.fields]
        return {"option": self.option, "fields": fields}


def check_marks(where: str, marks: tuple[Mark, ...], others: int) -> None:
    """Refuse marks that one packet cannot carry.

    Args:
        where: the owner of the marks, for the message.
        marks: the declared marks.
        others: octets of the options AQT and AVBW-S that the packet carries too.

    Raises:
        WaymarkError: ``marks`` is not a tuple of marks, a name or option type occurs twice, or the
            header has no room.
    """
    if not _is_tuple_of(Mark, marks):
        raise WaymarkError(f"{where}: found {marks!r}; valid: a tuple of waymark.Mark")
    _check_distinct(where, [mark.name for mark in marks])
    _check_distinct(f"{where}: option types", [f"{mark.option:#04x}" for mark in marks])
    fields = sum(len(mark.fields) for mark in marks)
    if fields > MAX_FIELDS:
        raise WaymarkError(f"{where}: {fields} fields; valid: at most {MAX_FIELDS} in all marks")
    octets = sum(mark.octets for mark in marks)
    padded = others + -(-octets // 4) * 4
    if padded > OPTION_OCTETS:
        beside = f" and {others} of AQT and AVBW-S" if others else ""
        raise WaymarkError(
            f"{where}: {octets} octets of options{beside} make an IPv4 header of {20 + padded} "
            f"octets; valid: at most {20 + OPTION_OCTETS}"
        )


def _check_name(what: str, name: object) -> None:
    if not isinstance(name, str) or not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name):
        raise WaymarkError(
            f"{what}: name: found {name!r}; valid: ASCII letters, digits and underscores, a letter "
            "first"
        )
    if keyword.iskeyword(name):
        raise WaymarkError(f"{what}: name: {name!r} is a keyword of Python; valid: any other name")


def _check_distinct(where: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise WaymarkError(f"{where}: {name} occurs {names.count(name)} times; valid: once")


def _is_tuple_of(kind: type, value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, kind) for one in cast("Any", value))


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@cache
def _values(name: str, fields: tuple[str, ...]) -> type[Any]:
    return namedtuple(name, fields)  # pyright: ignore
