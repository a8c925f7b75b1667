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

pytestmark = pytest.mark.usefixtures("kernel_lock")

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

A, B, D = "10.0.0.1", "10.0.0.2", "10.0.0.4"

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
    """A network whose hosts use RoVegas."""
    needed("iperf3")
    file = tmp_path_factory.mktemp("network") / "net.yaml"
    file.write_text(TOPOLOGY)
    with machine() as made:
        done = made.waymark("up", str(file), "--kernel", "rovegas")
        assert done.returncode == 0, done.stderr
        assert "hosts     a, b, c, d (Linux's TCP with marks, wm_rovegas)" in done.stdout
        yield made
        assert made.waymark("down").returncode == 0
        assert made.changes() == []


def at(host: str, *command: str) -> list[str]:
    """What runs a command at a host; ``waymark exec`` does the same, and takes longer."""
    return ["ip", "netns", "exec", f"wm-net-{host}", *command]


def test_programs_use_the_control_unless_they_choose_another(network: Machine) -> None:
    for options, control in (((), "wm_rovegas"), (("-C", "reno"), "reno")):
        with network.running(*at("b", "iperf3", "-s", "-1", "--forceflush")) as server:
            server.until("Server listening")
            ran = network.run(*at("a", "iperf3", "-J", "-c", B, "-t", "1", *options))
        assert json.loads(ran.stdout)["end"]["sender_tcp_congestion"] == control


def test_senders_read_how_long_their_packets_waited(network: Machine, tmp_path: Path) -> None:
    file = tmp_path / "packets"
    seen = Running(network, at("a", sys.executable, "-c", capture.PROGRAM, "eth0", str(file)))
    seen.until("capturing")
    with network.running(*at("b", "iperf3", "-s", "-1", "--forceflush")) as server:
        server.until("Server listening")
        ran = network.waymark("exec", "a", "iperf3", "-J", "-c", "b", "-t", "3", "-C", "reno")
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


def alone_for_4_s(network: Machine) -> float:
    """The part of the bottleneck's rate that one flow has, after its first second."""
    with network.running(*at("b", "iperf3", "-s", "-1", "--forceflush")) as server:
        server.until("Server listening")
        ran = network.run(*at("a", "iperf3", "-J", "-c", B, "-O", "1", "-t", "4"))
    end = json.loads(ran.stdout)["end"]
    assert end["sender_tcp_congestion"] == "wm_rovegas"
    return end["sum_received"]["bits_per_second"] / BOTTLENECK_BPS


def test_a_flow_alone_fills_its_path(network: Machine) -> None:
    """Segments of one acknowledgement do not leave together, to wait behind each other.

    Bursts left a quarter of the rate unused in every run. Where the machine takes the processor
    from a switch for a while, packets wait in fact, and the flow slows down: so one of three runs
    is enough.
    """
    parts: list[float] = []
    while not parts or (parts[-1] < 0.88 and len(parts) < 3):
        parts.append(alone_for_4_s(network))
    # A packet of 1500 octets has 1432 of data.
    assert max(parts) < 0.98
    assert parts[-1] > 0.88, parts


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
    packets = tmp_path / "packets"
    seen = Running(network, at("c", sys.executable, "-c", capture.PROGRAM, "eth0", str(packets)))
    seen.until("capturing")
    with network.running(*serve):
        parallel = ("-Z", "--parallel-immediate", "--parallel-max", str(CONNECTIONS))
        url = f"http://{B}:8080/file?[1-{CONNECTIONS}]"
        fetch = ("curl", "-sS", "--retry-connrefused", "--retry", "3", *parallel)
        fetched = network.run(*at("c", *fetch, "-o", f"{copies}/#1", url))
    seen.kill(signal.SIGTERM)
    seen.wait()
    assert fetched.returncode == 0, fetched.stderr
    data = [p for p in capture.read(packets) if p.source == B and p.payload_octets > 0]
    assert len(data) * 1500 > CONNECTIONS * len(file)
    assert all(p.options[:2] == b"\x5e\x08" for p in data)
    digests = [hashlib.sha256(copy.read_bytes()).digest() for copy in copies.iterdir()]
    assert digests == [hashlib.sha256(file).digest()] * CONNECTIONS
    assert segments_resent(network, "b") > resent + 20
    requests = (tmp_path / "access.log").read_text().splitlines()
    assert len({line.split()[0] for line in requests}) == CONNECTIONS


def counter(network: Machine, host: str, table: str, group: str, name: str) -> int:
    """A counter of a host's kernel, in ``/proc/net``."""
    names, values = (
        line.split()
        for line in network.run(*at(host, "cat", f"/proc/net/{table}")).stdout.splitlines()
        if line.startswith(f"{group}:")
    )
    return int(values[names.index(name)])


def segments_resent(network: Machine, host: str) -> int:
    """By TCP of a host, so far."""
    return counter(network, host, "snmp", "Tcp", "RetransSegs")


def test_what_hosts_cannot_use_is_refused(network: Machine, tmp_path: Path) -> None:
    file = tmp_path / "other.yaml"
    file.write_text(TOPOLOGY)
    unknown = network.waymark("up", str(file), "--kernel", "fast")
    assert unknown.returncode == 2
    assert unknown.stderr.startswith("error: no control 'fast' for Linux's TCP; valid: ")
    bare = network.waymark("up", str(file), "--kernel", "reno", "--bare")
    assert bare.returncode == 2
    assert "--kernel needs them" in bare.stderr


# The queue of r1 to b overflows, which CI reports.
ALL_MARKS = """\
hosts: {a: {}, b: {}, c: {}}
switches: {r1: {feedback: [aqt, drai, ci]}}
links:
  - {ends: [a, r1], rate: 100 Mb/s, delay: 2 ms, queue: 100}
  - {ends: [r1, b], rate: 10 Mb/s, delay: 2 ms, queue: 20}
  - {ends: [r1, c], rate: 100 Mb/s, delay: 2 ms, queue: 100}
"""

ECE, CWR = 0x40, 0x80
CAPABLE, EXPERIENCED = 2, 3


@pytest.fixture(scope="module", params=[(), ("--xdp",)], ids=["tc", "xdp"])
def marked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Machine]:
    """A network whose hosts carry all marks; c has no kernel address."""
    needed("iperf3")
    file = tmp_path_factory.mktemp("marked") / "net.yaml"
    file.write_text(ALL_MARKS)
    with machine() as made:
        assert made.waymark("up", str(file)).returncode == 0
        for host in "ab":
            attach = made.waymark_words(
                "kernel", "attach", "eth0", "--marks", "aqt,drai,ci", *request.param
            )
            done = made.run(*at(host, *attach))
            assert done.returncode == 0, done.stderr
        made.run(*at("c", "ip", "addr", "flush", "dev", "eth0"))
        yield made
        assert made.waymark("down").returncode == 0
        assert made.changes() == []


def test_indices_and_congestion_are_echoed(marked: Machine, tmp_path: Path) -> None:
    files = {host: tmp_path / host for host in "ab"}
    capturing = [
        Running(marked, at(host, sys.executable, "-c", capture.PROGRAM, "eth0", str(file)))
        for host, file in files.items()
    ]
    for one in capturing:
        one.until("capturing")
    with marked.running(*at("b", "iperf3", "-s", "-1", "--forceflush")) as server:
        server.until("Server listening")
        ran = marked.run(*at("a", "iperf3", "-J", "-c", B, "-t", "3", "-C", "reno"))
    assert ran.returncode == 0, ran.stdout
    for one in capturing:
        one.kill(signal.SIGTERM)
        one.wait()
    # What a driver takes out, a capture does not see: echoes are read where they leave.
    left, arrived = (
        [p for p in capture.read(file) if p.protocol == capture.TCP] for file in files.values()
    )
    asked, granted = (
        {p.tcp_flags & (ECE | CWR) for p in left if p.tcp_flags & capture.SYN and p.source == end}
        for end in (A, B)
    )
    assert (asked, granted) == ({ECE | CWR}, {ECE})
    assert {p.ecn for p in left if p.source == A and p.payload_octets > 1000} == {CAPABLE}
    assert EXPERIENCED in {p.ecn for p in arrived if p.source == A}
    echoes = [p for p in arrived if p.source == B and not p.tcp_flags & capture.SYN]
    assert any(p.tcp_flags & ECE for p in echoes)
    # AQT and AVBW-S, whose last octet is the echo of the index: 1 to 6.
    indices = {p.options[11] for p in echoes if p.options[8:10] == b"\xde\x04"}
    assert indices & {1, 2, 3}
    assert indices & {4, 5, 6}
    # TCP itself did not agree on ECN, and sees none of it.
    assert counter(marked, "a", "netstat", "TcpExt", "TCPDeliveredCE") == 0


def test_a_host_in_user_space_reads_all_echoes(marked: Machine) -> None:
    with marked.running(*at("b", sys.executable, "-c", RECEIVE, str(PORT))) as receiver:
        receiver.until("ready")
        marks = ("--mark", "aqt", "--mark", "avbw", "--mark", "ci")
        options = ("--at", "c", *marks, "--control", "cubic", "--octets", "4 MB", "--json")
        sent = marked.waymark("host", "send", B, *options)
        assert sent.returncode == 0, sent.stderr
        assert receiver.wait()[0] == 0
    moments = [json.loads(line) for line in sent.stdout.splitlines()]
    assert max(moment["aqt_forward_s"] or 0 for moment in moments) > 0.005
    assert {moment["mrai"] for moment in moments} & {1, 2, 3, 4, 5, 6}
    assert moments[-1]["ci"] > 0
