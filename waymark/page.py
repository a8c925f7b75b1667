"""``waymark report``: all results on one page."""

import base64
import json
import math
import os
import shlex
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from jinja2 import Environment, PackageLoader, StrictUndefined

from waymark import compared
from waymark import experiment as experiments
from waymark.errors import WaymarkError
from waymark.experiment import PAPERS, Experiment, Verdict
from waymark.tables import digits

TITLES = {
    "chan": "Chan 2004: RoVegas, Enhanced Vegas, Quick Vegas, RedVegas",
    "srijith": "Srijith, Jacob, Ananda: Vegas-A",
    "kurata": "Kurata, Hasegawa, Murata: Reno and Vegas",
    "lien": "Lien, Chung: Muzha",
    "dahal": "Dahal 2007: RBCC, RBCC-WL, SCTP",
    "beyond": "Beyond the papers: their claims with current transports",
    "today": "Current signals and the papers' marks",
}

RULES: Mapping[Verdict, str] = {
    "reproduced": "all claims pass",
    "partly": "some claims pass, some fail",
    "not reproduced": "no claim passes",
    "measured": "no claims",
}

OWN = "Own experiments"
"""The title above results of the user's own experiments."""

_OF_RECORD = ("id", "paper", "claim", "command", "rows", "expectations", "verdict", "parameters")
"""Optional keys in the ``run.json`` of an experiment."""


@dataclass(frozen=True)
class Entry:
    """One experiment on the page.

    Attributes:
        id, paper, claim: as the experiment declares them.
        fitted: number of its choices that were fitted to a result.
        record: of its last run; None: it was not run.
        picture: the address of its picture; None: there is none.
        size: the picture's width and height, in pixels.
        folder: the address of the run's data.
        is_own: whether it is an experiment of the user.
        experiment: what declares it; None: the user's own.
    """

    id: str
    paper: str
    claim: str
    fitted: int
    record: Mapping[str, Any] | None
    picture: str | None
    size: tuple[int, int]
    folder: str
    is_own: bool = False
    experiment: Experiment | None = None

    @property
    def anchor(self) -> str:
        """Its anchor on the page."""
        return self.id.replace("/", "-").replace(".", "-")

    @property
    def repeat(self) -> str:
        """The command that reproduces these results."""
        if self.record is None:
            return f"waymark run {self.id}"
        if self.is_own:
            return shlex.join(self.record["command"])
        return f"waymark run {self.id} --scale {self.record['scale']}"

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table. A missing number of Waymark, null in the record, is NaN."""
        rows: list[dict[str, Any]] = self.record["rows"] if self.record else []
        return [row | {"waymark": _number(row["waymark"])} for row in rows]

    @property
    def numbers(self) -> dict[str, float]:
        """The table's numbers by quantity."""
        return {row["quantity"]: row["waymark"] for row in self.rows}

    @cached_property
    def beaten(self) -> dict[str, list[str]]:
        """Waymark's quantities in which current transports are better, with these transports."""
        return {} if self.experiment is None else compared.beaten(self.experiment, self.numbers)

    @property
    def comparisons(self) -> int:
        """How many of Waymark's quantities are compared with those of current transports."""
        return 0 if self.experiment is None else compared.count(self.experiment, self.numbers)

    @property
    def agreement(self) -> tuple[int, int]:
        """The number of rows that agree with ns-2's number, and the number of rows that have
        one."""
        judged = [row["agrees_with_ns2"] for row in self.rows]
        return judged.count(True), len(judged) - judged.count(None)

    def claims(self, variant: str) -> list[dict[str, Any]]:
        """The claims about a variant of the setting; ``""``: about the paper's own."""
        claims: list[dict[str, Any]] = self.record["expectations"] if self.record else []
        return [claim for claim in claims if claim["variant"] == variant]

    @property
    def passed(self) -> tuple[int, int]:
        """How many of the paper's claims pass, and how many were decided."""
        judged = [claim["holds"] for claim in self.claims("")]
        return judged.count(True), len(judged) - judged.count(None)


def render(results: Path, beside: Path, *, embed: bool = False) -> str:
    """The page.

    Args:
        results: the folder with one folder per experiment.
        beside: the path of the page: links to pictures and data are relative to it.
        embed: embed the pictures in the page, so that it needs no other file.

    Raises:
        WaymarkError: there is no result.
    """
    papers = {
        TITLES[paper]: [
            _entry(one, results, beside, embed=embed)
            for one in experiments.everything()
            if one.id.startswith(f"{paper}/")
        ]
        for paper in PAPERS
    }
    papers[OWN] = _own(results, beside, embed=embed)
    papers = {
        title: entries
        for title, entries in papers.items()
        if any(entry.record is not None for entry in entries)
    }
    everything = [entry for entries in papers.values() for entry in entries]
    if not everything:
        raise WaymarkError(f"{results}: no results; first run: waymark run ID --out {results}")
    counts = {verdict: _count(everything, verdict) for verdict in RULES}
    environment = Environment(
        loader=PackageLoader("waymark"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = digits
    environment.filters["value"] = value
    return environment.get_template("report.html.j2").render(
        papers=papers,
        rules={verdict: rule for verdict, rule in RULES.items() if counts[verdict]},
        counts=counts,
        not_run=sum(entry.record is None for entry in everything),
        fitted=sum(entry.fitted for entry in everything),
        beaten=sum(len(entry.beaten) for entry in everything),
        comparisons=sum(entry.comparisons for entry in everything),
        matrix=compared.matrix(
            (e.experiment, {r["quantity"]: r["unit"] for r in e.rows}, e.numbers)
            for e in everything
            if e.experiment is not None and e.record is not None
        ),
        version=version("waymark"),
    )


def value(parameter: object) -> str:
    """A parameter as text."""
    if isinstance(parameter, dict):
        pairs = cast("dict[str, object]", parameter).items()
        return ", ".join(f"{name} {value(given)}" for name, given in pairs)
    if isinstance(parameter, list):
        return ", ".join(value(given) for given in cast("list[object]", parameter))
    return f"{parameter:g}" if isinstance(parameter, float) else str(parameter)


def _entry(experiment: Experiment, results: Path, beside: Path, *, embed: bool) -> Entry:
    folder = results / experiment.id
    fitted = sum(choice.fitted for choice in experiment.choices)
    about = (experiment.id, experiment.paper, experiment.claim, fitted)
    try:
        record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        png = (folder / "plot.png").read_bytes()
    except (OSError, ValueError):
        return Entry(*about, None, None, (0, 0), _address(folder, beside))
    shown = _picture(png, folder, beside, embed=embed)
    return Entry(*about, record, *shown, experiment=experiment)


def _own(results: Path, beside: Path, *, embed: bool) -> list[Entry]:
    """The user's own experiments, by id: each ``run.json`` that is not of a project experiment."""
    entries: list[Entry] = []
    for file in _records(results):
        try:
            record = json.loads(file.read_text(encoding="utf-8"))
            png = (file.parent / "plot.png").read_bytes()
        except (OSError, ValueError):
            continue
        if not isinstance(record, dict) or any(key not in record for key in _OF_RECORD):
            continue  # of a run on interfaces, or of another program
        known = cast("dict[str, Any]", record)
        if experiments.is_of_project(known["id"]):
            continue
        fitted = sum(choice["fitted"] for choice in known["choices"])
        about = (known["id"], known["paper"], known["claim"], fitted)
        shown = _picture(png, file.parent, beside, embed=embed)
        entries.append(Entry(*about, known, *shown, is_own=True))
    return entries


def _records(results: Path) -> list[Path]:
    """Every ``run.json``, except in the folder of finished runs, which has many files."""
    found: list[Path] = []
    for folder, below, files in os.walk(results):
        below[:] = [name for name in below if not name.startswith(".")]
        if "run.json" in files:
            found.append(Path(folder) / "run.json")
    return sorted(found)


def _number(found: float | None) -> float:
    return math.nan if found is None else found


def _picture(
    png: bytes, folder: Path, beside: Path, *, embed: bool
) -> tuple[str, tuple[int, int], str]:
    """The picture's address and size, and the folder's address."""
    address = _address(folder, beside)
    picture = f"{address}/plot.png"
    if embed:
        picture = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    return picture, _size(png), address


def _address(folder: Path, beside: Path) -> str:
    try:
        return folder.resolve().relative_to(beside.resolve()).as_posix()
    except ValueError:
        return folder.resolve().as_uri()


def _size(png: bytes) -> tuple[int, int]:
    """Width and height, from the header chunk (PNG specification, section 11.2.1)."""
    width, height = struct.unpack_from(">II", png, 16)
    return width, height


def _count(entries: list[Entry], verdict: Verdict) -> int:
    return sum(entry.record is not None and entry.record["verdict"] == verdict for entry in entries)
