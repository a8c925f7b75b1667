"""Linux's TCP as the other end of accurate ECN (RFC 9768) and Prague, across DualPI2.

Linux 7.0 and later can negotiate accurate ECN; an earlier one is asked for RFC 3168.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import capture
import pytest
from machine import Machine, Running, machine

NETWORK = """\
hosts: {a: {}, b: {}}
switches: {r1: {program: v1model/l4s.p4}, r2: {program: v1model/l4s.p4}}
links:
  - {ends: [a, r1], rate: 100 Mb/s, delay: 1 ms, queue: 200}
  - {ends: [r1, r2], rate: 8 Mb/s, delay: 5 ms, queue: 200,
     dual_pi2: {target: 2 ms}, weights: [1, 9]}
  - {ends: [r2, b], rate: 100 Mb/s, delay: 1 ms, queue: 200}
"""

A, B = "10.0.0.1", "10.0.0.2"

PORT = 5001

OCTETS = 4_000_000

AE, CWR, ECE = 4, 2, 1

NOT_ECT, ECT1, ECT0, CE = range(4)

AS_ARRIVED = {NOT_ECT: CWR, ECT1: CWR | ECE, ECT0: AE, CE: AE | CWR}
"""How the handshake says in which field of IPv4 a SYN or its answer arrived (RFC 9768, table 2)."""

RECEIVE = """\
import socket, sys, time
with socket.create_server(("0.0.0.0", int(sys.argv[1]))) as server:
    print("ready", flush=True)
    with server.accept()[0] as connection:
        while connection.recv(1 << 16):
            pass
        time.sleep(0.2)
"""
"""It closes some time after the sender, whose own end has been acknowledged then."""

SEND = """\
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as connection:
    connection.sendall(bytes(int(sys.argv[3])))
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A network whose host ``a`` is in user space, and ``b`` is Linux's."""
    file = tmp_path_factory.mktemp("network") / "net.yaml"
    file.write_text(NETWORK)
    with machine() as made:
        done = made.waymark("up", str(file))
        assert done.returncode == 0, done.stderr
        assert made.run(*at("a", "ip", "addr", "flush", "dev", "eth0")).returncode == 0
        yield made


def at(host: str, *command: str) -> list[str]:
    return ["ip", "netns", "exec", f"wm-net-{host}", *command]


def use(network: Machine, tcp_ecn: int) -> None:
    """Set what Linux asks for: 1 is RFC 3168, 3 is accurate ECN."""
    if network.run(*at("b", "sysctl", "-qw", f"net.ipv4.tcp_ecn={tcp_ecn}")).returncode != 0:
        pytest.skip("this kernel cannot negotiate accurate ECN; Linux 7.0 can")


@contextmanager
def captured(network: Machine, host: str, file: Path) -> Generator[list[capture.Packet]]:
    """The packets of the first connection that opens, as a host sees them, when the block ends.

    Of a host in user space only what arrives is seen.
    """
    packets: list[capture.Packet] = []
    running = Running(network, at(host, sys.executable, "-c", capture.PROGRAM, "eth0", str(file)))
    running.until("capturing")
    yield packets
    running.kill(signal.SIGTERM)
    running.wait()
    seen = [p for p in capture.read(file) if p.protocol == capture.TCP]
    ends = next(ports(p) for p in seen if p.tcp_flags & capture.SYN)
    packets += [p for p in seen if ports(p) == ends]


def ports(packet: capture.Packet) -> set[bytes]:
    return {packet.tcp[:2], packet.tcp[2:4]}


@dataclass(frozen=True)
class Transfer:
    """The packets of a connection."""

    at_linux: list[capture.Packet]
    """As Linux saw them, in order."""

    data: list[capture.Packet]
    """The data as it arrived."""

    sender: str

    @property
    def receiver(self) -> str:
        return B if self.sender == A else A

    @property
    def handshake(self) -> list[int]:
        """The flags of its three packets."""
        return [flags(packet) for packet in self.at_linux[:3]]

    @property
    def fields(self) -> set[int]:
        """The ECN fields of data."""
        return {packet.ecn for packet in self.data}

    @property
    def acknowledgements(self) -> list[capture.Packet]:
        return [p for p in self.at_linux[3:] if p.source == self.receiver]

    @property
    def marked(self) -> int:
        """How many packets of data arrived marked."""
        return sum(packet.ecn == CE for packet in self.data)


def to_linux(network: Machine, folder: Path) -> Transfer:
    """Prague sends to Linux."""
    receive = at("b", sys.executable, "-c", RECEIVE, str(PORT))
    options = ("--at", "a", "--control", "prague", "--octets", f"{OCTETS} B")
    with (
        captured(network, "b", folder / "b") as packets,
        network.running(*receive) as receiver,
    ):
        receiver.until("ready")
        sent = network.waymark("host", "send", B, *options)
        assert sent.returncode == 0, sent.stderr
        assert receiver.wait()[0] == 0
        unanswered = at("b", "ss", "-Htan", "state", "last-ack")
        until(lambda: not network.run(*unanswered).stdout, "Linux's FIN is acknowledged")
    return Transfer(packets, data(packets, A), A)


def until(condition: Callable[[], bool], what: str) -> None:
    """Linux repeats a FIN that nobody acknowledges for longer than this."""
    end = time.monotonic() + 3
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def from_linux(network: Machine, folder: Path) -> Transfer:
    """Linux sends to a receiver in user space."""
    receive = network.waymark_words("host", "recv", "--at", "a")
    with (
        captured(network, "a", folder / "a") as arrived,
        captured(network, "b", folder / "b") as packets,
        network.running(*receive) as receiver,
    ):
        receiver.until("listening")
        sent = network.run(*at("b", sys.executable, "-c", SEND, A, str(PORT), str(OCTETS)))
        assert sent.returncode == 0, sent.stderr
        assert receiver.wait()[0] == 0
    return Transfer(packets, data(arrived, B), B)


def data(packets: Sequence[capture.Packet], source: str) -> list[capture.Packet]:
    return [p for p in packets if p.source == source and p.payload_octets > 0]


def flags(packet: capture.Packet) -> int:
    """AE, CWR and ECE: the field ACE, where both ends count."""
    return int.from_bytes(packet.tcp[12:14], "big") >> 6 & 7


def check_counts(transfer: Transfer) -> None:
    """The counter begins at 5 and counts packets that arrive marked (RFC 9768, 3.2)."""
    counts = [flags(packet) for packet in transfer.acknowledgements]
    steps = [(new - old) % 8 for old, new in pairwise([5, *counts])]
    assert transfer.marked > 5
    assert (sum(steps), max(steps) < 4) == (transfer.marked, True)


def check_echoes(transfer: Transfer) -> None:
    """A mark is echoed until the sender says that it has slowed down (RFC 3168, 6.1.3)."""
    echoes = [bool(flags(packet) & ECE) for packet in transfer.acknowledgements]
    begun = sum(new and not old for old, new in pairwise([False, *echoes]))
    cuts = sum(bool(flags(packet) & CWR) for packet in transfer.data)
    # What is sent again is not capable (RFC 3168, 6.1.5).
    assert {ECT0, CE} <= transfer.fields <= {NOT_ECT, ECT0, CE}
    assert 2 < cuts <= transfer.marked
    # A packet that says so may itself be marked.
    assert cuts // 2 < begun <= cuts + 1
    assert sum(echoes) > cuts


def test_linux_counts_the_marks_of_prague(network: Machine, tmp_path: Path) -> None:
    use(network, 3)
    transfer = to_linux(network, tmp_path)
    # Neither end's first packet is capable.
    assert transfer.handshake == [AE | CWR | ECE, AS_ARRIVED[NOT_ECT], AS_ARRIVED[NOT_ECT]]
    assert transfer.fields == {ECT1, CE}
    check_counts(transfer)


def test_marks_of_what_linux_sends_are_counted(network: Machine, tmp_path: Path) -> None:
    use(network, 3)
    transfer = from_linux(network, tmp_path)
    syn = transfer.at_linux[0]
    assert transfer.handshake == [AE | CWR | ECE, AS_ARRIVED[syn.ecn], AS_ARRIVED[NOT_ECT]]
    check_counts(transfer)


def test_prague_reads_the_echoes_of_a_linux_that_does_not_count(
    network: Machine, tmp_path: Path
) -> None:
    use(network, 1)
    transfer = to_linux(network, tmp_path)
    assert transfer.handshake == [AE | CWR | ECE, ECE, 0]
    check_echoes(transfer)


def test_a_linux_that_does_not_count_is_echoed(network: Machine, tmp_path: Path) -> None:
    use(network, 1)
    transfer = from_linux(network, tmp_path)
    assert transfer.handshake == [CWR | ECE, ECE, 0]
    check_echoes(transfer)
