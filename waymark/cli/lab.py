"""``waymark list``, ``waymark run`` and ``waymark report``: the experiments."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from waymark import experiment as experiments
from waymark import trace
from waymark.cli import on_interfaces
from waymark.cli.base import EXIT_FAILED, EXIT_INTERRUPTED, Jobs, app, err, make, out, write
from waymark.cli.network import TargetName
from waymark.cli.on_interfaces import RunnerName
from waymark.errors import WaymarkError
from waymark.experiment import Experiment
from waymark.measure import Measured, Plan, capture_path, hand_out
from waymark.pool import pool
from waymark.progress import progress
from waymark.store import Store

KEPT = ".runs"
"""Where finished runs are kept, in the folder of results."""

Results = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Where results go, in a folder per id.")
]


class ScaleName(StrEnum):
    """``--scale``."""

    QUICK = "quick"
    FULL = "full"
    PAPER = "paper"


@app.command("list")
def list_experiments(out_dir: Results = Path("results")) -> None:
    """List the experiments: id, paper, claim, state, cost at each scale."""
    from waymark.report import state

    for experiment in experiments.everything():
        print(f"{experiment.id:14}{experiment.paper}")
        print(f"{'':14}{experiment.claim}")
        if experiment.also:
            print(f"{'':14}also {', '.join(experiment.also)}")
        print(f"{'':14}{state(experiment, out_dir)}")
        if experiment.on_interfaces is not None:
            print(f"{'':14}on interfaces as well, in real time: --runner netns|mininet")
        costs = (f"{scale.value}: {_cost(experiment, scale)}" for scale in ScaleName)
        print(f"{'':14}{'; '.join(costs)}")


def _cost(experiment: Experiment, scale: ScaleName) -> str:
    runs, simulated_s = experiment.cost(scale.value)
    return f"{runs} runs, {simulated_s:g} simulated s"


@app.command("run")
def run_experiments(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID...", help="Such as chan/fig3.6; or a pattern: 'chan/fig3*'."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    scale: Annotated[
        ScaleName,
        typer.Option(
            help="quick: few seeds and points; full: the figure; paper: as long as there."
        ),
    ] = ScaleName.FULL,
    runner: Annotated[
        RunnerName,
        typer.Option(help="netsim: virtual time; else interfaces, in real time, as root."),
    ] = RunnerName.NETSIM,
    target: Annotated[
        TargetName | None, typer.Option(help="What switches on interfaces are.")
    ] = None,
    jobs: Jobs = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on the Dask cluster of this scheduler."),
    ] = None,
    out_dir: Results = Path("results"),
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 1,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="How many seeds. Default: as the scale has it.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Make every run, also those kept from earlier.")
    ] = False,
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Capture the first seed's runs (pcapng, 1 MB a second).")
    ] = False,
    traces: Annotated[
        bool,
        typer.Option("--trace", help="Trace the flows of the first seed's runs; see waymark plot."),
    ] = False,
) -> None:
    """Measure figures of the papers again: for each a table, a picture, the record of the run.

    Finished runs are kept: after an interrupt the same command goes on where it was.
    """
    from waymark import report  # brings matplotlib, for which the pool's processes need not wait

    chosen = _choose(ids or [], everything)
    on_interfaces.check(chosen, runner, target)
    if runner != RunnerName.NETSIM:
        if pcap or again or scheduler is not None or jobs is not None:
            raise WaymarkError("--pcap, --again, --jobs and --scheduler are of virtual time")
        numbers = range(seed, seed + (seeds or 1))
        switches = target or TargetName.EMBEDDED
        on_interfaces.run(chosen, runner, switches, scale.value, numbers, out_dir, traces=traces)
        return
    if pcap and len(chosen) > 1:
        raise WaymarkError("--pcap captures one experiment; name one")
    captures = out_dir / chosen[0].id / "pcap" if pcap else None
    for folder in (*(out_dir / one.id for one in chosen), *([captures] if captures else [])):
        make(folder)
    plans = [Plan.of(one, scale.value, seed, seeds, traced=traces) for one in chosen]
    title = chosen[0].id if len(chosen) == 1 else f"{len(chosen)} experiments"
    measured: list[report.Summary] = []
    failed: list[str] = []
    try:
        with (
            pool(jobs, scheduler, None if again else Store(out_dir / KEPT, _note)) as workers,
            progress(err, title, [size for plan in plans for size in plan.sizes]) as done,
        ):
            for handed in hand_out(plans, workers, captures=captures, done=done):
                name = handed.plan.experiment.id
                folder = out_dir / name
                try:
                    one = handed.measured()
                    files = report.write(one, folder, ["waymark", *sys.argv[1:]])
                    if traces:
                        make(folder / "trace")
                        files += trace.write_all(one.runs, folder / "trace")
                except Exception as error:
                    if len(chosen) == 1:
                        raise
                    err.print(f"{name} failed, the others go on: {error}")
                    failed.append(name)
                    continue
                measured.append(report.summary(one))
                if len(chosen) == 1:
                    _show(one, [*files, *_captured(one, captures)])
    except KeyboardInterrupt as interrupt:
        print("interrupted: finished runs are kept; the same command goes on", file=sys.stderr)
        raise typer.Exit(EXIT_INTERRUPTED) from interrupt
    if len(chosen) > 1:
        out.print(report.summary_table(measured))
    if failed:
        names = " ".join(failed)
        print(f"failed: {names}; for more: waymark run {failed[0]}", file=sys.stderr)
        raise typer.Exit(EXIT_FAILED)


def _choose(ids: list[str], everything: bool) -> list[Experiment]:
    if everything and ids:
        raise WaymarkError("--all takes no ids besides")
    if everything:
        return experiments.everything()
    if not ids:
        raise WaymarkError("nothing to run: name an id or a pattern, or --all (see: waymark list)")
    return experiments.select(ids)


def _note(sentence: str) -> None:
    err.print(sentence, highlight=False, markup=False, soft_wrap=True)


def _captured(one: Measured, captures: Path | None) -> list[Path]:
    return [capture_path(captures, label) for label in one.runs] if captures else []


def _show(one: Measured, files: list[Path]) -> None:
    from waymark import report

    out.print(report.terminal_table(one.plan.experiment, one.rows))
    report.print_expectations(out, one.plan.experiment, one.rows)
    for file in files:
        print(file)


@app.command("report")
def make_report(
    out_dir: Results = Path("results"),
    file: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Default: report.html in DIR.")
    ] = None,
    embed: Annotated[
        bool, typer.Option("--embed", help="Put the pictures into the page: one file, some 10 MB.")
    ] = False,
) -> None:
    """Make one page of all results: which claims of the papers pass, and on what evidence."""
    from waymark import page

    target = file or out_dir / "report.html"
    text = page.render(out_dir, target.parent, embed=embed)
    make(target.parent)
    write(target, text)
    print(target)
