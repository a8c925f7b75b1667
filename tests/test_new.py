"""``waymark new``: each skeleton runs as it is written, outside the checkout."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Cli

import waymark as wm


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_experiment_runs(cli: Cli, tmp_path: Path) -> None:
    assert cli("new", "experiment", "my_queue").out == (
        "my_queue.py\ntry: waymark run ./my_queue.py --scale quick\n"
    )
    shown = cli("run", "./my_queue.py", "--scale", "quick", "--jobs", 2)
    assert shown.code == 0, shown.err
    record = json.loads((tmp_path / "results" / "own" / "my_queue" / "run.json").read_text())
    assert record["id"] == "own/my_queue"
    assert record["verdict"] == "reproduced"


def test_a_control_runs(cli: Cli, tmp_path: Path) -> None:
    assert cli("new", "control", "fancy-aimd.py").code == 0
    assert "class FancyAimd(wm.CongestionControl):" in (tmp_path / "fancy-aimd.py").read_text()
    words = ("--seconds", 10, "--seeds", 1, "--jobs", 1)
    shown = cli("compare", "./fancy-aimd.py", "vegas", *words)
    assert shown.code == 0, shown.err
    assert "FancyAimd   1600" in shown.out  # it fills the link


def test_a_topology_runs(cli: Cli) -> None:
    assert cli("new", "topology", "net").out.startswith("net.yaml\n")
    network = wm.Topology.load("net.yaml")
    assert network.link("r1", "r2").loss == 0.001
    assert network.link("r2", "r1").queue_packets == 50
    words = ("--seconds", 10, "--seeds", 1, "--jobs", 1)
    shown = cli("compare", "vegas", "--topology", "./net.yaml", *words)
    assert shown.code == 0, shown.err


def test_a_scenario_runs(cli: Cli, tmp_path: Path) -> None:
    assert cli("new", "scenario", "rush").code == 0
    shown = cli("run", "./rush.yaml", "--scale", "quick", "--jobs", 1)
    assert shown.code == 0, shown.err
    record = json.loads((tmp_path / "results" / "scenario" / "rush" / "run.json").read_text())
    assert [row["quantity"] for row in record["rows"]][4] == "queue after the change"


@pytest.mark.parametrize("kind", ["experiment", "control", "scenario", "topology"])
def test_nothing_is_overwritten(cli: Cli, tmp_path: Path, kind: str) -> None:
    file = tmp_path / ("mine.yaml" if kind in ("scenario", "topology") else "mine.py")
    file.write_text("precious")
    shown = cli("new", kind, "mine")
    assert shown.code == 2
    assert f"{file.name}: exists already; choose another name" in shown.err
    assert file.read_text() == "precious"


@pytest.mark.parametrize("name", ["3a", "a b", ".hidden", "-"])
def test_a_name_that_no_module_can_have_is_refused(cli: Cli, tmp_path: Path, name: str) -> None:
    shown = cli("new", "experiment", "--", name)
    assert shown.code == 2
    assert "expected a name of letters, digits, _ and - that begins with a letter" in shown.err
    assert not list(tmp_path.iterdir())
