"""``waymark host send|recv``: a transport of this project on an interface."""

import os
import sys
from dataclasses import replace
from ipaddress import AddressValueError, IPv4Address, IPv4Interface
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from waymark.cli.base import EXIT_INTERRUPTED, app
from waymark.errors import WaymarkError

if TYPE_CHECKING:
    from waymark.live import LiveHost, Moment

host = typer.Typer(
    help="Send and receive with this project's transports on an interface. Needs root.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(host, name="host")

PORT = 5001

At = Annotated[
    str | None,
    typer.Option("--at", metavar="NODE", help="A host of the network that is up (up --bare)."),
]
Network = Annotated[
    str | None, typer.Option("--network", metavar="NAME", help="Which, if several are up.")
]
Interface = Annotated[
    str | None, typer.Option("-i", "--interface", metavar="IFACE", help="Instead of --at.")
]
Address = Annotated[
    str | None, typer.Option(metavar="ADDR/LEN", help="This host's; the kernel must not have it.")
]
Gateway = Annotated[
    str | None, typer.Option(metavar="ADDR", help="Who forwards to other networks.")
]
GatewayMac = Annotated[
    str | None, typer.Option(metavar="MAC", help="Where the gateway answers no ARP.")
]
Mac = Annotated[str | None, typer.Option(metavar="MAC", help="This host's own.")]
Control = Annotated[
    str, typer.Option(metavar="NAME", help="Congestion control, as in the lab: vegas, rovegas, …")
]
Marks = Annotated[
    list[str] | None,
    typer.Option("--mark", metavar="aqt|avbw|ci", help="Carry it, whatever the control needs."),
]
Mtu = Annotated[int, typer.Option(min=128, max=65535, help="Octets of an IP packet at most.")]
DelayedAck = Annotated[
    float, typer.Option(min=0, help="Seconds an acknowledgement may wait for a second packet.")
]
Loss = Annotated[float, typer.Option(min=0, max=0.5, help="Lose packets on purpose.")]
Seed = Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Of these losses.")]
Patience = Annotated[
    float, typer.Option(min=0.1, help="Seconds of silence after which the other end is given up.")
]
Interval = Annotated[float, typer.Option(min=0.05, help="Seconds between two lines.")]


@host.command("send")
def send(
    destination: Annotated[str, typer.Argument(metavar="ADDR[:PORT]")],
    seconds: Annotated[float, typer.Option(min=0.1, help="How long to send.")] = 10.0,
    octets: Annotated[int | None, typer.Option(min=1, help="Send so many and end.")] = None,
    at: At = None,
    network: Network = None,
    interface: Interface = None,
    address: Address = None,
    gateway: Gateway = None,
    gateway_mac: GatewayMac = None,
    mac: Mac = None,
    control: Control = "cubic",
    mark: Marks = None,
    mtu: Mtu = 1500,
    delayed_ack: DelayedAck = 0.04,
    loss: Loss = 0.0,
    seed: Seed = 1,
    patience: Patience = 10.0,
    interval: Interval = 1.0,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write each change: .parquet or .csv.")
    ] = None,
) -> None:
    """Send to a receiver, and tell throughput, RTT, window and marks as it goes."""
    _enter(at, network, interface)
    to, port = _destination(destination)
    sender = _open(
        interface, address, gateway, gateway_mac, mac, control, mark, mtu, delayed_ack, loss, seed,
        None if trace is None else 0.0, patience,
    )  # fmt: skip
    try:
        for moment in sender.send(to, port, seconds, octets, interval):
            print(_line(moment), flush=True)
    except KeyboardInterrupt:
        raise typer.Exit(EXIT_INTERRUPTED) from None
    finally:
        _write(sender, trace)


@host.command("recv")
def receive(
    port: Annotated[int, typer.Option(min=1, max=65535, help="To listen on.")] = PORT,
    at: At = None,
    network: Network = None,
    interface: Interface = None,
    address: Address = None,
    gateway: Gateway = None,
    gateway_mac: GatewayMac = None,
    mac: Mac = None,
    mark: Marks = None,
    mtu: Mtu = 1500,
    delayed_ack: DelayedAck = 0.04,
    loss: Loss = 0.0,
    seed: Seed = 1,
    patience: Patience = 10.0,
    interval: Interval = 1.0,
) -> None:
    """Receive one connection to its end, echoing marks, and tell throughput as it goes."""
    _enter(at, network, interface)
    receiver = _open(
        interface, address, gateway, gateway_mac, mac, "newreno", mark, mtu, delayed_ack, loss,
        seed, None, patience,
    )  # fmt: skip
    print(f"listening on port {port}", flush=True)
    try:
        for moment in receiver.receive(port, interval):
            mbps = moment.throughput_bps / 1e6
            print(f"{moment.time_s:8.2f} s  {mbps:9.3f} Mb/s  {moment.octets} octets", flush=True)
    except KeyboardInterrupt:
        raise typer.Exit(EXIT_INTERRUPTED) from None


def _enter(at: str | None, network: str | None, interface: str | None) -> None:
    """At a host of a network that is up: run this command there, with what is known of it."""
    if at is None:
        return
    if interface is not None:
        raise WaymarkError("--at names a host of a network, --interface an interface: give one")
    from topologies import runners, state

    one = state.only() if network is None else state.load(network)
    words = [*runners.prefix(one, at), sys.executable, "-m", "waymark", *_without_at(sys.argv[1:])]
    for option, value in runners.place(one, at).items():
        words += [f"--{option}", value]
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


def _open(
    interface: str | None,
    address: str | None,
    gateway: str | None,
    gateway_mac: str | None,
    mac: str | None,
    control: str,
    marks: list[str] | None,
    mtu: int,
    delayed_ack_s: float,
    loss: float,
    seed: int,
    trace_every_s: float | None,
    patience_s: float,
) -> "LiveHost":
    from waymark.live import LiveHost, Place
    from waymark.traffic import MODERN, Flow

    if interface is None or address is None:
        raise WaymarkError("say --at NODE, or --interface and --address")
    unknown = sorted(set(marks or ()) - {"aqt", "avbw", "ci"})
    if unknown:
        raise WaymarkError(f"--mark {unknown[0]}: valid: aqt, avbw, ci")
    try:
        IPv4Interface(address)
    except ValueError as error:
        raise WaymarkError(f"--address {address}: expected one such as 10.0.0.1/24") from error
    if os.geteuid() != 0:
        raise WaymarkError("packets on interfaces need root: run this with sudo")
    profile = replace(MODERN, packet_octets=mtu, delayed_ack_s=delayed_ack_s)
    flow = Flow("here", "there", control, profile)  # pyright: ignore[reportArgumentType]
    place = Place(interface, address, gateway, gateway_mac, mac)
    return LiveHost(place, flow, frozenset(marks or ()), loss, seed, trace_every_s, patience_s)


def _destination(text: str) -> tuple[IPv4Address, int]:
    address, _, port = text.partition(":")
    try:
        return IPv4Address(address), int(port or PORT)
    except (AddressValueError, ValueError) as error:
        raise WaymarkError(f"{text}: expected ADDR or ADDR:PORT, such as 10.0.0.2:5001") from error


def _line(moment: "Moment") -> str:
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
