"""Other people's TCP, Linux's, across the embedded switch: as fast as its links, and untouched."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import capture
import pytest
from machine import Machine, Running, machine

LINK_BPS = 100e6

NETWORK = """\
hosts: {a: {}, b: {}}
switches: {r1: {}, r2: {}}
links:
  - {ends: [a, r1], rate: 100 Mb/s, delay: 1 ms, queue: 100}
  - {ends: [r1, r2], rate: 100 Mb/s, delay: 2 ms, queue: 100}
  - {ends: [r2, b], rate: 100 Mb/s, delay: 1 ms, queue: 100}
"""

AT_LEAST = 0.6
"""Of the link's rate. All but the headers is 0.96."""

SECONDS = 2

OCTETS = 2_000_000

RECEIVE = """\
import hashlib, socket
with socket.create_server(("0.0.0.0", 7000)) as server:
    print("listening", flush=True)
    with server.accept()[0] as connection:
        digest = hashlib.file_digest(connection.makefile("rb"), "sha256")
print(digest.hexdigest())
"""

SEND = """\
import socket, sys
with socket.create_connection(("10.0.0.2", 7000)) as connection, open(sys.argv[1], "rb") as file:
    connection.sendfile(file)
"""


@dataclass(frozen=True)
class Network:
    """A network that is up."""

    machine: Machine
    interfaces: dict[str, str]

    def at(self, host: str, *command: str) -> list[str]:
        """What runs a command at a host."""
        if self.interfaces[host] == "eth0":  # `waymark exec` does the same, and takes longer
            return ["ip", "netns", "exec", f"wm-net-{host}", *command]
        return self.machine.waymark_words("exec", host, *command)

    def capture(self, host: str, file: str) -> Running:
        words = (sys.executable, "-c", capture.PROGRAM, self.interfaces[host], file)
        running = Running(self.machine, self.at(host, *words))
        running.until("capturing")
        return running

    def throughput_bps(self, control: str) -> float:
        """What a sender with ``control`` of Linux brings to the other end."""
        with self.machine.running(*self.at("b", "iperf3", "-s", "-1", "--forceflush")) as server:
            server.until("Server listening")
            client = ("iperf3", "-J", "-c", "10.0.0.2", "-t", str(SECONDS), "-C", control)
            measured = json.loads(self.machine.run(*self.at("a", *client)).stdout)
        if "congestion control" in measured.get("error", ""):
            pytest.skip(f"this kernel has no {control}")
        assert "error" not in measured, measured["error"]
        return measured["end"]["sum_received"]["bits_per_second"]


@pytest.fixture(scope="module")
def netns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    yield from network(tmp_path_factory.mktemp("netns"), {"a": "eth0", "b": "eth0"})


@pytest.fixture(scope="module")
def mininet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    if shutil.which("mn") is None:
        pytest.skip("mn is not on PATH")
    interfaces = {"a": "a-eth0", "b": "b-eth0"}
    yield from network(tmp_path_factory.mktemp("mn"), interfaces, "--runner", "mininet")


def network(folder: Path, interfaces: dict[str, str], *options: str) -> Iterator[Network]:
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not on PATH")
    file = folder / "net.yaml"
    file.write_text(NETWORK)
    with machine() as made:
        done = made.waymark("up", str(file), *options)
        assert done.returncode == 0, done.stderr
        yield Network(made, interfaces)
        assert made.waymark("down").returncode == 0
        assert made.changes() == []


@pytest.mark.parametrize("control", ["cubic", "reno", "bbr"])
def test_linux_tcp_gets_what_the_links_carry(netns: Network, control: str) -> None:
    bps = netns.throughput_bps(control)
    assert AT_LEAST < bps / LINK_BPS < 1, f"{control}: {bps / 1e6:.1f} Mb/s"


def test_so_it_does_under_mininet(mininet: Network) -> None:
    bps = mininet.throughput_bps("cubic")
    assert AT_LEAST < bps / LINK_BPS < 1, f"{bps / 1e6:.1f} Mb/s"


@pytest.mark.parametrize("ecn", [0, 1])
def test_packets_arrive_as_they_were_sent(netns: Network, tmp_path: Path, ecn: int) -> None:
    sent = random.Random(ecn).randbytes(OCTETS)
    file = tmp_path / "sent"
    file.write_bytes(sent)
    here = netns.machine
    for host in "ab":
        here.run(*netns.at(host, "sysctl", "-qw", f"net.ipv4.tcp_ecn={ecn}"))
    captures = {host: str(tmp_path / host) for host in "ab"}
    running = [netns.capture(host, captures[host]) for host in "ab"]
    with here.running(*netns.at("b", sys.executable, "-c", RECEIVE)) as receiver:
        receiver.until("listening")
        done = here.run(*netns.at("a", sys.executable, "-c", SEND, str(file)))
        assert done.returncode == 0, done.stderr
        assert receiver.wait()[1].split()[-1] == hashlib.sha256(sent).hexdigest()
    for one in running:
        one.kill(signal.SIGTERM)
        one.wait()
    left, arrived = (
        [p for p in capture.read(Path(captures[host])) if p.protocol == capture.TCP]
        for host in "ab"
    )
    for source, ends in (("10.0.0.1", (left, arrived)), ("10.0.0.2", (arrived, left))):
        before, after = ([p for p in end if p.source == source] for end in ends)
        assert len(after) > 300
        assert not Counter(p.carried for p in after) - Counter(p.carried for p in before)
        assert {p.header_octets for p in after} == {20}  # no option was added
        assert {p.ttl for p in before} == {64}
        assert {p.ttl for p in after} == {62}
        assert {p.sums for p in after} == {(0, 0)}
    marks = {p.ecn for p in arrived if p.source == "10.0.0.1"}
    assert marks == ({0, 2} if ecn else {0})  # ECT(0) on data, nothing on what opens and closes
