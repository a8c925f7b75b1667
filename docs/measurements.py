"""Store the tables of a full-scale run, and write the numbers of README and ``docs/`` from them.

``python docs/measurements.py [RESULTS]``: with RESULTS, a folder that ``waymark run`` wrote, the
tables in ``docs/results/`` of these experiments are renewed first. Text between
``<!-- numbers: NAME -->`` and ``<!-- end of numbers -->`` is written from the tables.
"""

import csv
import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from waymark import compared
from waymark import experiment as experiments
from waymark.experiment import Experiment, Row
from waymark.report import read_table

DOCS = Path(__file__).parent
STORED = DOCS / "results"
PAGES = (DOCS.parent / "README.md", DOCS / "verification.md")
RUNS = STORED / "runs.csv"
RUN_COLUMNS = ("id", "seeds", "runs", "packet_hops", "run_cpu_s")

_BLOCK = re.compile(r"(<!-- numbers: ([a-z0-9-]+) -->\n)(.*?)(<!-- end of numbers -->)", re.DOTALL)


def main(arguments: Sequence[str]) -> None:
    """Renew the tables if a folder is given; then renew the pages."""
    if len(arguments) > 1:
        sys.exit(f"usage: python {sys.argv[0]} [RESULTS]")
    if arguments:
        store(Path(arguments[0]))
    for page in PAGES:
        page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")


def store(results: Path) -> None:
    """Copy the tables of full-scale runs to ``docs/results/``; experiments that were not run keep
    theirs."""
    with RUNS.open(encoding="utf-8") as file:
        kept = {line[0]: line for line in list(csv.reader(file))[1:]}
    records: list[Sequence[object]] = []
    for one in experiments.everything():
        if one.id in kept and not (results / one.id).exists():
            print(f"{one.id}: not in {results}, kept as it is")
            records.append(kept[one.id])
            continue
        record = json.loads((results / one.id / "run.json").read_text(encoding="utf-8"))
        if record["scale"] != "full" or len(record["seeds"]) != one.seeds_at("full"):
            sys.exit(f"{results / one.id}: not a run at full scale; waymark run {one.id}")
        table_of(one.id).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(results / one.id / "table.csv", table_of(one.id))
        numbers = [record[name] for name in RUN_COLUMNS[2:]]
        records.append([one.id, len(record["seeds"]), *numbers])
    with RUNS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(RUN_COLUMNS)
        writer.writerows(records)


def table_of(experiment_id: str) -> Path:
    """Where the table of an experiment is stored."""
    return STORED / f"{experiment_id}.csv"


@cache
def stored(experiment_id: str) -> Mapping[str, Row]:
    """The stored table of an experiment, by quantity."""
    return {row.quantity: row for row in read_table(table_of(experiment_id))}


def renewed(page: str) -> str:
    """A page with renewed numbers."""
    return _BLOCK.sub(lambda found: found[1] + BLOCKS[found[2]]() + found[4], page)


@dataclass(frozen=True)
class Line:
    """A line of a table: what was measured, and the stored rows with its numbers."""

    where: str
    what: str
    experiment: str
    quantities: Sequence[str]

    def __str__(self) -> str:
        rows = [stored(self.experiment)[quantity] for quantity in self.quantities]
        papers = _numbers([row.paper for row in rows])
        ns2 = _numbers([row.ns2 for row in rows])
        waymark = ", ".join(measured(row) for row in rows)
        return f"| {self.where} | {self.what} | {papers} | {ns2} | {waymark} |\n"


def measured(row: Row) -> str:
    """Waymark's number: with its deviation over the seeds; a ratio with its interval."""
    if row.waymark_sd:
        return f"{_digits(row.waymark)} ± {_digits(row.waymark_sd, 2)}"
    if row.waymark_ci is not None and row.waymark_sd is None:
        low, high = row.waymark_ci
        return f"{_digits(row.waymark)} ({_digits(low)} to {_digits(high)})"
    return _digits(row.waymark)


def _numbers(numbers: Sequence[float | None]) -> str:
    return (
        ", ".join("–" if n is None else _digits(n) for n in numbers)
        if any(n is not None for n in numbers)
        else ""
    )


def _digits(number: float, digits: int = 3) -> str:
    """At least this many significant digits, without an exponent."""
    if number and abs(number) >= 10 ** (digits - 1):
        return f"{number:.0f}"
    return f"{number:.{digits}g}"


HEAD = "| where | what | paper | ns-2.35 | Waymark |\n| --- | --- | --- | --- | --- |\n"


def _chan() -> str:
    ks = (2, 4, 8, 16, 32)
    names, lots = ("new", "halved", "doubled"), ("0-25", "25-55", "55-300")
    periods = ("0-100", "100-200", "200-300", "300-400", "400-500")
    lines = (
        Line(
            "3.4",
            "Vegas, reverse path 2, 4, 8, 16, 32 times slower, kb/s",
            "chan/fig3.4",
            [f"Vegas, k = {k}" for k in ks],
        ),
        Line(
            "3.5", "RoVegas/Vegas, the same", "chan/fig3.5", [f"RoVegas/Vegas, k = {k}" for k in ks]
        ),
        Line("3.6", "Vegas, backward load 0.9, kb/s", "chan/fig3.6", ["Vegas, 50-200 s"]),
        Line("3.6", "RoVegas, the same", "chan/fig3.6", ["RoVegas, 50-200 s"]),
        Line(
            "3.7",
            "Vegas, backward load 0, 0.5, 1, kb/s",
            "chan/fig3.7",
            [f"Vegas, load {load}" for load in ("0", "0.5", "1")],
        ),
        Line("3.7", "RoVegas/Vegas at load 1", "chan/fig3.7", ["RoVegas/Vegas, load 1"]),
        Line(
            "3.9",
            "RoVegas/Vegas, 1, 2, 3 hops loaded",
            "chan/fig3.9",
            [f"RoVegas/Vegas, {n} hops loaded" for n in (1, 2, 3)],
        ),
        Line(
            "3.12",
            "Vegas, queue after the 4th and 8th flow joined, packets",
            "chan/fig3.12",
            [f"Vegas, queue after join {n}" for n in (4, 8)],
        ),
        Line(
            "3.12",
            "RoVegas, queue after the 8th flow joined",
            "chan/fig3.12",
            ["RoVegas, queue after join 8"],
        ),
        Line(
            "5.2",
            "Vegas converges at 50 Mb/s: new, halved, doubled, s",
            "chan/fig5.2",
            [f"Vegas, {name}" for name in names],
        ),
        Line(
            "5.3",
            "Quick Vegas, the same",
            "chan/fig5.2",
            [f"Quick Vegas, {name}" for name in names],
        ),
        Line(
            "table 5.2",
            "queue of 20, 40, 60, 40, 20 Quick Vegas flows at 1 Gb/s, packets",
            "chan/tab5.1",
            [f"Quick Vegas, queue {period} s" for period in periods],
        ),
        Line(
            "table 5.1",
            "NewReno, utilisation in 0-25, 25-55, 55-300 s",
            "chan/tab5.1",
            [f"NewReno, utilisation {lot} s" for lot in lots],
        ),
    )
    return HEAD + "".join(map(str, lines))


def _srijith() -> str:
    buffers = (10, 15, 20, 25, 30)
    lines = (
        Line("1", "Vegas after a reroute, b/s", "srijith/tab1", ["Vegas"]),
        Line("1", "Vegas-A, the same", "srijith/tab1", ["Vegas-A"]),
        Line("1", "Vegas-A, RTTs in whole ns", "srijith/tab1", ["Vegas-A, RTTs in whole ns"]),
        Line("4", "five Vegas flows, b/s", "srijith/tab4", [f"Vegas, S{n}" for n in range(1, 6)]),
        Line(
            "6",
            "Vegas-A, mean queue over 500 s, files of 5 and 10 MB, packets",
            "srijith/tab6",
            [f"Vegas-A, {size} MB, queue" for size in (5, 10)],
        ),
        *(
            Line(
                "8",
                f"{who}, retransmissions with an RTT of {rtt_ms} ms, buffers of 10 to 30",
                "srijith/tab8",
                [f"{who}, RTT {rtt_ms} ms, buffer {buffer}, resent" for buffer in buffers],
            )
            for who in ("NewReno", "Vegas-A")
            for rtt_ms in (40, 60)
        ),
    )
    return HEAD + "".join(map(str, lines))


def _kurata() -> str:
    lines = (
        Line(
            "3",
            f"{who}, 5 and 5 flows over drop-tail, buffers of 10, 50, 100, 200, kb/s",
            "kurata/fig3",
            [f"{who}, 5+5, B = {buffer}" for buffer in (10, 50, 100, 200)],
        )
        for who in ("Reno", "Vegas")
    )
    return HEAD + "".join(map(str, lines))


def _beyond() -> str:
    controls = ("CUBIC", "BBR", "DCTCP", "Vegas", "RoVegas", "Waymark")
    measures = (
        ("kb/s of 1600, reverse path at load 0.9", "beyond/fig1", "{}, 50-200 s"),
        ("packets of it waiting meanwhile", "beyond/fig1", "{}, 50-200 s, waiting"),
        ("kb/s at load 0.5 with 6 % of random loss", "beyond/fig2", "{}, 0.06"),
        ("packets waiting of eight flows over 10 Mb/s", "beyond/fig3", "{}, waiting"),
        (
            "Mb/s of 10 competing with CUBIC, buffer of 50",
            "beyond/fig5",
            "{} against CUBIC, buffer 50",
        ),
    )
    lines = [f"| | {' | '.join(controls)} |\n", "| --- " * (len(controls) + 1) + "|\n"]
    for what, experiment, quantity in measures:
        table = stored(experiment)
        rows = [table.get(quantity.format(control)) for control in controls]
        cells = ["" if row is None else _digits(row.waymark, 2) for row in rows]
        lines.append(f"| {what} | {' | '.join(cells)} |\n")
    return "".join(lines)


def signals() -> compared.Matrix:
    """The matrix of the report, from the stored tables."""
    tables = ((one, stored(one.id).values()) for one in experiments.everything() if one.comparisons)
    return compared.matrix(
        (one, {r.quantity: r.unit for r in rows}, {r.quantity: r.waymark for r in rows})
        for one, rows in tables
    )


IN_README = (
    "CUBIC",
    "BBR",
    "BBRv3",
    "DCTCP",
    "Prague",
    "θ-PowerTCP",
    "Swift",
    "Swift (AQT)",
    "Swift (TCP-INT)",
    "Swift (CSIG)",
    "HPCC",
    "PowerTCP",
    "NSCC",
    "Vegas",
    "RoVegas",
    "Muzha",
    "Waymark",
)
"""The controls of the README's table, as far as the stored tables have them; the report has all."""


def _today() -> str:
    matrix = signals()
    by_scenario = {
        (experiment, scenario): [c for c in matrix.columns if c.experiment == experiment]
        for experiment, scenario, _ in matrix.scenarios
    }
    heads = [
        f"{scenario}: {' / '.join(c.measure for c in columns)}"
        for (_, scenario), columns in by_scenario.items()
    ]
    lines = [
        f"| control | reads | octets | {' | '.join(heads)} |\n",
        "| --- " * (len(heads) + 3) + "|\n",
    ]
    for title in IN_README:
        if title not in matrix.signals:
            continue  # the stored tables are older than the control
        cells = [
            " / ".join(_cell(column, title) for column in columns)
            for columns in by_scenario.values()
        ]
        about = f"{matrix.signals[title]} | {_digits(matrix.octets[title])}"
        lines.append(f"| {title} | {about} | {' | '.join(cells)} |\n")
    return "".join(lines)


def _cell(column: compared.Column, title: str) -> str:
    number = column.numbers.get(title)
    text = "–" if number is None else _digits(number, 2)
    return f"**{text}**" if column.is_best(title) else text


def judged() -> list[tuple[Experiment, str, list[str]]]:
    """Each experiment with its verdict, and those of its variants, from the stored tables."""
    found: list[tuple[Experiment, str, list[str]]] = []
    for one in experiments.everything():
        rows = list(stored(one.id).values())
        variants = [f"{name}: {verdict}" for name, verdict in one.variant_verdicts(rows).items()]
        found.append((one, one.verdict(rows), variants))
    return found


def _summary() -> str:
    found = judged()
    verdicts = [verdict for _, verdict, _ in found]
    compared = [row.agrees_with_ns2 for one, _, _ in found for row in stored(one.id).values()]
    with RUNS.open(encoding="utf-8") as file:
        seconds = sum(float(line["run_cpu_s"]) for line in csv.DictReader(file))
    return (
        f"Of {len(found)} experiments, {verdicts.count('reproduced')} are reproduced, "
        f"{verdicts.count('partly')} partly, and {verdicts.count('not reproduced')} not.\n"
        f"Of the {len(compared) - compared.count(None)} numbers that ns-2.35 gives under the same "
        f"parameters, {compared.count(True)} agree within 5 % or within the range over the seeds.\n"
        f"All runs at full scale take {seconds / 60:.0f} minutes of one core.\n"
    )


def _verdicts() -> str:
    lines = ["| experiment | claims that pass | verdict | variants |\n| --- | --- | --- | --- |\n"]
    for one, verdict, variants in judged():
        by_name = stored(one.id)
        results = [e.holds(by_name) for e in one.expectations if not e.variant]
        passed = f"{results.count(True)} of {len(results) - results.count(None)}"
        lines.append(f"| {one.id} | {passed} | {verdict} | {'; '.join(variants)} |\n")
    return "".join(lines)


def _failures() -> str:
    lines = ["| experiment | claim | criterion |\n| --- | --- | --- |\n"]
    for one, _, _ in judged():
        for claim in one.expectations:
            if not claim.variant and claim.holds(stored(one.id)) is False:
                lines.append(f"| {one.id} | {claim.claim} | {claim.criterion} |\n")
    return "".join(lines)


BLOCKS: Mapping[str, Callable[[], str]] = {
    "summary": _summary,
    "verdicts": _verdicts,
    "failures": _failures,
    "chan": _chan,
    "srijith": _srijith,
    "kurata": _kurata,
    "beyond": _beyond,
    "today": _today,
}
"""The text of each block, by name."""

if __name__ == "__main__":
    main(sys.argv[1:])
