"""A topology under Mininet, in a separate network namespace, so that it leaves nothing behind."""

import json
from pathlib import Path
from typing import Any

from topologies import names, netns, system, wires
from topologies.plan import OFFLOADS_OFF, Plan, plan
from topologies.state import Process, State, end
from topologies.switches import TARGETS, Target
from waymark.topology import Topology

NAME = "mininet"

READY = "the network is up"
"""Printed by ``mininet_net`` when the network is up."""

PYTHON = "/usr/bin/python3"
"""The Python for which Debian installs Mininet."""


def up(topology: Topology, file: Path, name: str, target: str, *, bare: bool, seed: int) -> State:
    """Bring a topology up with configured switches. A failure leaves nothing behind.

    Args and Raises:
        As :func:`topologies.netns.up`.
    """
    system.need("ip", "ethtool", "mn", "nsenter")
    wanted, kind = plan(topology), TARGETS[target]
    state = State(name, str(file), NAME, target, fabric=f"wm-{name}")
    state.hosts, state.bare = [host.name for host in wanted.hosts], bare
    state.places = {host.name: host.place(f"{host.name}-eth0") for host in wanted.hosts}
    state.switches = [switch.name for switch in wanted.switches]
    state.p4runtime = [(switch.grpc, switch.device_id) for switch in wanted.switches]
    state.links = {name: list(interfaces) for name, interfaces in wanted.links.items()}
    netns.refuse_taken([state.fabric])
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
    end([p for p in (Process.of(name, pid) for name, pid in state.pids.items()) if _is_host(p)])
    netns.down(state)


def prefix(state: State, node: str) -> list[str]:
    """The prefix of a command that runs at a node; for a switch, in the switches' namespace."""
    if node in state.pids:
        return ["nsenter", "--net", f"--target={state.pids[node]}"]
    return netns.in_fabric(state)


def _make(wanted: Plan, state: State, kind: Target, *, bare: bool, seed: int) -> None:
    device_configs = netns.make_fabric(wanted, state, kind)
    spec = state.folder / "mininet.json"
    spec.write_text(json.dumps(_spec(wanted, state, kind, bare=bare, seed=seed)), encoding="utf-8")
    # Debian's Python has Mininet; this Python, which the switches use, has Waymark.
    folder = Path(__file__).resolve().parents[__name__.count(".")]
    environment = ("env", f"PYTHONPATH={folder}")
    command = (*environment, PYTHON, "-m", f"{__package__}.mininet_net", str(spec))
    system.start(state, "mininet", [*netns.in_fabric(state), *command], READY)
    pids = json.loads((state.folder / "pids.json").read_text(encoding="utf-8"))
    state.pids, state.complaints = pids["hosts"], pids["complaints"]
    state.processes += [Process.of(name, pid) for name, pid in pids["processes"].items()]
    state.save()
    for switch in wanted.switches:
        kind.settle(switch, netns.in_fabric(state))
    netns.apply(wanted, state, device_configs)


def _spec(wanted: Plan, state: State, kind: Target, *, bare: bool, seed: int) -> dict[str, Any]:
    """The input of ``mininet_net``."""
    hosts = {host.name: f"{host.name}-eth0" for host in wanted.hosts}
    ports = {
        interface: (switch.name, port)
        for switch in wanted.switches
        for port, interface in switch.interfaces.items()
    }

    def cable_end(name: str) -> dict[str, Any]:
        if name in hosts:
            return {"node": name, "interface": hosts[name], "port": 0}
        node, port = ports.get(name, ("", 0))
        return {"node": node, "interface": name, "port": port}

    return {
        "hosts": [
            {
                "name": host.name,
                "interface": hosts[host.name],
                "address": host.address,
                "mac": host.mac,
                "gateway": host.gateway,
                "commands": host.commands,
            }
            for host in wanted.hosts
        ],
        "switches": [
            {
                "name": switch.name,
                "command": kind.command(switch, state.folder),
                "log": str(state.folder / f"{switch.name}.log"),
                "grpc": switch.grpc,
            }
            for switch in wanted.switches
        ],
        "cables": [[cable_end(name) for name in cable] for cable in wanted.cables],
        "wires": wires.command(wanted.wires, seed, state.folder) if wanted.wires else [],
        "wires_ready": wires.READY,
        "offloads_off": OFFLOADS_OFF,
        "bare": bare,
    }


def _is_host(process: Process) -> bool:
    """Whether a process is still one of Mininet's shells; another may have reused its pid."""
    try:
        return "mininet:" in Path(f"/proc/{process.pid}/cmdline").read_text(encoding="utf-8")
    except OSError:
        return False
