"""``waymark host send|recv|cross|sink``: hosts of this project on interfaces."""

import os
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from ipaddress import AddressValueError, IPv4Address, IPv4Interface
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from waymark import json_text
from waymark import real_time as scheduling
from waymark.cli.base import EXIT_INTERRUPTED, app
from waymark.cli.completing import control_names
from waymark.cli.options import spread
from waymark.errors import WaymarkError
from waymark.help_text import examples
from waymark.published import Publisher
from waymark.quantity_options import rate_option, size_option, time_option

if TYPE_CHECKING:
    from waymark.live import Arrived, LiveHost, Moment, Place, Sent
    from waymark.traffic import Ecn, Source

host = typer.Typer(
    help="Send and receive with this project's transports. Needs root.",
    epilog=examples(
        "waymark host recv --at d1",
        "waymark host send 10.0.0.2 --at s1 --control rovegas --seconds 5",
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(host, name="host")

PORT = 5001

READY = "ready"
"""Printed before ``--begin -`` reads the time."""

Destination = Annotated[
    str,
    typer.Argument(
        metavar="HOST[:PORT]",
        help="The receiver: an IPv4 address, or a name, such as that of a host of the network. "
        "Default port: 5001.",
    ),
]
Port = Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")]
Seed = Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Seed of random numbers.")]
Begin = Annotated[
    str | None,
    typer.Option(
        metavar="TIME|-",
        help="Start time on the machine's monotonic clock; -: read it from standard input.",
    ),
]


@dataclass(frozen=True)
class At:
    """Options for a host's interface and addresses."""

    at: Annotated[
        str | None,
        typer.Option("--at", metavar="NODE", help="A host of a network that is up (up --bare)."),
    ] = None
    network: Annotated[
        str | None,
        typer.Option("--network", metavar="NAME", help="The network, if several are up."),
    ] = None
    interface: Annotated[
        str | None,
        typer.Option("-i", "--interface", metavar="IFACE", help="The interface, instead of --at."),
    ] = None
    address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDR/LEN", help="Address of this host, which the kernel must not have."
        ),
    ] = None
    gateway: Annotated[
        str | None, typer.Option(metavar="ADDR", help="Gateway to other networks.")
    ] = None
    gateway_mac: Annotated[
        str | None,
        typer.Option(metavar="MAC", help="Address of a gateway that does not answer ARP."),
    ] = None
    mac: Annotated[str | None, typer.Option(metavar="MAC", help="Address of this host.")] = None
    real_time: Annotated[
        bool, typer.Option("--real-time", help="Use real-time scheduling (SCHED_RR).")
    ] = False

    def enter(self, destination: str | None = None) -> "Place":
        """The place; for a host of a running network, this command is run there instead.

        Raises:
            WaymarkError: no place is given, there is no such network, it has no host with the
                destination's name, or this is not root.
        """
        if self.at is not None:
            if self.interface is not None:
                raise WaymarkError("--at and --interface: expected at most one of them")
            _run_at(self.at, self.network, destination)
        from waymark.live import Place

        if self.interface is None or self.address is None:
            raise WaymarkError("no interface: expected --at NODE, or --interface and --address")
        try:
            IPv4Interface(self.address)
        except ValueError as error:
            expected = "expected an address and prefix length, such as 10.0.0.1/24"
            raise WaymarkError(f"--address {self.address}: {expected}") from error
        if os.geteuid() != 0:
            raise WaymarkError("packets on interfaces need root: run this with sudo")
        if self.real_time:
            scheduling.claim()
        return Place(self.interface, self.address, self.gateway, self.gateway_mac, self.mac)


@dataclass(frozen=True)
class Transport:
    """Options of a connection."""

    mark: Annotated[
        list[str] | None,
        typer.Option(metavar="aqt|avbw|ci", help="Also carry this mark; can be repeated."),
    ] = None
    mtu: Annotated[
        int, typer.Option(min=128, max=65535, help="Maximum size of an IP packet in octets.")
    ] = 1500
    window: Annotated[int, typer.Option(min=1, help="Receive window in packets.")] = 1000
    initial_window: Annotated[
        int, typer.Option(min=1, help="Initial congestion window in packets.")
    ] = 10
    delayed_ack: Annotated[float, time_option(help="Maximum delay of an acknowledgement.")] = 0.04
    pacing: Annotated[
        bool, typer.Option(help="Pace packets over the round-trip time, if the control does not.")
    ] = True
    ecn_option: Annotated[
        bool,
        typer.Option(
            help="Send the AccECN option, with octet counters (RFC 9768), if both ends count marks."
        ),
    ] = True
    loss: Annotated[
        float, typer.Option(min=0, max=0.5, help="Probability of an artificial packet loss.")
    ] = 0.0
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Seed of these losses.")] = 1
    patience: Annotated[
        float, time_option(least_s=0.1, help="Time without an answer after which to give up.")
    ] = 10.0

    def open(
        self,
        place: "Place",
        control: str,
        trace_every_s: float | None = None,
        begin_s: float | None = None,
        ecn: "Ecn" = "off",
    ) -> "LiveHost":
        """A host with such a connection."""
        from waymark.live import LiveHost
        from waymark.traffic import MODERN, Flow

        unknown = sorted(set(self.mark or ()) - {"aqt", "avbw", "ci"})
        if unknown:
            raise WaymarkError(f"--mark {unknown[0]}: valid: aqt, avbw, ci")
        profile = replace(
            MODERN,
            packet_octets=self.mtu,
            window=self.window,
            initial_window=self.initial_window,
            delayed_ack_s=self.delayed_ack,
            pacing=self.pacing,
            ecn=ecn,
            ecn_option=self.ecn_option,
        )
        flow = Flow("here", "there", control, profile)  # pyright: ignore[reportArgumentType]
        marks = frozenset(self.mark or ())
        return LiveHost(
            place, flow, marks, self.loss, self.seed, trace_every_s, begin_s, self.patience
        )


@dataclass(frozen=True)
class Lines:
    """Options of the output."""

    interval: Annotated[float, time_option(least_s=0.05, help="Time between output lines.")] = 1.0
    as_json: Annotated[bool, typer.Option("--json", help="Print each line as JSON.")] = False

    def print(self, told: "Moment | Sent | Arrived", line: str) -> None:
        """Print one."""
        print(json_text.dumps(asdict(told)) if self.as_json else line, flush=True)


@host.command(
    "send",
    epilog=examples(
        "waymark host send 10.0.0.2 --at s1 --control rovegas --seconds 5",
        "waymark host send 10.0.0.2 --at s1 --octets '10 MB' --trace live.parquet",
    ),
)
@spread
def send(
    destination: Destination,
    at: At,
    transport: Transport,
    lines: Lines,
    seconds: Annotated[
        float, time_option(least_s=0.1, help="Duration, including the handshake.")
    ] = 10.0,
    octets: Annotated[int | None, size_option(help='Amount to send, such as "10 MB".')] = None,
    control: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            autocompletion=control_names,
            help="Congestion control; see waymark controls.",
        ),
    ] = "cubic",
    begin: Begin = None,
    trace: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a trace of all changes: .parquet or .csv."),
    ] = None,
    publish: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER/HOST",
            help="File of the latest state, for waymark lab --network; set by --at.",
        ),
    ] = None,
) -> None:
    """Send to a receiver, and print throughput, RTT, window and marks."""
    from waymark import trace as traces

    if trace is not None:
        traces.check(trace)
    place = at.enter(destination)
    to, port = _destination(destination)
    sender = transport.open(place, control, None if trace is None else 0.0, _begin(begin))
    publisher = None if publish is None else Publisher(publish, control, f"{to}:{port}")
    try:
        with _interruptible():
            moments = sender.send(to, port, seconds, octets, lines.interval, _notify, publisher)
            for moment in moments:
                lines.print(moment, _of_sender(moment))
    finally:
        if publisher is not None:
            publisher.end()
        _write(sender, trace)


@host.command(
    "recv",
    epilog=examples(
        "waymark host recv --at d1",
    ),
)
@spread
def receive(
    at: At,
    transport: Transport,
    lines: Lines,
    port: Port = PORT,
    ecn: Annotated[
        Literal["asked", "accurate", "off"],
        typer.Option(
            help="Echo ECN marks as the sender negotiates (RFC 3168, RFC 9768), each mark once "
            "(accurate, for DCTCP: RFC 8257), or not at all.",
        ),
    ] = "asked",
) -> None:
    """Receive one connection, echo marks, and print throughput."""
    receiver = transport.open(at.enter(), "newreno", ecn="classic" if ecn == "asked" else ecn)
    print(f"listening on port {port}", flush=True)
    with _interruptible():
        for moment in receiver.receive(port, lines.interval):
            lines.print(
                moment,
                f"{moment.time_s:8.2f} s  {moment.throughput_bps / 1e6:9.3f} Mb/s  "
                f"{moment.octets} octets",
            )


@host.command(
    "cross",
    epilog=examples(
        "waymark host cross 10.0.0.4 --at s2 --rate 3.2mbit --on 10ms --off 12.2ms",
    ),
)
@spread
def cross(
    destination: Destination,
    at: At,
    lines: Lines,
    rate: Annotated[
        float, rate_option(default="1 Mb/s", help='Rate during bursts, such as "3.2 Mb/s".')
    ] = 1e6,
    on: Annotated[
        float | None,
        time_option(help='Mean duration of a burst, such as "10 ms". Default: constant rate.'),
    ] = None,
    off: Annotated[float | None, time_option(help="Mean time between bursts.")] = None,
    shape: Annotated[
        float | None,
        typer.Option(help="Shape of a Pareto distribution of both times. Default: exponential."),
    ] = None,
    packet_octets: Annotated[
        int, typer.Option(min=40, max=65535, help="Size of a datagram, including its headers.")
    ] = 1000,
    quiet: Annotated[float, time_option(help="Time to wait before sending.")] = 0.0,
    seconds: Annotated[
        float, time_option(least_s=0.1, help="Total time, including the quiet time.")
    ] = 10.0,
    seed: Seed = 1,
    number: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            help="Number of the source in a scenario, which selects its random numbers.",
        ),
    ] = 0,
    begin: Begin = None,
) -> None:
    """Send UDP traffic.

    It has a constant rate, or ON-OFF bursts (VBR, Pareto). With the seed and number of a source of
    a scenario, the same datagrams leave at the same times.
    """
    from waymark.live import LiveSource

    place = at.enter(destination)
    to, port = _destination(destination)
    times = (on, off, shape, quiet, seconds)
    source = LiveSource(
        place, _source(rate, packet_octets, *times), to, port, seed, number,
        _begin(begin),
    )  # fmt: skip
    with _interruptible():
        for sent in source.send(lines.interval):
            lines.print(
                sent,
                f"{sent.time_s:8.2f} s  {sent.packets} packets  {sent.octets} octets  "
                f"late {sent.late_mean_s * 1e6:.0f} µs, at most {sent.late_max_s * 1e6:.0f} µs",
            )


@host.command(
    "sink",
    epilog=examples(
        "waymark host sink --at d2 --json",
    ),
)
@spread
def sink(at: At, lines: Lines, port: Port = PORT) -> None:
    """Count the UDP traffic that arrives at a port, until Ctrl-C."""
    from waymark.live import LiveSink

    counting = LiveSink(at.enter(), port)
    print(f"listening on port {port}", flush=True)

    def tell(arrived: "Arrived") -> None:
        numbers = f"{arrived.packets} packets  {arrived.octets} octets"
        lines.print(arrived, f"{arrived.time_s:8.2f} s  {numbers}")

    try:
        for arrived in counting.receive(lines.interval):
            tell(arrived)
    except KeyboardInterrupt:
        tell(counting.arrived())


def _notify(text: str) -> None:
    """Report something on stderr while the command continues."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def _interruptible() -> Generator[None]:
    """Ctrl-C ends the command, as in shells."""
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(EXIT_INTERRUPTED) from None


def _begin(text: str | None) -> float | None:
    """``--begin`` in seconds."""
    if text is None:
        return None
    if text == "-":
        print(READY, flush=True)
    told = sys.stdin.readline() if text == "-" else text
    try:
        return float(told)
    except ValueError as error:
        raise WaymarkError(f"--begin {told.strip()!r}: expected seconds") from error


def _source(
    rate_bps: float,
    packet_octets: int,
    on_s: float | None,
    off_s: float | None,
    shape: float | None,
    start_s: float,
    stop_s: float,
) -> "Source":
    from waymark.traffic import Cbr, OnOff

    ends = ("here", "there")
    if on_s is None:
        if off_s is not None or shape is not None:
            raise WaymarkError("--off and --shape need --on")
        return Cbr(*ends, rate_bps, packet_octets, start_s, stop_s)
    if off_s is None:
        raise WaymarkError("--on needs --off")
    source = OnOff(
        *ends,
        rate_bps,
        on_s,
        off_s,
        packet_octets=packet_octets,
        start_s=start_s,
        stop_s=stop_s,
    )
    return source if shape is None else replace(source, distribution="pareto", shape=shape)


def _run_at(node: str, network: str | None, destination: str | None) -> None:
    """Run this command at a host of a running network, with the host's interface and addresses.

    The names of the network's hosts are resolved there.
    """
    from topologies import networks, runners

    one = networks.only() if network is None else networks.load(network)
    if destination is not None:
        name, _ = _split(destination)
        if not _is_address(name) and name not in one.places:
            raise WaymarkError(f"{one.name} has no host {name!r} (hosts: {', '.join(one.hosts)})")
    words = runners.host_command(one, node, _without_at(sys.argv[2:]))
    os.execvp(words[0], words)


def _without_at(arguments: list[str]) -> list[str]:
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in ("--at", "--network"):
            next(words, None)
        elif not word.startswith(("--at=", "--network=")):
            kept.append(word)
    return kept


def _destination(text: str) -> tuple[IPv4Address, int]:
    name, port = _split(text)
    try:
        return IPv4Address(socket.gethostbyname(name)), port
    except OSError as error:
        raise WaymarkError(f"{name}: the name has no IPv4 address ({error.strerror})") from error


def _split(destination: str) -> tuple[str, int]:
    """The address or name of a destination, and its port."""
    name, colon, port = destination.partition(":")
    if not name or (colon and not (port.isdecimal() and 0 < int(port) < 1 << 16)):
        expected = "expected an address or name, and a port from 1 to 65535 if any"
        raise WaymarkError(f"{destination}: {expected}, such as 10.0.0.2 or 10.0.0.2:5001")
    if not _is_address(name) and name.replace(".", "").isdecimal():
        raise WaymarkError(f"{destination}: expected an IPv4 address, such as 10.0.0.2")
    return name, int(port or PORT)


def _is_address(text: str) -> bool:
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True


def _of_sender(moment: "Moment") -> str:
    def ms(seconds: float | None) -> str:
        return "     –" if seconds is None else f"{seconds * 1e3:6.1f}"

    told = (
        f"{moment.time_s:8.2f} s  {moment.throughput_bps / 1e6:9.3f} Mb/s  "
        f"cwnd {moment.cwnd or 0:7.1f}  RTT {ms(moment.rtt_s)} ms  resent {moment.resent}"
    )
    if moment.aqt_forward_s is not None or moment.aqt_backward_s is not None:
        told += f"  AQT {ms(moment.aqt_forward_s)} there {ms(moment.aqt_backward_s)} back"
    if moment.mrai is not None:
        told += f"  MRAI {moment.mrai}"
    return told + (f"  CI {moment.ci}" if moment.ci else "")


def _write(sender: "LiveHost", file: Path | None) -> None:
    from waymark import trace as traces

    traced = sender.trace() if file is not None else None
    if file is not None and traced is not None:
        print(traces.write(traced.table(), file))
