"""Other people's TCP, Linux's, across the embedded switch: as fast as its links, and untouched."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import signal
import struct
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

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

CAPTURE = """\
import signal, socket, sys
port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
port.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
port.bind((sys.argv[1], 0))
# Read what has arrived, then end.
signal.signal(signal.SIGTERM, lambda *_: port.setblocking(False))
print("capturing", flush=True)
with open(sys.argv[2], "wb") as file:
    try:
        while frame := port.recv(65536):
            file.write(len(frame).to_bytes(4, "big") + frame)
    except BlockingIOError:
        pass
"""

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
        words = (sys.executable, "-c", CAPTURE, self.interfaces[host], file)
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
    for capture in running:
        capture.kill(signal.SIGTERM)
        capture.wait()
    left, arrived = (read(Path(captures[host])) for host in "ab")
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


@dataclass(frozen=True)
class Seen:
    """An IPv4 packet of a capture."""

    octets: bytes

    @property
    def source(self) -> str:
        return ".".join(map(str, self.octets[12:16]))

    @property
    def header_octets(self) -> int:
        return 4 * (self.octets[0] & 15)

    @property
    def ttl(self) -> int:
        return self.octets[8]

    @property
    def ecn(self) -> int:
        return self.octets[1] & 3

    @property
    def carried(self) -> bytes:
        """All but what every router changes: TTL and header checksum."""
        return self.octets[:8] + self.octets[9:10] + self.octets[12:]

    @property
    def sums(self) -> tuple[int, int]:
        """Of IPv4's header, and of TCP with its pseudo-header; 0 where the checksum is right."""
        header, tcp = self.octets[: self.header_octets], self.octets[self.header_octets :]
        pseudo = self.octets[12:20] + struct.pack("!HH", 6, len(tcp))
        return _sum(header), _sum(pseudo + tcp)


def read(file: Path) -> Sequence[Seen]:
    """The TCP packets of a capture, without padding."""
    octets, at = file.read_bytes(), 0
    found: list[Seen] = []
    while at + 4 <= len(octets):
        length = int.from_bytes(octets[at : at + 4], "big")
        frame = octets[at + 4 : at + 4 + length]
        at += 4 + length
        if frame[12:14] == b"\x08\x00" and frame[23] == 6:
            total = int.from_bytes(frame[16:18], "big")
            found.append(Seen(frame[14 : 14 + total]))
    return found


def _sum(octets: bytes) -> int:
    """The Internet checksum (RFC 1071) over octets that have one in them."""
    padded = octets + b"\0" * (len(octets) % 2)
    total = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
