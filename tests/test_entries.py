"""What follows from a topology: addresses, shortest paths, table entries."""

from __future__ import annotations

from dataclasses import replace

import pytest

from waymark import Flow, Host, OnOff, Scenario, Switch, Topology, WaymarkError, duplex
from waymark.addressing import derive
from waymark.entries import entries_for
from waymark.entry import Entry, telemetry
from waymark.fabric import fat_tree
from waymark.scenario import to_core

PLAIN = ("Hop.ipv4_route", "Hop.neighbour", "Hop.port_queue")
WITH_FEEDBACK = (*PLAIN, "HopEgress.port_feedback.port_feedback")


def test_entries_of_a_small_network(small: Topology) -> None:
    entries = entries_for(small, derive(small), small.switch("r1"), WITH_FEEDBACK)
    assert entries == [
        Entry("ipv4_route", {"dst_addr": "10.0.0.1/32"}, "direct", {"port": 1}),
        Entry(
            "ipv4_route",
            {"dst_addr": "10.0.0.2/32"},
            "via",
            {"port": 2, "next_hop": "10.255.0.2"},
        ),
        Entry(
            "neighbour",
            {"port": 1, "next_hop": "10.0.0.1"},
            "rewrite",
            {"src_addr": "02:00:00:00:03:01", "dst_addr": "02:00:00:00:01:01"},
        ),
        Entry(
            "neighbour",
            {"port": 2, "next_hop": "10.255.0.2"},
            "rewrite",
            {"src_addr": "02:00:00:00:03:02", "dst_addr": "02:00:00:00:04:01"},
        ),
        Entry("port_queue", {"port": 1}, "drop_tail", {"max_waiting": 49}),
        Entry("port_queue", {"port": 2}, "drop_tail", {"max_waiting": 9}),
        Entry(
            "port_feedback",
            {"port": 1},
            "set_feedback",
            {"aqt": 1, "drai": 0, "ci": 0, "window_log2": 15},
        ),
        Entry(
            "port_feedback",
            {"port": 2},
            "set_feedback",
            {"aqt": 1, "drai": 0, "ci": 0, "window_log2": 15},
        ),
    ]


@pytest.mark.parametrize(("rate_bps", "rate_kbps"), [(100, 1), (1499, 1), (4e9, 4_000_000)])
def test_the_rate_that_a_hop_records_is_never_0(rate_bps: float, rate_kbps: int) -> None:
    assert telemetry(1, node=7, rate_bps=rate_bps, mtu=1500).params["rate_kbps"] == rate_kbps


def test_a_program_without_feedback_gets_no_entries_for_it(small: Topology) -> None:
    entries = entries_for(small, derive(small), small.switch("r1"), PLAIN)
    assert {entry.table for entry in entries} == {"ipv4_route", "neighbour", "port_queue"}


@pytest.mark.parametrize("tables", [(), ("MyIngress.route",), PLAIN[:1], PLAIN[1:]])
def test_entries_go_only_to_tables_that_the_program_has(
    small: Topology, tables: tuple[str, ...]
) -> None:
    entries = entries_for(small, derive(small), small.switch("r1"), tables)
    own = {table.partition(".")[2] for table in tables} - {"route"}
    assert {entry.table for entry in entries} == own


def test_of_two_ways_the_shorter_is_taken() -> None:
    """A ring of five switches, a on r1, b on r4: r1 - r5 - r4 is the shorter way round."""
    ring = [f"r{i}" for i in range(1, 6)]
    network = Topology(
        hosts=(Host("a"), Host("b")),
        switches=tuple(Switch(name) for name in ring),
        links=(
            *duplex("a", "r1", 1e6, 0.001),
            *duplex("b", "r4", 1e6, 0.001),
            *(
                link
                for one, next_one in zip(ring, ring[1:] + ring[:1], strict=True)
                for link in duplex(one, next_one, 1e6, 0.001)
            ),
        ),
    )
    paths = derive(network).next_hop
    assert [paths[node, "b"] for node in ("a", "r1", "r5", "r4")] == ["r1", "r5", "r4", "b"]


def test_hosts_are_spread_over_equal_paths() -> None:
    """Every link between switches of a fat-tree is on the way to some host."""
    network = fat_tree(4)
    used = set(derive(network).next_hop.items())
    names = {switch.name for switch in network.switches}
    for link in network.links:
        if link.source in names and link.target in names:
            assert any(node == link.source and hop == link.target for (node, _), hop in used)


def test_a_switch_may_measure_its_rate_over_less_than_33_ms(small: Topology) -> None:
    fast = replace(small, switches=tuple(replace(s, drai_window_log2=5) for s in small.switches))
    tables = WITH_FEEDBACK
    at_1_6_mbps = entries_for(fast, derive(fast), fast.switch("r1"), tables)
    windows = [e.params["window_log2"] for e in at_1_6_mbps if e.table == "port_feedback"]
    assert max(map(int, windows)) == 15  # four packets take 30 ms
    ten_gigabit = fast.with_link("r1", "r2", rate_bps=10e9)
    entries = entries_for(ten_gigabit, derive(ten_gigabit), ten_gigabit.switch("r1"), tables)
    assert 5 in [e.params["window_log2"] for e in entries if e.table == "port_feedback"]
    with pytest.raises(WaymarkError, match=r"switch r1: a DRAI window of 2\^64 µs"):
        replace(fast, switches=tuple(replace(s, drai_window_log2=64) for s in fast.switches))


def test_no_path_leads_through_a_host(small: Topology) -> None:
    for (_node, target), neighbour in derive(small).next_hop.items():
        assert neighbour == target or neighbour.startswith("r")


def test_each_cable_is_written_once_with_what_differs(small: Topology) -> None:
    network = small.with_link("r2", "r1", rate_bps=8000)
    scenario = Scenario("s", network, end_s=1, flows=(Flow("a", "b"),))
    links = to_core(scenario, {"v1model/waymark.p4": WITH_FEEDBACK})["links"]
    assert [(link["a"]["node"], link["b"]["node"]) for link in links] == [
        ("a", "r1"),
        ("r1", "r2"),
        ("r2", "b"),
    ]
    assert (links[1]["rate_bps"], links[1]["ba"]["rate_bps"]) == (1_600_000, 8000)


def test_traffic_needs_hosts(small: Topology) -> None:
    with pytest.raises(WaymarkError, match=r"no host 'r1' \(hosts: a, b\)"):
        Scenario("s", small, end_s=1, flows=(Flow("a", "r1"),))


def test_the_idle_time_follows_from_the_load() -> None:
    source = OnOff.for_load("a", "b", load=0.9, link_bps=1.6e6, rate_bps=3.2e6, mean_on_s=0.01)
    mean_bps = source.rate_bps * source.mean_on_s / (source.mean_on_s + source.mean_off_s)
    assert abs(mean_bps - 1.44e6) < 1
