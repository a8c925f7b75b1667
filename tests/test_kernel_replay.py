"""Congestion controls in Linux on a real path have the windows of the Rust controls."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from conftest import Cli
from kernel_hosts import needed
from machine import machine

from waymark import WaymarkError, kernel, kernel_trace

pytestmark = pytest.mark.usefixtures("kernel_lock")

# The queue of r1 to b overflows now and then, and loses packets at random.
TOPOLOGY = """\
hosts: {a: {}, b: {}}
switches: {r1: {feedback: [aqt, drai, ci]}}
links:
  - {ends: [a, r1], rate: 200 Mb/s, delay: 2 ms, queue: 200}
  - {ends: [r1, b], rate: 60 Mb/s, delay: 3 ms, queue: 40, loss: 0.0002}
"""

PORT = 5001
LEAST_ACKS = 6_000

RECEIVE = """
import socket, sys
listener = socket.create_server(("0.0.0.0", int(sys.argv[1])))
print("ready", flush=True)
stream, _ = listener.accept()
while stream.recv(1 << 16):
    pass
"""

SEND = """
import socket, sys
stream = socket.socket()
stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[3].encode())
stream.connect((sys.argv[1], int(sys.argv[2])))
for _ in range(24):
    stream.sendall(bytes(1 << 20))
"""


def until(condition: Callable[[], bool]) -> None:
    """Wait at most 10 s for a condition."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("control", ["vegas", "rovegas", "redvegas", "muzha", "waymark"])
def test_a_control_in_linux_has_the_window_of_rust(control: str, tmp_path: Path) -> None:
    needed()
    file = tmp_path / "net.yaml"
    file.write_text(TOPOLOGY)
    raw = tmp_path / "raw"
    raw.touch()
    with machine() as network:
        done = network.waymark("up", str(file), "--kernel", control)
        assert done.returncode == 0, done.stderr

        def at(host: str, program: str, *arguments: str) -> list[str]:
            inside = ["ip", "netns", "exec", f"wm-net-{host}"]
            return [*inside, sys.executable, "-c", program, *arguments]

        with (
            network.running("sh", "-c", f"exec {kernel.loader()} trace 300 > {raw}") as recorder,
            network.running(*at("b", RECEIVE, str(PORT))) as receiver,
        ):
            receiver.until("ready")
            until(lambda: raw.read_text().startswith("ready"))
            name = kernel.kernel_name(control)
            sent = network.run(*at("a", SEND, "10.0.0.2", str(PORT), name))
            assert sent.returncode == 0, sent.stderr
            time.sleep(0.5)  # the recorder prints what it has ten times a second
            recorder.kill(signal.SIGTERM)
            recorder.wait()
        assert network.waymark("down").returncode == 0
    events = [json.loads(line) for line in raw.read_text().splitlines() if line.startswith("{")]
    recorded = tmp_path / "events.jsonl"
    kernel_trace.write(kernel_trace.of_connection(events, PORT, 0), recorded)
    replayed = kernel_trace.replay(recorded)
    assert replayed.beyond is None
    assert replayed.acks > LEAST_ACKS
    assert replayed.losses > 0
    assert replayed.control == control


EVENT = {
    "time_us": 1000,
    "cwnd": 10.0,
    "ssthresh": 2147483647.0,
    "control": "rovegas",
    "change": "start",
    "ends": [["10.0.0.1", 4000], ["10.0.0.2", PORT]],
    "window": 10,
    "una": 0,
    "next": 1,
    "mss": 1448,
    "newly": 0,
    "in_flight": 0,
    "rtt_us": None,
    "aqt_us": None,
    "mrai": None,
    "window_unused": False,
    "most": 4294967295,
    "ci_ack_seq": None,
}
ACK = EVENT | {
    "time_us": 21_000,
    "change": "ack",
    "una": 1449,
    "next": 14481,
    "newly": 1,
    "in_flight": 9,
    "rtt_us": 20_000,
}


def write(events: Sequence[kernel_trace.Event], folder: Path) -> Path:
    file = folder / "events.jsonl"
    kernel_trace.write(events, file)
    return file


def test_a_window_that_differs_is_found(tmp_path: Path) -> None:
    needed()
    assert kernel_trace.replay(write([EVENT, ACK], tmp_path)).beyond is None
    other = ACK | {"cwnd": 10.5}
    found = kernel_trace.replay(write([EVENT, other], tmp_path)).beyond
    assert found is not None
    assert (found.event, found.change, found.kernel[0], found.rust[0]) == (2, "ack", 10.5, 10.0)


def test_segments_shorter_than_the_mss_are_named(tmp_path: Path, cli: Cli) -> None:
    needed()
    short = ACK | {"una": 1481}
    file = write([EVENT, short, ACK | {"una": 2897, "cwnd": 20.0}], tmp_path)
    assert kernel_trace.replay(file).short == 1
    told = cli("kernel", "replay", file).out
    assert "1 of the acknowledgements until then end within a segment" in told


@pytest.mark.parametrize("option", [(), ("--events", "none/live.jsonl")])
def test_a_folder_that_does_not_exist_is_refused_before_the_recording(
    option: tuple[str, ...], tmp_path: Path, cli: Cli
) -> None:
    file = tmp_path / ("live.parquet" if option else "none/live.parquet")
    told = cli("kernel", "trace", file, "--seconds", 1, *option).err
    assert told.endswith("no such folder\n")


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([], "no events"),
        ([ACK], "event 1: expected the start of the connection, found Ack"),
        (
            [EVENT, ACK, ACK | {"mss": 500}],
            "event 3: segments of 500 octets after segments of 1448",
        ),
        ([EVENT, ACK | {"ends": [["10.0.0.1", 1], ["10.0.0.2", 2]]}], "event 2: of another connec"),
        ([EVENT | {"control": "x"}], 'no control "x"'),
        ([{"time_us": -1}], "line 1: invalid value"),
    ],
)
def test_what_cannot_be_replayed_is_refused(
    events: Sequence[kernel_trace.Event], message: str, tmp_path: Path
) -> None:
    needed()
    with pytest.raises(WaymarkError) as raised:
        kernel_trace.replay(write(events, tmp_path))
    assert message in str(raised.value)
