"""The command ``waymark``: each of its commands is a function here, or an app added below."""

import json
import os
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from controller.cli import app as controller_app
from waymark import _core, corpus, p4c, program, stf
from waymark import experiment as experiments
from waymark import switch as switches
from waymark.errors import WaymarkError
from waymark.experiment import Experiment, Runs
from waymark.progress import progress
from waymark.replay import replay
from waymark.run import run_all

EXIT_FAILED = 1
"""The work was done and the answer is no: errors in a program, a packet other than expected."""

EXIT_USAGE = 2
"""What was asked for cannot be done: no such file, no such experiment."""

EXIT_INTERRUPTED = 130
"""Ctrl-C, as shells have it."""

app = typer.Typer(
    name="waymark",
    help="Networks whose P4 switches tell the senders what happened to their packets.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(controller_app, name="controller")
out = Console()
err = Console(stderr=True)


class ScaleName(StrEnum):
    """``--scale``."""

    QUICK = "quick"
    FULL = "full"


def main() -> None:
    """Entry point of the ``waymark`` script."""
    try:
        app()
    except WaymarkError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(EXIT_USAGE)
    except _core.SwitchError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(EXIT_FAILED)
    except _core.WaymarkCoreError as error:  # diagnostics say so line by line
        print(error, file=sys.stderr)
        sys.exit(EXIT_FAILED)
    except BrokenPipeError:  # waymark list | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"waymark {_core.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and leave."
        ),
    ] = False,
) -> None:
    """Networks whose P4 switches tell the senders what happened to their packets."""


@app.command("list")
def list_experiments() -> None:
    """List the experiments: id, paper, claim, cost at each scale."""
    for experiment in experiments.everything():
        print(f"{experiment.id:14}{experiment.paper}")
        print(f"{'':14}{experiment.claim}")
        costs = (f"{scale.value}: {_cost(experiment, scale)}" for scale in ScaleName)
        print(f"{'':14}{'; '.join(costs)}")


def _cost(experiment: Experiment, scale: ScaleName) -> str:
    runs, simulated_s = experiment.cost(scale.value)
    return f"{runs} runs, {simulated_s:g} simulated s"


@app.command("run")
def run_experiment(
    experiment_id: Annotated[str, typer.Argument(metavar="ID", help="Such as chan/fig3.6.")],
    scale: Annotated[
        ScaleName, typer.Option(help="quick: a few seeds and points; full: as the figure.")
    ] = ScaleName.FULL,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Processes to use. Default: one a core.")
    ] = None,
    out_dir: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where results go, in a folder per id.")
    ] = Path("results"),
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 1,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="How many seeds. Default: as the scale has it.")
    ] = None,
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Capture the first seed's runs (pcapng, 1 MB a second).")
    ] = False,
) -> None:
    """Measure a figure of a paper again: a table, a picture, and the record of the run."""
    from waymark import report  # brings matplotlib, for which the pool's processes need not wait

    experiment = experiments.find(experiment_id)
    folder = out_dir / experiment.id
    count = experiment.seeds[scale.value] if seeds is None else seeds
    seed_list = list(range(seed, seed + count))
    _make(folder)
    started = time.monotonic()

    per_seed = [experiment.scenarios(scale.value, s) for s in seed_list]
    labels = list(per_seed[0])
    scenarios = [runs[label] for runs in per_seed for label in labels]
    captures = [
        folder / "pcap" / f"{label.replace(' ', '_')}.pcapng" if pcap and index == 0 else None
        for index in range(count)
        for label in labels
    ]
    if pcap:
        _make(folder / "pcap")
    names = sorted({name for scenario in scenarios for name in scenario.programs})
    programs = {name: program.of_project(name).sha256 for name in names}
    try:
        with progress(err, experiment.id, len(scenarios)) as advance:
            results = run_all(scenarios, jobs=jobs, captures=captures, done=advance)
    except KeyboardInterrupt as interrupt:
        print("interrupted: no results written", file=sys.stderr)
        raise typer.Exit(EXIT_INTERRUPTED) from interrupt
    runs: Runs = {label: results[index :: len(labels)] for index, label in enumerate(labels)}

    rows = experiment.rows(runs)
    files = [
        report.write_table(rows, folder),
        *report.write_plots(experiment, runs, rows, folder),
        report.write_record(
            experiment,
            runs,
            rows,
            programs,
            folder,
            command=["waymark", *sys.argv[1:]],
            scale=scale.value,
            seeds=seed_list,
            wall_s=time.monotonic() - started,
        ),
    ]
    out.print(report.terminal_table(experiment, rows))
    report.print_expectations(out, experiment, rows)
    for file in (*files, *(capture for capture in captures if capture is not None)):
        print(file)


Include = Annotated[
    list[Path] | None, typer.Option("-I", metavar="DIR", help="Look for includes there too.")
]
Define = Annotated[list[str] | None, typer.Option("-D", metavar="X[=V]", help="Define a macro.")]
MainFile = Annotated[
    Path | None,
    typer.Argument(metavar="F.p4", help="The main P4 file, or p4c's BMv2 JSON of it (F.json)."),
]
Corpus = Annotated[
    Path | None,
    typer.Option("--corpus", metavar="DIR", help="Judge by the programs of p4c's testdata in DIR."),
]
Matching = Annotated[
    str, typer.Option("--match", metavar="GLOB", help="Of the corpus only programs named so.")
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Processes to use. Default: one a core.")]


class Via(StrEnum):
    """``--via``."""

    P4C = "p4c"


@app.command("compile")
def compile_program(
    file: MainFile = None,
    include: Include = None,
    define: Define = None,
    dump: Annotated[bool, typer.Option("--dump", help="Print the typed program.")] = False,
    p4info: Annotated[
        Path | None, typer.Option("--p4info", metavar="OUT", help="Write its P4Info, as text.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--source", metavar="OUT", help="Write it preprocessed: a device config."),
    ] = None,
    corpus_dir: Corpus = None,
    match: Matching = "*",
    jobs: Jobs = None,
) -> None:
    """Compile a P4_16 program for the embedded v1model target, and say what is wrong with it."""
    if corpus_dir is not None:
        _no_files(file)
        return _compile_corpus(corpus_dir, match, jobs, _options(include, define, None))
    compiled = _compile(_given(file, "F.p4"), include, define)
    if p4info is not None:
        _write(p4info, compiled.p4info())
    if source is not None:
        _write(source, compiled.source)
    if dump:
        print(compiled.dump())
    else:
        tables = len(compiled.tables)
        print(f"{file}: compiled, {tables} {'table' if tables == 1 else 'tables'}")
    return None


def _compile_corpus(folder: Path, match: str, jobs: int | None, options: corpus.Options) -> None:
    good = True
    if corpus.has_samples(folder):
        verdicts = corpus.compile_samples(folder, match, jobs, options)
        good &= corpus.show(verdicts, "v1model programs compiled: ")
    if corpus.has_errors(folder):
        verdicts = corpus.compile_errors(folder, match, jobs, options)
        good &= corpus.show(verdicts, "programs that p4c refuses, refused at its line: ")
    if not good:
        raise typer.Exit(EXIT_FAILED)


@app.command("stf")
def run_stf(
    file: MainFile = None,
    script: Annotated[
        Path | None, typer.Argument(metavar="F.stf", help="The packet script.")
    ] = None,
    include: Include = None,
    define: Define = None,
    corpus_dir: Corpus = None,
    match: Matching = "*",
    jobs: Jobs = None,
    via: Annotated[
        Via | None, typer.Option(help="Compile with p4c, and run its BMv2 JSON.")
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Print what each packet meets, with its source line.")
    ] = False,
    trace_json: Annotated[
        Path | None, typer.Option("--trace-json", metavar="FILE", help="Write that as JSON.")
    ] = None,
) -> None:
    """Run a packet script against a P4 program: packets in, packets expected out."""
    options = _options(include, define, via)
    if corpus_dir is not None:
        _no_files(file)
        if trace or trace_json:
            raise WaymarkError("--trace shows one script, not a corpus")
        if not corpus.show(corpus.run_scripts(corpus_dir, match, jobs, options)):
            raise typer.Exit(EXIT_FAILED)
        return
    script = _given(script, "F.stf")
    program.require_file(script)
    compiled = _compile(_given(file, "F.p4"), include, define, via)
    traced = stf.run_traced(compiled, script) if trace or trace_json else None
    if traced is not None and trace:
        print(traced.text)
    if traced is not None and trace_json:
        _write(trace_json, json.dumps(traced.steps, indent=1) + "\n")
    verdict = stf.run(compiled, script) if traced is None else traced.report
    for failure in verdict["failures"]:
        print(f"{script}: {failure}")
    counts = f"{verdict['packets']} packets in, {verdict['expected']} expectations"
    print(f"{script}: {'passed' if verdict['passed'] else 'FAILED'} ({counts})")
    if not verdict["passed"]:
        raise typer.Exit(EXIT_FAILED)


def _options(
    include: list[Path] | None, define: list[str] | None, via: Via | None
) -> corpus.Options:
    return corpus.Options(include or (), define or (), "p4c" if via else None)


def _given(file: Path | None, name: str) -> Path:
    if file is None:
        raise WaymarkError(f"no {name} given; name one, or --corpus DIR")
    return file


def _no_files(file: Path | None) -> None:
    if file is not None:
        raise WaymarkError(f"{file}: --corpus takes no program besides")


@app.command("switch")
def run_switch(
    interfaces: Annotated[
        list[str] | None,
        typer.Option("-i", "--interface", metavar="PORT@IFACE", help="A port and its interface."),
    ] = None,
    p4: Annotated[
        Path | None, typer.Option("--p4", metavar="F.p4", help="Run this until a controller comes.")
    ] = None,
    include: Include = None,
    define: Define = None,
    address: Annotated[
        str, typer.Option("--grpc-server-addr", metavar="ADDR:PORT", help="P4Runtime, gRPC.")
    ] = "127.0.0.1:9559",
    device_id: Annotated[int, typer.Option("--device-id", min=0, max=2**64 - 1)] = 1,
    port_rate: Annotated[
        list[str] | None,
        typer.Option(
            "--port-rate", metavar="PORT=RATE", help="Such as 1=10mbit; queues form then."
        ),
    ] = None,
    queue_packets: Annotated[
        int, typer.Option(min=1, max=2**32 - 1, help="Packets in each queue of such a port.")
    ] = 1024,
    cpu_port: Annotated[
        int | None, typer.Option(min=0, max=510, help="Port of packets to and from controllers.")
    ] = None,
    drop_port: Annotated[int, typer.Option(min=0, max=511, help="egress_spec that drops.")] = 511,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="Of random draws.")] = 0,
    pcap: Annotated[
        Path | None, typer.Option("--pcap", metavar="DIR", help="Capture every port there.")
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
) -> None:
    """Run a P4 switch on Linux interfaces, driven through P4Runtime. Interfaces need root."""
    options = switches.SwitchOptions(
        interfaces=[switches.parse_interface(text) for text in interfaces or ()],
        address=address,
        device_id=device_id,
        program=None if p4 is None else _compile(p4, include, define),
        rates_bps=dict(switches.parse_rate(text) for text in port_rate or ()),
        queue_packets=queue_packets,
        cpu_port=cpu_port,
        drop_port=drop_port,
        seed=seed,
        captures=pcap,
        certificate=certificate,
        key=key,
        client_ca=client_ca,
    )
    if interfaces and os.geteuid() != 0:
        raise WaymarkError("packets on interfaces need root: run this with sudo")

    def ready(at: str) -> None:
        ports = ", ".join(f"{port}@{name}" for port, name in options.interfaces) or "no interfaces"
        print(f"device {device_id}: P4Runtime on {at}, {ports}", flush=True)

    switches.run(options, ready)


@app.command("replay")
def replay_description(
    file: Annotated[
        Path, typer.Argument(metavar="F.toml", help="Topology, flows and losses; see tests/replay.")
    ],
    out_file: Annotated[
        Path | None, typer.Option("--out", metavar="F.csv", help="Write there; default: print.")
    ] = None,
) -> None:
    """Run flows over drop-tail queues and write every event at one link as CSV."""
    rows = replay(file)
    if out_file is None:
        sys.stdout.write(rows)
        return
    try:
        out_file.write_text(rows, encoding="utf-8")
    except OSError as error:
        raise WaymarkError(f"{out_file}: {error.strerror}") from error
    print(out_file)


def _compile(
    file: Path, include: list[Path] | None, define: list[str] | None, via: Via | None = None
) -> _core.Program:
    folders, macros = include or (), define or ()
    try:
        if via:
            compiled = p4c.compile_file(file, folders, macros)
        else:
            compiled = program.compile_file(file, folders, macros, color=err.is_terminal)
    except _core.CompileError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(EXIT_FAILED) from error
    for warning in compiled.warnings:
        print(warning, file=sys.stderr)
    return compiled


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WaymarkError(f"{file}: {error.strerror}") from error


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WaymarkError(f"{folder}: {error.strerror}") from error
