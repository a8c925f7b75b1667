"""Paths with more switches than a TTL passes, or than telemetry has room for."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from conftest import Cli

from waymark import MODERN, Cbr, Flow, Host, Scenario, Switch, Topology, WaymarkError, duplex, run


def row(switches: int, program: str = "v1model/plain.p4", *, writers: int = 0) -> Topology:
    """Hosts ``a`` and ``b`` at the ends of switches in a row, of which the first write INT."""
    names = ["a", *(f"r{i}" for i in range(switches)), "b"]
    links = (duplex(one, other, 100e6, 1e-5) for one, other in pairwise(names))
    return Topology(
        (Host("a"), Host("b")),
        tuple(
            Switch(name, "v1model/int.p4" if i < writers else program)
            for i, name in enumerate(names[1:-1])
        ),
        tuple(link for pair in links for link in pair),
    )


def hpcc(network: Topology) -> Scenario:
    return Scenario("int", network, 0.1, flows=(Flow("a", "b", "hpcc", profile=MODERN),))


def test_packets_pass_63_switches() -> None:
    result = run(Scenario("long", row(63), 1, sources=(Cbr("a", "b", 1e6),)))
    assert result.sources[0].delivered.sum() > 0


@pytest.mark.parametrize(
    "traffic", [{"flows": (Flow("b", "a", "reno"),)}, {"sources": (Cbr("b", "a", 1e6),)}]
)
def test_a_path_that_a_ttl_of_64_does_not_pass_is_refused(traffic: dict) -> None:
    expected = (
        "scenario long: traffic b->a: 64 switches on the path, expected at most 63: hosts send "
        "with a TTL of 64"
    )
    with pytest.raises(WaymarkError, match=expected):
        run(Scenario("long", row(64), 1, **traffic))


def test_a_flow_reads_telemetry_of_8_switches() -> None:
    assert run(hpcc(row(9, writers=8))).flows[0].delivered.sum() > 0
    expected = "flow a->b: hpcc reads INT of at most 8 switches, and 9 on the flow's path write it"
    with pytest.raises(WaymarkError, match=expected):
        run(hpcc(row(9, writers=9)))


@pytest.mark.parametrize("hops", [7, 20])
def test_a_fabric_has_as_many_hops_as_telemetry(cli: Cli, tmp_path: Path, hops: int) -> None:
    network = ("--topology", f"parking-lot:{hops}", "--seconds", "1 ms", "--out", tmp_path)
    shown = cli("fabric", "powertcp", *network)
    assert shown.code == (0 if hops < 8 else 2), shown.err
    assert ("powertcp reads INT of at most 8 switches" in shown.err) == (hops == 20)
