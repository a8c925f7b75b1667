"""``Result.switches``: what P4 programs counted and kept, by name."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from waymark import (
    Cbr,
    Entry,
    Flow,
    Host,
    Scenario,
    Switch,
    SwitchResult,
    Topology,
    WaymarkError,
    duplex,
    result_file,
    run,
)

PAGE = (ROOT / "docs" / "own-p4.md").read_text()
[PROGRAM] = re.findall(r"```p4\n(.*?)```", PAGE, re.DOTALL)


def route(prefix: str, port: int) -> Entry:
    return Entry("route", {"hdr.ipv4.dst_addr": prefix}, "forward", {"port": port})


def network(folder: Path, program: str = PROGRAM, *entries: Entry) -> Topology:
    """Two hosts at one switch."""
    file = folder / "own.p4"
    file.write_text(program)
    return Topology(
        hosts=(Host("a"), Host("b")),
        switches=(Switch("s1", str(file), entries=entries),),
        links=(*duplex("a", "s1", 10e6, 0.001), *duplex("s1", "b", 2e6, 0.01)),
    ).with_queues(20)


ROUTES = (route("10.0.0.1/32", 1), route("10.0.0.2/32", 2))


def scenario(folder: Path, every_s: float | None = None) -> Scenario:
    source = Cbr("a", "b", rate_bps=4e6, packet_octets=1000)
    return Scenario(
        "own", network(folder, PROGRAM, *ROUTES), 4, sources=(source,), counters_every_s=every_s
    )


@pytest.fixture(scope="module")
def switch(tmp_path_factory: pytest.TempPathFactory) -> SwitchResult:
    return run(scenario(tmp_path_factory.mktemp("own"), 1.0)).switches["s1"]


def test_objects_of_an_own_program_are_read_by_name(switch: SwitchResult) -> None:
    """4 Mb/s in packets of 1000 octets are one per 2 ms; each arrives 1.8 ms after it was sent."""
    counter = switch.counters["MyIngress.seen"]
    assert counter[1].packets == 2000
    assert counter[1].octets == 1014 * counter[1].packets
    assert counter[3].packets == 0
    assert counter.total == counter[1]
    routed = switch.direct_counters["MyIngress.routed"]
    assert routed.table_name == "MyIngress.route"
    assert [dict(entry.matches) for entry in routed.entries] == [
        {"hdr.ipv4.dst_addr": "0xa000001"},
        {"hdr.ipv4.dst_addr": "0xa000002"},
    ]
    assert (routed[0].packets, routed[1].packets) == (0, counter[1].packets)
    assert routed.misses.packets == 0
    assert switch.registers["MyEgress.longest"][switch.port_to("b")] == 19


def test_an_end_of_a_name_will_do(switch: SwitchResult) -> None:
    assert switch.counters["seen"] is switch.counters["MyIngress.seen"]
    assert switch.registers["longest"] is switch.registers["MyEgress.longest"]


@pytest.mark.parametrize(
    ("field", "name", "message"),
    [
        ("counters", "seem", "no counter 'seem'; valid: MyIngress.seen"),
        ("counters", "routed", r"there is direct_counters\['MyIngress.routed'\]"),
        ("registers", "seen", r"no register 'seen'; there is counters\['MyIngress.seen'\]"),
        ("drops", "full", "no cause of drops 'full'; .*valid: ingress, egress, tm_full"),
        ("ports", 7, "no port 7; valid: 1, 2"),
    ],
)
def test_unknown_names_list_what_exists(
    switch: SwitchResult, field: str, name: object, message: str
) -> None:
    with pytest.raises(WaymarkError, match=message):
        getattr(switch, field)[name]


def test_unknown_cells_and_neighbours_are_refused(switch: SwitchResult) -> None:
    with pytest.raises(WaymarkError, match="no cell 512; valid: 0 to 511"):
        switch.counters["seen"][512]
    with pytest.raises(WaymarkError, match="no entry 2; valid: 0 to 1"):
        switch.direct_counters["routed"][2]
    with pytest.raises(WaymarkError, match=r"no port to 'c'; .*valid: a, b"):
        switch.port_to("c")


def test_ports_and_drops_agree_with_the_queue(switch: SwitchResult) -> None:
    port = switch.ports[switch.port_to("b")]
    assert port.link == "s1->b"
    assert switch.packets == switch.ports[1].rx_packets == switch.counters["seen"][1].packets
    assert port.drops["tm_full"] == switch.drops["tm_full"] > 900
    assert port.tx_packets + port.waiting + port.drops["tm_full"] == switch.packets
    by_bin = switch.drops_over_time["tm_full"]
    assert by_bin.sum() == switch.drops["tm_full"]
    assert list(by_bin[1:] // 10) == [25, 25, 25], "half of 500 per second"
    assert switch.panic is None


def test_counters_over_time_end_where_the_counter_does(switch: SwitchResult) -> None:
    samples = switch.counters["seen"].over_time(1)
    assert samples["time_s"] == [1.0, 2.0, 3.0, 4.0]
    assert samples["packets"] == [500, 1000, 1500, 2000]
    assert switch.counters["seen"].over_time(2)["packets"] == [0, 0, 0, 0]
    assert switch.direct_counters["routed"].over_time(1)["packets"] == samples["packets"]
    assert switch.registers["longest"].over_time(2)["value"] == [19, 19, 19, 19]


def test_nothing_is_sampled_unless_asked_for(tmp_path: Path) -> None:
    switch = run(scenario(tmp_path)).switches["s1"]
    assert switch.counters["seen"].samples is None
    with pytest.raises(WaymarkError, match="counters_every_s"):
        switch.counters["seen"].over_time(1)


def test_too_many_samples_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WaymarkError, match=r"more than 10000 samples; expected at least 0\.0004 s"):
        run(scenario(tmp_path, 1e-6))


def test_a_store_keeps_them(switch: SwitchResult, tmp_path: Path) -> None:
    result = run(scenario(tmp_path, 1.0))
    file = tmp_path / "result.npz"
    with file.open("wb") as opened:
        result_file.write(result, opened)
    for again in (result_file.read(file), pickle.loads(pickle.dumps(result))):
        found = again.switches["s1"]
        assert str(found.table()) == str(switch.table())
        assert found.counters["seen"].over_time(1) == switch.counters["seen"].over_time(1)
        assert found.ports[2] == switch.ports[2]


def test_all_of_it_is_one_table(switch: SwitchResult) -> None:
    rows = {(row["kind"], row["name"], row["cell"]): row for row in switch.table().rows()}
    assert rows["counter", "MyIngress.seen", "1"]["packets"] == switch.packets
    assert rows["register", "MyEgress.longest", "2"]["value"] == 19
    entry = ("direct counter", "MyIngress.routed", "hdr.ipv4.dst_addr=0xa000002")
    assert rows[entry]["packets"] == switch.packets
    assert rows["drop", "tm_full", None]["packets"] == switch.drops["tm_full"]
    assert switch.table().to_arrow().num_rows == len(switch.table())


def test_wide_and_signed_registers_are_whole(tmp_path: Path) -> None:
    program = PROGRAM.replace("register<bit<32>>(512) longest;", "register<int<72>>(512) longest;")
    program = program.replace("bit<32> before;", "int<72> before;").replace(
        "bit<32> now = (bit<32>) standard_metadata.deq_qdepth;", "int<72> now = before - 3;"
    )
    program = program.replace(
        "if (now > before) { longest.write(port, now); }", "longest.write(port, now);"
    )
    made = Scenario(
        "wide", network(tmp_path, program, *ROUTES), 1, sources=(Cbr("a", "b", 8e4),),
        counters_every_s=0.5,
    )  # fmt: skip
    switch = run(made).switches["s1"]
    sent = switch.ports[2].tx_packets
    assert sent > 3
    assert switch.registers["longest"][2] == -3 * sent
    assert switch.registers["longest"].over_time(2)["value"][-1] == -3 * sent


def test_drops_by_a_limit_of_the_engine_show_their_cause(tmp_path: Path) -> None:
    """A program that resubmits every packet without end."""
    program = PROGRAM.replace("route.apply();", "route.apply(); resubmit_preserving_field_list(0);")
    made = Scenario("loop", network(tmp_path, program, *ROUTES), 1, sources=(Cbr("a", "b", 8e4),))
    switch = run(made).switches["s1"]
    assert switch.drops["too_many_passes"] == switch.packets > 0
    assert list(switch.drops_over_time) == ["too_many_passes"]


def test_entries_go_only_to_tables_that_the_program_has(tmp_path: Path) -> None:
    """Without entries, the program matches nothing, and drops every packet."""
    made = Scenario("none", network(tmp_path), 1, sources=(Cbr("a", "b", 1e5),))
    result = run(made)
    switch = result.switches["s1"]
    assert switch.drops["ingress"] == switch.packets > 0
    assert switch.direct_counters["routed"].misses.packets == switch.packets


def test_queues_of_a_program_that_limits_none_are_the_links(tmp_path: Path) -> None:
    result = run(scenario(tmp_path))
    assert result.queues["s1->b"].peak == 20


def test_own_entries_are_checked(tmp_path: Path) -> None:
    wrong = Entry("route", {"hdr.ipv4.dst": "10.0.0.1/32"}, "forward", {"port": 1})
    made = Scenario("wrong", network(tmp_path, PROGRAM, wrong), 1)
    with pytest.raises(WaymarkError, match=r"switches\.s1\.entries\[0\].*hdr\.ipv4\.dst_addr"):
        run(made)


def test_own_entries_come_after_those_that_follow_from_the_topology(small: Topology) -> None:
    elsewhere = Entry("ipv4_route", {"dst_addr": "0.0.0.0/0"}, "direct", {"port": 1})
    switches = tuple(replace(switch, entries=(elsewhere,)) for switch in small.switches)
    flow = Flow("a", "b", "vegas")
    plain, own = (
        run(Scenario("x", each, 5, flows=(flow,)))
        for each in (small, replace(small, switches=switches))
    )
    assert plain.flows[0].delivered.sum() > 500
    assert np.array_equal(plain.flows[0].delivered, own.flows[0].delivered), "longer prefixes win"


def test_a_name_that_several_objects_end_with_is_ambiguous(tmp_path: Path) -> None:
    program = PROGRAM.replace(
        "register<bit<32>>(512) longest;",
        "register<bit<32>>(512) longest; counter(4, CounterType.packets) seen;",
    )
    made = Scenario("two", network(tmp_path, program, *ROUTES), 1)
    with pytest.raises(WaymarkError, match=r"'seen' may be My\w+\.seen or My\w+\.seen"):
        run(made).switches["s1"].counters["seen"]
