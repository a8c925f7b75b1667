"""``waymark list`` and ``waymark run``: the experiments."""

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from waymark import experiment as experiments
from waymark import program, trace
from waymark.cli.base import EXIT_INTERRUPTED, Jobs, app, err, make, out
from waymark.experiment import Experiment, Runs
from waymark.progress import progress
from waymark.run import run_all


class ScaleName(StrEnum):
    """``--scale``."""

    QUICK = "quick"
    FULL = "full"


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
    jobs: Jobs = None,
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
    traces: Annotated[
        bool,
        typer.Option("--trace", help="Trace the flows of the first seed's runs; see waymark plot."),
    ] = False,
) -> None:
    """Measure a figure of a paper again: a table, a picture, and the record of the run."""
    from waymark import report  # brings matplotlib, for which the pool's processes need not wait

    experiment = experiments.find(experiment_id)
    folder = out_dir / experiment.id
    count = experiment.seeds[scale.value] if seeds is None else seeds
    seed_list = list(range(seed, seed + count))
    make(folder)
    started = time.monotonic()

    per_seed = [experiment.scenarios(scale.value, s) for s in seed_list]
    labels = list(per_seed[0])
    scenarios = [runs[label] for runs in per_seed for label in labels]
    if traces:
        scenarios[: len(labels)] = [trace.traced(scenario) for scenario in scenarios[: len(labels)]]
    captures = [
        folder / "pcap" / f"{label.replace(' ', '_')}.pcapng" if pcap and index == 0 else None
        for index in range(count)
        for label in labels
    ]
    if pcap:
        make(folder / "pcap")
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
    if traces:
        make(folder / "trace")
        files += trace.write_all(runs, folder / "trace")
    out.print(report.terminal_table(experiment, rows))
    report.print_expectations(out, experiment, rows)
    for file in (*files, *(capture for capture in captures if capture is not None)):
        print(file)
