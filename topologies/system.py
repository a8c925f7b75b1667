"""System commands, and processes that outlive the command that starts them."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from topologies.ready import NotReadyError, wait
from topologies.state import Process, State
from waymark.errors import WaymarkError

NETWORK = "WAYMARK_NETWORK"
"""The environment variable with the network's name, in all of its processes."""


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


ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that interrupt bringing a network up."""


def run(*command: str, check: bool = True) -> str:
    """Run a short command and return its output. Interrupts wait until the command has ended.

    Raises:
        WaymarkError: it failed; with the command's own message.
    """
    with _uninterrupted():
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if check and done.returncode != 0:
        message = (done.stderr or done.stdout).strip()
        raise WaymarkError(f"{' '.join(command)}: {message}")
    return done.stdout


@contextmanager
def _uninterrupted() -> Generator[None]:
    """Delay interrupts: one between fork and exec would let the command outlive the clean-up."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def complaint(*command: str) -> str | None:
    """Run a command. Returns its error message, or None if it succeeded."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return None
    message = (done.stderr or done.stdout).strip() or f"exit code {done.returncode}"
    hint = " (Debian: apt-get install net-tools)" if _NET_TOOLS.search(message) else ""
    return message + hint


_NET_TOOLS = re.compile(r"\b(route|arp|ifconfig): (command )?not found")


def start(state: State, name: str, command: Sequence[str], ready: str | int) -> Process:
    """Start a process of a network, and wait until it is ready (see :mod:`topologies.ready`).

    Raises:
        WaymarkError: it ended, or took too long; with the last lines of its log.
    """
    log = state.folder / f"{name}.log"
    with log.open("wb") as out:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, NETWORK: state.name},
        )
    process = Process.of(name, child.pid)
    state.processes.append(process)
    state.save()
    try:
        wait(child, log, ready)
    except NotReadyError as error:
        raise WaymarkError(f"{name} {error}") from error
    return process
