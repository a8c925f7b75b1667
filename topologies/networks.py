"""The networks that are up, including those without files (after ``rm -rf /run/waymark``)."""

from topologies import marks, state
from topologies.state import Process, State
from waymark.errors import WaymarkError


def names() -> list[str]:
    """The networks that are up."""
    return sorted({*state.names(), *(mark.network for mark in marks.found())})


def load(name: str) -> State:
    """The network called ``name``; if its files are missing, its state from the kernel's marks.

    Raises:
        WaymarkError: no such network is up; the message lists those that are.
    """
    try:
        return state.load(name)
    except WaymarkError as error:
        lost = _lost(name)
        if lost is not None:
            return lost
        if name in state.names():
            raise
        up = ", ".join(names()) or "none"
        raise WaymarkError(f"no network {name!r} is up (up: {up})") from error


def only(choose: str = "--network NAME") -> State:
    """The one network that is up.

    Args:
        choose: how a user names one of several.

    Raises:
        WaymarkError: no network is up, or several are.
    """
    up = names()
    if not up:
        raise WaymarkError("no network is up; see: waymark up --help")
    if len(up) > 1:
        raise WaymarkError(f"several networks are up ({', '.join(up)}); expected {choose}")
    return load(up[0])


def _lost(name: str) -> State | None:
    its = [mark for mark in marks.found() if mark.network == name]
    if not its:
        return None
    found = State(name, "?", its[0].runner, "?", lost=True)
    for mark in its:
        if mark.node == marks.FABRIC:
            found.fabric = mark.namespace
        else:
            found.hosts.append(mark.node)
            found.namespaces[mark.node] = mark.namespace
    ports = marks.interfaces(found.fabric) if found.fabric else []
    switches = (
        node for node, _, port in (name.rpartition("-") for name in ports) if port.isdecimal()
    )
    found.switches = list(dict.fromkeys(switches))
    found.processes = [Process.of(str(pid), pid) for pid in marks.processes(name)]
    return found
