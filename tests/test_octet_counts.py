"""Accurate ECN's option with octet counters (RFC 9768, 3.2.3), read by Wireshark."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from waymark import MODERN, Flow, Scenario, Topology, run
from waymark.topology import DualPi2

NOT_ECT, ECT1, ECT0, CE = range(4)

FIRST = {ECT0: 1, CE: 0, ECT1: 1}
"""What counters begin with."""

FIELDS = (
    "frame.interface_name",
    "ip.dsfield.ecn",
    "tcp.flags.syn",
    "tcp.seq",
    "tcp.len",
    "tcp.ack",
    "tcp.options.acc_ecn.ee0b",
    "tcp.options.acc_ecn.eceb",
    "tcp.options.acc_ecn.ee1b",
)


@dataclass(frozen=True)
class Seen:
    """A packet of a capture."""

    line: str
    field: int
    syn: bool
    start: int
    octets: int
    ack: int
    counts: dict[int, int]


def packets(capture: Path) -> Iterator[Seen]:
    """The packets of a capture as tshark reads them."""
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not on PATH")
    words = [word for field in FIELDS for word in ("-e", field)]
    done = subprocess.run(
        [tshark, "-r", capture, "-T", "fields", "-E", "separator=;", *words],
        capture_output=True,
        text=True,
        check=True,
    )
    for row in done.stdout.splitlines():
        line, field, syn, start, octets, ack, *counts = row.split(";")
        told = {key: int(n) for key, n in zip((ECT0, CE, ECT1), counts, strict=True) if n}
        yield Seen(
            line,
            int(field, 0),
            syn in ("1", "True"),
            int(start or 0),
            int(octets or 0),
            int(ack or 0),
            told,
        )


def captured(network: Topology, folder: Path, *, option: bool) -> list[Seen]:
    capture = folder / "run.pcapng"
    run(over_marks(network, 6, option=option), capture=capture)
    return list(packets(capture))


def over_marks(network: Topology, end_s: float, *, option: bool) -> Scenario:
    """Prague over a queue that marks."""
    marking = network.with_program("v1model/l4s.p4").with_queues(200)
    marking = marking.with_link("r1", "r2", dual_pi2=DualPi2(), weights=(1, 9))
    flow = Flow("a", "b", "prague", replace(MODERN, ecn_option=option))
    return Scenario("marks", marking, end_s, flows=(flow,))


def test_wireshark_reads_the_octets_that_came(small: Topology, tmp_path: Path) -> None:
    seen = captured(small, tmp_path, option=True)
    data = [p for p in seen if p.line == "r2->b" and p.octets > 0]
    starts = [p.start for p in data]
    assert starts == sorted(set(starts)), "data is lost or overtaken; the model is for neither"

    handshake, *told = [p for p in seen if p.line == "b->r2" and p.counts]
    assert (handshake.syn, handshake.counts) == (True, FIRST)
    for ack in told:
        came = dict(FIRST)
        for packet in data:
            if packet.start < ack.ack:
                came[packet.field] += packet.octets
        assert ack.counts == {key: came[key] for key in ack.counts}
        assert ack.counts.keys() == {key for key, count in came.items() if count != FIRST[key]}
    assert told[-1].counts[CE] > 10_000
    assert told[-1].counts.keys() == {CE, ECT1}

    answered = next(p for p in seen if p.line == "a->r1" and p.counts)
    assert answered.counts == FIRST


def test_the_option_is_sent_where_it_is_asked_for(small: Topology, tmp_path: Path) -> None:
    assert not any(packet.counts for packet in captured(small, tmp_path, option=False))


@pytest.mark.parametrize("option", [False, True])
def test_a_sender_learns_of_the_marks_that_its_switch_made(
    small: Topology, *, option: bool
) -> None:
    """Except those of the last window, and of unacknowledged data."""
    result = run(over_marks(small, 6, option=option))
    made = result.switches["r1"].counters["dual_pi2_marked"].total.packets
    assert made > 20
    assert made - 20 <= result.flows[0].reported_marks <= made
