# ruff: noqa: E501
"""Scenario files: what they run, what is refused, and their schema."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Cli
from ruamel.yaml import YAML

import waymark as wm
from waymark import scenario_file
from waymark.yaml_file import read

NETWORK = """\
hosts: {a: {}, b: {}}
switches: {r1: {}, r2: {}}
links:
  - {ends: [a, r1], rate: 10 Mb/s, delay: 1 ms}
  - {ends: [r1, r2], rate: 1.6 Mb/s, delay: 20 ms, queue: 10}
  - {ends: [r2, b], rate: 10 Mb/s, delay: 1 ms}
"""

SCENARIO = """\
topology: net.yaml
seconds: 4
seeds: 2
sample: 500 ms
flows:
  - {name: first, from: a, to: b, control: reno}
  - {from: a, to: b, control: mine.py, start: 1 s, stop: 3 s, profile: chan, packets: 50}
sources:
  - {from: b, to: a, rate: 100 kb/s, packet: 500, stop: 2 s}
  - {from: a, to: b, kind: pareto, rate: 3.2 Mb/s, on: 10 ms, load: 0.2, shape: 1.4}
changes:
  - {at: 2 s, link: r1->r2, rate: 800 kb/s}
measures:
  - {quantity: throughput, of: first, from: 1 s, to: 3 s}
  - {quantity: losses, of: first}
  - {quantity: retransmissions, of: flow1}
  - {quantity: queue, of: r1->r2, from: 2 s, name: queue later}
  - {quantity: queue p99, of: r1->r2}
  - {quantity: queue peak, of: r1->r2}
"""

CONTROL = """\
import waymark as wm


class Mine(wm.CongestionControl):
    def on_ack(self, event):
        self.cwnd += 1 / self.cwnd
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a scenario, its network and a control, as the working directory."""
    (tmp_path / "net.yaml").write_text(NETWORK)
    (tmp_path / "mine.py").write_text(CONTROL)
    (tmp_path / "own.yaml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_runs_what_the_same_scenario_in_python_runs(cli: Cli, folder: Path) -> None:
    shown = cli("run", "own.yaml", "--jobs", 2)
    assert shown.code == 0, shown.err
    assert "scenario/own: 2 of 2 runs" in shown.err
    with (folder / "results" / "scenario" / "own" / "table.csv").open(newline="") as file:
        table = {row["quantity"]: float(row["waymark"]) for row in csv.DictReader(file)}

    class Mine(wm.CongestionControl):
        def on_ack(self, event: wm.AckEvent) -> None:  # noqa: ARG002
            self.cwnd += 1 / self.cwnd

    flows = (
        wm.Flow("a", "b", "reno"),
        wm.Flow("a", "b", Mine, wm.CHAN, start_s=1, stop_s=3, segments=50),
    )
    bursts = wm.OnOff.for_load(
        *("a", "b"), load=0.2, link_bps=1.6e6, rate_bps=3.2e6, mean_on_s=0.01,
        distribution="pareto", shape=1.4,
    )  # fmt: skip
    sources = (wm.Cbr("b", "a", 100e3, 500, stop_s=2), bursts)
    changes = (wm.LinkChange(2, "r1", "r2", 800e3),)
    network = wm.Topology.load("net.yaml")
    runs = [
        wm.run(
            wm.Scenario(
                "same", network, 4, flows, sources, seed=seed, sample_s=0.5, changes=changes
            )
        )
        for seed in (1, 2)
    ]

    def mean(values: list[float]) -> Any:
        return pytest.approx(sum(values) / 2, rel=1e-4)

    assert table == {
        "first, throughput, 1-3 s": mean([r.throughput_bps(0, 1, 3) / 1e3 for r in runs]),
        "first, losses": mean([r.flows[0].losses for r in runs]),
        "flow1, retransmissions": mean([r.flows[1].retransmissions for r in runs]),
        "queue later": mean([r.mean_waiting("r1->r2", 2, 4) for r in runs]),
        "r1->r2, queue p99": table["r1->r2, queue p99"],
        "r1->r2, queue peak": mean([r.queues["r1->r2"].peak for r in runs]),
    }
    assert table["queue later"] < table["r1->r2, queue p99"] < table["r1->r2, queue peak"]


def test_what_the_run_refuses_is_reported_with_the_file(cli: Cli, folder: Path) -> None:
    (folder / "own.yaml").write_text(
        SCENARIO.replace("control: reno", "control: hpcc, profile: modern")
    )
    done = cli("run", "./own.yaml", "--jobs", 1)
    assert done.code == 2
    assert "scenario own.yaml: flow a->b: hpcc reads INT, which no switch writes" in done.err


def test_marks_that_no_switch_writes_are_warned_of(folder: Path, cli: Cli) -> None:
    scenario = "topology: net.yaml\nseconds: 0.1\nflows:\n  - {from: a, to: b, control: muzha}\n"
    (folder / "marks.yaml").write_text(scenario)
    shown = cli("run", "marks.yaml", "--jobs", 1)
    assert shown.code == 0
    assert shown.err.startswith("warning: muzha reads drai, which no switch of marks.yaml writes")
    (folder / "net.yaml").write_text(NETWORK.replace("r1: {}", "r1: {feedback: [drai]}"))
    assert "warning" not in cli("run", "marks.yaml", "--jobs", 1).err


def test_without_measures_flows_and_queues_between_switches_are_measured(folder: Path) -> None:
    (folder / "own.yaml").write_text(SCENARIO.partition("measures:")[0])
    one = scenario_file.load(Path("own.yaml"))
    [(label, scenario)] = one.scenarios("full", 1).items()
    rows = one.rows({label: [wm.run(scenario)]})
    names = [row.quantity for row in rows]
    assert names == ["first, throughput", "flow1, throughput", "r1->r2, queue", "r2->r1, queue"]


WRONG = {
    "host": ("from: a, to: b, control: r", "from: c, to: b, control: r", ":6: flows.0.from: found 'c', no such host; valid: a, b"),
    "control": ("control: reno", "control: rino", ":6: flows.0.control: found 'rino'; did you mean reno?"),
    "manner": ("control: reno", "control: hpcc", ":6: flows.0.profile: found 'stock'; hpcc needs: modern"),
    "setting": ("control: reno", "control: reno, settings: {alpha: 2}", ":6: flows.0.settings: reno has no setting"),
    "a setting in Python": ("control: mine.py", "control: mine.py, settings: {alpha: 2}", ":7: flows.1.settings: a control in Python has none"),
    "profile": ("profile: chan", "profile: chen", ":7: flows.1.profile: found 'chen'; valid: stock, modern, chan"),
    "key": ("seconds: 4", "secnds: 4", ":2: secnds: unknown key, did you mean seconds?; valid: description"),
    "alias": ("{from: b, to: a", "{form: b, to: a", ":9: sources.0.form: unknown key, did you mean from?; valid: from, to"),
    "missing": ("seconds: 4\n", "", ":1: seconds: missing; valid: the duration of the run"),
    "late flow": ("start: 1 s", "start: 4 s", ":7: flows.1.start: found 4; valid: before the end, 4 s"),
    "stop": ("stop: 3 s", "stop: 1 s", ":7: flows.1.stop: found 1; valid: after start, 1 s"),
    "name": ("from: a, to: b, control: mine.py", "name: first, from: a, to: b", ":7: flows.1.name: found 'first', which another"),
    "late change": ("at: 2 s", "at: 9 s", ":12: changes.0.at: found 9; valid: before the end, 4 s"),
    "no change": (", rate: 800 kb/s", "", ":12: changes.0: changes nothing; valid: one or more of rate, delay"),
    "link": ("link: r1->r2", "link: r1-r2", ":12: changes.0.link: found 'r1-r2', no such link; did you mean r1->r2?"),
    "cbr": ("rate: 100 kb/s", "rate: 100 kb/s, on: 1 s", ":9: sources.0.on: found in cbr; valid: in exponential and"),
    "bursts": ("on: 10 ms, ", "", ":10: sources.1.on: missing; valid: mean length of a burst"),
    "load": ("load: 0.2", "load: 0.2, off: 1 s", ":10: sources.1: valid: one of off and load"),
    "quantity": ("quantity: losses", "quantity: loss", ":15: measures.1.quantity: found 'loss'; valid: throughput, losses"),
    "of": ("of: flow1", "of: flow2", ":16: measures.2.of: found 'flow2', no such flow; did you mean flow1?"),
    "span": ("to: 3 s}", "to: 5 s}", ":14: measures.0.to: found 5; valid: a whole number of samples of 0.5 s, up to 4"),
    "bin": ("from: 1 s, to", "from: 1.2 s, to", ":14: measures.0.from: found 1.2; valid: a whole number of samples"),
    "backwards": ("from: 1 s, to", "from: 3 s, to", ":14: measures.0.from: found 3; valid: before 3 s"),
    "whole run": ("losses, of: first", "losses, of: first, to: 1 s", ":15: measures.1.to: found; losses is of the whole"),
    "twice": ("retransmissions, of: flow1", "losses, of: first", ":16: measures.2: a second row 'first, losses'"),
    "topology": ("net.yaml", "nte.yaml", ":1: topology: found 'nte.yaml'; valid: a file, relative to"),
    "both": ("topology: net.yaml", "topology: net.yaml\nhosts: {}", ":2: hosts: found with topology; valid: one of"),
    "neither": ("topology: net.yaml\n", "", ":1: topology: missing; valid: a topology file, relative to this one; or"),
    "no file": ("mine.py", "none.py", ": none.py: no such file"),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "told"), WRONG.values(), ids=list(WRONG))
def test_an_error_is_reported_with_its_line(
    cli: Cli, folder: Path, old: str, new: str, told: str
) -> None:
    assert old in SCENARIO
    (folder / "own.yaml").write_text(SCENARIO.replace(old, new, 1))
    shown = cli("run", "own.yaml")
    assert shown.code == 2
    assert f"own.yaml{told}" in shown.err
    assert "Traceback" not in shown.err


def schema_errors(cli: Cli, kind: str, file: Path) -> list[str]:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(cli("schema", kind).out)
    jsonschema.Draft202012Validator.check_schema(schema)
    tree = json.loads(json.dumps(YAML(typ="safe").load(file.read_text())))  # pyright: ignore
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(tree)]


def test_the_schema_accepts_what_is_read_and_refuses_what_is_not(cli: Cli, folder: Path) -> None:
    file = folder / "own.yaml"
    assert schema_errors(cli, "scenario", file) == []
    for name in ("profile", "key", "alias", "missing", "quantity"):
        old, new, _ = WRONG[name]
        file.write_text(SCENARIO.replace(old, new, 1))
        assert schema_errors(cli, "scenario", file), name
    for topology in (ROOT / "topologies").glob("*.yaml"):
        assert schema_errors(cli, "topology", topology) == []
    red = folder / "red.yaml"
    link = "{ends: [a, b], rate: 1 Mb/s, delay: 0, red: {thmin: 1, thmax: 2, pmax: 1}, back: {red: off}}"
    red.write_text(f"hosts: {{a: {{}}, b: {{}}}}\nlinks: [{link}]")
    assert read(red).tree["links"][0]["back"]["red"] == "off"
    assert schema_errors(cli, "topology", red) == []
