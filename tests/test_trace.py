"""What ``waymark stf --trace`` prints, as golden files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import ROOT, Cli, Golden

from waymark import program, stf

GOLDENS = ROOT / "tests" / "traces"
FORWARD = ROOT / "tests" / "corpus" / "p4_16_samples" / "forward"
RELAY = ROOT / "crates" / "bmv2-json" / "tests" / "config" / "relay"


@pytest.mark.parametrize(
    ("name", "main", "script"),
    [
        ("forward", FORWARD.with_suffix(".p4"), FORWARD.with_suffix(".stf")),
        ("relay.p4", RELAY.with_suffix(".p4"), RELAY.with_suffix(".stf")),
        ("relay.json", RELAY.with_suffix(".json"), RELAY.with_suffix(".stf")),
    ],
)
def test_the_text_is_as_it_was(name: str, main: Path, script: Path, golden: Golden) -> None:
    text = stf.run_traced(program.compile_file(main), script).text
    assert text == golden(GOLDENS / f"{name}.txt", text)


def test_the_data_is_as_it_was(golden: Golden) -> None:
    main, script = FORWARD.with_suffix(".p4"), FORWARD.with_suffix(".stf")
    traced = stf.run_traced(program.compile_file(main), script)
    assert traced.report["passed"]
    steps = [
        {**step, "source": {**step["source"], "file": Path(step["source"]["file"]).name}}
        if "source" in step
        else step
        for step in traced.steps
    ]
    data = json.dumps(steps, indent=1) + "\n"
    assert data == golden(GOLDENS / "forward.json", data)


def test_every_event_is_reported_with_what_belongs_to_it() -> None:
    main, script = FORWARD.with_suffix(".p4"), FORWARD.with_suffix(".stf")
    steps = stf.run_traced(program.compile_file(main), script).steps
    events = {step["event"] for step in steps}
    assert events == {"arrive", "state", "reject", "table", "enqueue", "dequeue", "drop", "send"}
    table = next(step for step in steps if step["event"] == "table")
    line = 1 + main.read_text().splitlines().index("        route.apply();")
    assert table["key"] == [{"name": "hdr.frame.to", "value": "0x12"}]
    assert (table["hit"], table["action"]) == (True, "Forwarding.send")
    assert table["entry"]["matches"] == ["0x10/4"]
    assert table["source"]["line"] == line
    assert next(s for s in steps if s["event"] == "drop")["cause"] == "ingress"


def test_the_command_prints_text_and_writes_data(cli: Cli, tmp_path: Path) -> None:
    script = FORWARD.with_suffix(".stf")
    main = FORWARD.with_suffix(".p4")
    shown = cli("stf", main, script, "--trace", "--trace-json", tmp_path / "trace.json")
    assert shown.code == 0
    assert "line 2: packet into port 1 at 0 ms" in shown.out
    assert shown.out.endswith("passed (4 packets in, 2 expectations)\n")
    steps = json.loads((tmp_path / "trace.json").read_text())
    assert steps[0] == {"time_ns": 0, "packet_line": 2, "event": "arrive", "port": 1}
