"""Wait until a process is ready. Imports the standard library only, for use with Mininet."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

START_S = 60.0
"""Timeout for a process to be ready."""

LISTENING = "0A"
"""``TCP_LISTEN`` in proc_net_tcp."""


class NotReadyError(Exception):
    """The process ended, or took too long; the message has the last lines of its log."""


def wait(process: subprocess.Popen[bytes], log: Path, ready: str | int) -> None:
    """Return when a process is ready.

    Args:
        process: the process.
        log: the file with its output.
        ready: a text that it prints when ready, or the TCP port that it listens on.

    Raises:
        NotReadyError: the process ended, or took too long.
    """
    deadline = time.monotonic() + START_S
    while not _is_ready(process.pid, log, ready):
        if process.poll() is not None or time.monotonic() > deadline:
            what = "has ended" if process.returncode is not None else "is not ready"
            last = "\n  ".join(log.read_text(errors="replace").splitlines()[-8:])
            raise NotReadyError(f"{what}; its log ({log}) says\n  {last}")
        time.sleep(0.05)


def _is_ready(pid: int, log: Path, ready: str | int) -> bool:
    if isinstance(ready, str):
        return ready in log.read_text(errors="replace")
    return any(ready in _listening(Path(f"/proc/{pid}/net/{table}")) for table in ("tcp", "tcp6"))


def _listening(table: Path) -> set[int]:
    """The ports with a listener in the process's network namespace."""
    try:
        rows = [line.split() for line in table.read_text().splitlines()[1:]]
    except OSError:
        return set()
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == LISTENING}
