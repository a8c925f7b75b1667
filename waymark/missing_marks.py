"""Marks that a congestion control reads and no switch of its network writes."""

import re
from collections.abc import Iterator, Mapping, Sequence

from waymark import congestion, program
from waymark.congestion import MARKS, Custom
from waymark.controls import BY_NAME
from waymark.entries import PROGRAM_OF, writes
from waymark.mark import Mark
from waymark.topology import Topology
from waymark.traffic import Algorithm

_FEEDBACK = {"AQT": "aqt", "AVBW-S": "drai", "CI": "ci", "avbw": "drai"}
"""The switch's setting (``Switch.feedback``) for each mark's name."""


def missing_marks(
    name: str,
    topology: Topology,
    controls: Mapping[str, Algorithm | Custom],
    *,
    option: str | None = None,
) -> list[str]:
    """A sentence for each control that reads marks that no switch writes.

    Args:
        name: the network's name in the sentences.
        controls: by their names in the sentences.
        option: the command's option that makes all switches write the given marks.
    """
    return [
        sentence
        for label, control in controls.items()
        for sentence in _missing(label, control, name, topology, option)
    ]


def _missing(
    label: str, control: Algorithm | Custom, name: str, topology: Topology, option: str | None
) -> Iterator[str]:
    written = {mark for switch in topology.switches for mark in switch.feedback}
    programs = dict.fromkeys(switch.program for switch in topology.switches)
    marking = any(
        link.ecn_threshold is not None or link.dual_pi2 is not None for link in topology.links
    )
    if isinstance(control, str) and BY_NAME[control].reads_ecn and not marking:
        yield (
            f"{label} reads ECN marks, which no link of {name} sets: add "
            f"{_ecn_settings(control)} to its switches"
        )
    marks = _marks_of(control)
    for mark in (mark for mark in PROGRAM_OF if mark in marks):
        if not any(writes(mark, program.of_project(one).tables) for one in programs):
            yield (
                f"{label} reads {mark}, which no switch of {name} writes: add "
                f"program: {PROGRAM_OF[mark]} to its switches"
            )
    missing = [mark for mark in marks if mark not in written and mark not in PROGRAM_OF]
    if missing:
        wanted = [*sorted(written), *missing]
        setting = (
            f"{option} {','.join(wanted)}"
            if option
            else f"feedback: [{', '.join(wanted)}] to its switches"
        )
        yield (
            f"{label} reads {', '.join(missing)}, which no switch of {name} writes: add {setting}"
        )
    for mark in _declared(control):
        if not any(_knows(one, mark) for one in programs):
            yield (
                f"{label} reads {mark.name}, which no switch of {name} writes: no "
                f"program has a header with its fields or its option type, "
                f"{mark.option:#04x}; add program: FILE.p4 to its switches"
            )


def _ecn_settings(control: Algorithm) -> str:
    """The requirements on a link and a switch to set the marks that a congestion control reads."""
    if BY_NAME[control].has_need("L4S"):
        return "dual_pi2: {} to its links, and program: v1model/l4s.p4"
    marking = "trim" if BY_NAME[control].has_need("trimming") else "ecn"
    return f"ecn: PACKETS to its links, and program: v1model/{marking}.p4"


def _marks_of(control: Algorithm | Custom) -> list[str]:
    """The marks that a congestion control reads and a switch's setting names. CSIG is not among
    them: it needs its program, and runs without it are refused."""
    if isinstance(control, str):
        names: Sequence[str] = BY_NAME[control].marks
    else:
        made = congestion.start(control)
        names = [mark for mark in MARKS if mark != "timestamps" and getattr(made, mark)]
    return [_FEEDBACK.get(name, name) for name in names if name != "CSIG"]


def _declared(control: Algorithm | Custom) -> tuple[Mark, ...]:
    """The marks that a congestion control in Python declares."""
    return () if isinstance(control, str) else congestion.start(control).marks


def _knows(program_name: str, mark: Mark) -> bool:
    """Whether a P4 program can write a mark: its text has the fields, or the option's type."""
    source = program.of_project(program_name).source
    if all(re.search(rf"bit<{f.bits}>\s+{f.name}\s*;", source) for f in mark.fields):
        return True
    return (
        re.search(rf"\b(\d+w)?(0[xX]0*{mark.option:x}|{mark.option})\b", source, re.I) is not None
    )
