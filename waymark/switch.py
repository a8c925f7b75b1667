"""The switch on interfaces: its options, and running it."""

import ipaddress
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from waymark import _core, real_time, units
from waymark.errors import WaymarkError
from waymark.generator import GeneratorApp
from waymark.ports import DROP_PORT, PRIORITIES

DEFAULT_METADATA = 8192
"""Octets of metadata that gRPC clients in C++, Python and Java accept by default."""
MOST_METADATA = 16 << 20
"""Octets of metadata that gRPC clients in Go accept by default."""
FORWARDING_THREAD = "dataplane"
"""The name of the thread that forwards packets."""
SENDING_THREAD = "sender"
"""The name of each thread that sends them for it."""


@dataclass(frozen=True)
class SwitchOptions:
    """The options of a switch."""

    interfaces: Sequence[tuple[int, str]] = ()
    """Ports with their interfaces."""
    address: str = "127.0.0.1:9559"
    """Address of the P4Runtime server; port 0 selects a free port."""
    device_id: int = 1
    program: _core.Program | None = None
    """The program until a controller pushes one."""
    target_rules: bool = True
    """Whether to refuse programs that Tofino's hardware cannot run, also from controllers."""
    rates_bps: dict[int, int] = field(default_factory=dict[int, int])
    """Ports that are slower than their interfaces, in bit/s."""
    queue_packets: int = 1024
    """Packets that may wait in each queue of such a port."""
    port_queues: dict[int, int] = field(default_factory=dict[int, int])
    """The same for single ports."""
    port_weights: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    """Weights with which the queues of a port share its line, by priority from 0."""
    cpu_port: int | None = None
    drop_port: int = DROP_PORT
    """The ``egress_spec`` that drops in programs for v1model."""
    deflection_port: int | None = None
    """The port within each pipe that gets packets refused by queues, in programs for Tofino; None:
    the first recirculation port (68 on Tofino 1, 6 on Tofino 2)."""
    generator: Sequence[GeneratorApp] = ()
    """Applications of the packet generator, set up in each program that runs."""
    seed: int = 0
    """Seed of the program's random numbers."""
    captures: Path | None = None
    """Folder for ``IFACE_in.pcap`` and ``IFACE_out.pcap``."""
    charge_ethernet: bool = True
    """Whether rates charge Ethernet headers, as tc(8) does; links in virtual time do not."""
    gso: bool = False
    """Whether to forward unsplit the segments that senders leave to hardware to split (GSO,
    TSO)."""
    senders: int = 0
    """Threads that send packets for the forwarding thread."""
    certificate: Path | None = None
    key: Path | None = None
    client_ca: Path | None = None
    """The authority that signs clients' certificates."""
    max_metadata: int = DEFAULT_METADATA
    """Octets of gRPC metadata that clients over TLS accept, for the errors of a large batch; other
    clients announce them."""
    real_time: bool = False
    """Whether to use real-time scheduling for the forwarding and sender threads."""


def parse_interface(text: str) -> tuple[int, str]:
    """Read ``PORT@IFACE``.

    Raises:
        WaymarkError: it has another format.
    """
    port, at, name = text.partition("@")
    if not at or not name or "/" in name:
        raise WaymarkError(f"-i {text}: expected PORT@IFACE, such as 1@veth1")
    return _port(port, f"-i {text}"), name


def parse_rate(text: str) -> tuple[int, int]:
    """Read ``PORT=RATE``: port and bit/s.

    Raises:
        WaymarkError: it has another form, or the rate is not from 1 to 2^63 - 1 bit/s.
    """
    port, _, rate = text.partition("=")
    try:
        bps = round(units.parse_rate(rate))
    except WaymarkError:
        bps = 0
    if not 0 < bps < 2**63:
        raise WaymarkError(
            f"--port-rate {text}: expected PORT=RATE, such as 1=10mbit or '1=1.6 Mb/s' "
            "(units: b/s, kb/s, Mb/s, Gb/s)"
        )
    return _port(port, f"--port-rate {text}"), bps


def parse_port_queue(text: str) -> tuple[int, int]:
    """Read ``PORT=PACKETS``: port and packets that may wait.

    Raises:
        WaymarkError: it has another form, or the packets are not from 1 to 2^32 - 1.
    """
    port, _, packets = text.partition("=")
    if not packets.isdecimal() or not 0 < int(packets) < 2**32:
        raise WaymarkError(
            f"--port-queue {text}: expected PORT=PACKETS, such as 2=49, with 1 to 2^32 - 1 packets"
        )
    return _port(port, f"--port-queue {text}"), int(packets)


def parse_port_weights(text: str) -> tuple[int, tuple[int, ...]]:
    """Read ``PORT=WEIGHT,WEIGHT,…``: port, and the weight of each queue by priority from 0.

    Raises:
        WaymarkError: it has another form, a weight is above 255, or all are 0.
    """
    port, _, rest = text.partition("=")
    weights = [int(weight) if weight.isdecimal() else 256 for weight in rest.split(",")]
    if len(weights) > PRIORITIES or max(weights) > 255 or not any(weights):
        raise WaymarkError(
            f"--port-weights {text}: expected PORT=WEIGHT,WEIGHT,…, such as 2=1,9, with at most "
            f"{PRIORITIES} weights from 0 to 255, not all 0"
        )
    return _port(port, f"--port-weights {text}"), tuple(weights)


def _port(text: str, where: str) -> int:
    if not text.isdecimal() or int(text) >= DROP_PORT:
        raise WaymarkError(f"{where}: expected a port from 0 to {DROP_PORT - 1}, found {text!r}")
    return int(text)


def check(options: SwitchOptions) -> None:
    """Raise a :class:`WaymarkError` if options contradict each other."""
    ports = [port for port, _ in options.interfaces]
    for port in options.rates_bps:
        if port not in ports:
            known = ", ".join(map(str, ports)) or "none"
            raise WaymarkError(f"--port-rate {port}: no such port (ports with interfaces: {known})")
    for option, of_ports in (
        ("--port-queue", options.port_queues),
        ("--port-weights", options.port_weights),
    ):
        for port in of_ports:
            if port not in options.rates_bps:
                limited = ", ".join(map(str, options.rates_bps)) or "none"
                raise WaymarkError(
                    f"{option} {port}: a port without --port-rate has no queue "
                    f"(ports with one: {limited})"
                )
    if options.cpu_port is not None and options.cpu_port in ports:
        raise WaymarkError(f"--cpu-port {options.cpu_port}: this port has an interface")
    if options.senders and options.gso:
        raise WaymarkError("--senders: with --gso, only the forwarding thread sends")
    if (options.certificate is None) != (options.key is None):
        raise WaymarkError("TLS needs both --grpc-server-cert and --grpc-server-key")
    if options.client_ca is not None and options.certificate is None:
        raise WaymarkError("--grpc-server-cacert needs --grpc-server-cert and --grpc-server-key")


def is_loopback(address: str) -> bool:
    """Whether ``ADDRESS:PORT`` is reachable from this machine only."""
    host, _, _ = address.rpartition(":")
    return ipaddress.ip_address(host.strip("[]")).is_loopback


def run(options: SwitchOptions, ready: Callable[[str], None]) -> None:
    """Run a switch until SIGINT or SIGTERM, then restore the interfaces.

    Args:
        options: the options of the switch.
        ready: called with the server's address when clients are served.

    Raises:
        WaymarkError: options contradict each other.
        _core.SwitchError: no root, no such interface, an address in use, a refused program.
    """
    check(options)

    def started(address: str) -> None:
        if options.real_time:
            # Not for threads that serve controllers, so that packets do not wait for them.
            real_time.claim(FORWARDING_THREAD)
            if options.senders:
                real_time.claim(SENDING_THREAD)
        ready(address)

    def terminate(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        _core.run_switch(
            address=options.address,
            device_id=options.device_id,
            interfaces=list(options.interfaces),
            rates_bps=options.rates_bps,
            queue_packets=options.queue_packets,
            port_queues=options.port_queues,
            port_weights=options.port_weights,
            cpu_port=options.cpu_port,
            drop_port=options.drop_port,
            deflection_port=options.deflection_port,
            generator=list(options.generator),
            seed=options.seed,
            program=options.program,
            target_rules=options.target_rules,
            captures=None if options.captures is None else str(options.captures),
            charge_ethernet=options.charge_ethernet,
            gso=options.gso,
            senders=options.senders,
            certificate=None if options.certificate is None else str(options.certificate),
            key=None if options.key is None else str(options.key),
            client_ca=None if options.client_ca is None else str(options.client_ca),
            max_metadata=options.max_metadata,
            ready=started,
        )
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    finally:
        signal.signal(signal.SIGTERM, before)
