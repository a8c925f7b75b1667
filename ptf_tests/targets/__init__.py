"""The switches under test: how to start each, and its properties that tests need."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ptf_tests.ports import HOSTS, LIMITED, Host
from waymark.architecture import V1MODEL, Architecture

P4SRC = Path(__file__).parents[2] / "p4src"
ADDRESS = "127.0.0.1:9559"
DEVICE_ID = 1
COMPILER = "p4c-bm2-ss"
"""p4c for BMv2."""
START_S = 30.0
"""Timeout for a switch to listen."""


class CannotRunError(Exception):
    """A tool is missing on this machine, or a part outside the tests failed."""


@dataclass(frozen=True)
class Running:
    """A running switch, with the properties that tests need."""

    p4info: Path
    device_config: Path
    held_missing: str = ""
    """The reason why C's line is not slow; empty if it is."""


class Target(Protocol):
    """How to start a kind of switch."""

    name: str
    architecture: Architecture

    def missing(self) -> str:
        """The missing requirements; empty if it can run."""
        ...

    def start(self, main: Path, folder: Path) -> AbstractContextManager[Running]:
        """Starts a switch for a program, with its files in `folder`, on the interfaces of `ports`.

        Raises:
            CannotRunError: it did not start.
        """
        ...


def hosts_of(architecture: Architecture) -> tuple[Host, ...]:
    """The neighbours of a switch."""
    return (*HOSTS, *LIMITED.values()) if architecture.limits_queues else HOSTS


def main_of(architecture: Architecture, name: str) -> Path:
    """A program of `p4src/`; there may be none for an architecture."""
    return P4SRC / architecture.name / f"{name}.p4"


def p4info_of(main: Path) -> Path:
    """The P4Info in `p4src/p4info`, the same for every target of an architecture."""
    architecture = main.parent.name
    folder = P4SRC / "p4info" / ("" if architecture == V1MODEL.name else architecture)
    return folder / f"{main.stem}.p4info.txtpb"


def compiled(main: Path, folder: Path) -> Path:
    """Compiles a program for BMv2 with p4c.

    Raises:
        CannotRunError: p4c rejects it.
    """
    config = folder / "program.json"
    command = [COMPILER, "--std", "p4-16", "-o", config, main]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotRunError(done.stderr)
    return config


def not_on_path(*programs: str) -> str:
    """A message with those of the programs that are not on PATH; empty if all are."""
    missing = [program for program in programs if shutil.which(program) is None]
    return f"not on PATH: {', '.join(missing)}" if missing else ""


def wait_until_it_listens(switch: subprocess.Popen[bytes], log: Path) -> None:
    """Waits until the switch accepts connections at `ADDRESS`.

    Raises:
        CannotRunError: it ended, or took too long; with the last lines of its log.
    """
    host, port = ADDRESS.split(":")
    deadline = time.monotonic() + START_S
    while switch.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    last = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
    raise CannotRunError(f"the switch does not listen at {ADDRESS}; its log ends with\n{last}")


def stop(switch: subprocess.Popen[bytes]) -> None:
    """Terminates a switch, and kills it if it does not end."""
    switch.terminate()
    try:
        switch.wait(timeout=5)
    except subprocess.TimeoutExpired:
        switch.kill()
        switch.wait()
