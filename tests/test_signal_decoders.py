"""Scapy layers and Wireshark dissectors of CSIG and TCP-INT, judged by octets written apart."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet
from scapy.utils import wrpcap

from hosts.layers.csig import CSIG, EXPERIMENT, reflected
from hosts.layers.tcp_int import KIND, TCPINT, of

sys.path.insert(0, str(ROOT / "p4src" / "tests"))
import frames

FRAME = frames.Frame("10.0.1.10", "10.0.2.20", "00:00:00:00:01:0a", "02:00:00:00:00:01")


def frame(**fields: object) -> bytes:
    return b"".join(FRAME.changed(**fields).parts())


def dissect(folder: Path, script: str, fields: tuple[str, ...], *packets: Packet) -> list[str]:
    """What tshark shows of these fields, one line per packet."""
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not on PATH")
    file = folder / "packets.pcap"
    wrpcap(str(file), list(packets))
    done = subprocess.run(
        [
            *(tshark, "-r", file, "-X", f"lua_script:{ROOT / 'hosts' / 'wireshark' / script}"),
            *("-T", "fields", "-E", "separator=;", "-o", "tcp.check_checksum:TRUE"),
            *(word for field in fields for word in ("-e", field)),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Lua" not in done.stderr, done.stderr
    return done.stdout.splitlines()


def test_csig_s_layer_has_the_octets_of_the_tag() -> None:
    tagged = frame(csig=frames.csig(2, 22, 5, reserved=1))
    packet = Ether(tagged)
    tag = packet[CSIG]
    assert (tag.signal, tag.reserved, tag.band, tag.locator) == (2, 1, 22, 5)
    assert packet[IP].dst == "10.0.2.20"
    assert bytes(packet) == tagged
    behind = Ether(frame(vlan=7, csig=frames.csig(1, 31)))
    assert behind[Dot1Q].payload == behind[CSIG]
    assert bytes(Ether() / CSIG(signal="delay") / IP())[12:18].hex() == "88b540000800"


def test_reflected_tags_are_read_from_their_option() -> None:
    value = bytes.fromhex("c516 2c07 4b05")
    segment = IP(bytes(IP() / TCP(options=[(EXPERIMENT, value)])))[TCP]
    assert [(tag.signal, tag.band, tag.locator) for tag in reflected(segment)] == [
        (1, 24, 7),
        (2, 22, 5),
    ]
    other = IP(bytes(IP() / TCP(options=[(EXPERIMENT, b"\xc5\x17\x2c\x07")])))[TCP]
    assert reflected(other) == []


def test_tcp_int_s_layer_has_the_octets_of_the_option() -> None:
    option = frames.tcp_int(0x85, 62, 0x010203, echo=0x04_51_8001, tags=0xF3)
    layer = TCPINT(option)
    assert (layer.tag_frequency, layer.link_speed, layer.value, layer.hop) == (15, 3, 0x85, 62)
    assert layer.latency == 0x010203
    assert (layer.value_echo, layer.hop_echo, layer.link_speed_echo) == (4, 5, 1)
    assert layer.latency_echo == 0x8001
    assert bytes(layer) == option
    built = TCP(options=[("NOP", None), (KIND, option[2:])])
    assert bytes(of(IP(bytes(IP() / built))[TCP]) or b"") == option
    assert of(IP(bytes(IP() / TCP(options=[(KIND, option[2:-1])])))[TCP]) is None


def test_wireshark_shows_csig_s_tag_and_what_is_behind_it(tmp_path: Path) -> None:
    fields = ("csig.signal", "csig.band", "csig.locator", "csig.type", "ip.dst", "vlan.id")
    tag = frames.csig(2, 22, 5)
    packets = [Ether(frame(csig=tag)), Ether(frame(vlan=7, csig=tag)), Ether(frame())]
    assert dissect(tmp_path, "csig.lua", fields, *packets) == [
        "2;22;5;0x0800;10.0.2.20;",
        "2;22;5;0x0800;10.0.2.20;7",
        ";;;;10.0.2.20;",
    ]


def test_wireshark_says_that_a_packet_behind_csig_s_tag_is_cut(tmp_path: Path) -> None:
    tagged = frame(csig=frames.csig(2, 22))
    fields = ("csig.band", "csig.malformed", "_ws.lua.error")
    shown = dissect(tmp_path, "csig.lua", fields, Ether(tagged), Ether(tagged[:30]))
    assert shown == ["22;;", "22;1;"]


def test_wireshark_shows_tcp_int_and_a_right_checksum(tmp_path: Path) -> None:
    fields = ("tcp_int.value", "tcp_int.hop", "tcp_int.latency", "tcp_int.hop_echo")
    fields = (*fields, "tcp_int.malformed", "tcp.checksum.status")
    option = frames.tcp_int(0x85, 62, 7, echo=0x04_51_8001)
    packets = [
        Ether(frame(protocol=6, payload=frames.tcp(options)))
        for options in (
            option,
            frames.padded(frames.NOP + option),
            frames.padded(b"\x72\x0b" + bytes(9)),
            b"",
        )
    ]
    shown = dissect(tmp_path, "tcp_int.lua", fields, *packets)
    assert shown == ["0x85;62;7;5;;1", "0x85;62;7;5;;1", ";;;;1;1", ";;;;;1"]


def test_tshark_shows_tcp_int_of_a_segment_in_fragments(tmp_path: Path) -> None:
    segment = frames.tcp(frames.tcp_int(0x85, 62, 7), bytes(100))
    packet = Ether(frame(protocol=6, payload=segment))
    fragments = [Ether() / part for part in packet[IP].fragment(64)]
    shown = dissect(tmp_path, "tcp_int.lua", ("tcp_int.value", "tcp_int.hop"), *fragments)
    assert shown == [";", ";", "0x85;62"]
