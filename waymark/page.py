"""``waymark report``: all results on one page that needs no other file."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from jinja2 import Environment, PackageLoader, StrictUndefined

from waymark import experiment as experiments
from waymark.experiment import PAPERS, Experiment, Verdict

TITLES = {
    "chan": "Chan 2004: RoVegas, Enhanced Vegas, Quick Vegas, RedVegas",
    "srijith": "Srijith, Jacob, Ananda: Vegas-A",
    "kurata": "Kurata, Hasegawa, Murata: Reno beside Vegas",
    "lien": "Lien, Chung: Muzha",
    "dahal": "Dahal 2007: RBCC, RBCC-WL, SCTP",
    "beyond": "Beyond the papers: their claims among the transports of today",
}

RULES: Mapping[Verdict, str] = {
    "reproduced": "every claim is borne out",
    "partly": "some are, some are not",
    "not reproduced": "none is",
}


@dataclass(frozen=True)
class Entry:
    """One experiment on the page: what was declared, and the record of its last run, if any."""

    experiment: Experiment
    record: Mapping[str, Any] | None
    png: str | None
    folder: str

    @property
    def anchor(self) -> str:
        """Its place on the page."""
        return self.experiment.id.replace("/", "-").replace(".", "-")

    @property
    def agreement(self) -> tuple[int, int]:
        """How many of the rows that have ns-2's number agree with it, and how many there are."""
        rows: list[dict[str, Any]] = self.record["rows"] if self.record else []
        judged = [row["agrees_with_ns2"] for row in rows if row["agrees_with_ns2"] is not None]
        return sum(judged), len(judged)


def render(results: Path, beside: Path) -> str:
    """The page.

    Args:
        results: the folder with a folder an experiment.
        beside: where the page will be: links to the runs' data are relative to it.
    """
    papers = {
        TITLES[paper]: [
            _entry(one, results, beside)
            for one in experiments.everything()
            if one.id.startswith(f"{paper}/")
        ]
        for paper in PAPERS
    }
    papers = {title: entries for title, entries in papers.items() if entries}
    everything = [entry for entries in papers.values() for entry in entries]
    environment = Environment(
        loader=PackageLoader("waymark"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.filters["value"] = value
    return environment.get_template("report.html.j2").render(
        papers=papers,
        rules=RULES,
        counts={verdict: _count(everything, verdict) for verdict in RULES},
        not_run=sum(entry.record is None for entry in everything),
        version=version("waymark"),
    )


def number(digits: float | None) -> str:
    """Four significant digits, without an exponent; nothing for None."""
    if digits is None:
        return ""
    if digits != digits:
        return "–"
    if abs(digits) >= 1000:
        return f"{digits:.0f}"
    return f"{digits:.4g}"


def value(parameter: object) -> str:
    """A parameter as text."""
    if isinstance(parameter, dict):
        pairs = cast("dict[str, object]", parameter).items()
        return ", ".join(f"{name} {value(given)}" for name, given in pairs)
    if isinstance(parameter, list):
        return ", ".join(value(given) for given in cast("list[object]", parameter))
    return f"{parameter:g}" if isinstance(parameter, float) else str(parameter)


def _entry(experiment: Experiment, results: Path, beside: Path) -> Entry:
    folder = results / experiment.id
    try:
        record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        png = base64.b64encode((folder / "plot.png").read_bytes()).decode()
    except (OSError, ValueError):
        record, png = None, None
    try:
        link = folder.resolve().relative_to(beside.resolve()).as_posix()
    except ValueError:
        link = folder.resolve().as_uri()
    return Entry(experiment, record, png, link)


def _count(entries: list[Entry], verdict: Verdict) -> int:
    return sum(entry.record is not None and entry.record["verdict"] == verdict for entry in entries)
