"""``waymark switch``: a P4 switch on interfaces."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from waymark import _core, service_manager
from waymark import generator as generators
from waymark import switch as switches
from waymark.cli.base import app
from waymark.cli.compiling import Define, Include, TargetRules, compile_file
from waymark.help_text import examples
from waymark.ports import DROP_PORT


@app.command(
    "switch",
    epilog=examples(
        "waymark switch -i 1@veth1 -i 2@veth2 --port-rate 2=1.6mbit --cpu-port 510",
        "waymark switch --p4 my.p4 -i 1@eth1 --grpc-server-addr 127.0.0.1:9560",
    ),
)
def run_switch(
    interfaces: Annotated[
        list[str] | None,
        typer.Option("-i", "--interface", metavar="PORT@IFACE", help="A port and its interface."),
    ] = None,
    p4: Annotated[
        Path | None,
        typer.Option("--p4", metavar="F.p4", help="Program to run until a controller sets one."),
    ] = None,
    include: Include = None,
    define: Define = None,
    target_rules: TargetRules = True,
    address: Annotated[
        str,
        typer.Option(
            "--grpc-server-addr", metavar="ADDR:PORT", help="Address of P4Runtime (gRPC)."
        ),
    ] = "127.0.0.1:9559",
    device_id: Annotated[
        int, typer.Option("--device-id", min=0, max=2**64 - 1, help="P4Runtime device id.")
    ] = 1,
    port_rate: Annotated[
        list[str] | None,
        typer.Option(
            "--port-rate",
            metavar="PORT=RATE",
            help='Rate of a port, such as 1=10mbit or "1=10 Mb/s".',
        ),
    ] = None,
    charge_ip: Annotated[
        bool,
        typer.Option(
            "--charge-ip",
            help="Count IP packets without Ethernet headers towards port rates, as the lab does.",
        ),
    ] = False,
    gso: Annotated[
        bool,
        typer.Option(
            "--gso",
            help="Forward segments that hosts leave to segmentation offload as one packet of up to "
            "64 kB.",
        ),
    ] = False,
    senders: Annotated[
        int,
        typer.Option(
            "--senders",
            min=0,
            max=64,
            help="Threads that send packets, besides the one that forwards them.",
        ),
    ] = 0,
    queue_packets: Annotated[
        int,
        typer.Option(
            min=1, max=2**32 - 1, help="Limit of each queue of a port with a rate, in packets."
        ),
    ] = 1024,
    port_queue: Annotated[
        list[str] | None,
        typer.Option(
            "--port-queue", metavar="PORT=PACKETS", help="This limit for one port, such as 2=49."
        ),
    ] = None,
    port_weights: Annotated[
        list[str] | None,
        typer.Option(
            "--port-weights",
            metavar="PORT=W,W,...",
            help="Weights of the queues of a port, from priority 0, such as 2=1,9. Default: strict "
            "priority, the largest first.",
        ),
    ] = None,
    cpu_port: Annotated[
        int | None,
        typer.Option(min=0, max=DROP_PORT - 1, help="Port of packets to and from the controller."),
    ] = None,
    drop_port: Annotated[
        int, typer.Option(min=0, max=DROP_PORT, help="Value of egress_spec that drops (v1model).")
    ] = DROP_PORT,
    deflection_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=127,
            help="Port in each pipe for packets that a full queue deflects (Tofino). Default: the "
            "first recirculation port.",
        ),
    ] = None,
    generator: Annotated[
        Path | None,
        typer.Option(
            "--generator",
            metavar="F.toml",
            help="Applications of Tofino's packet generator; see docs/p4-support.md.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Seed of random numbers.")] = 0,
    real_time: Annotated[
        bool, typer.Option("--real-time", help="Forward with real-time scheduling (SCHED_RR).")
    ] = False,
    pcap: Annotated[
        Path | None, typer.Option("--pcap", metavar="DIR", help="Folder of captures of every port.")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option("--grpc-server-cert", metavar="PEM", help="TLS: certificate.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--grpc-server-key", metavar="PEM", help="TLS: private key.")
    ] = None,
    client_ca: Annotated[
        Path | None,
        typer.Option(
            "--grpc-server-cacert", metavar="PEM", help="TLS: CA of clients' certificates."
        ),
    ] = None,
    max_metadata: Annotated[
        int,
        typer.Option(
            "--grpc-max-metadata",
            min=switches.DEFAULT_METADATA,
            max=switches.MOST_METADATA,
            help="TLS: octets of metadata that clients accept, for errors of large batches.",
        ),
    ] = switches.DEFAULT_METADATA,
) -> None:
    """Run a P4 switch on Linux interfaces, driven through P4Runtime.

    Interfaces need root, or the capabilities CAP_NET_RAW and CAP_NET_ADMIN.
    """
    options = switches.SwitchOptions(
        interfaces=[switches.parse_interface(text) for text in interfaces or ()],
        address=address,
        device_id=device_id,
        program=None
        if p4 is None
        else compile_file(p4, include, define, target_rules=target_rules),
        target_rules=target_rules,
        rates_bps=dict(switches.parse_rate(text) for text in port_rate or ()),
        queue_packets=queue_packets,
        port_queues=dict(switches.parse_port_queue(text) for text in port_queue or ()),
        port_weights=dict(switches.parse_port_weights(text) for text in port_weights or ()),
        cpu_port=cpu_port,
        drop_port=drop_port,
        deflection_port=deflection_port,
        generator=() if generator is None else generators.read(generator),
        seed=seed,
        captures=pcap,
        charge_ethernet=not charge_ip,
        gso=gso,
        senders=senders,
        certificate=certificate,
        key=key,
        client_ca=client_ca,
        max_metadata=max_metadata,
        real_time=real_time,
    )

    def ready(at: str) -> None:
        ports = ", ".join(f"{port}@{name}" for port, name in options.interfaces) or "no interfaces"
        print(f"device {device_id}: P4Runtime on {at}, {ports}", flush=True)
        service_manager.ready()
        if os.environ.get("WAYMARK_JIT") != "0" and _core.machine_code_is_forbidden():
            print(
                "warning: the system forbids machine code that a process writes "
                "(MemoryDenyWriteExecute of systemd, SELinux): the P4 program is interpreted, "
                "which takes more time per packet",
                file=sys.stderr,
                flush=True,
            )
        if certificate is None and not switches.is_loopback(at):
            print(
                f"warning: any client that reaches {at} can control this switch: "
                "listen on 127.0.0.1, or use TLS (--grpc-server-cert, --grpc-server-key, "
                "--grpc-server-cacert)",
                file=sys.stderr,
                flush=True,
            )

    switches.run(options, ready)
