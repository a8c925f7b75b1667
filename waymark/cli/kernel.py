"""``waymark kernel attach|detach|status|trace|replay``: Linux's own TCP reads the marks."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from waymark.cli.base import app
from waymark.help_text import examples
from waymark.json_option import AsJson, print_json

if TYPE_CHECKING:
    from waymark.kernel import Attached

kernel = typer.Typer(
    help="Use the marks with Linux TCP on an interface. Needs root.",
    epilog=examples(
        "waymark kernel attach eth0 --marks aqt,drai",
        "waymark kernel status",
        "waymark kernel trace live.parquet --seconds 5",
        "waymark kernel detach eth0",
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(kernel, name="kernel")

Interface = Annotated[str, typer.Argument(metavar="IF", help="An interface, such as eth0.")]


@kernel.command(
    "attach",
    epilog=examples("waymark kernel attach eth0 --marks aqt,drai"),
)
def attach(
    interface: Interface,
    control: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Register this congestion control as wm_NAME."),
    ] = None,
    marks: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Marks that this host's packets carry, of aqt,drai,ci. Default: those that the "
            "control reads.",
        ),
    ] = None,
    xdp: Annotated[
        bool,
        typer.Option(
            "--xdp",
            help="Remove marks from arriving packets in the NIC's driver, so that Linux can merge "
            "packets (GRO).",
        ),
    ] = False,
) -> None:
    """Attach the BPF programs and a control to an interface.

    They stay until waymark kernel detach, or until their process (see status) ends. Choose the
    control with setsockopt(TCP_CONGESTION), ip route … congctl, or the sysctl
    net.ipv4.tcp_congestion_control.
    """
    from waymark import kernel as hosts

    chosen = None if marks is None else [one.strip() for one in marks.split(",")]
    print(_line(hosts.attach(interface, control, chosen, xdp=xdp)))


@kernel.command(
    "detach",
    epilog=examples("waymark kernel detach eth0"),
)
def detach(interface: Interface) -> None:
    """Detach the programs from an interface.

    Connections continue without marks.
    """
    from waymark import kernel as hosts

    hosts.detach(interface)
    print(f"{interface}: detached")


@kernel.command(
    "status",
    epilog=examples("waymark kernel status --json"),
)
def status(as_json: AsJson = False) -> None:
    """Show the interfaces with attached programs.

    Only those of this network namespace are shown.
    """
    from waymark import kernel as hosts

    attached = hosts.status()
    if as_json:
        print_json([asdict(one) for one in attached])
        return
    for one in attached:
        print(_line(one))
    if not attached:
        print("no interface of this network namespace has attached programs")


@kernel.command(
    "trace",
    epilog=examples(
        "waymark kernel trace live.parquet --seconds 5 --port 5201",
        "waymark plot live.parquet -o live.svg",
        "waymark kernel trace live.parquet --events live.jsonl",
    ),
)
def trace(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .parquet or .csv file.")],
    seconds: Annotated[
        int, typer.Option(min=1, max=3600, help="Duration of the recording, in seconds.")
    ] = 10,
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="Port of the connection. Default: that of the busiest one."
        ),
    ] = None,
    events_file: Annotated[
        Path | None,
        typer.Option(
            "--events",
            metavar="FILE",
            help="Write events as JSON lines, for waymark kernel replay.",
        ),
    ] = None,
) -> None:
    """Record a trace of a connection whose control is wm_NAME.

    waymark plot draws its window, RTT and marks. Connections of all network namespaces of this
    machine are found.
    """
    from waymark import files, kernel_trace
    from waymark import trace as traces

    traces.check(file)
    if events_file is not None:
        files.require_folder_of(events_file)
    events = kernel_trace.record(seconds, port, lambda: print("recording", flush=True))
    recorded = kernel_trace.as_trace(events)
    traces.write(recorded.table(), file)
    if events_file is not None:
        kernel_trace.write(events, events_file)
    print(f"{file}: {len(events)} changes of {recorded.about['flow']}")


@kernel.command(
    "replay",
    epilog=examples("waymark kernel replay live.jsonl"),
)
def replay(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Events of waymark kernel trace --events.")
    ],
    as_json: AsJson = False,
) -> None:
    """Compare a kernel control with the simulator's on the same events.

    The connection has to begin after the recording. The exit code is 1 if the windows differ by
    more than the kernel's rounding.
    """
    from waymark import kernel_trace

    replayed = kernel_trace.replay(file)
    if as_json:
        print_json(asdict(replayed))
    else:
        (local, port), (remote, other) = replayed.ends
        counts = (replayed.acks, replayed.losses, replayed.timeouts)
        names = ("acknowledgements", "losses", "timeouts")
        print(f"{replayed.control}, {local}:{port} to {remote}:{other}")
        print(", ".join(f"{count} {name}" for count, name in zip(counts, names, strict=True)))
        print(
            f"largest difference: {replayed.largest:.1e} of the window; "
            f"rounding explains {replayed.rounding:.1e}"
        )
        if replayed.beyond is not None:
            one = replayed.beyond
            print(
                f"event {one.event} ({one.change}): window {one.kernel[0]:.6f} in the kernel, "
                f"{one.rust[0]:.6f} in Rust; threshold {one.kernel[1]:.6g}, {one.rust[1]:.6g}; "
                f"rate {one.kernel[2]:.6f}, {one.rust[2]:.6f}"
            )
            if replayed.short:
                print(
                    f"{replayed.short} of the acknowledgements until then end within a segment: "
                    "the sender sent segments shorter than the MSS, which Rust counts by octets"
                )
    if replayed.beyond is not None:
        raise typer.Exit(1)


def _line(one: "Attached") -> str:
    control = f"control {one.control}" if one.control else "no control"
    early = "; removed in the driver" if one.strip == "xdp" else ""
    return f"{one.interface}: marks {', '.join(one.marks)}{early}; {control}; process {one.pid}"
