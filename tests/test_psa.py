"""Programs for the Portable Switch Architecture in virtual time, as a user runs them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from conftest import ROOT, Cli

from waymark import Entry, Flow, Host, Scenario, Switch, Topology, duplex, run

PROGRAM = ROOT / "tests" / "p4" / "psa_route.p4"

SCENARIO = """\
seconds: 5
hosts: {a: {}, b: {}}
switches: {s1: {program: route.p4}}
links:
  - {ends: [a, s1], rate: 10 Mb/s, delay: 1 ms, queue: 20}
  - {ends: [s1, b], rate: 2 Mb/s, delay: 10 ms, queue: 20}
flows:
  - {name: flow, from: a, to: b, control: reno}
measures:
  - {quantity: throughput, of: flow, from: 1 s}
  - {quantity: queue peak, of: s1->b}
"""


def test_entries_counters_and_registers_of_a_psa_program() -> None:
    def route(prefix: str, port: int) -> Entry:
        return Entry("route", {"dst_addr": prefix}, "forward", {"port": port})

    entries = (route("10.0.1.1/32", 1), route("10.0.2.1/32", 2))
    network = Topology(
        hosts=(Host("a", "10.0.1.1/24"), Host("b", "10.0.2.1/24")),
        switches=(Switch("s1", str(PROGRAM), entries=entries),),
        links=(*duplex("a", "s1", 10e6, 0.001), *duplex("s1", "b", 2e6, 0.01)),
    ).with_queues(20)
    flow = Flow("a", "b", "cubic")
    result = run(Scenario("psa", network, 10, flows=(flow,), counters_every_s=2.5))
    switch = result.switches["s1"]
    assert result.throughput_bps(0, 5, 10) == pytest.approx(2e6, rel=0.02)
    came, left = switch.ports[1], switch.ports[2]
    assert switch.counters["seen"][1].packets == came.rx_packets > 1000
    assert switch.direct_counters["routed"][1].packets == came.rx_packets
    assert switch.direct_counters["routed"].misses.packets == 0
    assert switch.drops["tm_full"] > 0  # by the traffic manager: the program has no limit
    assert switch.registers["sent"][2] == left.tx_packets  # egress runs when a packet leaves
    assert came.rx_packets == left.tx_packets + left.waiting + switch.drops["tm_full"]
    over_time = switch.counters["seen"].over_time(1).columns["packets"]
    assert over_time[-1] == came.rx_packets
    assert over_time == sorted(over_time)


def test_a_scenario_file_names_a_psa_program(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its table has the name and the key of p4src's, so that it gets the topology's routes."""
    monkeypatch.chdir(tmp_path)
    text = PROGRAM.read_text().replace("table route", "table ipv4_route")
    text = text.replace("route.apply()", "ipv4_route.apply()").replace("forward", "direct")
    Path("route.p4").write_text(text)
    Path("net.yaml").write_text(SCENARIO)
    shown = cli("run", "net.yaml", "--json")
    assert shown.code == 0, shown.err
    with Path("results/scenario/net/table.csv").open(newline="") as table:
        throughput, peak = csv.DictReader(table)
    assert float(throughput["waymark"]) > 1900
    assert 10 < float(peak["waymark"]) <= 20
