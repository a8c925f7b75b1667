"""The same random frames through waymark.p4 on the embedded engine and on BMv2: the same octets.

Two things depend on a switch's pace and are judged by themselves, on both: the AQT option, which
must not become less and stays at its maximum, and the header checksum, which must be valid.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from bmv2_files import NEEDED, send_through_bmv2
from random_frames import (
    AQT_MAX_US,
    ARP,
    CPU_PORT,
    IPV4,
    Received,
    Sent,
    aqt_at,
    ethernet,
    fields,
    frame_of,
    header_octets,
    ipv4,
    ipv4_at,
    number_of,
    random_frame,
)
from scapy.utils import checksum

from waymark import _core

MAIN = Path(__file__).parents[1] / "p4src" / "v1model" / "waymark.p4"
PORTS = (1, 2, 3, CPU_PORT)
FRAMES = 1_000

NEIGHBOUR = {2: 0x0A000214, 3: 0x0A000314}
UNKNOWN, WITHOUT_NEIGHBOUR = 0xC0000201, 0x0A000263
ROUTES = {NEIGHBOUR[2]: 45, NEIGHBOUR[3]: 40, 0x0A0A0001: 8, UNKNOWN: 4, WITHOUT_NEIGHBOUR: 3}

MISSING = [name for name in NEEDED if shutil.which(name) is None]


@dataclass(frozen=True)
class Entry:
    """A table entry, in the words of both control planes."""

    table: str
    keys: dict[str, str]
    action: str
    parameters: dict[str, int]

    def stf(self) -> str:
        keys = " ".join(f"{name}:{value}" for name, value in self.keys.items())
        parameters = ", ".join(f"{name}:{value}" for name, value in self.parameters.items())
        return f"add {self.table} {keys} {self.action}({parameters})"

    def cli(self) -> str:
        keys = " ".join(self.keys.values())
        parameters = " ".join(map(str, self.parameters.values()))
        return f"table_add {self.table} {self.action} {keys} => {parameters}"


def _entries() -> Iterable[Entry]:
    yield Entry("punt", {"ether_type": "0x0806"}, "send_to_cpu", {})
    yield Entry("punt", {"ether_type": "0x8100"}, "send_to_cpu", {})
    gateway = {"port": 3, "next_hop": NEIGHBOUR[3]}
    yield Entry("ipv4_route", {"dst_addr": "0x0a0a0000/16"}, "via", gateway)
    for port, host in NEIGHBOUR.items():
        subnet = {"dst_addr": f"{host & 0xFFFFFF00:#010x}/24"}
        yield Entry("ipv4_route", subnet, "direct", {"port": port})
        macs = {"src_addr": 0x020000000000 | port, "dst_addr": host & 0xFFFF}
        yield Entry("neighbour", {"port": str(port), "next_hop": f"{host:#x}"}, "rewrite", macs)
        yield Entry("port_queue", {"port": str(port)}, "drop_tail", {"max_waiting": 100_000})
    for port in (*NEIGHBOUR, CPU_PORT):
        marks = {"aqt": 1, "drai": 1, "ci": 1, "window_log2": 14}
        yield Entry("port_feedback", {"port": str(port)}, "set_feedback", marks)


@pytest.mark.skipif(bool(MISSING), reason=f"not on PATH: {', '.join(MISSING)}")
@pytest.mark.parametrize("seed", [1, 2])
def test_both_send_the_same_octets(seed: int, tmp_path: Path) -> None:
    last = _last_frames(FRAMES)
    frames = [*(random_frame(seed, number, ROUTES) for number in range(FRAMES)), *last]
    commands = [entry.cli() for entry in _entries()]
    numbers = [frame.number for frame in last]
    ours = _by_number(_send_through_engine(frames))
    bmv2 = _by_number(send_through_bmv2(MAIN, commands, frames, numbers, PORTS, tmp_path))

    told = [_told(seed, one, ours, bmv2) for one in frames]
    wrong = [one for one in told if one]
    assert not wrong, f"{len(wrong)} of {len(frames)} frames:\n\n" + "\n\n".join(wrong[:5])
    assert set(ours) <= {frame.number for frame in frames}, "a frame that nobody sent"
    # Enough of everything to mean something.
    out = {port: sum(one[0].port == port for one in ours.values()) for port in PORTS}
    marked = sum(aqt_at(frame_of(one[0].port, one[0].octets)) is not None for one in ours.values())
    assert min(out[2], out[3], marked) > FRAMES / 10, (out, marked)
    assert out[CPU_PORT] > FRAMES / 50, out
    assert len(ours) < FRAMES * 0.9, "hardly anything was dropped"


def _last_frames(first: int) -> list[Sent]:
    """One to each port that anything comes out of, all good."""
    rng = Random("last")
    punted = Sent(first, 1, ethernet(first, ARP) + bytes(28))
    told = [punted]
    for number, (port, host) in enumerate(NEIGHBOUR.items(), start=first + 1):
        octets = ethernet(number, IPV4) + ipv4(rng, number, host, b"")
        # By the controller's port no TTL is too small.
        told.append(Sent(number, CPU_PORT, (port << 7).to_bytes(2) + octets))
    return told


def _send_through_engine(frames: Sequence[Sent]) -> list[Received]:
    script = [entry.stf() for entry in _entries()]
    script += [f"packet {frame.port} {frame.octets.hex()}" for frame in frames]
    report, _, trace = _core.trace_stf(_core.compile(str(MAIN)), "\n".join(script) + "\n")
    refused = [failure for failure in report["failures"] if "nothing expects" not in failure]
    assert not refused, refused
    steps = [step for step in json.loads(trace) if step["event"] == "send"]
    return [Received(step["port"], bytes.fromhex(step["octets"])) for step in steps]


def _by_number(received: Iterable[Received]) -> dict[int, list[Received]]:
    told: dict[int, list[Received]] = {}
    for one in received:
        told.setdefault(number_of(one), []).append(one)
    return told


def _told(
    seed: int, sent: Sent, ours: dict[int, list[Received]], bmv2: dict[int, list[Received]]
) -> str:
    """What is wrong with what came out for a frame; empty: nothing."""
    both = {"engine": ours.get(sent.number, []), "BMv2": bmv2.get(sent.number, [])}
    wrong = [f"{name}: {fault}" for name, came in both.items() for fault in _faults(sent, came)]
    mine, theirs = ([_comparable(sent, one) for one in came] for came in both.values())
    if mine != theirs:
        wrong += _difference(mine, theirs)
    if not wrong:
        return ""
    told = [f"seed {seed}, frame {sent.number}, into port {sent.port}: {sent.octets.hex()}"]
    for name, came in both.items():
        out = [f"out of port {one.port}: {one.octets.hex()}" for one in came]
        told += [f"  {name}: {line}" for line in out or ["nothing"]]
    return "\n".join([*told, *(f"  {line}" for line in wrong)])


def _faults(sent: Sent, came: Sequence[Received]) -> Iterable[str]:
    """What needs no second switch to be seen."""
    before = frame_of(sent.port, sent.octets)
    if len(came) > 1:
        yield f"{len(came)} frames for one"
    for one in came:
        frame = frame_of(one.port, one.octets)
        start, at = ipv4_at(frame), aqt_at(before)
        if start is not None and checksum(frame[start : start + header_octets(frame[start:])]):
            yield "the checksum is wrong"
        if at is not None:
            was, now = (int.from_bytes(octets[at + 2 : at + 5]) for octets in (before, frame))
            if now < was:
                yield f"AQT is {now} µs, and came with {was} of {AQT_MAX_US} at most"


def _comparable(sent: Sent, received: Received) -> Received:
    """It without the AQT time and the checksum."""
    before = frame_of(sent.port, sent.octets)
    frame = bytearray(frame_of(received.port, received.octets))
    prefix = received.octets[: len(received.octets) - len(frame)]
    start, at = ipv4_at(before), aqt_at(before)
    if start is not None:
        frame[start + 10 : start + 12] = bytes(2)
    if at is not None:
        frame[at + 2 : at + 5] = bytes(3)
    return Received(received.port, prefix + bytes(frame))


def _difference(ours: Sequence[Received], bmv2: Sequence[Received]) -> Iterable[str]:
    """Field by field, where both sent one frame."""
    if len(ours) != 1 or len(bmv2) != 1:
        yield f"engine sent {len(ours)}, BMv2 {len(bmv2)}"
        return
    if ours[0].port != bmv2[0].port:
        yield f"port: engine {ours[0].port}, BMv2 {bmv2[0].port}"
    engine, other = (frame_of(one.port, one.octets) for one in (ours[0], bmv2[0]))
    for name, begin, end in fields(engine):
        mine, theirs = engine[begin:end], other[begin : end if name != "payload" else None]
        if mine != theirs:
            yield f"{name}: engine {mine.hex()}, BMv2 {theirs.hex()}"
