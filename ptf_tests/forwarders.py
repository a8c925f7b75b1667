"""Forwarders from A to B in a measurement: a switch, Linux's bridge, a bare forwarder."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from ptf_tests.ports import HOSTS, A, B
from ptf_tests.session import Session
from ptf_tests.targets import ADDRESS, DEVICE_ID, P4SRC, CannotRunError, Running, Target, stop
from waymark.switch import FORWARDING_THREAD, SENDING_THREAD

MAIN = P4SRC / "v1model" / "waymark.p4"
ENDS = (A.switch_end, B.switch_end)


class Forwarder(Protocol):
    """How to start one, on the interfaces of A and B."""

    name: str

    def missing(self) -> str:
        """The missing requirements; empty if it can run."""
        ...

    def forwarding(self, folder: Path) -> AbstractContextManager[None]:
        """Forwards frames as long as this is open.

        Raises:
            CannotRunError: it did not start.
        """
        ...


class Bare:
    """The switch's rings without a switch: `crates/dataplane-io/examples/bare.rs`."""

    name = "bare"

    def missing(self) -> str:
        """The program, if it was not built."""
        return "" if self._program().exists() else "cargo build --release --example bare"

    @contextmanager
    def forwarding(self, folder: Path) -> Iterator[None]:
        """Starts the process."""
        log = folder / "bare.log"
        command = [self._program(), *ENDS]
        with log.open("wb") as errors:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
        try:
            if process.stdout is None or not process.stdout.readline():
                raise CannotRunError(f"the bare forwarder did not start, see {log}")
            yield
        finally:
            stop(process)

    def _program(self) -> Path:
        target = os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[1] / "target")
        return Path(target) / "release" / "examples" / "bare"


class Bridge:
    """Linux's bridge, which floods frames to unknown addresses."""

    name = "bridge"

    def missing(self) -> str:
        """`ip`, if missing."""
        return "" if shutil.which("ip") else "ip is not on PATH"

    @contextmanager
    def forwarding(self, folder: Path) -> Iterator[None]:  # noqa: ARG002 - it writes no files
        """Adds the bridge."""
        _ip("link", "add", "bridge", "type", "bridge", "stp_state", "0")
        try:
            for end in ENDS:
                _ip("link", "set", end, "master", "bridge")
            _ip("link", "set", "bridge", "up", "arp", "off")
            yield
        finally:
            _ip("link", "delete", "bridge")


class Switch:
    """A target with `waymark.p4`, routes, and all marks on at B."""

    def __init__(self, target: Target) -> None:
        """A forwarder with the target's name."""
        self.name = target.name
        self._target = target

    def missing(self) -> str:
        """The target's requirements."""
        return self._target.missing()

    @contextmanager
    def forwarding(self, folder: Path) -> Iterator[None]:
        """Starts the switch and writes its entries."""
        with self._target.start(MAIN, folder) as running:
            session = _configured(running)
            try:
                yield
            finally:
                session.close()


def _configured(running: Running) -> Session:
    session = Session(ADDRESS, DEVICE_ID, running.p4info, running.device_config)
    session.push()
    for host in HOSTS:
        session.insert("ipv4_route", {"dst_addr": f"{host.ipv4}/32"}, "direct", port=host.port)
        session.insert(
            "neighbour", {"port": host.port, "next_hop": host.ipv4},
            "rewrite", src_addr=host.router_mac, dst_addr=host.mac,
        )  # fmt: skip
    session.insert(
        "port_feedback", {"port": B.port}, "set_feedback", aqt=1, drai=1, ci=1, window_log2=20
    )
    return session


@contextmanager
def cores() -> Iterator[list[Path]]:
    """Gives each forwarding thread its own CPU, and this process the others, if any.

    Returns the threads' folders in /proc, the forwarding thread first. There are none for BMv2,
    whose threads share the work, and for the bridge, which has no thread: it forwards on the
        sending process's CPU. With few CPUs, this process shares one with sender threads.
    """
    everything = os.sched_getaffinity(0)
    tasks = [
        task
        for name in (FORWARDING_THREAD, SENDING_THREAD)
        for task in Path("/proc").glob("[0-9]*/task/[0-9]*")
        if _name(task) == name
    ]
    mine = sorted(everything)
    for task in tasks:
        cpu = mine.pop(0) if len(mine) > 1 else mine[0]
        os.sched_setaffinity(int(task.name), {cpu})
    if not tasks and len(mine) > 1:
        mine.pop(0)
    os.sched_setaffinity(0, mine)
    try:
        yield tasks
    finally:
        os.sched_setaffinity(0, everything)


def _name(task: Path) -> str:
    try:
        return (task / "comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""  # it has ended


def processor_s(task: Path) -> float:
    """The CPU time of a thread, s."""
    return int((task / "schedstat").read_text().split()[0]) / 1e9


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)
