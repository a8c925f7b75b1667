"""What an experiment leaves behind: table, pictures, the record of the run."""

import csv
import json
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from waymark import _core, plots
from waymark.errors import os_errors
from waymark.experiment import Experiment, Row, Runs, Verdict
from waymark.measure import Measured

_HOLDS = {True: "borne out", False: "NOT borne out", None: "not judged at this scale"}

COLUMNS = ("quantity", "unit", "paper", "ns2", "waymark", "waymark_sd", "ratio")


def write_table(rows: Iterable[Row], folder: Path) -> Path:
    """``table.csv``; an unknown number is an empty field, others have six significant digits."""
    path = folder / "table.csv"
    with os_errors(path), path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            numbers = (row.paper, row.ns2, row.waymark, row.waymark_sd, row.ratio)
            writer.writerow((row.quantity, row.unit, *(_digits(n, 6) for n in numbers)))
    return path


def write_plots(
    experiment: Experiment, runs: Runs, rows: Sequence[Row], folder: Path
) -> list[Path]:
    """``plot.png`` and ``plot.svg``."""
    with plots.style():
        return plots.save(experiment.draw(runs, rows), folder)


def write_record(measured: Measured, folder: Path, command: Sequence[str]) -> Path:
    """``run.json``: all that is needed to have these numbers again, and what they cost."""
    plan, rows = measured.plan, measured.rows
    experiment = plan.experiment
    results = [result for several in measured.runs.values() for result in several]
    by_name = {row.quantity: row for row in rows}
    record: dict[str, Any] = {
        "id": experiment.id,
        "also": list(experiment.also),
        "paper": experiment.paper,
        "claim": experiment.claim,
        "command": list(command),
        "scale": plan.scale,
        "seeds": list(plan.seeds),
        "parameters": dict(experiment.parameters),
        "choices": [asdict(choice) for choice in experiment.choices],
        "rows": [
            asdict(row) | {"ratio": row.ratio, "agrees_with_ns2": row.agrees_with_ns2}
            for row in rows
        ],
        "expectations": [
            {"claim": e.claim, "tolerance": e.tolerance, "holds": e.holds(by_name)}
            for e in experiment.expectations
        ],
        "verdict": experiment.verdict(rows),
        "notes": experiment.notes,
        "program_sha256": plan.program_sha256,
        "versions": {
            "waymark": version("waymark"),
            "core": _core.__version__,
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "matplotlib": version("matplotlib"),
        },
        "runs": len(results),
        "packets": sum(result.packets for result in results),
        "packet_hops": sum(result.packet_hops for result in results),
        "run_cpu_s": round(measured.run_cpu_s, 3),
        "wall_s": round(measured.wall_s, 3),
    }
    path = folder / "run.json"
    with os_errors(path):
        path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def write(measured: Measured, folder: Path, command: Sequence[str]) -> list[Path]:
    """Write all that an experiment leaves behind; the files' paths.

    Raises:
        WaymarkError: a file cannot be written.
    """
    return [
        write_table(measured.rows, folder),
        *write_plots(measured.plan.experiment, measured.runs, measured.rows, folder),
        write_record(measured, folder, command),
    ]


@dataclass(frozen=True)
class Summary:
    """A line of what several experiments came to."""

    id: str
    verdict: Verdict
    packet_hops: int
    run_cpu_s: float


def summary(measured: Measured) -> Summary:
    """The line of one."""
    experiment = measured.plan.experiment
    hops = sum(result.packet_hops for several in measured.runs.values() for result in several)
    return Summary(experiment.id, experiment.verdict(measured.rows), hops, measured.run_cpu_s)


def summary_table(lines: Sequence[Summary]) -> Table:
    """What several experiments came to, and the processor time that each took."""
    table = Table(box=box.SIMPLE_HEAD, show_footer=len(lines) > 1)
    table.add_column("experiment", "in all", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    hops, seconds = sum(line.packet_hops for line in lines), sum(line.run_cpu_s for line in lines)
    table.add_column("packet-hops", f"{hops / 1e6:.1f} M", justify="right")
    table.add_column("seconds of one core", f"{seconds:.1f}", justify="right")
    for line in lines:
        table.add_row(
            line.id, line.verdict, f"{line.packet_hops / 1e6:.1f} M", f"{line.run_cpu_s:.1f}"
        )
    return table


def state(experiment: Experiment, results: Path) -> str:
    """What the results' folder has of an experiment, in a few words."""
    try:
        record = json.loads((results / experiment.id / "run.json").read_text(encoding="utf-8"))
        seeds = len(record["seeds"])
        return f"{record['verdict']} at scale {record['scale']}, {seeds} seed{'s'[: seeds > 1]}"
    except (OSError, ValueError, KeyError):
        return "not run yet"


def terminal_table(experiment: Experiment, rows: Iterable[Row]) -> Table:
    """The table as the terminal shows it."""
    table = Table(
        title=f"{experiment.id}: {experiment.paper}", title_justify="left", box=box.SIMPLE_HEAD
    )
    table.add_column("quantity", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    for heading in ("paper", "ns-2", "Waymark", "± sd", "ratio"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row.quantity,
            row.unit,
            *(_digits(n, 4) for n in (row.paper, row.ns2, row.waymark, row.waymark_sd)),
            "" if row.ratio is None else f"{row.ratio:.3f}",
        )
    return table


def print_expectations(console: Console, experiment: Experiment, rows: Iterable[Row]) -> None:
    """The paper's claims, each with whether the table bears it out."""
    by_name = {row.quantity: row for row in rows}
    for expectation in experiment.expectations:
        verdict = _HOLDS[expectation.holds(by_name)]
        console.print(f"{verdict}: {expectation.claim}", highlight=False, soft_wrap=True)
        console.print(f"  counts as such: {expectation.tolerance}", highlight=False, soft_wrap=True)


def _digits(number: float | None, digits: int) -> str:
    return "" if number is None else f"{number:.{digits}g}"
