"""The live lab's view of a running network: its map, and the newest state of its parts.

Only the newest state is kept, so that memory does not grow with time or with the number of clients.
"""

import asyncio
import json
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import suppress
from typing import Any

from topologies import network_map, networks, runners
from topologies.linux_senders import LinuxSenders
from topologies.state import State
from waymark import program, project, published
from waymark.errors import WaymarkError

RETRY_S = 1.0
"""Time before a network that went down is looked for again, in seconds."""

LINE_OCTETS = 1 << 20
"""The longest line of readings."""


class Feed:
    """Follows a network, also when it goes down and comes up again.

    Attributes:
        version: increases with each new map, which clients must then fetch.
    """

    def __init__(self, one: State) -> None:
        self._name = one.name
        self._one = one
        self._begun_s = time.monotonic()
        self._problem = ""
        self._switches: dict[str, dict[str, Any]] = {}
        self._linux: list[dict[str, Any]] = []
        self.version = 1
        self._about = _about(one)

    def about(self) -> dict[str, Any]:
        """The network: its map, and the P4 programs of its switches."""
        return {"kind": "network", **self._about}

    def state(self) -> dict[str, Any]:
        """The newest counters of switches, and the newest states of senders."""
        return {
            "kind": "state",
            "time_s": time.monotonic() - self._begun_s,
            "problem": self._problem,
            "switches": self._switches,
            "flows": [] if self._problem else self._flows(),
        }

    async def run(self) -> None:
        """Follow the network until cancelled."""
        while True:
            senders = asyncio.create_task(self._follow_linux(self._one))
            try:
                await self._read()
            finally:
                senders.cancel()
            self._switches, self._linux = {}, []
            self._one, self._about = await self._again()
            self.version += 1
            self._problem = ""

    def _flows(self) -> list[dict[str, Any]]:
        return published.found(self._one.folder / "flows") + self._linux

    async def _follow_linux(self, one: State) -> None:
        """Read the states of senders in Linux's TCP until the network goes down."""
        with suppress(OSError), LinuxSenders(one) as senders:
            while one.folder.is_dir():
                self._linux = senders.read()
                await asyncio.sleep(published.EVERY_S)

    async def _again(self) -> tuple[State, dict[str, Any]]:
        """Wait until the network is up, and meanwhile report why it is not shown."""
        self._problem = "the process that reads the counters has ended; trying again"
        while True:
            await asyncio.sleep(RETRY_S)
            try:
                one = load(self._name)
                return one, _about(one)
            except WaymarkError:
                self._problem = f"the network {self._name} is down"

    async def _read(self) -> None:
        """Receive readings until the process that makes them ends, which it does with the
        network."""
        config = self._one.folder / "controller.yaml"
        switches = self._one.switches
        if not switches or not config.is_file():
            while self._one.folder.is_dir():
                await asyncio.sleep(RETRY_S)
            return
        words = runners.prefix(self._one, switches[0])
        words += [sys.executable, "-m", f"{__package__}.readings", str(config)]
        reader = await asyncio.create_subprocess_exec(
            *words, stdin=DEVNULL, stdout=PIPE, limit=LINE_OCTETS
        )
        assert reader.stdout is not None
        try:
            while line := await reader.stdout.readline():
                reading = json.loads(line)
                self._switches[reading.pop("switch")] = reading
        finally:
            if reader.returncode is None:
                with suppress(ProcessLookupError):
                    reader.send_signal(signal.SIGINT)
            await reader.wait()


def load(name: str) -> State:
    """A network that is up, as a whole.

    Raises:
        WaymarkError: there is none of that name, it is coming up, or its files are missing.
    """
    one = networks.load(name)
    if one.lost or one.maker is not None:
        raise WaymarkError(f"{name} is only partly up; see: waymark status {name}")
    return one


def _about(one: State) -> dict[str, Any]:
    drawn = network_map.read(one)
    mains = {switch["program"] for switch in drawn["switches"].values() if switch["program"]}
    return {
        "name": one.name,
        "file": one.file,
        "target": one.target,
        "kernel": one.kernel,
        "bare": one.bare,
        "map": drawn,
        "files": program.sources(project.program_path(".").resolve(), sorted(mains)),
    }
