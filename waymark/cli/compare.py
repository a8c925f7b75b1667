"""``waymark compare``: congestion controls one after another in the same network."""

import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from waymark import own, project
from waymark.cli.base import app, make, out
from waymark.cli.options import spread
from waymark.cli.work import Work
from waymark.congestion import Custom
from waymark.controls import CONTROLS
from waymark.errors import WaymarkError, suggestion
from waymark.help_text import examples
from waymark.json_option import AsJson, print_json
from waymark.measure import Plan
from waymark.quantity_options import time_option
from waymark.topology import Topology
from waymark.traffic import PROFILES, Algorithm, ModernProfile, Profile

if TYPE_CHECKING:
    from waymark.comparison import Pair


class ProfileName(StrEnum):
    """``--profile``."""

    STOCK = "stock"
    MODERN = "modern"
    CHAN = "chan"
    SRIJITH = "srijith"
    DAHAL = "dahal"


@app.command(
    "compare",
    epilog=examples(
        "waymark compare vegas rovegas cubic --topology bottleneck --load 0.9",
        "waymark compare bbr cubic ./my_control.py --profile modern --seeds 10",
    ),
)
@spread
def compare(
    controls: Annotated[
        list[str],
        typer.Argument(
            metavar="CONTROL...",
            help="Such as vegas, rovegas, cubic; or your own: FILE.py, FILE.py:Class.",
        ),
    ],
    topology: Annotated[
        str,
        typer.Option(metavar="FILE", help="A topology file, or a name in topologies/."),
    ] = "bottleneck",
    feedback: Annotated[
        str | None,
        typer.Option(
            metavar="MARKS",
            help="Marks that all switches write, such as aqt,drai,ci. Default: the topology's.",
        ),
    ] = None,
    flow: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FROM:TO",
            help="A flow; can be repeated. Default: from the first host in the file to the first "
            "host behind another switch.",
        ),
    ] = None,
    load: Annotated[
        float,
        typer.Option(help="Cross traffic, as a fraction of the slowest link on its path: 0 to 2."),
    ] = 0.0,
    cross: Annotated[
        str | None,
        typer.Option(
            metavar="FROM:TO",
            help="Path of the cross traffic. Default: between hosts without a flow.",
        ),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(
            metavar="FROM:TO",
            help="The link whose queue is measured. Default: the slowest on the first flow's path.",
        ),
    ] = None,
    seconds: Annotated[
        float, time_option("--seconds", help="Duration of each run.", least_s=0.1)
    ] = 60,
    from_s: Annotated[
        float | None,
        time_option("--from", help="Start of the measurement. Default: after a sixth of the run."),
    ] = None,
    profile: Annotated[
        ProfileName,
        typer.Option(
            help="TCP profile of the flows: stock is that of ns-2.35; BBR and DCTCP need modern."
        ),
    ] = ProfileName.STOCK,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 1,
    as_json: AsJson = False,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Number of seeds. Default: 10, or 1 without random traffic."),
    ] = None,
    *,
    work: Work,
) -> None:
    """Compare congestion controls in the same network.

    The table has throughput, queue, round-trip time, loss and fairness. Each control runs alone,
    with the same cross traffic per seed. Finished runs are stored: after an interrupt, repeat the
    command to continue.
    """
    from waymark import comparison, report  # which bring matplotlib

    file = _file(topology)
    network = Topology.load(file)
    if feedback is not None:
        network = network.with_feedback([mark.strip() for mark in feedback.split(",")])
    found = _controls(controls, PROFILES[profile.value])
    its = comparison.compare(
        _name(file),
        network,
        found,
        profile=PROFILES[profile.value],
        flows=[_pair("--flow", text) for text in flow or []],
        link=None if link is None else _pair("--link", link),
        end_s=seconds,
        from_s=from_s,
        load=load,
        cross=None if cross is None else _pair("--cross", cross),
    )
    with own.located():
        missing = its.missing_marks(option="--feedback")
    for sentence in missing:
        print(f"warning: {sentence}", file=sys.stderr)
    seeds = seeds or (10 if its.is_random else 1)
    experiment = its.experiment(seeds)
    folder = work.out_dir / experiment.id
    make(folder)
    plan = Plan.of(experiment, "full", seed, seeds)
    with work.hand_out([plan], experiment.id) as handed:
        measured = next(handed).measured()
    files = report.write(measured, folder, ["waymark", *sys.argv[1:]])
    files.append(its.write_runs(measured.runs, plan.seeds, folder))
    if as_json:
        runs = its.runs(measured.runs, plan.seeds)
        print_json({"setting": its.about, "runs": runs, "files": [str(each) for each in files]})
        return
    out.print(its.terminal_table(measured.runs))
    for each in files:
        print(each)


def _controls(names: list[str], profile: Profile) -> dict[str, Algorithm | Custom]:
    modern_only = {known.name for known in CONTROLS if known.is_modern_only}
    found: dict[str, Algorithm | Custom] = {}
    for name in names:
        control = own.load_control(name) if ".py" in name else name
        label = control if isinstance(control, str) else control.__name__
        if label in found:
            raise WaymarkError(f"control {label}: given twice")
        if label in modern_only and not isinstance(profile, ModernProfile):
            raise WaymarkError(f"{name}: needs --profile modern, which applies to all controls")
        found[label] = control  # pyright: ignore[reportArgumentType], which compare() checks
    return found


def _pair(option: str, text: str) -> "Pair":
    source, colon, target = text.partition(":")
    if not (source and colon and target):
        raise WaymarkError(f"{option} {text}: expected FROM:TO, such as s1:d1")
    return source, target


def _file(text: str) -> Path:
    """A topology's file; a bare name is one of the project's."""
    if Path(text).exists() or Path(text).suffix or "/" in text:
        return Path(text)
    folder = project.root() / "topologies"
    names = sorted(file.stem for file in folder.glob("*.yaml"))
    if text not in names:
        raise WaymarkError(
            f"--topology {text}: no such file or topology; {suggestion(text, names)}"
        )
    return folder / f"{text}.yaml"


def _name(file: Path) -> str:
    return re.sub(r"[^\w.+-]", "-", file.stem).lstrip(".+-") or "network"
