"""Claims against the stored tables: a claim can fail, and its criterion fits the paper."""

from __future__ import annotations

import runpy
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from waymark import Expectation, Row, experiment
from waymark.experiment import Experiment
from waymark.report import read_table

MODULE: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "measurements.py"))
EXPERIMENTS = experiment.everything()


def stored(one: Experiment) -> dict[str, Row]:
    """The table of the full-scale run."""
    path: Path = MODULE["table_of"](one.id)
    return {row.quantity: row for row in read_table(path)}


@dataclass(frozen=True)
class Watched(Row):
    """A row that records that its measured number was read, unless it was only put in order."""

    def __getattribute__(self, name: str) -> Any:
        if name == "order":
            return super().__getattribute__("waymark")
        if name in ("waymark", "waymark_ci", "waymark_sd", "waymark_range"):
            READ.append(object.__getattribute__(self, "quantity"))
        return super().__getattribute__(name)


READ: list[str] = []


def read_by(claim: Expectation, table: Mapping[str, Row]) -> set[str]:
    """The quantities whose measured numbers the claim reads."""
    watched = {
        name: Watched(**{f.name: getattr(row, f.name) for f in fields(Row)})
        for name, row in table.items()
    }
    READ.clear()
    claim.holds(watched)
    return set(READ)


def as_printed(table: Mapping[str, Row]) -> dict[str, Row]:
    """The table with the paper's numbers as measured ones, where it prints any."""
    return {
        name: row if row.paper is None else replace(row, waymark=row.paper)
        for name, row in table.items()
    }


def perturbed(row: Row) -> Iterator[Row]:
    """The row with one wrong number after another: none, half, double, far too little, far too
    much, and 1, where a ratio is fair."""
    factors = (0.0, 0.5, 2.0, 0.01, 100.0)
    for number in (*((row.waymark or 1.0) * factor for factor in factors), 1.0):
        yield replace(row, waymark=number, waymark_ci=None, waymark_range=None)


CLAIMS = [(one, claim) for one in EXPERIMENTS for claim in one.expectations]
each_claim = pytest.mark.parametrize(
    ("one", "claim"), CLAIMS, ids=[f"{one.id}: {claim.claim[:60]}" for one, claim in CLAIMS]
)


@each_claim
def test_the_full_scale_can_judge_a_claim(one: Experiment, claim: Expectation) -> None:
    assert claim.holds(stored(one)) is not None
    assert read_by(claim, stored(one)), "a claim that reads no number"


@each_claim
def test_a_wrong_number_refutes_a_claim(one: Experiment, claim: Expectation) -> None:
    """Each number that it reads can. Dahal's claims read whole curves and are about some of their
    points, or most: of these some number can, or a whole curve."""
    table = stored(one)
    if not claim.holds(table):
        return  # it is refuted as it is

    def refute(names: Collection[str]) -> bool:
        wrong = zip(*(perturbed(table[name]) for name in names), strict=True)
        return any(
            claim.holds(table | {row.quantity: row for row in rows}) is False for rows in wrong
        )

    read = sorted(read_by(claim, table))
    refuting = [name for name in read if refute([name])]
    if one.id.startswith("dahal/"):
        curves = {name.partition(",")[0] for name in read}
        assert refuting or any(
            refute([name for name in read if name.partition(",")[0] == curve]) for curve in curves
        )
    else:
        assert refuting == read


@each_claim
def test_a_claim_passes_on_the_papers_own_numbers(one: Experiment, claim: Expectation) -> None:
    table = as_printed(stored(one))
    if any(table[name].paper is None for name in read_by(claim, table)):
        return  # the paper does not print all that the claim is about
    assert claim.holds(table) is not False


@pytest.mark.parametrize("one", EXPERIMENTS, ids=lambda one: one.id)
def test_every_number_of_the_paper_is_read_by_a_claim(one: Experiment) -> None:
    table = as_printed(stored(one))  # a claim that fails stops reading
    read = set[str]().union(*(read_by(claim, table) for claim in one.expectations))
    assert {name for name, row in table.items() if row.paper is not None} <= read


def test_the_pages_have_the_numbers_of_the_stored_tables() -> None:
    for page in MODULE["PAGES"]:
        text = page.read_text(encoding="utf-8")
        assert "<!-- numbers: " in text, page
        assert MODULE["renewed"](text) == text, f"{page}: make numbers"


def test_a_stored_table_is_what_the_code_measures(quick_run: Path) -> None:
    """Where both scales have the same runs, a run at quick scale gives the stored table."""
    same = 0
    for one in EXPERIMENTS:
        runs = [dict(one.scenarios(scale, 1)) for scale in ("quick", "full")]
        if one.seeds["quick"] == one.seeds["full"] and runs[0] == runs[1]:
            same += 1
            made = read_table(quick_run / one.id / "table.csv")
            assert made == list(stored(one).values()), one.id
    assert same >= 5
