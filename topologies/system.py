"""Commands of the system, and processes that outlive the command that starts them."""

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from topologies.state import Process, State
from waymark.errors import WaymarkError

START_S = 60.0
"""How long a process may take until it is ready."""


def need(*programs: str) -> None:
    """Raise a :class:`WaymarkError` unless this is root and ``programs`` are on PATH."""
    if os.geteuid() != 0:
        raise WaymarkError("namespaces and interfaces need root: run this with sudo")
    packages = {"ip": "iproute2", "ethtool": "ethtool", "nsenter": "util-linux", "mn": "mininet"}
    for program in programs:
        if shutil.which(program) is None:
            package = packages.get(program)
            hint = f" (Debian: apt-get install {package})" if package else ""
            raise WaymarkError(f"{program} is not on PATH{hint}")


def run(*command: str, check: bool = True) -> str:
    """Run a command; what it printed.

    Raises:
        WaymarkError: it failed; the message is its own.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        told = (done.stderr or done.stdout).strip()
        raise WaymarkError(f"{' '.join(command)}: {told}")
    return done.stdout


def start(state: State, name: str, command: Sequence[str], ready: str) -> Process:
    """Start a process of a network, and wait until it prints ``ready`` to its log.

    Raises:
        WaymarkError: it ended before, or took too long; with the last lines of its log.
    """
    log = state.folder / f"{name}.log"
    with log.open("wb") as out:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    process = Process.of(name, child.pid)
    state.processes.append(process)
    state.save()
    deadline = time.monotonic() + START_S
    while ready not in (text := log.read_text(errors="replace")):
        if child.poll() is not None or time.monotonic() > deadline:
            last = "\n  ".join(text.splitlines()[-8:])
            what = "ended" if child.returncode is not None else "is not ready"
            raise WaymarkError(f"{name} {what}; its log ({log}) says\n  {last}")
        time.sleep(0.05)
    return process


def show(path: Path, lines: int = 8) -> str:
    """The last lines of a log."""
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
