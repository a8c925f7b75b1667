"""The marks in packets of Linux's own TCP: BPF programs on an interface."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from capture import FIN, SYN, TCP, Packet
from kernel_hosts import ADDRESSES, INTERFACE, Pair, needed

pytestmark = pytest.mark.usefixtures("kernel_lock")

SILENT = bytes.fromhex("5e08000000000000 de04ffff")
"""AQT and AQT-Echo 0; DRAI and MRAI-Echo that no hop has written: as user-space hosts send them."""


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Two hosts, without the programs."""
    needed("ping", "ethtool")
    both = Pair()
    yield both
    both.close()


A = ADDRESSES["a"]


def tcp(packets: list[Packet]) -> list[Packet]:
    """Those of TCP."""
    return [packet for packet in packets if packet.protocol == TCP]


def established(packets: list[Packet]) -> list[Packet]:
    """Those between SYN and FIN. What TIME-WAIT sends belongs to no socket, and is not marked."""
    ends = [at for at, packet in enumerate(packets) if packet.tcp_flags & FIN]
    return [packet for packet in packets[: min(ends)] if not packet.tcp_flags & SYN]


@pytest.mark.parametrize("segmentation", ["on", "off"])
def test_packets_carry_the_options_of_user_space_hosts(
    pair: Pair, tmp_path: Path, segmentation: str
) -> None:
    pair.offloads(segmentation)
    pair.attach("a", "b")
    with pair.captured("b", tmp_path / "packets") as packets:
        assert pair.transfer(2_000_000).is_right()
    seen = tcp(packets)
    assert {packet.sums[0] for packet in seen} == {0}
    if segmentation == "off":
        assert {packet.sums for packet in seen} == {(0, 0)}
    assert {packet.options for packet in seen if packet.tcp_flags & SYN} == {b""}
    assert {packet.options for packet in established(seen)} == {SILENT}
    data = [packet for packet in seen if packet.payload_octets]
    assert sum(packet.payload_octets for packet in data) >= 2_000_000
    longest = max(len(packet.octets) for packet in data)
    # Segments leave room for the options. A packet is many segments where the interface cuts them.
    assert longest == 1500 if segmentation == "off" else longest > 20_000


@pytest.mark.parametrize("xdp", [False, True])
def test_packets_are_merged_if_the_driver_takes_the_options_out(
    pair: Pair, tmp_path: Path, xdp: bool
) -> None:
    """Linux merges no packets that have IPv4 options; a capture sees what it merged."""
    pair.offloads("off")
    pair.run("b", "ethtool", "-K", INTERFACE, "gro", "on")
    pair.attach("a", "b", xdp=xdp)
    with pair.captured("b", tmp_path / "packets") as packets:
        assert pair.transfer(20_000_000).is_right()
    data = [packet for packet in tcp(packets) if packet.payload_octets and packet.source == A]
    assert {packet.sums[0] for packet in data} == {0}
    assert {packet.options for packet in data} == ({b""} if xdp else {SILENT})
    longest = max(len(packet.octets) for packet in data)
    assert longest > 3000 if xdp else longest == 1500
    # Acknowledgements echo the marks in either case.
    acks = [packet for packet in established(tcp(packets)) if packet.source != A]
    assert {packet.options for packet in acks} == {SILENT}


def test_the_driver_gets_its_program_off(pair: Pair) -> None:
    pair.attach("a", xdp=True)
    assert " xdp " in pair.run("a", "ip", "link", "show", INTERFACE)
    status = json.loads(pair.waymark("a", "status", "--json").stdout)
    assert [one["strip"] for one in status] == ["xdp"]
    assert "; removed in the driver; " in pair.waymark("a", "status").stdout
    assert pair.waymark("a", "detach", INTERFACE).returncode == 0
    assert " xdp " not in pair.run("a", "ip", "link", "show", INTERFACE)


def test_a_driver_without_xdp_is_refused(pair: Pair) -> None:
    pair.run("a", "ip", "link", "add", "bridge0", "type", "bridge")
    refused = pair.waymark("a", "attach", "bridge0", "--xdp")
    assert refused.returncode == 2
    assert "--xdp: the interface's driver does not support XDP" in refused.stderr
    assert json.loads(pair.waymark("a", "status", "--json").stdout) == []


def tshark_faults(file: Path) -> list[str]:
    """The frames of a capture whose IPv4 or TCP checksum tshark finds wrong."""
    checks = ("-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE")
    wrong = "ip.checksum.status == 0 || tcp.checksum.status == 0"
    words = ["tshark", "-r", str(file), *checks, "-Y", wrong]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("xdp", [False, True])
def test_tshark_finds_all_checksums_right(pair: Pair, tmp_path: Path, xdp: bool) -> None:
    """Cut by the sender, so that no checksum is left to an interface."""
    needed("tshark", "ethtool")
    pair.offloads("off")
    for host in "ab":
        pair.run(host, "ethtool", "-K", INTERFACE, "gro", "off", "rx", "off")
    pair.attach("a", "b", marks="aqt,drai,ci", xdp=xdp)
    file = tmp_path / "packets"
    with pair.captured("b", file) as packets:
        assert pair.transfer(1_000_000).is_right()
    capture = pcap(packets, tmp_path / "packets.pcap")
    assert tshark_faults(capture) == []
    # It does look: one octet changed is found.
    octets = bytearray(capture.read_bytes())
    octets[-1] ^= 1
    damaged = tmp_path / "damaged.pcap"
    damaged.write_bytes(octets)
    assert len(tshark_faults(damaged)) == 1


@pytest.mark.parametrize("xdp", [False, True])
def test_tshark_finds_the_checksums_right_that_tcp_sees(
    pair: Pair, tmp_path: Path, xdp: bool
) -> None:
    """The marks are taken out; what TCP receives has right checksums as well."""
    needed("tshark", "ethtool")
    pair.offloads("off")
    for host in "ab":
        pair.run(host, "ethtool", "-K", INTERFACE, "gro", "off", "rx", "off")
    pair.attach("a", "b", marks="aqt,drai,ci", xdp=xdp)
    reader = pair.start("b", sys.executable, "-c", RAW_WHOLE, "20")
    assert reader.stdout is not None
    assert reader.stdout.readline() == "ready\n"
    # One packet after the other, so that they are not merged.
    transfer = pair.transfer(*range(1000, 1020))
    for _ in range(19):
        transfer.step()
    assert transfer.is_right()
    packets = [bytes.fromhex(line) for line in reader.communicate(timeout=30)[0].split()]
    assert len(packets) == 20
    assert {packet[0] for packet in packets} == {0x45}
    assert tshark_faults(write_pcap(packets, tmp_path / "packets.pcap")) == []


RAW = """
import socket, sys
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
raw.settimeout(20)
print("ready", flush=True)
for _ in range(int(sys.argv[1])):
    print(raw.recv(65536)[:60].hex(), flush=True)
"""
"""Prints the begin of what TCP receives."""

RAW_WHOLE = RAW.replace("[:60]", "")
"""Prints what TCP receives."""

RAW_IP = 101
"""Of a capture: packets begin with their IP header."""


def pcap(packets: list[Packet], file: Path) -> Path:
    """A capture file of packets."""
    return write_pcap([packet.octets for packet in packets], file)


def write_pcap(packets: Sequence[bytes], file: Path) -> Path:
    """A capture file of IPv4 packets."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, RAW_IP)
    records = (
        struct.pack("<IIII", number, 0, len(octets), len(octets)) + octets
        for number, octets in enumerate(packets)
    )
    file.write_bytes(head + b"".join(records))
    return file


SEND_FRAGMENTS = """
import socket, struct, sys
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
raw.setsockopt(socket.IPPROTO_IP, 10, 0)  # IP_MTU_DISCOVER: fragment
raw.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, bytes.fromhex(sys.argv[2]))
header = struct.pack("!HHIIBBHHH", 9, 9, 0, 0, 5 << 4, 0x10, 0, 0, 0)
raw.sendto(header + bytes(4000), (sys.argv[1], 0))
"""
"""Sends a TCP header in fragments that have IPv4 options."""


def receive(pair: Pair, packets: int) -> subprocess.Popen[str]:
    """Begin to print packets that TCP receives at b."""
    raw = pair.start("b", sys.executable, "-c", RAW, str(packets))
    assert raw.stdout is not None
    assert raw.stdout.readline() == "ready\n"
    return raw


def received(raw: subprocess.Popen[str]) -> list[Packet]:
    """The headers of these packets."""
    return [Packet(bytes.fromhex(line)) for line in raw.communicate(timeout=30)[0].splitlines()]


def test_tcp_receives_packets_without_the_options(pair: Pair) -> None:
    pair.offloads("off")
    pair.attach("a", "b")
    raw = receive(pair, 20)
    assert pair.transfer(500_000).is_right()
    headers = received(raw)
    assert len(headers) == 20
    assert {packet.options for packet in headers} == {b""}
    assert {Packet(packet.octets[:20]).sums[0] for packet in headers} == {0}


def test_fragments_pass_as_they_are(pair: Pair, tmp_path: Path) -> None:
    pair.attach("a", "b")
    raw = receive(pair, 1)
    with pair.captured("b", tmp_path / "packets") as packets:
        pair.run("a", sys.executable, "-c", SEND_FRAGMENTS, ADDRESSES["b"], SILENT.hex())
        (whole,) = received(raw)
    assert sum(packet.is_fragment for packet in packets) == 3
    assert whole.options == SILENT


def test_a_packet_without_room_leaves_unmarked(pair: Pair, tmp_path: Path) -> None:
    pair.offloads("off")
    transfer = pair.transfer(200_000, 300_000)
    # The connection agreed on its segment size before.
    pair.attach("a", "b")
    with pair.captured("b", tmp_path / "packets") as packets:
        transfer.step()
        assert transfer.is_right()
    seen = tcp(packets)
    assert max(len(packet.octets) for packet in seen) == 1500
    marked = [bool(packet.options) for packet in established(seen)]
    full = [len(packet.octets) > 1500 - len(SILENT) for packet in established(seen)]
    assert sum(full) > 100
    assert not any(map(all, zip(marked, full, strict=True)))
    # Acknowledgements have room.
    acks = {packet.options for packet in established(seen) if not packet.payload_octets}
    assert acks == {SILENT}


def test_other_packets_pass_as_they_are(pair: Pair, tmp_path: Path) -> None:
    pair.offloads("off")
    pair.attach("a", "b")
    nops = "01" * 8
    with pair.captured("b", tmp_path / "packets") as packets:
        pair.run("a", "ping", "-c", "1", ADDRESSES["b"])
        transfer = pair.transfer(20_000, 200_000, options=nops)
        transfer.step()
        assert transfer.is_right()
    others = [packet for packet in packets if packet.protocol != TCP]
    assert len(others) == 2
    assert {packet.options for packet in others} == {b""}
    # A packet that has options already gets no more.
    sent = [one for one in tcp(packets) if one.source == ADDRESSES["a"] and one.payload_octets]
    assert {packet.options for packet in sent[-20:]} == {bytes.fromhex(nops)}


@pytest.mark.parametrize("end", ["detach", "kill"])
def test_connections_continue_when_the_programs_go(pair: Pair, tmp_path: Path, end: str) -> None:
    pair.attach("a", "b")
    transfer = pair.transfer(100_000, 300_000, 300_000)
    transfer.step()
    for host in ADDRESSES:
        (attached,) = json.loads(pair.waymark(host, "status", "--json").stdout)
        assert attached["marks"] == ["aqt", "drai"]
        if end == "kill":
            os.kill(attached["pid"], signal.SIGKILL)
        else:
            assert pair.waymark(host, "detach", INTERFACE).returncode == 0
    deadline = time.monotonic() + 10
    while json.loads(pair.waymark("b", "status", "--json").stdout):
        assert time.monotonic() < deadline
    with pair.captured("b", tmp_path / "packets") as packets:
        transfer.step()
        assert transfer.is_right()
    assert {packet.options for packet in packets} == {b""}
    # And it can be attached again.
    pair.attach("a", "b")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("attach", "e9"), 'no interface "e9" in this network namespace; interfaces: e0'),
        (("attach", "lo"), "lo is not an Ethernet interface (veth, a NIC, a bridge)"),
        (("attach", "e0", "--marks", "aqt,ecn"), '--marks: no mark "ecn"; valid: aqt, drai, ci'),
        (("attach", "e0", "--control", "fast"), '--control: no control "fast" for the kernel;'),
        (("detach", "e0"), "e0 does not have the programs; interfaces that do: none"),
    ],
)
def test_what_cannot_be_done_is_refused(pair: Pair, arguments: tuple[str, ...], told: str) -> None:
    refused = pair.waymark("a", *arguments)
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"error: {told}")


def test_programs_are_attached_once(pair: Pair) -> None:
    pair.attach("a")
    refused = pair.waymark("a", "attach", INTERFACE)
    assert refused.stderr == (
        "error: e0 already has the programs; detach them first: waymark kernel detach e0\n"
    )


def test_programs_go_with_their_interface(pair: Pair) -> None:
    pair.attach("a")
    pair.run("a", "ip", "link", "del", INTERFACE)
    deadline = time.monotonic() + 10
    while pair.waymark("a", "status").stdout != (
        "no interface of this network namespace has attached programs\n"
    ):
        assert time.monotonic() < deadline
