"""Congestion controls in BPF carry data over Linux's own TCP, and are traced."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kernel_hosts import ADDRESSES, INTERFACE, PORT, Pair, needed

from waymark import kernel, trace

pytestmark = pytest.mark.usefixtures("kernel_lock")


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Two hosts."""
    needed("ss", "sysctl")
    made = Pair()
    yield made
    made.close()


@contextmanager
def chosen(pair: Pair, control: str) -> Generator[None]:
    """A control for new connections."""
    before = pair.run("a", "sysctl", "-n", kernel.SYSCTL).strip()
    pair.attach("a", "b", marks=",".join(kernel.marks_of(control)), control=control)
    try:
        pair.run("a", "sysctl", "-qw", f"{kernel.SYSCTL}=wm_{control}")
        yield
    finally:
        pair.run("a", "sysctl", "-qw", f"{kernel.SYSCTL}={before}")
        for host in ADDRESSES:
            assert pair.waymark(host, "detach", INTERFACE).returncode == 0


@pytest.mark.parametrize("control", ["vegas", "rovegas", "redvegas", "muzha", "waymark"])
def test_a_connection_uses_a_control(pair: Pair, control: str) -> None:
    assert control in kernel.controls()
    with chosen(pair, control):
        transfer = pair.transfer(2_000_000, 2_000_000)
        connection = pair.run("a", "ss", "-tinH", "dst", ADDRESSES["b"])
        transfer.step()
        assert transfer.is_right()
    assert f"wm_{control} " in connection


def test_a_trace_has_windows_round_trip_times_and_marks(pair: Pair, tmp_path: Path) -> None:
    file = tmp_path / "live.parquet"
    with chosen(pair, "rovegas"):
        words = ("kernel", "trace", str(file), "--seconds", "4", "--port", str(PORT))
        recording = pair.start("a", sys.executable, "-m", "waymark", *words)
        assert recording.stdout is not None
        assert recording.stdout.readline() == "recording\n"
        assert pair.transfer(5_000_000).is_right()
        told, failure = recording.communicate(timeout=30)
    assert f"to {ADDRESSES['b']}:{PORT}" in told, failure
    table = trace.read(file)
    assert tuple(table.column_names) == trace.COLUMNS
    assert trace.about(table)["algorithm"] == "rovegas"
    columns: dict[str, list[Any]] = table.to_pydict()
    # An acknowledgement covers many segments here.
    assert len(columns["cwnd"]) > 15
    assert max(columns["cwnd"]) > min(columns["cwnd"]) >= 2
    assert set(columns["change"]) <= {"ack", "loss", "recovered", "timeout"}
    assert columns["acked"] == sorted(columns["acked"])
    assert max(columns["acked"]) * 1448 > 4_000_000
    assert all(0 < rtt < 1 for rtt in columns["rtt_s"] if rtt is not None)
    # No switch is between them, so that nothing queued.
    assert {aqt for aqt in columns["aqt_forward_s"] if aqt is not None} == {0}
    drawn = pair.try_to(
        "a", sys.executable, "-m", "waymark", "plot", str(file), "-o", str(tmp_path / "live.svg")
    )
    assert drawn.returncode == 0, drawn.stderr


def test_nothing_to_trace_is_said(pair: Pair, tmp_path: Path) -> None:
    with chosen(pair, "vegas"):
        told = pair.waymark(
            "a", "trace", str(tmp_path / "none.csv"), "--seconds", "1", "--port", "9"
        )
    assert told.returncode == 2
    assert "no connection with port 9 and such a control had an event within 1 s" in told.stderr
    wrong = pair.waymark("a", "trace", str(tmp_path / "none.txt"))
    assert wrong.returncode == 2
    assert "expected a name that ends in .parquet or .csv" in wrong.stderr
