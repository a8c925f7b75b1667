"""In-band network telemetry: the Scapy layers and the Lua dissector, judged by the packet scripts'
octets."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from scapy.layers.inet import TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.utils import PcapNgReader, wrpcap

from hosts.layers import INTMD, INTShim
from waymark import MODERN, Flow, Host, Scenario, Switch, Topology, duplex, run

sys.path.insert(0, str(Path(__file__).parents[1] / "p4src" / "tests"))
import frames

DISSECTOR = ROOT / "hosts" / "wireshark" / "int.lua"
FRAME = frames.Frame("10.0.1.10", "10.0.2.20", "00:00:00:00:01:0a", "02:00:00:00:00:01")
HPCC_RECORD = bytes.fromhex("00000bb8 0000000000989680 00112233 00002710")
"""3000 octets left behind in queue 0 after 10 ms; octets sent; 10 Mb/s."""
HPCC = frames.Int(
    HPCC_RECORD * 2,
    hop_words=5,
    remaining=6,
    instructions=0x1400,
    domain=0x5741,
    domain_instructions=0xC000,
    domain_flags=0xBEEF,
)
EXAMPLE = frames.Int(bytes.fromhex("00000002 00000010 00000001 00000020"), dscp=9, remaining=6)
"""What the sink receives in the specification's example (INT 2.1, §6.1): two hops, their numbers
and queues."""


def octets(stack: bytes, protocol: int = 6, dscp: int = frames.INT_DSCP) -> bytes:
    """A frame with a stack and a payload of 4 octets."""
    payload = frames.transport(protocol, FRAME.src, FRAME.dst, stack + b"data")
    return b"".join(FRAME.changed(protocol=protocol, dscp=dscp, payload=payload).parts())


@pytest.mark.parametrize(("protocol", "layer"), [(6, TCP), (17, UDP)])
def test_a_stack_dissects_behind_the_transport_header(protocol: int, layer: type[Packet]) -> None:
    packet = Ether(octets(EXAMPLE.octets(), protocol))
    assert isinstance(packet[layer].payload, INTShim)
    assert (packet[INTShim].type, packet[INTShim].words, packet[INTShim].dscp) == (1, 7, 9)
    assert packet[INTMD].hops() == [{"node": 2, "queue": 16}, {"node": 1, "queue": 32}]
    assert packet[INTMD].payload.load == b"data"
    assert bytes(packet) == octets(EXAMPLE.octets(), protocol)


def test_the_record_of_hpcc_dissects() -> None:
    header = Ether(octets(HPCC.octets()))[INTMD]
    record = {"queue": 3000, "departure": 10_000_000, "sent": 0x112233, "rate": 10_000}
    assert header.hops() == [record, record]
    assert (header.remaining, header.domain_flags) == (6, 0xBEEF)


def test_a_stack_builds_to_the_octets_of_the_specification() -> None:
    built = INTShim(dscp=9) / INTMD(
        hop_words=2,
        remaining=6,
        instructions=0x9000,
        domain=0,
        domain_instructions=0,
        stack=EXAMPLE.records,
    )
    assert bytes(built) == EXAMPLE.octets()


def test_an_invalid_stack_is_payload() -> None:
    for packet in (
        Ether(octets(EXAMPLE.octets(), dscp=0)),
        Ether(octets(b"")),
        Ether(octets(EXAMPLE.changed(kind=9).octets())),
    ):
        assert isinstance(packet[TCP].payload, Raw)


def fragment(frame: bytes, flags: int) -> bytes:
    """The frame with other flags and offset in its IPv4 header."""
    return frame[:20] + flags.to_bytes(2) + frame[22:]


def dissect(folder: Path, *sent: bytes) -> list[dict[str, str]]:
    """What tshark shows of each frame, by field; only the fields that are there."""
    file = folder / "packets.pcap"
    wrpcap(str(file), [Ether(frame) for frame in sent])
    return dissect_file(file)


def dissect_file(file: Path) -> list[dict[str, str]]:
    """The same of a file's frames."""
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not on PATH")
    names = ("type", "remaining", "hop.node", "hop.queue", "hop.departure", "hop.sent", "hop.rate")
    names += ("malformed",)
    shown = [word for name in names for word in ("-e", f"int.{name}")]
    done = subprocess.run(
        [
            *(tshark, "-r", str(file), "-X", f"lua_script:{DISSECTOR}"),
            *("-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"),
            *("-T", "fields", "-E", "separator=;", *shown),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Lua" not in done.stderr, done.stderr
    rows = [dict(zip(names, line.split(";"), strict=True)) for line in done.stdout.splitlines()]
    return [{name: value for name, value in row.items() if value} for row in rows]


def test_tshark_shows_the_records(tmp_path: Path) -> None:
    shown = dissect(
        tmp_path,
        octets(EXAMPLE.octets()),
        octets(HPCC.octets(), protocol=17),
        octets(HPCC.changed(kind=2).octets()),
        octets(EXAMPLE.octets(), dscp=0),
        octets(EXAMPLE.changed(words=99).octets()),
        fragment(octets(EXAMPLE.octets(), protocol=17), 0x2000),
        fragment(octets(EXAMPLE.octets(), protocol=17), 0x0010),
        octets(EXAMPLE.changed(words=9).octets()) + bytes(20),
    )
    records = {
        "hop.queue": "3000,3000",
        "hop.departure": "10000000,10000000",
        "hop.sent": "1122867,1122867",
        "hop.rate": "10000,10000",
    }
    assert shown == [
        {"type": "1", "remaining": "6", "hop.node": "2,1", "hop.queue": "16,32"},
        {"type": "1", "remaining": "6", **records},
        {"type": "2", "remaining": "6", **records},
        {},
        {"type": "1", "malformed": "1"},
        {},
        {},
        {"type": "1", "malformed": "1"},
    ]


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of HPCC over two hops, as --pcap writes it."""
    hops = [Switch(name, program="v1model/int.p4") for name in ("r1", "r2")]
    network = Topology(
        (Host("a"), Host("b")),
        tuple(hops),
        (
            *duplex("a", "r1", 10e6, 0.001),
            *duplex("r1", "r2", 8e6, 0.002),
            *duplex("r2", "b", 10e6, 0.001),
        ),
    )
    file = tmp_path_factory.mktemp("captured") / "run.pcapng"
    run(Scenario("captured", network, 0.2, flows=(Flow("a", "b", "hpcc", MODERN),)), capture=file)
    return file


def test_the_records_of_a_captured_run_dissect(captured: Path) -> None:
    """On the last link a stack has both hops, newest first; acknowledgements return it."""
    with PcapNgReader(str(captured)) as reader:
        packets = [packet for packet in reader if INTMD in packet]
    rates = {"a->r1": [], "r1->r2": [8000], "r2->b": [10_000, 8000]}
    kinds = {"a->r1": 1, "r1->r2": 1, "r2->b": 1, "b->r2": 2, "r2->r1": 2, "r1->a": 2}
    assert {packet.sniffed_on for packet in packets} == kinds.keys()
    for packet in packets:
        assert packet[INTShim].type == kinds[packet.sniffed_on]
        found = [hop["rate"] for hop in packet[INTMD].hops()]
        assert found == rates.get(packet.sniffed_on, rates["r2->b"]), packet.sniffed_on


def test_tshark_shows_the_records_of_a_captured_run(captured: Path) -> None:
    shown = dissect_file(captured)
    assert not any("malformed" in row for row in shown)
    rates = {row.get("hop.rate") for row in shown if "type" in row}
    assert rates == {None, "8000", "10000,8000"}
