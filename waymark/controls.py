"""The compiled congestion controls: what each does, its source, settings and needs.

Each control's file in ``crates/congestion/src`` describes it. ``waymark controls``, flows, plots
and the table of ``docs/controls.md`` use these descriptions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from waymark import _core
from waymark.errors import WaymarkError, suggestion

Mark = Literal["AQT", "AVBW-S", "CI", "CSIG", "INT", "TCP-INT"]
"""What hops write: accumulated queueing time; the smallest DRAI, in the AVBW-S option; congestion
indication; the worst hop's delay and available bandwidth, in a tag; in-band network telemetry; the
sum of the hops' latencies, in a TCP option."""

Value = float | bool
"""The value of a control's setting."""


@dataclass(frozen=True)
class Setting:
    """A setting of a congestion control.

    Attributes:
        name: its key in ``Flow(settings=…)``.
        summary: its meaning.
        default: the default value; None: the control finds a value itself.
        valid: the smallest and the largest number; None: it is True or False.
    """

    name: str
    summary: str
    default: Value | None
    valid: tuple[float, float] | None

    @property
    def default_text(self) -> str:
        """The default after a space; empty without one."""
        if self.default is None:
            return ""
        if isinstance(self.default, bool):
            return f" {str(self.default).lower()}"
        return f" {self.default:g}"


@dataclass(frozen=True)
class Control:
    """A congestion control.

    Attributes:
        name: for ``Flow(algorithm=…)``.
        title: its name as the papers print it.
        summary: what it does.
        source: the paper or RFC.
        recovery: the loss recovery in the ns-2 profiles; empty: it needs the modern profile, which
            has its own (RACK-TLP).
        marks: the switches' marks that it reads.
        needs: what else it needs.
        settings: the settings for ``Flow(settings=…)``.
    """

    name: str
    title: str
    summary: str
    source: str
    recovery: str
    marks: tuple[Mark, ...]
    needs: str
    settings: tuple[Setting, ...]

    @property
    def is_modern_only(self) -> bool:
        """Whether it needs the modern profile."""
        return not self.recovery

    @property
    def reads_ecn(self) -> bool:
        """Whether it needs every ECN mark echoed."""
        return self.has_need("ECN")

    def has_need(self, name: str) -> bool:
        """Whether ``needs`` has this name, such as ``trimming``."""
        return name in self.needs.split(", ")


def _control(described: "_core.ControlDescription") -> Control:
    modern = described["modern_only"]
    return Control(
        described["name"],
        described["label"],
        described["summary"],
        described["source"],
        "" if modern else described["recovery"],
        tuple(described["marks"]),
        ", ".join([*(["modern profile"] if modern else []), *described["needs"]]),
        tuple(Setting(**setting) for setting in described["settings"]),
    )


CONTROLS = tuple(_control(described) for described in _core.controls())

BY_NAME: Mapping[str, Control] = {control.name: control for control in CONTROLS}


def select(patterns: tuple[str, ...]) -> tuple[Control, ...]:
    """The controls that match these names or patterns (``'*vegas'``); without patterns, all
    controls.

    Raises:
        WaymarkError: a pattern matches no control.
    """
    names = list(BY_NAME)
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise WaymarkError(f"no control matches {pattern!r}; {suggestion(pattern, names)}")
    chosen = {name for name in names for pattern in patterns or "*" if fnmatchcase(name, pattern)}
    return tuple(control for control in CONTROLS if control.name in chosen)


def invalid_settings(name: str, settings: Mapping[str, Value]) -> str | None:
    """The error in the settings of a control, with the valid values; None: there is no error."""
    try:
        _core.check_settings(name, settings)
    except _core.ScenarioError as error:
        return str(error)
    except TypeError:
        return f"found {dict(settings)!r}; valid: numbers, True and False by name"
    return None


def markdown() -> str:
    """The table of ``docs/controls.md``."""
    lines = [
        "| name | control | source | recovery | marks | needs | settings |",
        "| --- " * 7 + "|",
    ]
    for control in CONTROLS:
        marks = ", ".join(control.marks)
        settings = ", ".join(f"`{one.name}`{one.default_text}" for one in control.settings)
        cells = (control.summary, control.source, control.recovery, marks, control.needs, settings)
        lines.append(f"| `{control.name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
