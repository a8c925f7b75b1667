"""Packet scripts (p4c's STF) on the embedded switch, with traces of their packets."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waymark import _core, files
from waymark.errors import WaymarkError


@dataclass(frozen=True)
class Traced:
    """A script's report, and the trace of its packets.

    Attributes:
        report: the met and unmet expectations of the script.
        steps: a dictionary for each step: ``event`` (``arrive``, ``state``, ``reject``, ``table``,
            ``enqueue``, ``dequeue``, ``drop``, ``send``), ``time_ns``, ``packet_line`` (the line of
            the script that sent the packet), ``source`` (file, line, column) if there is one, and
            the event's data: a table's ``key``, ``hit``, ``entry`` and ``action``, a queue's
            ``depth`` and ``wait_ns``, a drop's ``cause``.
        text: the same as readable text.
    """

    report: "_core.StfReport"
    steps: Sequence[dict[str, Any]]
    text: str


def run(compiled: _core.Program, script: Path, *, strict: bool = False) -> "_core.StfReport":
    """Run a packet script on a fresh switch.

    ``strict`` compares the packets of all ports, and not only of the ports that the script names.

    Raises:
        WaymarkError: the script cannot be read.
    """
    try:
        return _core.run_stf(compiled, _read(script), strict=strict)
    except _core.ScriptError as error:
        raise WaymarkError(f"{script}: {error}") from error


def run_traced(compiled: _core.Program, script: Path, *, strict: bool = False) -> Traced:
    """As :func:`run`, with the trace of every packet: states, tables, queues, drops.

    Raises:
        WaymarkError: the script cannot be read.
    """
    try:
        report, text, steps = _core.trace_stf(compiled, _read(script), strict=strict)
    except _core.ScriptError as error:
        raise WaymarkError(f"{script}: {error}") from error
    return Traced(report, json.loads(steps), text)


def _read(script: Path) -> str:
    return files.read_text(script)
