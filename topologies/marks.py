"""Marks in the kernel, which identify a network after its files were deleted.

The loopback interface of each namespace has an alias (``ip link``) with its network and node. Each
process has the network's name in its environment.
"""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from topologies import system

FABRIC = "-"
"""The node name of the namespace with all switches."""

_WORD = "waymark"


@dataclass(frozen=True)
class Mark:
    """The mark of a namespace.

    Attributes:
        node: a host, or ``FABRIC``.
    """

    namespace: str
    runner: str
    network: str
    node: str


def mark(namespace: str, runner: str, network: str, node: str) -> None:
    """Mark a namespace."""
    words = (_WORD, runner, network, node)
    system.run("ip", "-n", namespace, "link", "set", "lo", "alias", " ".join(words))


def namespaces() -> list[str]:
    """All named namespaces."""
    lines = system.run("ip", "netns", "list", check=False).splitlines()
    return [line.split()[0] for line in lines if line.strip()]


def found() -> list[Mark]:
    """The marks of all namespaces that have one."""
    if shutil.which("ip") is None:
        return []
    marks: list[Mark] = []
    for namespace in namespaces():
        if not namespace.startswith("wm-"):
            continue
        shown = system.run("ip", "-n", namespace, "-j", "link", "show", "lo", check=False)
        links = json.loads(shown or "[]")
        match str(links[0].get("ifalias", "")).split(" ") if links else []:
            case [word, runner, network, node] if word == _WORD:
                marks.append(Mark(namespace, runner, network, node))
            case _:
                pass
    return marks


def interfaces(namespace: str) -> list[str]:
    """The names of a namespace's interfaces."""
    shown = system.run("ip", "-n", namespace, "-j", "link", check=False)
    return [link["ifname"] for link in json.loads(shown or "[]")]


def processes(network: str) -> list[int]:
    """The processes that were started for a network."""
    sign = f"{system.NETWORK}={network}".encode()
    pids: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if sign in environment:
            pids.append(int(folder.name))
    return pids
