"""The parts of a running network, recorded in a file before each part is created.

``down`` uses this file, even if the process that brought the network up was killed. If the file is
missing, ``down`` uses :mod:`topologies.marks`.
"""

import json
import os
import shutil
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from waymark.errors import WaymarkError

FOLDER = Path("/run/waymark")
"""One folder per network: state, logs, the controller's configuration. A reboot deletes it."""

PATIENCE_S = 5.0
"""Time for a process to end before it is killed."""


@dataclass(frozen=True)
class Process:
    """A process that belongs to a network.

    Attributes:
        start: when it started, in ticks since boot, because another process may reuse its pid.
    """

    name: str
    pid: int
    start: int

    @staticmethod
    def of(name: str, pid: int) -> "Process":
        """A process that was just started."""
        return Process(name, pid, _start(pid) or 0)

    @property
    def is_alive(self) -> bool:
        """Whether it is still running."""
        return _start(self.pid) == self.start


@dataclass
class State:
    """A network that is up, or partly so.

    Attributes:
        namespaces: network namespaces by node; all switches are in that of ``fabric``.
        bare: hosts' interfaces have no kernel addresses.
        kernel: the congestion control of Linux's TCP at hosts, which carries marks; empty: it does
            not.
        places: each host's interface, address, gateway, and their MAC addresses.
        p4runtime: the switches' P4Runtime addresses and device ids, in the switches' order.
        pids: instead of a namespace, the process whose namespace a node has (Mininet).
        links: the interfaces of each link in the switches' namespace.
        complaints: hosts' commands that failed, with their messages.
        maker: the process that brings it up; None once it is up.
        lost: its files are missing, and this is the state found in the kernel.
    """

    name: str
    file: str
    runner: str
    target: str
    fabric: str = ""
    hosts: list[str] = field(default_factory=list[str])
    switches: list[str] = field(default_factory=list[str])
    p4runtime: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    namespaces: dict[str, str] = field(default_factory=dict[str, str])
    pids: dict[str, int] = field(default_factory=dict[str, int])
    bare: bool = False
    kernel: str = ""
    places: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    links: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    processes: list[Process] = field(default_factory=list[Process])
    complaints: list[str] = field(default_factory=list[str])
    maker: Process | None = None
    lost: bool = False

    @property
    def is_coming_up(self) -> bool:
        """Whether it is still being brought up."""
        return self.maker is not None and self.maker.is_alive

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return FOLDER / self.name

    def claim(self) -> None:
        """Claim the network's name for this process, which brings it up.

        Raises:
            WaymarkError: a network has that name.
        """
        self.maker = Process.of("up", os.getpid())
        try:
            os.link(self._draft(), self.folder / "state.json")
        except FileExistsError:
            raise taken(self.name) from None
        finally:
            self._draft_file.unlink(missing_ok=True)
            _remove_empty(self.folder, FOLDER)

    @property
    def is_claimed(self) -> bool:
        """Whether this process has claimed its name."""
        try:
            return self.maker is not None and load(self.name).maker == self.maker
        except WaymarkError:
            return False

    def save(self) -> None:
        """Write the state file."""
        self._draft().replace(self.folder / "state.json")

    def finish(self) -> None:
        """Record that the network is up."""
        self.maker = None
        self.save()

    def end_processes(self) -> None:
        """End all of its processes, in reverse order of their start."""
        end([process for process in reversed(self.processes) if process.is_alive])

    def forget(self) -> None:
        """Remove its files."""
        shutil.rmtree(self.folder, ignore_errors=True)
        _remove_empty(FOLDER)

    @property
    def _draft_file(self) -> Path:
        return self.folder / f"state.json.{os.getpid()}"

    def _draft(self) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._draft_file.write_text(json.dumps(asdict(self), indent=2), encoding="utf-8")
        return self._draft_file


def end(processes: Sequence[Process]) -> None:
    """Ask processes to end, and kill those that do not."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        for process in processes:
            if process.is_alive:
                os.kill(process.pid, sign)
        deadline = time.monotonic() + PATIENCE_S
        while any(p.is_alive for p in processes) and time.monotonic() < deadline:
            time.sleep(0.02)


def names() -> list[str]:
    """The networks that have a state file."""
    return sorted(path.parent.name for path in FOLDER.glob("*/state.json"))


def load(name: str) -> State:
    """The network called ``name``.

    Raises:
        WaymarkError: it has no state file, or the file cannot be read.
    """
    path = FOLDER / name / "state.json"
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        up = ", ".join(names()) or "none"
        raise WaymarkError(f"no network {name!r} is up (up: {up})") from None
    except (OSError, json.JSONDecodeError) as error:
        raise WaymarkError(f"{path}: {error}") from error
    try:
        data["processes"] = [Process(**process) for process in data["processes"]]
        data["maker"] = None if data["maker"] is None else Process(**data["maker"])
        return State(**data)
    except (TypeError, KeyError) as error:
        raise WaymarkError(f"{path}: not a state file of `waymark up`: {error}") from error


def taken(name: str) -> WaymarkError:
    """The error if a network of that name is up."""
    return WaymarkError(f"{name} is already up; take it down first: waymark down {name}")


def _remove_empty(*folders: Path) -> None:
    for folder in folders:
        with suppress(OSError):  # not empty
            folder.rmdir()


def _start(pid: int) -> int | None:
    """When a process started; None if it has ended, zombies included (proc(5), stat)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])
