"""``waymark topology`` and ``waymark fabric``: generated networks, and flow completion times."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from waymark.cli.base import MOST_THREADS, STANDARD, app, make, out, write
from waymark.errors import WaymarkError
from waymark.help_text import examples
from waymark.json_option import AsJson, print_json
from waymark.quantity_options import rate_option, size_option, time_option

if TYPE_CHECKING:
    from waymark.completion import Completions
    from waymark.controls import Control
    from waymark.fabric import Cable
    from waymark.result import Result
    from waymark.scenario import Scenario
    from waymark.topology import Topology
    from waymark.traffic import Flow

MARKS = ("aqt", "drai", "ci")


class PatternName(StrEnum):
    """``--pattern``."""

    RANDOM = "random"
    PERMUTATION = "permutation"


@app.command(
    "topology",
    epilog=examples(
        "waymark topology fat-tree:4 --out fat-tree.yaml",
        "waymark topology leaf-spine:4x2x8 --rate '1 Gb/s' --trunk '4 Gb/s'",
        "waymark topology Abilene.graphml --rate '10 Mb/s' --out abilene.yaml",
    ),
)
def topology(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND:SIZE",
            help="fat-tree:K, leaf-spine:LEAVESxSPINESxHOSTS, dumbbell:PAIRS or parking-lot:HOPS; "
            "or a file FILE.graphml.",
        ),
    ],
    rate: Annotated[
        float, rate_option("--rate", help="Rate of all links.", default="100 Mb/s")
    ] = 100e6,
    trunk: Annotated[
        float | None,
        rate_option("--trunk", help="Rate of links between switches.", default="that of --rate"),
    ] = None,
    delay: Annotated[
        float, time_option("--delay", help="One-way delay of each link.", default="1 ms")
    ] = 1e-3,
    queue: Annotated[
        int, typer.Option(min=2, help="Queue limit in packets, including the one in transmission.")
    ] = 100,
    file: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Output file; -: standard output.")
    ] = STANDARD,
) -> None:
    """Write the topology file of a generated network, or of a network in GraphML.

    It is a fat-tree, a leaf-spine network, a dumbbell, a parking lot, or a file of the Internet
    Topology Zoo. waymark up and waymark compare read these files.
    """
    from waymark import generated, graphml
    from waymark.fabric import Cable

    cable = Cable(rate, delay, queue)
    its_trunk = None if trunk is None else Cable(trunk, delay, queue)
    if graphml.is_graphml(kind):
        if its_trunk is not None:
            raise WaymarkError(f"{kind}: its links have their own rates; --trunk is not valid")
        made = graphml.load(Path(kind), cable)
    else:
        made = generated.generate(kind, cable, its_trunk)
    write(file, generated.as_yaml(made, f"{kind}, made by waymark topology."))


@app.command(
    "fabric",
    epilog=examples(
        "waymark fabric dctcp rovegas waymark --topology fat-tree:4 --seconds '10 ms'",
        "waymark fabric cubic --sizes hadoop --pattern permutation --load 0.5",
        "waymark fabric dctcp --incast 15 --incast-size '64 kB'",
    ),
)
def fabric(
    controls: Annotated[
        list[str], typer.Argument(metavar="CONTROL...", help="Such as dctcp, rovegas, waymark.")
    ],
    kind: Annotated[
        str,
        typer.Option(
            "--topology",
            metavar="KIND:SIZE",
            help="fat-tree:K, leaf-spine:LEAVESxSPINESxHOSTS, dumbbell:PAIRS, parking-lot:HOPS.",
        ),
    ] = "fat-tree:4",
    sizes: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Flow sizes: websearch, hadoop, or a CSV file: octets,percent."
        ),
    ] = "websearch",
    load: Annotated[float, typer.Option(help="Load of the hosts' links, including headers.")] = 0.3,
    pattern: Annotated[PatternName, typer.Option(help="Traffic matrix.")] = PatternName.RANDOM,
    incast: Annotated[
        int | None,
        typer.Option(min=1, help="Number of hosts that send to one host at once; replaces --load."),
    ] = None,
    incast_size: Annotated[
        int, size_option("--incast-size", help="Size of each incast flow.", default="64 kB")
    ] = 64_000,
    seconds: Annotated[
        float, time_option("--seconds", help="Time within which flows start.", default="10 ms")
    ] = 0.01,
    drain: Annotated[
        float | None,
        time_option(
            "--drain",
            help="Additional time for flows to finish.",
            default="9 times --seconds",
        ),
    ] = None,
    rate: Annotated[float, rate_option("--rate", help="Rate of links.", default="10 Gb/s")] = 10e9,
    trunk: Annotated[
        float | None,
        rate_option("--trunk", help="Rate of links between switches.", default="that of --rate"),
    ] = None,
    delay: Annotated[
        float, time_option("--delay", help="One-way delay of each link.", default="1 us")
    ] = 1e-6,
    queue: Annotated[int, typer.Option(min=2, help="Queue limit in packets.")] = 250,
    ecn: Annotated[
        int,
        typer.Option(min=0, help="ECN marking threshold K in packets, for controls that read ECN."),
    ] = 65,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the traffic and the run.")] = 1,
    threads: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST_THREADS,
            help="Maximum number of threads among which the network is divided.",
        ),
    ] = 1,
    folder: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder of the Parquet files.")
    ] = Path("results/fabric"),
    as_json: AsJson = False,
) -> None:
    """Measure flow completion times in a generated network.

    The traffic is that of a data centre. All controls get the same flows. All switches write all
    marks, except that ECN replaces CI for controls that read ECN. For controls that read INT,
    TCP-INT, CSIG or trimmed packets, the switches run the program of that signal, which has no
    ECMP. Two files are written for each control: its flows, in the order of their completion, and
    the queue histograms.
    """
    from waymark.completion import Completions, FlowFile, write_queues
    from waymark.controls import BY_NAME
    from waymark.errors import check_choice
    from waymark.fabric import Cable
    from waymark.files import remove_partial
    from waymark.frame import Table
    from waymark.running import run

    for control in controls:
        check_choice("control", control, list(BY_NAME))
    controls = list(dict.fromkeys(controls))
    drain = 9 * seconds if drain is None else drain
    make(folder)
    remove_partial(folder)
    rows: list[dict[str, Any]] = []
    totals: list[dict[str, Any]] = []
    files: list[Path] = []
    for control in controls:
        known = BY_NAME[control]
        cable = Cable(rate, delay, queue, ecn if known.reads_ecn else None)
        network = _network(kind, cable, trunk, known)
        if incast is not None:
            flows = _incast(network, control, incast, incast_size, seed)
        else:
            flows = _arrivals(network, control, sizes, load, seconds, seed, pattern)
        if not flows:
            raise WaymarkError(f"no flow starts within {seconds:g} s; increase --seconds")
        scenario = _scenario(control, network, seconds + drain, flows, seed)
        file, queues = (folder / f"{control}-{what}.parquet" for what in ("flows", "queues"))
        print(
            f"{control}: {len(flows):,} flows, {scenario.end_s:g} s of virtual time",
            file=sys.stderr,
        )
        with FlowFile(file) as written:
            result = run(scenario, threads=threads, ended=written.of(scenario))
            write_queues(result, queues)
        measured = Completions.read(file)
        files += (file, queues)
        rows += _rows(control, measured)
        totals.append(_total(control, result))
    if as_json:
        print_json({"classes": rows, "runs": totals})
        return
    out.print(Table.of_rows([_shown(row) for row in rows], ("control", "size")))
    out.print(Table.of_rows([_shown(total) for total in totals], ("control",)))
    for file in files:
        print(file)


def _network(kind: str, cable: "Cable", trunk: float | None, control: "Control") -> "Topology":
    from dataclasses import replace

    from waymark import generated
    from waymark.fabric import FABRIC_PROGRAM

    its_trunk = None if trunk is None else replace(cable, rate_bps=trunk)
    signal = _signal_program(control)
    if signal is not None:
        print(
            f"warning: {control.name}: switches run {signal}, which has one route per destination",
            file=sys.stderr,
        )
        return generated.generate(kind, cable, its_trunk, ()).with_program(signal)
    marks = tuple(mark for mark in MARKS if mark != "ci" or not control.reads_ecn)
    return generated.generate(kind, cable, its_trunk, marks).with_program(FABRIC_PROGRAM)


def _signal_program(control: "Control") -> str | None:
    """The program of a signal that ``fabric.p4`` does not write, if a control needs one."""
    from waymark.entries import PROGRAM_OF

    if control.has_need("trimming"):
        return "v1model/trim.p4"
    program_of = {**PROGRAM_OF, "CSIG": "v1model/csig.p4"}
    return next((program_of[mark] for mark in control.marks if mark in program_of), None)


def _arrivals(
    network: "Topology",
    control: str,
    sizes: str,
    load: float,
    seconds: float,
    seed: int,
    pattern: PatternName,
) -> "tuple[Flow, ...]":
    from waymark import workload

    pairs = workload.permutation(network, seed) if pattern is PatternName.PERMUTATION else None
    return workload.poisson(
        network,
        workload.FlowSizes.load(sizes),
        control,
        load=load,
        until_s=seconds,
        seed=seed,
        pattern=pairs,
    )


def _incast(
    network: "Topology", control: str, senders: int, octets: float, seed: int
) -> "tuple[Flow, ...]":
    from waymark import workload

    return workload.incast(network, control, senders=senders, octets=int(octets), seed=seed)


def _scenario(
    control: str, network: "Topology", end_s: float, flows: "tuple[Flow, ...]", seed: int
) -> "Scenario":
    from waymark.scenario import Scenario

    bins = 100 if len(flows) <= 10_000 else 20
    return Scenario(control, network, end_s, flows, seed=seed, sample_s=end_s / bins)


def _rows(control: str, measured: "Completions") -> list[dict[str, Any]]:
    return [
        {
            "control": control,
            "size": name,
            "flows": int(its["flows"]),
            "completed": int(its["completed"]),
            "slowdown p50": its["slowdown_p50"],
            "p99": its["slowdown_p99"],
            "FCT p50 in ms": its["fct_p50"] * 1e3,
            "FCT p99 in ms": its["fct_p99"] * 1e3,
        }
        for name, its in measured.by_class().items()
        if its["flows"]
    ]


SHORT = {
    "completed": "ended",
    "FCT p50 in ms": "FCT p50 ms",
    "FCT p99 in ms": "p99 ms",
    "packet_hops": "packet-hops",
    "cpu_s": "CPU s",
    "core_s": "elapsed s",
    "packet_hops_per_s": "hops per CPU s",
}
"""Short names of columns, for a terminal of 80 columns."""


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """A row with measures of four digits; the file and ``--json`` have all digits."""
    return {
        SHORT.get(name, name): float(f"{value:.4g}") if isinstance(value, float) else value
        for name, value in row.items()
    }


def _total(control: str, result: "Result") -> dict[str, Any]:
    return {
        "control": control,
        "packet_hops": result.packet_hops,
        "cpu_s": result.cpu_s,
        "core_s": result.core_s,
        "threads": result.threads,
        "packet_hops_per_s": result.packet_hops / result.cpu_s,
    }
