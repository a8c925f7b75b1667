"""Applications of a Tofino's packet generator, for ``waymark switch --generator``."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waymark import units
from waymark.errors import WaymarkError

_TIMERS: Mapping[str, str] = {"once": "after", "periodic": "period"}
"""Triggers that are timers, with the key of their time."""

_PATTERNS = ("recirculated", "deparser")
"""Triggers with a pattern."""

_TRIGGERS = (*_TIMERS, "port_down", *_PATTERNS)

_BURST = ("batches", "packets", "packet_gap", "batch_gap")

_PATTERN_OCTETS = 16
"""First octets of a recirculated packet (Tofino 1: 4), or of a context, that can be compared."""


@dataclass(frozen=True)
class GeneratorApp:
    """An application: the trigger of a burst of packets, and the burst."""

    pipe: int
    number: int
    """Of the application in its pipe: ``app_id`` of the header in front of its packets."""
    trigger: str
    """``once``, ``periodic``, ``port_down``, ``recirculated`` or ``deparser``, all of the pipe."""
    packet: bytes
    """The packet behind that header."""
    time_ns: int = 0
    """Of a timer: until the burst, or from one burst to the next."""
    pattern: bytes = b""
    """First octets of a recirculated packet or of a deparser's context that begins a burst."""
    mask: bytes = b""
    """The bits of them that are compared."""
    batches: int = 1
    packets: int = 1
    """Packets of each batch."""
    packet_gap_ns: int = 0
    """From one packet of a batch to the next."""
    batch_gap_ns: int = 0
    """From the start of a batch to that of the next."""


def read(file: Path) -> list[GeneratorApp]:
    """Read a file of applications, as docs/p4-support.md describes it.

    Raises:
        WaymarkError: the file cannot be read or is invalid; the message gives the place.
    """
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise WaymarkError(f"{file}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WaymarkError(f"{file}: {error}") from error
    apps = document.get("app")
    if set(document) != {"app"} or not isinstance(apps, list):
        found = ", ".join(document) or "nothing"
        raise WaymarkError(f"{file}: expected tables [[app]], found {found}")
    read: list[GeneratorApp] = []
    for at, table in enumerate(apps):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        place = f"{file}: app[{at}]"
        if not isinstance(table, dict):
            raise WaymarkError(f"{place}: expected a table [[app]]")
        app = _Table(table, place).app()  # pyright: ignore[reportUnknownArgumentType]
        if any((app.pipe, app.number) == (other.pipe, other.number) for other in read):
            raise WaymarkError(f"{place}: application {app.number} of pipe {app.pipe} occurs twice")
        read.append(app)
    return read


@dataclass(frozen=True)
class _Table:
    """A table ``[[app]]`` and its place."""

    values: dict[str, Any]
    place: str

    def app(self) -> GeneratorApp:
        trigger = self._value("trigger")
        if trigger not in _TRIGGERS:
            raise self._wrong("trigger", ", ".join(_TRIGGERS[:-1]) + f" or {_TRIGGERS[-1]}")
        time = _TIMERS.get(trigger)
        keys = ["pipe", "number", "trigger", "packet", *_BURST]
        keys += [time] if time else ["pattern", "mask"] if trigger in _PATTERNS else []
        for key in self.values:
            if key not in keys:
                raise WaymarkError(
                    f'{self.place}: no key `{key}` with the trigger "{trigger}"; '
                    f"valid: {', '.join(keys)}"
                )
        pattern = self._octets("pattern") if "pattern" in keys else b""
        mask = self._octets("mask", b"\xff" * len(pattern)) if "mask" in keys else b""
        if len(pattern) > _PATTERN_OCTETS:
            raise self._wrong("pattern", f"at most {_PATTERN_OCTETS} octets")
        if len(mask) != len(pattern):
            raise self._wrong("mask", f"as many octets as in `pattern` ({len(pattern)})")
        return GeneratorApp(
            pipe=self._number("pipe", 255, 0),
            number=self._number("number", 255),
            trigger=trigger,
            packet=self._octets("packet"),
            time_ns=self._time(time) if time else 0,
            pattern=pattern,
            mask=mask,
            batches=self._number("batches", 2**32 - 1, 1),
            packets=self._number("packets", 2**32 - 1, 1),
            packet_gap_ns=self._time("packet_gap", 0),
            batch_gap_ns=self._time("batch_gap", 0),
        )

    def _value(self, key: str) -> Any:
        if key not in self.values:
            raise WaymarkError(f"{self.place}: `{key}` is missing")
        return self.values[key]

    def _wrong(self, key: str, expected: str) -> WaymarkError:
        return WaymarkError(f"{self.place}: {key}: expected {expected}, found {self.values[key]!r}")

    def _number(self, key: str, largest: int, default: int | None = None) -> int:
        value = self._value(key) if default is None else self.values.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= largest:
            raise self._wrong(key, f"a number from 0 to {largest}")
        return value

    def _octets(self, key: str, default: bytes | None = None) -> bytes:
        if default is not None and key not in self.values:
            return default
        value = self._value(key)
        try:
            return bytes.fromhex(value)
        except (TypeError, ValueError):
            raise self._wrong(key, 'octets in hexadecimal, such as "00 11 aa ff"') from None

    def _time(self, key: str, default: int | None = None) -> int:
        if default is not None and key not in self.values:
            return default
        value = self._value(key)
        try:
            ns = round(units.parse_time(value) * 1e9)
        except WaymarkError:
            raise self._wrong(key, units.TIME) from None
        if ns >= 2**63:
            raise self._wrong(key, "less than 292 years")
        return ns
