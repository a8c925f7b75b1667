"""What runs topologies on this machine, by name."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from topologies import mininet, netns, state, system
from topologies.state import State
from waymark.errors import WaymarkError
from waymark.topology import Topology

RUNNERS = {netns.NAME: netns, mininet.NAME: mininet}

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def up(
    topology: Topology, file: Path, name: str, runner: str, target: str, *, bare: bool, seed: int
) -> State:
    """Bring ``topology`` up under ``name``.

    Raises:
        WaymarkError: the name is in use, or the runner says why not.
    """
    system.need("ip")
    if not _NAME.fullmatch(name):
        raise WaymarkError(f"--name {name}: expected letters, digits, _ . and -")
    if name in state.names():
        raise WaymarkError(f"{name} is up already; take it down first: waymark down {name}")
    return RUNNERS[runner].up(topology, file, name, target, bare=bare, seed=seed)


def down(one: State) -> None:
    """Take a network down."""
    system.need("ip")
    RUNNERS[one.runner].down(one)


def prefix(one: State, node: str) -> list[str]:
    """What a command begins with to run at ``node``.

    Raises:
        WaymarkError: the network has no such node.
    """
    nodes = (*one.hosts, *one.switches)
    if node not in nodes:
        raise WaymarkError(f"{one.name} has no node {node!r} (nodes: {', '.join(nodes)})")
    return RUNNERS[one.runner].prefix(one, node)


def place(one: State, node: str) -> dict[str, str]:
    """Where a host of a network lives, as options of ``waymark host``.

    Raises:
        WaymarkError: the kernel has the host's address.
    """
    if not one.bare:
        raise WaymarkError(f"the kernel has the addresses of {one.name}'s hosts: waymark up --bare")
    if node not in one.places:
        raise WaymarkError(f"{one.name} has no host {node!r} (hosts: {', '.join(one.hosts)})")
    return one.places[node]


def host_command(one: State, node: str, arguments: Sequence[str]) -> list[str]:
    """``waymark host ARGUMENTS`` at a host of a network.

    Raises:
        WaymarkError: as :func:`prefix` and :func:`place`.
    """
    words = [*prefix(one, node), sys.executable, "-m", "waymark", "host", *arguments]
    for option, value in place(one, node).items():
        words += [f"--{option}", value]
    return words


def summary(one: State) -> str:
    """A network in a few lines."""
    dead = [process.name for process in one.processes if not process.is_alive]
    lines = [
        f"{one.name} is up: {one.file}, runner {one.runner}, switches {one.target}",
        f"  hosts     {', '.join(one.hosts)}",
        f"  switches  {', '.join(one.switches)}",
        f"  files     {one.folder}: controller.yaml, logs",
    ]
    if dead:
        told = f"  DEAD      {', '.join(dead)}: see the logs; waymark down {one.name}, then up"
        lines.append(told)
    host = one.hosts[0] if one.hosts else "HOST"
    lines.append(f"  try       waymark exec {host} ip addr; waymark down {one.name}")
    return "\n".join(lines)
