"""The files of an experiment: table, pictures, the record of the run."""

import csv
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from matplotlib.figure import Figure
from rich import box
from rich.console import Console

from waymark import _core, json_text, plots
from waymark.errors import WaymarkError, os_errors
from waymark.experiment import Expectation, Experiment, Row, Runs, Verdict
from waymark.measure import Measured
from waymark.tables import NumberTable, digits

_HOLDS = {True: "PASS", False: "FAIL", None: "not evaluated at this scale"}

COLUMNS = (
    *("quantity", "unit", "paper", "derived", "ns2"),
    *("waymark", "waymark_sd", "waymark_low", "waymark_high"),
    *("waymark_least", "waymark_greatest", "ratio"),
)
"""Columns of ``table.csv``: low and high bound the 95 % confidence interval, least and greatest the
range."""


def write_table(rows: Iterable[Row], folder: Path) -> Path:
    """``table.csv``; an unknown number is an empty field, measured ones have six digits."""
    path = folder / "table.csv"
    with os_errors(path), path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            spread = (*(row.waymark_ci or (None, None)), *(row.waymark_range or (None, None)))
            own = (row.waymark, row.waymark_sd, *spread, row.ratio)
            given = (_digits(n, 12) for n in (row.paper, row.derived, row.ns2))
            writer.writerow((row.quantity, row.unit, *given, *(_digits(n, 6) for n in own)))
    return path


def read_table(path: Path) -> list[Row]:
    """The rows of a ``table.csv``.

    Raises:
        WaymarkError: the file cannot be read, or is not such a table.
    """
    with os_errors(path), path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    try:
        return [_row(line) for line in lines]
    except (KeyError, ValueError) as error:
        raise WaymarkError(f"{path}: not a table of an experiment: {error}") from error


def _row(line: Mapping[str, str]) -> Row:
    def number(column: str) -> float | None:
        return float(line[column]) if line[column] else None

    return Row(
        line["quantity"],
        line["unit"],
        paper=number("paper"),
        derived=number("derived"),
        ns2=number("ns2"),
        waymark=float(line["waymark"]),
        waymark_sd=number("waymark_sd"),
        waymark_range=_pair(number("waymark_least"), number("waymark_greatest")),
        waymark_ci=_pair(number("waymark_low"), number("waymark_high")),
    )


def _pair(low: float | None, high: float | None) -> tuple[float, float] | None:
    return None if low is None or high is None else (low, high)


def write_plots(
    experiment: Experiment, runs: Runs, rows: Sequence[Row], folder: Path
) -> list[Path]:
    """``plot.png`` and ``plot.svg``."""
    with plots.style():
        figure = cast("object", experiment.draw(runs, rows))
        if not isinstance(figure, Figure):
            raise WaymarkError(
                f"{experiment.id}: draw returned {figure!r}; expected a matplotlib Figure, such as "
                "waymark.plots.new_figure() gives"
            )
        return plots.save(figure, folder)


def write_record(measured: Measured, folder: Path, command: Sequence[str]) -> Path:
    """``run.json``: everything that is needed to reproduce these numbers, and their cost."""
    plan, rows = measured.plan, measured.rows
    experiment = plan.experiment
    cost = measured.cost
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
        "expectations": [_judged(one, rows) for one in experiment.expectations],
        "verdict": experiment.verdict(rows),
        "variant_verdicts": experiment.variant_verdicts(rows),
        "notes": experiment.notes,
        "program_sha256": plan.program_sha256,
        "versions": {
            "waymark": version("waymark"),
            "core": _core.__version__,
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "matplotlib": version("matplotlib"),
        },
        "runs": cost.runs,
        "packets": cost.packets,
        "packet_hops": cost.packet_hops,
        "run_cpu_s": round(cost.cpu_s, 3),
        "wall_s": round(measured.wall_s, 3),
    }
    path = folder / "run.json"
    with os_errors(path):
        path.write_text(json_text.dumps(record, indent=2) + "\n", encoding="utf-8")
    return path


def _judged(expectation: Expectation, rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "claim": expectation.claim,
        "criterion": expectation.criterion,
        "variant": expectation.variant,
        "holds": expectation.holds({row.quantity: row for row in rows}),
        "undecided_by": expectation.undecided_by(rows),
    }


def write(measured: Measured, folder: Path, command: Sequence[str]) -> list[Path]:
    """Write all files of an experiment. Returns their paths.

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
    """A line of the summary of several experiments."""

    id: str
    verdict: Verdict
    packet_hops: int
    run_cpu_s: float


def summary(measured: Measured) -> Summary:
    """The line of one."""
    experiment, cost = measured.plan.experiment, measured.cost
    verdict = experiment.verdict(measured.rows)
    return Summary(experiment.id, verdict, cost.packet_hops, cost.cpu_s)


def summary_table(lines: Sequence[Summary]) -> NumberTable:
    """The verdicts of several experiments, and the processor time of each."""
    table = NumberTable(box=box.SIMPLE_HEAD, show_footer=len(lines) > 1)
    table.add_numbers("experiment", "in all", justify="left")
    table.add_words("verdict")
    hops, seconds = sum(line.packet_hops for line in lines), sum(line.run_cpu_s for line in lines)
    table.add_numbers("packet-hops", f"{hops / 1e6:.1f} M")
    table.add_numbers("CPU s", f"{seconds:.1f}")
    for line in lines:
        table.add_row(
            line.id, line.verdict, f"{line.packet_hops / 1e6:.1f} M", f"{line.run_cpu_s:.1f}"
        )
    return table


def verdict(experiment: Experiment, results: Path) -> str:
    """The verdict of an experiment in the results' folder; else ``"not run"``."""
    record = _record(experiment, results)
    return "not run" if record is None else record["verdict"]


def state(experiment: Experiment, results: Path) -> str:
    """A short description of an experiment's state in the results' folder."""
    record = _record(experiment, results)
    if record is None:
        return "not run yet"
    seeds = len(record["seeds"])
    return f"{record['verdict']} at scale {record['scale']}, {seeds} seed{'s'[: seeds > 1]}"


def _record(experiment: Experiment, results: Path) -> dict[str, Any] | None:
    """``run.json`` with the keys that are shown here, if it exists."""
    try:
        record = json.loads((results / experiment.id / "run.json").read_text(encoding="utf-8"))
        return {key: record[key] for key in ("verdict", "scale", "seeds")}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def terminal_table(experiment: Experiment, rows: Sequence[Row]) -> NumberTable:
    """The table as the terminal shows it, without columns that are empty."""
    table = NumberTable(
        title=f"{experiment.id}: {experiment.paper}", title_justify="left", box=box.SIMPLE_HEAD
    )
    columns: list[tuple[str, list[str]]] = [
        ("paper", [digits(row.paper) for row in rows]),
        ("derived", [digits(row.derived) for row in rows]),
        ("ns-2", [digits(row.ns2) for row in rows]),
        ("Waymark", [digits(row.waymark) for row in rows]),
        ("± sd", [digits(row.waymark_sd) for row in rows]),
        ("95 % CI", [_interval(row) for row in rows]),
        ("ratio", ["" if row.ratio is None else f"{row.ratio:.3f}" for row in rows]),
    ]
    columns = [(heading, cells) for heading, cells in columns if any(cells)]
    table.add_words("quantity")
    table.add_words("unit")
    for heading, _ in columns:
        table.add_numbers(heading)
    for place, row in enumerate(rows):
        table.add_row(row.quantity, row.unit, *(cells[place] for _, cells in columns))
    return table


def _interval(row: Row) -> str:
    """The confidence interval of a ratio; a mean has its standard deviation instead."""
    if row.waymark_ci is None or row.waymark_sd is not None:
        return ""
    return " – ".join(_digits(end, 3) for end in row.waymark_ci)


def print_expectations(console: Console, experiment: Experiment, rows: Sequence[Row]) -> None:
    """Each claim with its result: the paper's own, then those about variants of its setting."""
    by_name = {row.quantity: row for row in rows}
    variants = dict.fromkeys(e.variant for e in experiment.expectations)
    for variant in sorted(variants, key=bool):
        if variant:
            console.print(f"Variant: {variant}", highlight=False, soft_wrap=True)
        for expectation in experiment.expectations:
            if expectation.variant != variant:
                continue
            result = _HOLDS[expectation.holds(by_name)]
            undecided = expectation.undecided_by(rows)
            lines = [
                f"{result}: {expectation.claim}",
                f"  criterion: {expectation.criterion}",
            ]
            if undecided:
                lines.append(f"  other seeds can give another verdict: {', '.join(undecided)}")
            for line in lines:
                console.print(line, highlight=False, soft_wrap=True)


def _digits(number: float | None, count: int) -> str:
    return "" if number is None else f"{number:.{count}g}"
