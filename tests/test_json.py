"""``--json``: what commands print is one JSON document, and says what the text says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Cli

from controller.apply import Plan
from controller.diff import Change, Kind
from controller.replication import MulticastGroup
from topologies.state import State
from waymark.entry import Entry

PLAIN = ROOT / "p4src" / "v1model" / "plain.p4"


def test_compile_shows_tables_and_warnings(cli: Cli) -> None:
    shown = cli("compile", PLAIN, "--json")
    assert shown.code == 0
    result = json.loads(shown.out)
    assert result["compiled"] is True
    assert any(table.endswith("ipv4_route") for table in result["tables"])
    assert result["warnings"] == []


def test_compile_shows_where_errors_are(cli: Cli, tmp_path: Path) -> None:
    broken = tmp_path / "broken.p4"
    broken.write_text("control C() {\n  apply { x = 1; }\n}\n")
    shown = cli("compile", broken, "--json")
    assert shown.code == 1
    result = json.loads(shown.out)
    assert result["compiled"] is False
    assert {"file": str(broken), "line": 2} in result["errors"]
    assert "x = 1" in result["diagnostics"]
    assert shown.err == ""


def test_compile_prints_one_thing(cli: Cli) -> None:
    shown = cli("compile", PLAIN, "--json", "--dump")
    assert shown.code == 2
    assert "expected at most one of them" in shown.err


def test_stf_shows_packets_and_failures(cli: Cli, tmp_path: Path) -> None:
    script = ROOT / "p4src" / "tests" / "plain-forwarding.stf"
    shown = cli("stf", PLAIN, script, "--json")
    assert shown.code == 0
    result = json.loads(shown.out)
    assert result["passed"] is True
    assert result["packets"] > 0
    assert result["failures"] == []
    wrong = tmp_path / "wrong.stf"
    wrong.write_text("expect 1 00\n")
    shown = cli("stf", PLAIN, wrong, "--json")
    assert shown.code == 1
    assert len(json.loads(shown.out)["failures"]) == 1


def test_a_corpus_shows_each_program(cli: Cli, tmp_path: Path) -> None:
    samples = tmp_path / "p4_16_samples"
    samples.mkdir()
    (samples / "bad.p4").write_text("#include <v1model.p4>\ncontrol C() { apply { x = 1; } }\n")
    shown = cli("compile", "--corpus", tmp_path, "--json")
    assert shown.code == 1
    (one,) = json.loads(shown.out)["compiled"]
    assert (one["name"], one["end"]) == ("bad", "failed")


@pytest.mark.parametrize("command", ["plan", "apply"])
def test_a_switch_that_is_not_there_is_an_error_in_json(
    cli: Cli, tmp_path: Path, command: str
) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("switches: {s1: {address: '127.0.0.1:1'}}\n")
    shown = cli("controller", command, file, "--json")
    assert shown.code == 1
    result = json.loads(shown.out)
    assert result["switches"] == {}
    assert "127.0.0.1:1" in result["errors"]["s1"]


def test_a_plan_is_data() -> None:
    entry = Entry("port_queue", {"port": 1, "depth": (0, 3)}, "drop_tail", {"max_waiting": 49})
    before = Entry("port_queue", {"port": 1, "depth": (0, 3)}, "drop_tail", {"max_waiting": 9})
    plan = Plan(
        "waymark.p4 (runs none)",
        [
            Change(Kind.MODIFY, entry, before),
            Change(Kind.INSERT, MulticastGroup(3, ((1, 0), (2, 0)))),
        ],
    )
    read: dict[str, Any] = json.loads(json.dumps(plan.as_data()))
    assert read["push"] == "waymark.p4 (runs none)"
    modified, inserted = read["changes"]
    assert (modified["change"], modified["of"]) == ("modify", "entry")
    assert modified["entry"]["match"] == {"port": 1, "depth": [0, 3]}
    assert modified["before"]["params"] == {"max_waiting": 9}
    assert (inserted["change"], inserted["of"]) == ("insert", "multicast group")
    assert inserted["entry"]["replicas"] == [[1, 0], [2, 0]]


def test_status_shows_networks(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from topologies import networks, runners

    one = State(
        "small",
        "small.yaml",
        "netns",
        "embedded",
        hosts=["a"],
        switches=["r"],
        p4runtime=[("127.0.0.1:9559", 1)],
    )
    monkeypatch.setattr(networks, "names", lambda: ["small"])
    monkeypatch.setattr(networks, "load", lambda _: one)
    monkeypatch.setattr(runners, "amiss", lambda _: ["r has ended"])
    shown = cli("status", "--json")
    assert shown.code == 1
    (network,) = json.loads(shown.out)
    assert (network["name"], network["state"]) == ("small", "up")
    assert network["p4runtime"] == [{"address": "127.0.0.1:9559", "device_id": 1}]
    assert network["amiss"] == ["r has ended"]
    monkeypatch.setattr(networks, "names", list)
    assert json.loads(cli("status", "--json").out) == []
