"""``waymark lab --network``: a network of ``waymark up``, over a WebSocket."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Cli
from kernel_hosts import needed

from topologies import network_map, state
from waymark import Topology
from waymark.live import Moment
from waymark.published import FORGOTTEN_S, SILENT_S, Publisher, found

client = pytest.importorskip("websockets.sync.client", reason="websockets is not installed")
exceptions = pytest.importorskip("websockets.exceptions", reason="websockets is not installed")

NAME = f"l{os.getpid()}"

TWO_ROUTERS = """\
hosts: {a: {}, b: {}}
switches: {r1: {feedback: [aqt, drai]}, r2: {feedback: [aqt, drai]}}
links:
  - {ends: [a, r1], rate: 100 Mb/s, delay: 1 ms}
  - {ends: [r1, r2], rate: 4 Mb/s, delay: 10 ms, queue: 100}
  - {ends: [r2, b], rate: 100 Mb/s, delay: 1 ms}
"""

ENDS = "topologies.linux_ends"

SEND = """
import socket
with socket.create_connection(("10.0.0.2", 5001)) as stream:
    while True:
        stream.send(bytes(65536))
"""

DEFAULT = Path("/proc/sys/net/ipv4/tcp_congestion_control")

MOMENT = Moment(1.0, 1000, 8e3, 0.02, 0.01, 10.0, 0, 0.003, 0.0, 4, 0)


def waymark(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "waymark", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def done(*arguments: str) -> str:
    process = waymark(*arguments)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


@contextmanager
def up(folder: Path, *options: str) -> Generator[str]:
    """A network that is up."""
    if os.geteuid() != 0:
        pytest.skip("namespaces need root")
    missing = [program for program in ("ip", "ethtool") if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not on PATH: {', '.join(missing)}")
    tried = subprocess.run(["ip", "netns", "add", f"wm-{NAME}-probe"], capture_output=True)
    if tried.returncode:
        pytest.skip(f"no network namespaces here: {tried.stderr.decode().strip()}")
    subprocess.run(["ip", "netns", "del", f"wm-{NAME}-probe"], check=True)
    path = folder / f"{NAME}.yaml"
    path.write_text(TWO_ROUTERS)
    done("up", str(path), *options)
    try:
        yield NAME
    finally:
        if (state.FOLDER / NAME).exists():
            done("down", NAME)


@contextmanager
def served(network: str) -> Generator[str]:
    """The address that the command printed."""
    if not (ROOT / "web" / "dist" / "index.html").is_file():
        pytest.skip("the page is not built: make web")
    lab = waymark("lab", "--network", network, "--port", "0")
    try:
        assert lab.stdout is not None
        yield lab.stdout.readline().strip()
        lab.send_signal(signal.SIGINT)
        assert lab.wait(10) == 0
    finally:
        lab.kill()


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of the page of a network whose hosts are left to Waymark's transports."""
    with up(tmp_path, "--bare") as network, served(network) as address:
        yield address


def until(live: Any, holds: Callable[[dict[str, Any]], bool], within_s: float = 15.0) -> Any:
    """The first message of which it holds."""
    deadline = time.monotonic() + within_s
    message: dict[str, Any] = {}
    while time.monotonic() < deadline:
        message = json.loads(live.recv(timeout=5))
        if holds(message):
            return message
    pytest.fail(f"did not come within {within_s} s; last: {json.dumps(message)[:2000]}")


def test_a_network_is_followed_through_traffic_and_faults(url: str) -> None:
    live_url = url.replace("http", "ws", 1) + "live"
    with client.connect(live_url) as live, client.connect(live_url) as idle:
        about = json.loads(live.recv(timeout=5))
        assert about["kind"] == "network"
        assert list(about["map"]["hosts"]) == ["a", "b"]
        assert about["map"]["links"][1]["a"] == {"node": "r1", "port": 2}
        assert "V1Switch" in about["files"]["v1model/waymark.p4"]
        until(live, lambda m: len(m["switches"]) == 2 and "ports" in m["switches"]["r1"])

        receiver = waymark("host", "recv", "--at", "b", "--network", NAME)
        assert receiver.stdout is not None
        receiver.stdout.readline()
        to = ("host", "send", "10.0.0.2", "--at", "a", "--network", NAME)
        sender = waymark(*to, "--control", "rovegas", "--seconds", "30")
        try:
            reading = until(live, lambda m: any(flow["cwnd"] for flow in m["flows"]))
            (flow,) = reading["flows"]
            assert (flow["host"], flow["control"]) == ("a", "rovegas")
            assert flow["to"] == "10.0.0.2:5001"
            until(live, lambda m: m["flows"] and m["flows"][0]["aqt_forward_s"] > 0)
            queued = until(live, lambda m: (m["switches"]["r1"]["ports"]["2"]["waiting"] or 0) > 0)
            port = queued["switches"]["r1"]["ports"]["2"]
            assert port["sent_packets"] > 0
            assert port["marks"]["aqt"] > 0

            # `idle` reads nothing during this time, and `live` continues as fast as before.
            before = time.monotonic()
            for _ in range(5):
                live.recv(timeout=2)
            assert time.monotonic() - before < 3

            sender.kill()
            gone = until(live, lambda m: any(flow["gone"] for flow in m["flows"]))
            assert gone["flows"][0]["host"] == "a"
            until(live, lambda m: m["flows"] == [])
        finally:
            sender.kill()
            receiver.kill()

        its = state.load(NAME)
        os.kill(next(process.pid for process in its.processes if process.name == "r2"), 9)
        faulty = until(live, lambda m: "error" in m["switches"].get("r2", {}))
        assert "cannot be reached" in faulty["switches"]["r2"]["error"]
        assert "ports" in faulty["switches"]["r1"]

        done("down", NAME)
        down = until(live, lambda m: m["problem"] == f"the network {NAME} is down")
        assert down["switches"] == {}
        assert idle.recv(timeout=1)


@pytest.mark.parametrize("chosen", ["", "rovegas"])
@pytest.mark.usefixtures("kernel_lock")
def test_senders_in_linux_tcp_are_shown(tmp_path: Path, chosen: str) -> None:
    """With the host's own control, and with one of ``waymark kernel``."""
    if chosen:
        needed()

    def sends(message: dict[str, Any]) -> bool:
        flows = message.get("flows")
        return bool(flows) and flows[0]["throughput_bps"] > 1e6

    with (
        up(tmp_path, *(("--kernel", chosen) if chosen else ())) as network,
        served(network) as address,
        client.connect(address.replace("http", "ws", 1) + "live") as live,
    ):
        at = ("exec", "--network", network)
        receiver = waymark(*at, "b", sys.executable, "-m", ENDS, "recv", "5001")
        sender = None
        try:
            assert receiver.stdout is not None
            assert receiver.stdout.readline() == "listening\n"
            sender = waymark(*at, "a", sys.executable, "-c", SEND)
            first = until(live, sends)
            (flow,) = first["flows"]
            assert flow["host"] == "a"
            assert flow["control"] == (f"wm_{chosen}" if chosen else DEFAULT.read_text().strip())
            assert flow["to"] == "10.0.0.2:5001"
            # A round trip takes 24 ms, and a queue of 100 packets 0.3 s.
            assert 0.024 <= flow["base_rtt_s"] <= flow["rtt_s"] < 0.5
            assert flow["aqt_forward_s"] is None
            until(live, lambda m: sends(m) and m["flows"][0]["cwnd"] != flow["cwnd"])
            sender.kill()
            until(live, lambda m: m.get("flows") == [])
        finally:
            for process in (sender, receiver):
                if process is not None:
                    process.kill()


def test_every_request_needs_the_token_and_the_pages_origin(url: str) -> None:
    with urllib.request.urlopen(url) as answer:
        assert b'<meta name="live-network"' in answer.read()
        assert "connect-src 'self' ws://127.0.0.1:" in answer.headers["Content-Security-Policy"]
    base = url.rstrip("/").rpartition("/")[0]
    for path in ("/", "/live", "/index.html", "/AAAAAAAAAAAAAAAAAAAAAA/"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(base + path)
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(url + "../../etc/passwd".replace("../", "..%2f"))
    foreign = urllib.request.Request(url, headers={"Origin": "http://example.org"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(foreign)
    live = base.replace("http", "ws", 1)
    token = url.rstrip("/").rpartition("/")[2]
    for address, origin in ((f"{live}/live", None), (f"{live}/{token}/live", "http://a.example")):
        with pytest.raises(exceptions.InvalidStatus, match="403"):
            client.connect(address, origin=origin)
    with client.connect(f"{live}/{token}/live", origin=base) as connected:
        assert json.loads(connected.recv(timeout=5))["kind"] == "network"


def test_a_network_that_is_not_up_is_reported(cli: Cli) -> None:
    if os.geteuid() != 0:
        pytest.skip("namespaces need root")
    finished = cli("lab", "--network", "nowhere", "--port", "0")
    assert finished.code == 2
    assert "no network 'nowhere' is up" in finished.err


def test_a_network_is_not_exported(cli: Cli, tmp_path: Path) -> None:
    finished = cli("lab", "--network", "nowhere", "--export", str(tmp_path / "out"))
    assert finished.code == 2
    assert "--export and --network: expected at most one of them" in finished.err


def test_the_map_has_the_ports_and_rates_of_both_ways(tmp_path: Path) -> None:
    path = tmp_path / "two.yaml"
    path.write_text(TWO_ROUTERS)
    drawn = network_map.of(Topology.load(path))
    assert drawn["hosts"] == {"a": "10.0.0.1", "b": "10.0.0.2"}
    assert [(link["a"]["node"], link["b"]["node"]) for link in drawn["links"]] == [
        ("a", "r1"),
        ("r1", "r2"),
        ("r2", "b"),
    ]
    assert drawn["links"][1]["rate_bps"] == drawn["links"][1]["ba"]["rate_bps"] == 4e6


def test_a_sender_that_falls_silent_is_gone_and_then_forgotten(tmp_path: Path) -> None:
    publisher = Publisher(tmp_path / "flows" / "a", "cubic", "10.0.0.2:5001")
    publisher.publish(MOMENT)
    (file,) = (tmp_path / "flows").iterdir()
    (one,) = found(tmp_path / "flows")
    assert (one["host"], one["control"], one["cwnd"], one["gone"]) == ("a", "cubic", 10.0, False)
    now = time.time()
    os.utime(file, (now, now - SILENT_S - 1))
    assert found(tmp_path / "flows")[0]["gone"]
    os.utime(file, (now, now - FORGOTTEN_S - 1))
    assert found(tmp_path / "flows") == []
    publisher.end()
    assert list((tmp_path / "flows").iterdir()) == []


def test_a_folder_that_cannot_be_written_does_not_stop_a_sender(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    Publisher(tmp_path / "file" / "a", "cubic", "10.0.0.2:5001").publish(MOMENT)
