"""The Scapy layers, judged by octets that are written apart from them."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from scapy.config import conf
from scapy.layers.inet import IP, IPOption, IPOption_EOL, IPOption_NOP
from scapy.layers.l2 import Ether
from scapy.utils import PcapNgReader

from hosts.layers import AQT, AVBW
from waymark import CHAN, Flow, OnOff, Scenario, Topology, run

sys.path.insert(0, str(Path(__file__).parents[1] / "p4src" / "tests"))
import frames

FRAME = frames.Frame("10.0.1.10", "10.0.2.20", "00:00:00:00:01:0a", "02:00:00:00:00:01")


def ipv4(options: bytes) -> bytes:
    """An IPv4 packet with these options, its checksum right."""
    return b"".join(FRAME.changed(options=options).parts()[1:])


def other(length: int) -> bytes:
    """An option that Scapy knows no more than a hop."""
    return frames.unknown(length, 0x9D)


def fields(option: IPOption) -> tuple[int, ...]:
    """The values of the fields that a layer names."""
    names = ("aqt", "aqt_echo") if isinstance(option, AQT) else ("drai", "mrai_echo")
    return tuple(option.getfieldval(name) for name in names)


def test_options_build_to_the_octets_of_the_wire_format() -> None:
    assert bytes(AQT(aqt=0x010203, aqt_echo=0x0A0B0C)) == frames.aqt(0x010203, 0x0A0B0C)
    assert bytes(AVBW(drai=3, mrai_echo=5)) == frames.avbw(3, 5)


def test_what_a_sender_leaves_out_is_what_a_sender_writes() -> None:
    assert bytes(AQT()) == frames.aqt(0, 0)
    assert bytes(AVBW()) == frames.avbw(0xFF, 0xFF)


def test_a_packet_builds_with_its_header_length_and_checksum() -> None:
    built = IP(
        src="10.0.1.10", dst="10.0.2.20", id=0x1C46, flags="DF", proto=253,
        options=[IPOption_NOP(), AQT(aqt=7, aqt_echo=9), AVBW(drai=2, mrai_echo=6)],
    ) / b"\xca\xfe\xf0\x0d"  # fmt: skip
    options = frames.padded(
        frames.NOP + frames.aqt(7, 9) + frames.avbw(2, 6), octets=16, pad=frames.EOL
    )
    assert bytes(built) == ipv4(options)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (frames.aqt(7, 9), [(AQT, (7, 9))]),
        (frames.avbw(1, 2), [(AVBW, (1, 2))]),
        (frames.aqt(0xFFFFFF) + frames.avbw(6), [(AQT, (0xFFFFFF, 0x0A0B0C)), (AVBW, (6, 5))]),
        (
            other(11) + frames.avbw(4) + other(9) + frames.aqt(5, 0) + other(8),
            [(AVBW, (4, 5)), (AQT, (5, 0))],
        ),
    ],
    ids=["AQT", "AVBW-S", "both", "among others"],
)
def test_options_dissect_wherever_they_stand(
    options: bytes, found: list[tuple[type[IPOption], tuple[int, ...]]]
) -> None:
    packet = IP(ipv4(options))
    ours = [option for option in packet.options if isinstance(option, (AQT, AVBW))]
    assert [(type(option), fields(option)) for option in ours] == found
    assert bytes(packet) == ipv4(options)


def test_a_changed_field_survives_building_and_dissecting() -> None:
    packet = IP(ipv4(frames.NOP * 3 + other(5) + frames.aqt(7, 9) + frames.avbw(3)))
    packet.options[-2].aqt = 1234
    del packet.chksum
    again = IP(bytes(packet))
    assert (fields(again.options[-2]), fields(again.options[-1])) == ((1234, 9), (3, 5))
    assert frames.internet_checksum(bytes(again)[: 4 * again.ihl]) == 0


@pytest.mark.parametrize(
    "malformed",
    [
        b"\x5e\x07" + bytes(5) + frames.NOP,
        b"\x5e\x09" + bytes(7) + frames.NOP * 3,
        b"\x5e\x08" + bytes(2),
        b"\xde\x03\xff" + frames.NOP,
        b"\xde\x05\xff\xff\xff" + frames.NOP * 3,
        frames.NOP * 3 + b"\xde",
    ],
    ids=lambda options: options.hex(),
)
def test_another_length_is_not_the_option(malformed: bytes) -> None:
    packet = IP(ipv4(malformed))
    assert not any(isinstance(option, (AQT, AVBW)) for option in packet.options)
    assert bytes(packet) == ipv4(malformed)


def test_other_options_of_the_same_number_are_not_ours() -> None:
    for kind in (0x1E, 0x3E, 0x7E, 0x9E, 0xBE, 0xFE):
        (option,) = IP(ipv4(frames.unknown(8, kind))).options
        assert type(option) is IPOption


def test_scapys_own_options_are_as_they_were() -> None:
    packet = IP(ipv4(frames.NOP + frames.EOL + bytes(2)))
    assert [type(option) for option in packet.options] == [IPOption_NOP, *[IPOption_EOL] * 3]


def _mangled_lists() -> Iterator[bytes]:
    draw = random.Random(1)
    likely = [0, 1, 2, 3, 4, 7, 8, 9, 0x44, 0x5E, 0x83, 0x88, 0xDE]
    for _ in range(5_000):
        octets = 4 * draw.randrange(11)
        yield bytes(draw.choice([*likely, draw.randrange(256)]) for _ in range(octets))


def test_mangled_lists_never_raise_and_keep_their_octets() -> None:
    assert not conf.debug_dissector
    for options in _mangled_lists():
        packet = IP(ipv4(options))
        packet.show(dump=True)
        assert bytes(packet) == ipv4(options), options.hex()


def test_captures_of_a_run_dissect(small: Topology, tmp_path: Path) -> None:
    capture = tmp_path / "run.pcapng"
    cross = OnOff.for_load("b", "a", load=0.9, link_bps=1.6e6, rate_bps=3.2e6, mean_on_s=0.01)
    flows = (Flow("a", "b", "rovegas", CHAN),)
    scenario = Scenario("test", small, end_s=5, flows=flows, sources=(cross,), check_aqt=True)
    result = run(scenario, capture=capture)
    assert result.aqt is not None
    assert result.aqt.mismatches == 0

    largest: dict[str, int] = {}
    arrived, echoed = set[int](), set[int]()
    with PcapNgReader(str(capture)) as reader:
        for packet in reader:
            link = packet.sniffed_on
            header = packet[IP]
            for option in header.options:
                if isinstance(option, AQT):
                    assert frames.aqt(*fields(option)) in bytes(header)[20 : 4 * header.ihl]
                    largest[link] = max(largest.get(link, 0), option.aqt)
                    if link == "r2->b":
                        arrived.add(option.aqt)
                    if link == "b->r2":
                        echoed.add(option.aqt_echo)
            assert isinstance(packet, (Ether, IP))
    assert largest["a->r1"] == largest["b->r2"] == 0, "what hosts send"
    assert largest["r2->r1"] > 10_000, "acknowledgements behind the cross traffic, µs"
    assert echoed - {0} <= arrived
    assert len(echoed) > 10
