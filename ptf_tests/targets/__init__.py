"""Switches that the same tests run on: how one is started, and what tests know of it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

P4SRC = Path(__file__).parents[2] / "p4src"
ADDRESS = "127.0.0.1:9559"
DEVICE_ID = 1
COMPILER = "p4c-bm2-ss"
"""p4c for BMv2."""
START_S = 30.0
"""How long a switch may take until it listens."""


class CannotRunError(Exception):
    """What is missing on this machine, or went wrong outside the tests."""


@dataclass(frozen=True)
class Running:
    """A switch, as the tests need to know it."""

    p4info: Path
    device_config: Path
    held_missing: str = ""
    """Why C's line is not slow; empty when it is."""


class Target(Protocol):
    """How to start a kind of switch."""

    name: str

    def missing(self) -> str:
        """What it needs that is not here; empty when it can run."""
        ...

    def start(self, main: Path, folder: Path) -> AbstractContextManager[Running]:
        """A switch for a program, its files and log in `folder`, on the interfaces of `ports`.

        Raises:
            CannotRunError: it did not start.
        """
        ...


def p4info_of(main: Path) -> Path:
    """The P4Info that is kept beside the mains, the same for every target."""
    return P4SRC / "p4info" / f"{main.stem}.p4info.txtpb"


def compiled(main: Path, folder: Path) -> Path:
    """A program as p4c compiles it for BMv2.

    Raises:
        CannotRunError: p4c refuses it.
    """
    config = folder / "program.json"
    command = [COMPILER, "--std", "p4-16", "-o", config, main]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotRunError(done.stderr)
    return config


def not_on_path(*programs: str) -> str:
    """Which of these programs are not on PATH, said in a sentence; empty when all are."""
    missing = [program for program in programs if shutil.which(program) is None]
    return f"not on PATH: {', '.join(missing)}" if missing else ""


def wait_until_it_listens(switch: subprocess.Popen[bytes], log: Path) -> None:
    """Returns when the switch accepts connections at `ADDRESS`.

    Raises:
        CannotRunError: it ended before, or took too long; with the last lines of its log.
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
    raise CannotRunError(f"the switch does not listen at {ADDRESS}; its log ends\n{last}")


def stop(switch: subprocess.Popen[bytes]) -> None:
    """Ends a switch, by force if it does not listen."""
    switch.terminate()
    try:
        switch.wait(timeout=5)
    except subprocess.TimeoutExpired:
        switch.kill()
        switch.wait()
