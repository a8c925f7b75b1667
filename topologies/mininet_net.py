"""P4 switches and wires as Mininet nodes; and, run as a script, a whole network of them.

This module needs only Mininet (Debian's, for ``/usr/bin/python3``). Your own Mininet script can
import ``P4Switch`` with this checkout on PYTHONPATH. ``waymark up --runner mininet`` runs it as
``python3 -m topologies.mininet_net SPEC.json``.
"""

# Mininet has no type hints, and this file does not run in the environment of the type checker.
# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false

import json
import signal
import subprocess
import sys
from pathlib import Path

from mininet.net import Mininet  # type: ignore[import-not-found]
from mininet.node import Node, Switch  # type: ignore[import-not-found]

from topologies.ready import NotReadyError, wait

READY = "the network is up"


class P4Switch(Switch):
    """A switch that a command starts on its interfaces, such as ``waymark switch -i 1@s1-eth1 …``.

    Args:
        command: the command that starts it; None: the embedded switch on the node's interfaces,
            port n on the interface that Mininet numbers n.
        grpc: its P4Runtime address and port.
        log: the file for its output.
    """

    def __init__(
        self,
        name,
        command=None,
        grpc="127.0.0.1:9559",
        log=None,
        **settings,
    ):
        super().__init__(name, **settings)
        self.command, self.grpc = command, grpc
        self.log = Path(log or f"/tmp/{name}.log")
        self.process = None

    def start(self, controllers):  # noqa: ARG002, Mininet's signature
        """Start it, and wait until it serves P4Runtime. Mininet's controllers are not used."""
        command = self.command or [
            *("waymark", "switch", "--grpc-server-addr", self.grpc),
            *(f"-i{port}@{intf.name}" for port, intf in self.intfs.items() if intf.name != "lo"),
        ]
        self.process = start(self, command, self.log, int(self.grpc.rpartition(":")[2]))

    def stop(self, deleteIntfs=True):  # noqa: N803, Mininet's name
        """End it."""
        end(self.process)
        super().stop(deleteIntfs)


class Wires(Node):
    """The node where links are cut, so that a user-space process can delay their packets."""

    def __init__(self, name, **settings):
        super().__init__(name, inNamespace=False, **settings)


def start(node, command, log, ready):
    """Start a process at a node, and wait until it is ready."""
    with log.open("wb") as out:
        process = node.popen(command, stdout=out, stderr=subprocess.STDOUT)
    try:
        wait(process, log, ready)
    except NotReadyError as error:
        raise SystemExit(f"{node.name} {error}") from error
    return process


def end(process):
    """Terminate a process, and kill it if it does not end."""
    if process is None or process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()


def build(spec):
    """The network that ``topologies/mininet.py`` describes, not started."""
    Mininet.inited = True  # otherwise it raises limits of the whole machine permanently
    net = Mininet(controller=None, build=False)
    for host in spec["hosts"]:
        net.addHost(host["name"], ip=host["address"], mac=host["mac"])
    for switch in spec["switches"]:
        settings = {key: switch[key] for key in ("command", "log", "grpc")}
        net.addSwitch(switch["name"], cls=P4Switch, inNamespace=False, **settings)
    wires = net.addHost("wires", cls=Wires, ip=None) if spec["wires"] else None
    for ends in spec["cables"]:
        nodes = [net[end["node"]] if end["node"] else wires for end in ends]
        names = {f"intfName{i}": end["interface"] for i, end in enumerate(ends, 1)}
        ports = {f"port{i}": end["port"] for i, end in enumerate(ends, 1) if end["port"]}
        net.addLink(*nodes, **names, **ports)
    return net


def set_up(net, spec):
    """Set offloads, neighbours and routes. Returns the hosts' commands that failed."""
    complaints = []
    for host in spec["hosts"]:
        node = net[host["name"]]
        name = host["interface"]
        node.cmd("sysctl -q -w net.ipv6.conf.all.disable_ipv6=1")
        node.cmd(f"ethtool -K {name} {' '.join(spec['offloads_off'])}")
        if spec["bare"]:
            node.cmd(f"ip addr flush dev {name}")
            continue
        for command in host["commands"]:
            out, err, code = node.pexec("sh", "-c", command)
            if code != 0:
                message = " ".join((err or out).split()) or f"exit code {code}"
                complaints.append(f"{host['name']}: {command}: {message}")
        if not host["commands"]:
            gateway, mac = host["gateway"]
            node.cmd(f"ip neigh add {gateway} lladdr {mac} dev {name} nud permanent")
            node.cmd(f"ip route add default via {gateway} dev {name} onlink")
    return complaints


def main(path):
    """Bring the network up, write the processes' pids, and wait for SIGTERM."""

    def terminate(_number, _frame):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, terminate)
    spec = json.loads(Path(path).read_text(encoding="utf-8"))
    net = build(spec)
    wires = None
    try:
        net.build()
        complaints = set_up(net, spec)
        if spec["wires"]:
            log = Path(path).with_name("wires.log")
            wires = start(net["wires"], spec["wires"], log, spec["wires_ready"])
        net.start()
        pids = {
            "hosts": {host["name"]: net[host["name"]].pid for host in spec["hosts"]},
            "processes": {s["name"]: net[s["name"]].process.pid for s in spec["switches"]}
            | ({"wires": wires.pid} if wires else {}),
            "complaints": complaints,
        }
        Path(path).with_name("pids.json").write_text(json.dumps(pids), encoding="utf-8")
        print(READY, flush=True)
        while True:
            signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        end(wires)
        net.stop()


if __name__ == "__main__":
    main(sys.argv[1])
