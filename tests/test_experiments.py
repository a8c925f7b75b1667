"""Experiments at quick scale: what they leave behind, and the papers' orderings."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from conftest import Cli

from waymark import Row, experiment

LEFT_BEHIND = {"table.csv", "plot.png", "plot.svg", "run.json"}


@pytest.mark.parametrize("one", experiment.everything(), ids=lambda e: e.id)
def test_an_experiment_leaves_a_table_pictures_and_a_record(
    one: experiment.Experiment, cli: Cli, tmp_path: Path
) -> None:
    shown = cli("run", one.id, "--scale", "quick", "--out", tmp_path)
    assert shown.code == 0, shown.err
    folder = tmp_path / one.id
    assert {path.name for path in folder.iterdir()} == LEFT_BEHIND
    for name in LEFT_BEHIND:
        assert str(folder / name) in shown.out
    with (folder / "table.csv").open() as file:
        table = list(csv.DictReader(file))
    assert list(table[0]) == ["quantity", "unit", "paper", "ns2", "waymark", "waymark_sd", "ratio"]
    assert all(row["quantity"] in shown.out for row in table)
    record = json.loads((folder / "run.json").read_text())
    assert record["seeds"] == list(range(1, one.seeds["quick"] + 1))
    assert record["command"][1:] == ["run", one.id, "--scale", "quick", "--out", str(tmp_path)]
    assert set(record["program_sha256"]) == {"v1model/waymark.p4"}
    assert record["packets"] > 0
    claims = {e["claim"]: e["holds"] for e in record["expectations"]}
    assert claims[one.expectations[0].claim], shown.out


def test_the_same_command_gives_the_same_octets(cli: Cli, tmp_path: Path) -> None:
    for name, jobs in (("first", 1), ("second", 2)):
        arguments = ("--scale", "quick", "--seeds", 2, "--jobs", jobs, "--out", tmp_path / name)
        assert cli("run", "chan/fig3.6", *arguments).code == 0
    for name in ("table.csv", "plot.png", "plot.svg"):
        first, second = (tmp_path / run / "chan/fig3.6" / name for run in ("first", "second"))
        assert first.read_bytes() == second.read_bytes(), name


def test_another_seed_gives_other_traffic(cli: Cli, tmp_path: Path) -> None:
    tables: list[str] = []
    for seed in (1, 2):
        arguments = (
            "--scale",
            "quick",
            "--seeds",
            1,
            "--seed",
            seed,
            "--out",
            tmp_path / str(seed),
        )
        assert cli("run", "chan/fig3.6", *arguments).code == 0
        tables.append((tmp_path / str(seed) / "chan/fig3.6" / "table.csv").read_text())
    assert tables[0] != tables[1]


def test_ratio_is_to_the_paper_and_else_to_ns2() -> None:
    assert Row("q", "1", 2, 4, 3).ratio == 1.5
    assert Row("q", "1", None, 4, 3).ratio == 0.75
    assert Row("q", "1", None, None, 3).ratio is None
