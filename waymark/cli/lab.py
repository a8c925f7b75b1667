"""``waymark list``, ``waymark run`` and ``waymark report``: the experiments."""

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from waymark import experiment as experiments
from waymark import own, trace
from waymark.cli import on_interfaces
from waymark.cli.base import EXIT_FAILED, app, err, make, out, write
from waymark.cli.completing import experiment_ids
from waymark.cli.network import TargetName
from waymark.cli.on_interfaces import ArchitectureName, HostsName, RunnerName
from waymark.cli.options import spread
from waymark.cli.work import Results, Work
from waymark.errors import WaymarkError, suggestion
from waymark.experiment import Experiment
from waymark.help_text import examples
from waymark.json_option import AsJson, print_json
from waymark.measure import Measured, Plan, capture_path
from waymark.missing_marks import missing_marks


class ScaleName(StrEnum):
    """``--scale``."""

    QUICK = "quick"
    FULL = "full"
    PAPER = "paper"


class VerdictName(StrEnum):
    """``--verdict``."""

    REPRODUCED = "reproduced"
    PARTLY = "partly"
    NOT_REPRODUCED = "not reproduced"
    MEASURED = "measured"
    NOT_RUN = "not run"


@app.command(
    "list",
    epilog=examples(
        "waymark list 'chan/fig3*'",
        "waymark list --paper dahal --verdict 'not reproduced'",
    ),
)
def list_experiments(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID...",
            autocompletion=experiment_ids,
            help="Only these: chan/fig3.6, or 'chan/fig3*'.",
        ),
    ] = None,
    paper: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Only of this paper: chan, or a part of its reference."),
    ] = None,
    verdict: Annotated[
        list[VerdictName] | None, typer.Option(help="Only with this verdict in DIR.")
    ] = None,
    out_dir: Results = Path("results"),
    as_json: AsJson = False,
) -> None:
    """List the experiments.

    For each: id, paper, claim, state, and cost at each scale.
    """
    from waymark.report import state

    chosen = _listed(patterns or [], paper, verdict or [], out_dir)
    if as_json:
        print_json([_as_data(one, out_dir) for one in chosen])
        return
    for experiment in chosen:
        print(f"{experiment.id:14}{experiment.paper}")
        print(f"{'':14}{experiment.claim}")
        if experiment.also:
            print(f"{'':14}also {', '.join(experiment.also)}")
        print(f"{'':14}{state(experiment, out_dir)}")
        if experiment.on_interfaces is not None:
            print(f"{'':14}also on interfaces, in real time: --runner netns|mininet")
        costs = (f"{scale.value}: {_cost(experiment, scale)}" for scale in ScaleName)
        print(f"{'':14}{'; '.join(costs)}")


def _listed(
    patterns: list[str], paper: str | None, verdicts: list[VerdictName], results: Path
) -> list[Experiment]:
    """The experiments that match every filter.

    Raises:
        WaymarkError: no experiment matches, or a pattern matches none.
    """
    from waymark import report

    chosen = experiments.select(patterns) if patterns else experiments.everything()
    if paper is not None:
        text = paper.casefold()
        papers = dict.fromkeys(one.id.partition("/")[0] for one in experiments.everything())
        if text in papers:
            chosen = [one for one in chosen if one.id.startswith(f"{text}/")]
        else:
            chosen = [one for one in chosen if text in one.paper.casefold()]
        if not chosen:
            raise WaymarkError(f"--paper {paper}: no experiment; {suggestion(paper, list(papers))}")
    if verdicts:
        chosen = [one for one in chosen if report.verdict(one, results) in verdicts]
        if not chosen:
            raise WaymarkError(f"no experiment with verdict {' or '.join(verdicts)} in {results}")
    return chosen


def _as_data(experiment: Experiment, results: Path) -> dict[str, Any]:
    """An experiment as ``waymark list --json`` shows it."""
    from waymark import report

    costs = {scale.value: experiments.cost(experiment, scale.value) for scale in ScaleName}
    return {
        "id": experiment.id,
        "also": list(experiment.also),
        "paper": experiment.paper,
        "claim": experiment.claim,
        "verdict": report.verdict(experiment, results),
        "on_interfaces": experiment.on_interfaces is not None,
        "cost": {scale: {"runs": runs, "simulated_s": s} for scale, (runs, s) in costs.items()},
    }


def _cost(experiment: Experiment, scale: ScaleName) -> str:
    runs, simulated_s = experiments.cost(experiment, scale.value)
    return f"{runs} runs, {simulated_s:g} simulated s"


@app.command(
    "run",
    epilog=examples(
        "waymark run chan/fig3.6 --scale quick",
        "waymark run 'srijith/*' --jobs 4 --check",
        "waymark run ./my_figure.py",
    ),
)
@spread
def run_experiments(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID|FILE|MODULE...",
            autocompletion=experiment_ids,
            help="Such as chan/fig3.6, 'chan/fig3*', ./my_figure.py, ./my_scenario.yaml, or "
            "my_package.figure.",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Run all experiments of the project.")
    ] = False,
    scale: Annotated[
        ScaleName,
        typer.Option(
            help="quick: few seeds and points; full: the figure; paper: as long as in the paper."
        ),
    ] = ScaleName.FULL,
    runner: Annotated[
        RunnerName,
        typer.Option(help="netsim: virtual time; others: interfaces, in real time, as root."),
    ] = RunnerName.NETSIM,
    target: Annotated[
        TargetName | None, typer.Option(help="Switch software on interfaces.")
    ] = None,
    hosts: Annotated[
        HostsName | None,
        typer.Option(help="TCP of flows on interfaces; for kernel, see waymark kernel."),
    ] = None,
    arch: Annotated[
        ArchitectureName | None,
        typer.Option(help="Architecture of the switches' programs."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 1,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Number of seeds. Default: that of the scale.")
    ] = None,
    pcap: Annotated[
        bool,
        typer.Option("--pcap", help="Capture the first seed's runs (pcapng, 1 MB per second)."),
    ] = False,
    traces: Annotated[
        bool,
        typer.Option("--trace", help="Trace the flows of the first seed's runs; see waymark plot."),
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Exit with 1 if a claim fails in the paper's setting."),
    ] = False,
    as_json: AsJson = False,
    *,
    work: Work,
) -> None:
    """Run experiments: write tables, pictures and records.

    An experiment is a figure or table of a paper, your own Python file with an EXPERIMENT, or a
    scenario file (waymark new experiment|scenario NAME writes one). Finished runs are stored:
    after an interrupt, repeat the command to continue.
    """
    chosen = _choose(ids or [], everything)
    on_interfaces.check(chosen, runner, target, hosts, arch)
    if runner != RunnerName.NETSIM:
        if pcap or work.again or work.scheduler is not None or work.jobs is not None:
            raise WaymarkError("--pcap, --again, --jobs and --scheduler need --runner netsim")
        if check or as_json:
            raise WaymarkError("--check and --json need --runner netsim")
        numbers = range(seed, seed + (seeds or 1))
        switches, tcp = target or TargetName.EMBEDDED, hosts or HostsName.WAYMARK
        with own.located():
            on_interfaces.run(
                chosen,
                runner,
                switches,
                tcp,
                arch,
                scale.value,
                numbers,
                work.out_dir,
                traces=traces,
            )
        return
    if pcap and len(chosen) > 1:
        raise WaymarkError(f"--pcap: expected one experiment, found {len(chosen)}")
    for one in chosen:
        make(work.out_dir / one.id)
    with own.located():
        architecture = None if arch is None else arch.value
        plans = [
            Plan.of(one, scale.value, seed, seeds, traced=traces, architecture=architecture)
            for one in chosen
        ]
    if len(plans) == 1:
        refuted = _run_one(plans[0], work, pcap=pcap, traces=traces, as_json=as_json)
    else:
        refuted = _run_several(plans, work, traces=traces, as_json=as_json)
    if check and refuted:
        print("\n".join(refuted), file=sys.stderr)
        raise typer.Exit(EXIT_FAILED)


def _choose(names: list[str], everything: bool) -> list[Experiment]:
    """The experiments to run: the project's in their order, then the user's in the given order."""
    if everything and names:
        raise WaymarkError("--all: no ids are expected with it")
    if everything:
        return experiments.everything()
    if not names:
        raise WaymarkError(
            "nothing to run: expected an id, a pattern, a file, or --all (see: waymark list)"
        )
    loaded = [_load(name) for name in names if own.is_own(name)]
    of_project = experiments.select([name for name in names if not own.is_own(name)])
    chosen = {one.id: one for one in of_project}
    for one in loaded:
        if chosen.setdefault(one.id, one) is not one:
            raise WaymarkError(f"two experiments have the id {one.id}; rename one")
    return list(chosen.values())


def _load(name: str) -> Experiment:
    """An experiment of the user, with warnings about omissions in a scenario file."""
    experiment = own.load_experiment(name)
    if name.endswith(own.SCENARIOS):
        [scenario] = experiment.scenarios("quick", 1).values()
        used = [flow.algorithm for flow in scenario.flows]
        controls = {c if isinstance(c, str) else getattr(c, "__name__", "control"): c for c in used}
        for sentence in missing_marks(name, scenario.topology, controls):
            print(f"warning: {sentence}", file=sys.stderr)
    return experiment


def _refuted(measured: Measured) -> list[str]:
    """A line for each claim of the paper's own setting that the table refutes."""
    experiment = measured.plan.experiment
    return [
        f"{experiment.id}: FAIL: {one.claim} (criterion: {one.criterion})"
        for one in experiment.failed(measured.rows)
    ]


def _run_one(plan: Plan, work: Work, *, pcap: bool, traces: bool, as_json: bool) -> list[str]:
    """Run an experiment and show its table; an error ends the command. Returns the failed
    claims."""
    name = plan.experiment.id
    captures = work.out_dir / name / "pcap" if pcap else None
    if captures is not None:
        make(captures)
    with own.located(), work.hand_out([plan], name, captures) as handed:
        measured = next(handed).measured()
        files = _write(measured, work.out_dir / name, traces=traces)
        if not as_json:
            show(measured)
    if captures is not None:
        files += [capture_path(captures, label) for label in measured.runs]
    if as_json:
        print_json([_record(files)])
    else:
        for file in files:
            print(file)
    return _refuted(measured)


def _run_several(plans: Sequence[Plan], work: Work, *, traces: bool, as_json: bool) -> list[str]:
    """Run experiments and show a line for each; a failure does not end the others.

    Those with the longest runs start first, so that no long run remains when the other processes
    are idle. Returns the failed claims.
    """
    from waymark import report

    refuted: dict[str, list[str]] = {}
    lines: dict[str, report.Summary] = {}
    failed: list[str] = []
    records: dict[str, dict[str, Any]] = {}
    longest_first = sorted(plans, key=lambda plan: plan.longest, reverse=True)
    with work.hand_out(longest_first, f"{len(plans)} experiments") as handed:
        for each in handed:
            name = each.plan.experiment.id
            try:
                with own.located():
                    measured = each.measured()
                    files = _write(measured, work.out_dir / name, traces=traces)
                if as_json:
                    records[name] = _record(files)
                lines[name] = report.summary(measured)
                refuted[name] = _refuted(measured)
            except Exception as error:
                message = f"{name} failed, the others continue: {error}"
                err.print(message, highlight=False, markup=False, soft_wrap=True)
                failed.append(name)
    done = [plan.experiment.id for plan in plans if plan.experiment.id in refuted]
    if as_json:
        print_json([records[name] for name in done])
    else:
        out.print(report.summary_table([lines[name] for name in done]))
    if failed:
        names = " ".join(failed)
        print(f"failed: {names}; for details, run one of them alone", file=sys.stderr)
        raise typer.Exit(EXIT_FAILED)
    return [claim for name in done for claim in refuted[name]]


def _write(measured: Measured, folder: Path, *, traces: bool) -> list[Path]:
    from waymark import report  # imports matplotlib, for which the pool's processes need not wait

    files = report.write(measured, folder, ["waymark", *sys.argv[1:]])
    if traces:
        make(folder / "trace")
        files += trace.write_all(measured.runs, folder / "trace")
    return files


def _record(files: Sequence[Path]) -> dict[str, Any]:
    """The contents of ``run.json``, and the written files."""
    (record,) = (file for file in files if file.name == "run.json")
    return json.loads(record.read_text(encoding="utf-8")) | {"files": [str(f) for f in files]}


def show(measured: Measured) -> None:
    """Print an experiment's table and its claims."""
    from waymark import report

    experiment = measured.plan.experiment
    out.print(report.terminal_table(experiment, measured.rows))
    report.print_expectations(out, experiment, measured.rows)


@app.command(
    "report",
    epilog=examples(
        "waymark report --out results --html page.html --embed",
    ),
)
def make_report(
    out_dir: Results = Path("results"),
    file: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Output file. Default: report.html in DIR."),
    ] = None,
    embed: Annotated[
        bool, typer.Option("--embed", help="Embed the pictures: one file of about 10 MB.")
    ] = False,
) -> None:
    """Write a page of all results, with the claims that pass."""
    from waymark import page

    target = file or out_dir / "report.html"
    text = page.render(out_dir, target.parent, embed=embed)
    make(target.parent)
    write(target, text)
    print(target)
