"""A topology in network namespaces: one per host, and one for all switches and wires."""

import json
import sys
from collections.abc import Collection
from pathlib import Path

from topologies import config, marks, names, system, wires
from topologies.plan import HOST_INTERFACE, OFFLOADS_OFF, HostPlan, Plan, plan
from topologies.state import Process, State, end
from topologies.switches import TARGETS, Target
from waymark.errors import WaymarkError
from waymark.topology import Topology

NAME = "netns"


def up(topology: Topology, file: Path, name: str, target: str, *, bare: bool, seed: int) -> State:
    """Bring a topology up with configured switches. A failure leaves nothing behind.

    Args:
        topology: the network.
        file: the file that it was read from.
        name: of the network while it is up.
        target: ``"embedded"`` or ``"bmv2"``.
        bare: leave hosts' interfaces without kernel addresses, for user-space transports.
        seed: of the wires' losses.

    Raises:
        WaymarkError: not root, a program is missing, or a part did not start.
    """
    system.need("ip", "ethtool")
    wanted, kind = plan(topology), TARGETS[target]
    state = State(name, str(file), NAME, target, fabric=f"wm-{name}")
    state.hosts, state.bare = [host.name for host in wanted.hosts], bare
    state.places = {host.name: host.place(HOST_INTERFACE) for host in wanted.hosts}
    state.switches = [switch.name for switch in wanted.switches]
    state.p4runtime = [(switch.grpc, switch.device_id) for switch in wanted.switches]
    state.links = {name: list(interfaces) for name, interfaces in wanted.links.items()}
    refuse_taken([state.fabric, *(_of_host(state, host) for host in state.hosts)])
    try:
        state.claim()
        _make(wanted, state, kind, bare=bare, seed=seed)
        names.write(state)
        state.finish()
    except BaseException:
        if state.is_claimed:
            down(state)
        raise
    return state


def down(state: State) -> None:
    """Take a network down, also a partial one."""
    state.end_processes()
    there = set(marks.namespaces())
    for namespace in (*state.namespaces.values(), state.fabric):
        if namespace in there:
            pids = system.run("ip", "netns", "pids", namespace, check=False).split()
            end([Process.of("", int(pid)) for pid in pids])
            system.run("ip", "netns", "del", namespace, check=False)
    state.forget()


def prefix(state: State, node: str) -> list[str]:
    """The prefix of a command that runs at a node; for a switch, in the switches' namespace."""
    if node not in state.namespaces:
        return in_fabric(state)
    return ["ip", "netns", "exec", state.namespaces[node]]


def missing(state: State) -> list[str]:
    """Messages about namespaces and links that are missing or down."""
    there = set(marks.namespaces())
    wanted = {"the switches": state.fabric, **state.namespaces}
    faults = [f"the namespace of {node} is gone" for node, at in wanted.items() if at not in there]
    if state.fabric not in there:
        return faults
    found: dict[str, str] = {
        link["ifname"]: link["operstate"]
        for link in json.loads(system.run("ip", "-j", "-n", state.fabric, "link", check=False))
    }
    for name, interfaces in state.links.items():
        gone = ", ".join(i for i in interfaces if i not in found)
        down = ", ".join(i for i in interfaces if found.get(i, "UP") != "UP")
        faults += [f"link {name}: no interface {gone}"] if gone else []
        faults += [f"link {name}: {down} down"] if down else []
    return faults


def refuse_taken(namespaces: Collection[str]) -> None:
    """Raise a :class:`WaymarkError` if one of ``namespaces`` already exists."""
    taken = sorted({*marks.namespaces()} & {*namespaces})
    if taken:
        raise WaymarkError(
            f"namespace {taken[0]} already exists; delete it with: ip netns del {taken[0]}"
        )


def make_fabric(wanted: Plan, state: State, kind: Target) -> dict[str, Path] | None:
    """Compile the programs and make the switches' namespace. Returns the device configs."""
    programs = dict.fromkeys(switch.program for switch in wanted.switches if switch.program)
    device_configs = kind.prepare(programs, state.folder)
    _make_namespace(state.fabric, state, marks.FABRIC)
    return device_configs


def in_fabric(state: State) -> list[str]:
    """The prefix of a command that runs in the switches' namespace."""
    return ["ip", "netns", "exec", state.fabric]


def apply(wanted: Plan, state: State, device_configs: dict[str, Path] | None) -> None:
    """Write the controller's configuration, and run the controller to apply it."""
    configuration = state.folder / "controller.yaml"
    if not config.write(wanted, Path(state.file), configuration, device_configs):
        return
    # The smallest election id, so that any later controller becomes primary.
    words = ("apply", str(configuration), "--election-id", "1")
    command = (*in_fabric(state), sys.executable, "-m", "waymark", "controller", *words)
    error = system.complaint(*command)
    if error is not None:
        raise WaymarkError(error.removeprefix("error: "))


def _make(wanted: Plan, state: State, kind: Target, *, bare: bool, seed: int) -> None:
    device_configs = make_fabric(wanted, state, kind)
    for host in state.hosts:
        state.namespaces[host] = _of_host(state, host)
        state.save()
        _make_namespace(state.namespaces[host], state, host)
    _cable(wanted, state)
    for host in wanted.hosts:
        _set_up_host(host, state, bare=bare)
    if wanted.wires:
        command = wires.command(wanted.wires, seed, state.folder)
        system.start(state, "wires", [*in_fabric(state), *command], wires.READY)
    for switch in wanted.switches:
        command = kind.command(switch, state.folder)
        system.start(state, switch.name, [*in_fabric(state), *command], switch.grpc_port)
        kind.settle(switch, in_fabric(state))
    apply(wanted, state, device_configs)


def _of_host(state: State, host: str) -> str:
    return f"{state.fabric}-{host}"


def _make_namespace(name: str, state: State, node: str) -> None:
    """Make a namespace with loopback and a mark, and without IPv6, which would send packets."""
    system.run("ip", "netns", "add", name)
    marks.mark(name, state.runner, state.name, node)
    system.run("ip", "-n", name, "link", "set", "lo", "up")
    quiet = [f"net.ipv6.conf.{which}.disable_ipv6=1" for which in ("all", "default")]
    system.run("ip", "netns", "exec", name, "sysctl", "-q", "-w", *quiet)


def _cable(wanted: Plan, state: State) -> None:
    """Make all veth pairs."""
    for cable in wanted.cables:
        (a, at_a), (b, at_b) = (_end(node, state) for node in cable)
        peer = ("type", "veth", "peer", "name", b, "netns", at_b)
        system.run("ip", "link", "add", "name", a, "netns", at_a, *peer)
        system.run("ip", "-n", at_a, "link", "set", a, "up")
        system.run("ip", "-n", at_b, "link", "set", b, "up")


def _end(node: str, state: State) -> tuple[str, str]:
    """An end of a cable: its interface and namespace."""
    if node in state.namespaces:
        return HOST_INTERFACE, state.namespaces[node]
    return node, state.fabric


def _set_up_host(host: HostPlan, state: State, *, bare: bool) -> None:
    at, name = state.namespaces[host.name], HOST_INTERFACE
    system.run("ip", "-n", at, "link", "set", name, "address", host.mac)
    system.run("ip", "netns", "exec", at, "ethtool", "-K", name, *OFFLOADS_OFF)
    if bare:
        return
    system.run("ip", "-n", at, "addr", "add", host.address, "dev", name)
    for command in host.commands:
        error = system.complaint("ip", "netns", "exec", at, "sh", "-c", command)
        if error is not None:
            state.complaints.append(f"{host.name}: {command}: {error}")
    if not host.commands:
        gateway, mac = host.gateway
        neighbour = ("lladdr", mac, "dev", name, "nud", "permanent")
        system.run("ip", "-n", at, "neigh", "add", gateway, *neighbour)
        system.run("ip", "-n", at, "route", "add", "default", "via", gateway, "dev", name, "onlink")
