"""The runners of topologies on this machine, by name."""

import re
import signal
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from topologies import linux_tcp, mininet, names, netns, network_map, networks, state, system
from topologies.state import State
from waymark import files, project
from waymark.errors import WaymarkError
from waymark.topology import Topology

RUNNERS = {netns.NAME: netns, mininet.NAME: mininet}

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def up(
    topology: Topology,
    file: Path,
    name: str,
    runner: str,
    target: str,
    *,
    bare: bool,
    seed: int,
    kernel: str = "",
) -> State:
    """Bring ``topology`` up under ``name``.

    Args:
        topology, file, name, target, bare, seed: as for :func:`topologies.netns.up`.
        runner: ``"netns"`` or ``"mininet"``.
        kernel: the congestion control of Linux's TCP at hosts, which then carries marks; empty:
            TCP is as it is.

    Raises:
        WaymarkError: the name is in use, or the runner failed.
    """
    system.need("ip")
    if not _NAME.fullmatch(name):
        raise WaymarkError(f"--name {name}: expected letters, digits, _ . and -")
    if name in networks.names():
        raise state.taken(name)
    for switch in topology.switches:
        if not switch.program:
            continue
        path = project.program_path(switch.program)
        if not files.is_file(path):
            raise WaymarkError(f"switch {switch.name}: no program {switch.program}: no file {path}")
    if kernel:
        linux_tcp.check(kernel, bare=bare)
    with interruptible():
        one = RUNNERS[runner].up(topology, file, name, target, bare=bare, seed=seed)
        try:
            network_map.write(topology, one)
            if kernel:
                linux_tcp.use(
                    one, kernel, one.hosts, lambda host: RUNNERS[runner].prefix(one, host)
                )
        except BaseException:
            RUNNERS[runner].down(one)
            raise
        return one


def down(one: State) -> None:
    """Take a network down, also while it is coming up."""
    system.need("ip")
    if one.is_coming_up:
        state.end([one.maker] if one.maker else [])
        if one.name not in state.names():
            return
        one = state.load(one.name)
    RUNNERS[one.runner].down(one)


@contextmanager
def interruptible() -> Generator[None]:
    """Let SIGTERM and SIGHUP interrupt like Ctrl-C. All are ignored after the first."""
    if threading.current_thread() is not threading.main_thread():  # only it receives signals
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        for number in system.ENDING:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in system.ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def prefix(one: State, node: str) -> list[str]:
    """The prefix of a command that runs at ``node``.

    Raises:
        WaymarkError: the network has no such node.
    """
    system.need("ip")
    nodes = (*one.hosts, *one.switches)
    if node not in nodes:
        raise WaymarkError(f"{one.name} has no node {node!r} (nodes: {', '.join(nodes)})")
    return RUNNERS[one.runner].prefix(one, node)


def place(one: State, node: str) -> dict[str, str]:
    """The interface and addresses of a network's host, as options of ``waymark host``.

    Raises:
        WaymarkError: the kernel has the host's address.
    """
    if node not in one.places:
        raise WaymarkError(f"{one.name} has no host {node!r} (hosts: {', '.join(one.hosts)})")
    interface = one.places[node]["interface"]
    shown = system.run(*prefix(one, node), "ip", "-4", "-o", "addr", "show", "dev", interface)
    if shown:
        raise WaymarkError(
            f"the kernel has the address of host {node}: bring the network up with "
            f"waymark up --bare, or run waymark exec {node} ip addr flush dev {interface}"
        )
    return one.places[node]


def amiss(one: State) -> list[str]:
    """Messages about the parts of a network that are missing or no longer run."""
    system.need("ip")
    if one.lost:
        return [f"its files are missing: {one.folder}"]
    if one.maker is not None:
        return [] if one.is_coming_up else ["`waymark up` was killed"]
    dead = [process.name for process in one.processes if not process.is_alive]
    logs = [f"{name} has ended; see {one.folder / name}.log" for name in dead]
    return logs + netns.missing(one)


def host_command(one: State, node: str, arguments: Sequence[str]) -> list[str]:
    """``waymark host ARGUMENTS`` at a host of a network.

    Raises:
        WaymarkError: as :func:`prefix` and :func:`place`.
    """
    there = [*prefix(one, node), *names.prefix(one)]
    words = [*there, sys.executable, "-m", "waymark", "host", *arguments]
    if arguments[0] == "send":
        words += ["--publish", str(one.folder / "flows" / node)]
    for option, value in place(one, node).items():
        words += [f"--{option}", value]
    return words


def summary(one: State) -> str:
    """A network in a few lines."""
    if one.maker is not None:
        return (
            f"{one.name} is coming up"
            if one.is_coming_up
            else f"{one.name} is partly up: `waymark up` was killed; waymark down {one.name}"
        )
    lines = [
        f"{one.name} is up: {one.file}, runner {one.runner}, switches {one.target}",
        f"  hosts     {', '.join(one.hosts)}{_tcp(one)}",
        f"  switches  {', '.join(one.switches)}",
        *_p4runtime(one),
        f"  files     {one.folder}: controller.yaml, logs",
    ]
    wrong = amiss(one)
    lines += [f"  DEAD      {fault}" for fault in wrong]
    host = one.hosts[0] if one.hosts else "HOST"
    commands = f"waymark exec {host} ip addr; waymark down {one.name}"
    again = f"waymark down {one.name}, then up"
    lines.append(f"  try       {again if wrong else commands}")
    return "\n".join(lines)


def as_data(one: State) -> dict[str, Any]:
    """A network as ``waymark status --json`` shows it."""
    part = "coming up" if one.is_coming_up else "partly up" if one.maker is not None else "up"
    return {
        "name": one.name,
        "state": part,
        "file": one.file,
        "runner": one.runner,
        "target": one.target,
        "hosts": one.hosts,
        "switches": one.switches,
        "bare": one.bare,
        "kernel": one.kernel,
        "p4runtime": [{"address": at, "device_id": device} for at, device in one.p4runtime],
        "folder": str(one.folder),
        "amiss": amiss(one),
    }


def _tcp(one: State) -> str:
    return f" (Linux's TCP with marks, {one.kernel})" if one.kernel else ""


def _p4runtime(one: State) -> list[str]:
    """The line with the switches' P4Runtime addresses."""
    if not one.p4runtime:
        return []
    (first, first_id), (last, last_id) = one.p4runtime[0], one.p4runtime[-1]
    if first == last:
        addresses = f"{first}, device id {first_id}"
    else:
        addresses = f"{first} to {last.rpartition(':')[2]}, device ids {first_id} to {last_id}"
    return [f"  serving   P4Runtime on {addresses}"]
