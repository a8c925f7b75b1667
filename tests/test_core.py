"""The compiled core, as Python calls it."""

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from waymark import _core

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def plain() -> _core.Program:
    return _core.compile(str(ROOT / "p4src/v1model/plain.p4"))


def two_hosts(**fields: Any) -> str:
    """S sends 200 packets per second to D over one link."""
    macs = ["02:00:00:00:00:01", "02:00:00:00:00:02"]
    scenario = {
        "name": "two hosts",
        "seed": 1,
        "end_s": 10.0,
        "hosts": {
            "S": {"ipv4": "10.0.0.1", "mac": macs[0], "gateway_mac": macs[1]},
            "D": {"ipv4": "10.0.0.2", "mac": macs[1], "gateway_mac": macs[0]},
        },
        "links": [{"a": {"node": "S"}, "b": {"node": "D"}, "rate_bps": 1_600_000, "delay_s": 0.02}],
        "flows": [
            {"from": "S", "to": "D", "connection": {"control": {"name": "vegas"}}, "trace": True}
        ],
    }
    return json.dumps(scenario | fields)


def test_a_program_shows_its_tables(plain: _core.Program) -> None:
    assert plain.name.endswith("plain.p4")
    assert plain.warnings == []
    assert any(name.endswith("ipv4_route") for name in plain.tables)
    assert len(plain.sha256) == 64
    assert "ipv4_route" in plain.dump()


def test_the_hash_changes_with_a_file_that_is_included(tmp_path: Path) -> None:
    main = tmp_path / "main.p4"
    main.write_text('#include "part.p4"\n' + (ROOT / "p4src/v1model/plain.p4").read_text())
    hashes = set()
    for part in ("const bit<8> A = 1;", "const bit<8> A = 2;"):
        (tmp_path / "part.p4").write_text(part)
        text = main.read_text().replace("../", f"{ROOT}/p4src/")
        hashes.add(_core.compile(str(main), text=text, include_dirs=["/"]).sha256)
    assert len(hashes) == 2


def test_an_error_is_shown_in_its_line() -> None:
    with pytest.raises(_core.CompileError, match=r"(?s)broken\.p4:2.*oops"):
        _core.compile("broken.p4", text="#include <core.p4>\noops;\n")
    with pytest.raises(FileNotFoundError):
        _core.compile("no/such.p4")


def test_columns_are_arrays_with_a_value_a_bin() -> None:
    record = _core.simulate(two_hosts(), {})
    assert record["time_s"].tolist() == list(range(10))
    flow = record["flows"]["flow0"]
    assert flow["delivered_packets"].dtype == np.uint64
    assert flow["delivered_packets"][5:].tolist() == [200] * 5
    assert list(record["lines"]) == ["S->D", "D->S"]
    assert 0 <= record["lines"]["S->D"]["mean_waiting"][-1] <= 3
    trace = flow["trace"]
    assert trace is not None
    assert trace["base_rtt_s"][-1] == pytest.approx(0.0452)
    labels = ("change", "phase")
    columns = [trace[name]["codes"] if name in labels else column for name, column in trace.items()]
    assert {len(column) for column in columns} == {len(trace["time_s"])}
    assert record["check_aqt"] is None


def test_a_mistake_in_a_scenario_names_its_place(plain: _core.Program) -> None:
    flows = [{"from": "S9", "to": "D", "connection": {"control": {"name": "vegas"}}}]
    with pytest.raises(_core.ScenarioError, match=r'flows\[0\]\.from: no host "S9"'):
        _core.simulate(two_hosts(flows=flows), {"plain": plain})
    with pytest.raises(_core.WaymarkCoreError):
        _core.simulate("{", {})


def test_progress_is_reported_and_may_stop_a_run() -> None:
    told: list[tuple[float, int]] = []
    long = two_hosts(end_s=2000.0)
    _core.simulate(long, {}, progress=lambda now, hops: told.append((now, hops)), progress_ms=1)
    assert told == sorted(told)
    assert len(told) > 2

    def stop(_now: float, _hops: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _core.simulate(two_hosts(end_s=1e6), {}, progress=stop, progress_ms=1)


def test_a_signal_stops_a_run() -> None:
    class RungError(Exception):
        pass

    def ring(_number: int, _frame: object) -> None:
        raise RungError

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(RungError):
            _core.simulate(two_hosts(end_s=1e6), {})
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_capture_is_written(tmp_path: Path) -> None:
    captures = [tmp_path / "first.pcapng", tmp_path / "second.pcapng"]
    for capture in captures:
        _core.simulate(two_hosts(), {}, pcap=str(capture))
    first, second = (capture.read_bytes() for capture in captures)
    assert first == second
    assert first[:4] == bytes.fromhex("0a0d0d0a")
    with pytest.raises(FileNotFoundError):
        _core.simulate(two_hosts(), {}, pcap=str(tmp_path / "no" / "folder.pcapng"))
