"""Linux's own TCP with marks at the hosts of a network: ``waymark up --kernel``."""

from __future__ import annotations

import hashlib
import json
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import capture
import pytest
from kernel_hosts import RECEIVE, needed
from machine import Machine, Running, machine

TOPOLOGY = """\
hosts: {a: {}, b: {}, c: {}, d: {}}
switches: {r1: {}, r2: {}}
links:
  - {ends: [a, r1], rate: 100 Mb/s, delay: 1 ms, queue: 100}
  - {ends: [r1, r2], rate: 10 Mb/s, delay: 10 ms, queue: 50}
  - {ends: [r2, b], rate: 100 Mb/s, delay: 1 ms, queue: 100}
  - {ends: [r2, c], rate: 100 Mb/s, delay: 1 ms, queue: 100, loss: 0.01}
  - {ends: [r2, d], rate: 100 Mb/s, delay: 1 ms, queue: 100}
"""

BOTTLENECK_BPS = 10e6

B, D = "10.0.0.2", "10.0.0.4"

PORT = 5001

CONNECTIONS = 200

NGINX = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    log_format short "$connection $status";
    access_log {folder}/access.log short;
    server {{ listen 8080; root {folder}; }}
}}
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A network whose hosts use Reno, and carry marks that it does not read."""
    needed("iperf3")
    file = tmp_path_factory.mktemp("network") / "net.yaml"
    file.write_text(TOPOLOGY)
    with machine() as made:
        done = made.waymark("up", str(file), "--kernel", "reno")
        assert done.returncode == 0, done.stderr
        assert "hosts     a, b, c, d (Linux's TCP with marks, reno)" in done.stdout
        yield made
        assert made.waymark("down").returncode == 0
        assert made.changes() == []


def at(host: str, *command: str) -> list[str]:
    """What runs a command at a host; ``waymark exec`` does the same, and takes longer."""
    return ["ip", "netns", "exec", f"wm-net-{host}", *command]


def test_senders_read_how_long_their_packets_waited(network: Machine, tmp_path: Path) -> None:
    file = tmp_path / "packets"
    seen = Running(network, at("a", sys.executable, "-c", capture.PROGRAM, "eth0", str(file)))
    seen.until("capturing")
    with network.running(*at("b", "iperf3", "-s", "-1", "--forceflush")) as server:
        server.until("Server listening")
        ran = network.waymark("exec", "a", "iperf3", "-J", "-c", "b", "-t", "3")
    seen.kill(signal.SIGTERM)
    seen.wait()
    end = json.loads(ran.stdout)["end"]
    assert end["sender_tcp_congestion"] == "reno"
    assert 0.6 < end["sum_received"]["bits_per_second"] / BOTTLENECK_BPS < 1
    arrived = [p for p in capture.read(file) if p.protocol == capture.TCP and p.source == B]
    echoes = [
        int.from_bytes(p.options[5:8], "big") for p in arrived if p.options[:2] == b"\x5e\x08"
    ]
    # Reno fills the queue: 49 packets wait for up to 59 ms, which the acknowledgements report (µs).
    assert len(echoes) > 500
    assert 30_000 < max(echoes) < 65_000


SEND = """
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as stream:
    stream.sendall(bytes(2_000_000))
"""


@pytest.fixture(scope="module")
def without_address(network: Machine) -> str:
    """A host whose address Linux does not have."""
    assert network.run(*at("d", "ip", "addr", "flush", "dev", "eth0")).returncode == 0
    return "d"


def test_a_host_in_user_space_receives(network: Machine, without_address: str) -> None:
    receive = network.waymark_words("host", "recv", "--at", without_address)
    with network.running(*receive) as receiver:
        receiver.until("listening")
        sent = network.run(*at("b", sys.executable, "-c", SEND, D, str(PORT)))
        assert sent.returncode == 0, sent.stderr
        code, told = receiver.wait()
    assert (code, told.splitlines()[-1].split()[-2:]) == (0, ["2000000", "octets"])


def test_a_host_in_user_space_sends_and_reads_echoes(
    network: Machine, without_address: str
) -> None:
    with network.running(*at("b", sys.executable, "-c", RECEIVE, str(PORT))) as receiver:
        receiver.until("ready")
        options = ("--at", without_address, "--control", "rovegas", "--octets", "2 MB", "--json")
        sent = network.waymark("host", "send", B, *options)
        assert sent.returncode == 0, sent.stderr
        assert receiver.wait()[0] == 0
    last = json.loads(sent.stdout.splitlines()[-1])
    assert last["octets"] >= 2_000_000
    assert last["aqt_forward_s"] is not None


def test_many_connections_carry_every_octet_despite_losses(
    network: Machine, tmp_path: Path
) -> None:
    needed("nginx", "curl")
    file = random.Random(1).randbytes(100_000)
    (tmp_path / "file").write_bytes(file)
    (tmp_path / "nginx.conf").write_text(NGINX.format(folder=tmp_path))
    copies = tmp_path / "copies"
    copies.mkdir()
    serve = at("b", "nginx", "-c", str(tmp_path / "nginx.conf"), "-p", str(tmp_path))
    resent = segments_resent(network, "b")
    with network.running(*serve):
        parallel = ("-Z", "--parallel-immediate", "--parallel-max", str(CONNECTIONS))
        url = f"http://{B}:8080/file?[1-{CONNECTIONS}]"
        fetch = ("curl", "-sS", "--retry-connrefused", "--retry", "3", *parallel)
        fetched = network.run(*at("c", *fetch, "-o", f"{copies}/#1", url))
    assert fetched.returncode == 0, fetched.stderr
    digests = [hashlib.sha256(copy.read_bytes()).digest() for copy in copies.iterdir()]
    assert digests == [hashlib.sha256(file).digest()] * CONNECTIONS
    assert segments_resent(network, "b") > resent + 20
    requests = (tmp_path / "access.log").read_text().splitlines()
    assert len({line.split()[0] for line in requests}) == CONNECTIONS


def segments_resent(network: Machine, host: str) -> int:
    """By TCP of a host, so far."""
    names, values = (
        line.split()
        for line in network.run(*at(host, "cat", "/proc/net/snmp")).stdout.splitlines()
        if line.startswith("Tcp:")
    )
    return int(values[names.index("RetransSegs")])


def test_what_hosts_cannot_use_is_refused(network: Machine, tmp_path: Path) -> None:
    file = tmp_path / "other.yaml"
    file.write_text(TOPOLOGY)
    unknown = network.waymark("up", str(file), "--kernel", "fast")
    assert unknown.returncode == 2
    assert unknown.stderr.startswith("error: no control 'fast' for Linux's TCP; valid: ")
    bare = network.waymark("up", str(file), "--kernel", "reno", "--bare")
    assert bare.returncode == 2
    assert "--kernel needs them" in bare.stderr
