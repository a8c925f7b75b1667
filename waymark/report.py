"""What an experiment leaves behind: table, pictures, the record of the run."""

import csv
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from waymark import _core, plots
from waymark.experiment import Experiment, Row, Runs

COLUMNS = ("quantity", "unit", "paper", "ns2", "waymark", "waymark_sd", "ratio")


def write_table(rows: Iterable[Row], folder: Path) -> Path:
    """``table.csv``; an unknown number is an empty field, others have six significant digits."""
    path = folder / "table.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
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


def write_record(
    experiment: Experiment,
    runs: Runs,
    rows: Sequence[Row],
    program_sha256: Mapping[str, str],
    folder: Path,
    *,
    command: Sequence[str],
    scale: str,
    seeds: Sequence[int],
    wall_s: float,
) -> Path:
    """``run.json``: all that is needed to have these numbers again, and what they cost."""
    results = [result for several in runs.values() for result in several]
    by_name = {row.quantity: row for row in rows}
    record: dict[str, Any] = {
        "id": experiment.id,
        "paper": experiment.paper,
        "command": list(command),
        "scale": scale,
        "seeds": list(seeds),
        "parameters": dict(experiment.parameters),
        "rows": [asdict(row) | {"ratio": row.ratio} for row in rows],
        "expectations": [
            {"claim": e.claim, "tolerance": e.tolerance, "holds": e.holds(by_name)}
            for e in experiment.expectations
        ],
        "notes": experiment.notes,
        "program_sha256": dict(program_sha256),
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
        "run_wall_s": round(sum(result.wall_s for result in results), 3),
        "wall_s": round(wall_s, 3),
    }
    path = folder / "run.json"
    path.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


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
        verdict = "borne out:" if expectation.holds(by_name) else "NOT borne out:"
        console.print(f"{verdict} {expectation.claim}", highlight=False, soft_wrap=True)
        console.print(f"  counts as such: {expectation.tolerance}", highlight=False, soft_wrap=True)


def _digits(number: float | None, digits: int) -> str:
    return "" if number is None else f"{number:.{digits}g}"
