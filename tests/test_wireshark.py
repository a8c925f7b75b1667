"""The Lua dissector, in tshark, on packets that Scapy built."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT
from scapy.layers.inet import IP, TCP, IPOption_EOL, IPOption_NOP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw
from scapy.utils import wrpcap

from hosts.layers import AQT, AVBW

DISSECTOR = ROOT / "hosts" / "wireshark" / "waymark.lua"
FIELDS = ("aqt", "aqt_echo", "drai", "mrai_echo", "aqt.saturated", "malformed", "ci")


def dissect(folder: Path, *packets: Packet, ci: bool = False) -> list[dict[str, str]]:
    """What tshark shows of each packet, by field; only the fields that are there."""
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not on PATH")
    file = folder / "packets.pcap"
    wrpcap(str(file), list(packets))
    shown = [word for field in FIELDS for word in ("-e", f"waymark.{field}")]
    done = subprocess.run(
        [
            *(tshark, "-r", file, "-X", f"lua_script:{DISSECTOR}"),
            *("-o", f"waymark.ci:{str(ci).upper()}"),
            *("-T", "fields", "-E", "separator=;", *shown),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Lua" not in done.stderr, done.stderr
    rows = [dict(zip(FIELDS, line.split(";"), strict=True)) for line in done.stdout.splitlines()]
    return [{name: value for name, value in row.items() if value} for row in rows]


def packet(*options: object, **ip: object) -> Packet:
    return Ether() / IP(src="10.0.0.1", dst="10.0.0.2", options=list(options), **ip) / TCP()


def test_options_are_shown_in_any_order(tmp_path: Path) -> None:
    assert dissect(
        tmp_path,
        packet(AQT(aqt=1234, aqt_echo=5)),
        packet(AVBW(drai=3, mrai_echo=0xFF), IPOption_NOP(), AQT(aqt=0xFFFFFF, aqt_echo=0)),
        packet(),
    ) == [
        {"aqt": "1234", "aqt_echo": "5"},
        {
            "aqt": "16777215",
            "aqt_echo": "0",
            "drai": "3",
            "mrai_echo": "255",
            "aqt.saturated": "1",
        },
        {},
    ]


def test_what_is_behind_the_end_of_the_list_is_padding(tmp_path: Path) -> None:
    behind = packet(IPOption_EOL(), AQT(aqt=7))
    tagged = Ether() / Dot1Q(vlan=5) / packet(AQT(aqt=7, aqt_echo=1)).payload
    assert dissect(tmp_path, behind, tagged) == [{}, {"aqt": "7", "aqt_echo": "1"}]


def test_another_length_is_reported(tmp_path: Path) -> None:
    wrong = bytearray(bytes(packet(AQT(aqt=7))))
    wrong[14 + 20 + 1] = 6
    (shown,) = dissect(tmp_path, Ether(bytes(wrong)))
    assert shown == {"malformed": "1"}


def test_a_list_that_runs_over_its_end_is_left_there(tmp_path: Path) -> None:
    wrong = bytearray(bytes(packet(AVBW(drai=1), AQT(aqt=7))))
    wrong[14 + 20 + 4 + 1] = 99
    (shown,) = dissect(tmp_path, Ether(bytes(wrong)))
    assert shown["drai"] == "1"
    assert "aqt" not in shown


def test_the_ecn_field_is_shown_on_demand(tmp_path: Path) -> None:
    marked = packet(tos=3) / Raw(b"x")
    assert dissect(tmp_path, marked) == [{}]
    assert dissect(tmp_path, marked, ci=True) == [{"ci": "3"}]
