"""Switches in virtual time that hold what a runtime file of the P4 tutorials says."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from waymark import CHAN, Cbr, Flow, Host, Scenario, Switch, Topology, WaymarkError, duplex, run
from waymark.addressing import derive
from waymark.entries import entries_for

PLAIN = "v1model/plain.p4"


def tutorial_entry(entry: Any) -> dict[str, Any]:
    """An entry as a runtime file has it: a prefix is [address, length], all else [value]."""

    def value(key: str, given: Any) -> Any:
        address, _, length = str(given).partition("/")
        return [address, int(length)] if key == "dst_addr" else [given]

    return {
        "table": entry.table,
        "match": {key: value(key, given) for key, given in entry.match.items()},
        "action_name": entry.action,
        "action_params": dict(entry.params),
    }


def with_files(network: Topology, folder: Path) -> Topology:
    """The network, each switch of which holds by a file what else follows from the topology."""
    addressing = derive(network)
    tables = ("ipv4_route", "neighbour", "port_queue")
    switches: list[Switch] = []
    for switch in network.switches:
        entries = entries_for(network, addressing, switch, tables)
        file = folder / f"{switch.name}-runtime.json"
        file.write_text(json.dumps({"table_entries": [tutorial_entry(e) for e in entries]}))
        switches.append(replace(switch, runtime=file))
    return replace(network, switches=tuple(switches))


def test_a_runtime_file_does_what_the_same_entries_do(small: Topology, tmp_path: Path) -> None:
    plain = small.with_program(PLAIN)
    flow = Flow("a", "b", "vegas", CHAN)
    derived, written = (
        run(Scenario("runtime", network, 10, flows=(flow,)))
        for network in (plain, with_files(plain, tmp_path))
    )
    assert derived.flows[0].delivered.sum() > 1000
    assert np.array_equal(derived.flows[0].delivered, written.flows[0].delivered)
    assert derived.packet_hops == written.packet_hops


def test_without_its_entries_a_switch_forwards_nothing(small: Topology, tmp_path: Path) -> None:
    """It does not fall back to what follows from the topology."""
    file = tmp_path / "empty.json"
    file.write_text('{"table_entries": []}')
    switches = tuple(Switch(s.name, PLAIN, runtime=file) for s in small.switches)
    flow = Flow("a", "b", "vegas", CHAN)
    result = run(Scenario("empty", replace(small, switches=switches), 5, flows=(flow,)))
    assert result.flows[0].sent.sum() > 0
    assert result.flows[0].delivered.sum() == 0


COPIES = """\
#include <core.p4>
#include <v1model.p4>
header ethernet_h { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_h {
    bit<8> version_ihl; bit<8> tos; bit<16> length; bit<32> id_flags; bit<8> ttl; bit<8> protocol;
    bit<16> checksum; bit<32> src; bit<32> dst;
}
struct headers { ethernet_h ethernet; ipv4_h ipv4; }
struct metadata { }
parser P(packet_in p, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start { p.extract(h.ethernet); p.extract(h.ipv4); transition accept; }
}
control V(inout headers h, inout metadata m) { apply { } }
control I(inout headers h, inout metadata m, inout standard_metadata_t s) {
    action drop() { mark_to_drop(s); }
    action copies(bit<16> group) { s.mcast_grp = group; }
    table by_prefix {
        key = { h.ipv4.dst : lpm; h.ipv4.protocol : ternary; h.ipv4.ttl : range; }
        actions = { copies; drop; }
        default_action = drop();
    }
    table fallback {
        key = { h.ipv4.dst : exact; }
        actions = { copies; drop; }
        default_action = drop();
    }
    apply { if (!by_prefix.apply().hit) { fallback.apply(); } }
}
control E(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control C(inout headers h, inout metadata m) { apply { } }
control D(packet_out p, in headers h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""


def copying(tmp_path: Path, runtime: dict[str, Any]) -> Topology:
    """Three hosts at one switch, which makes copies as its runtime file says."""
    program, file = tmp_path / "copies.p4", tmp_path / "s1-runtime.json"
    program.write_text(COPIES)
    file.write_text(json.dumps(runtime))
    links = (duplex(host, "s1", 10e6, 0.001, queue_packets=5) for host in "abc")
    return Topology(
        hosts=tuple(map(Host, "abc")),
        switches=(Switch("s1", str(program), runtime=file),),
        links=tuple(link for pair in links for link in pair),
    )


GROUP = {
    "multicast_group_id": 7,
    "replicas": [{"egress_port": 2, "instance": 1}, {"egress_port": 3, "instance": 2}],
}
DEFAULT = {
    "table": "I.fallback",
    "default_action": True,
    "action_name": "I.copies",
    "action_params": {"group": 7},
}
MATCHED = {
    "table": "by_prefix",
    "match": {
        "h.ipv4.dst": ["10.0.0.0", 24],
        "h.ipv4.protocol": [17, 255],
        "h.ipv4.ttl": [1, 255],
    },
    "priority": 1,
    "action_name": "copies",
    "action_params": {"group": 7},
}


@pytest.mark.parametrize("entry", [DEFAULT, MATCHED], ids=["default", "matched"])
def test_groups_and_default_actions_are_set(tmp_path: Path, entry: dict[str, Any]) -> None:
    """Of each packet from a to b, one copy goes to b and one to c."""
    network = copying(tmp_path, {"table_entries": [entry], "multicast_group_entries": [GROUP]})
    result = run(Scenario("copies", network, 2, sources=(Cbr("a", "b", 1e5),)))
    [source] = result.sources
    assert source.sent.sum() > 20
    assert source.delivered.sum() == pytest.approx(source.sent.sum(), abs=1)
    hops = result.packets * 3
    assert result.packet_hops == pytest.approx(hops, abs=2)
    nothing = copying(tmp_path, {"table_entries": []})
    result = run(Scenario("nothing", nothing, 2, sources=(Cbr("a", "b", 1e5),)))
    assert result.sources[0].delivered.sum() == 0


def test_the_queues_of_a_program_without_limits_are_the_links(tmp_path: Path) -> None:
    network = copying(
        tmp_path, {"table_entries": [DEFAULT], "multicast_group_entries": [GROUP]}
    ).with_link("s1", "b", rate_bps=1e5)
    result = run(Scenario("full", network, 5, sources=(Cbr("a", "b", 1e6),)))
    assert 3 <= result.queues["s1->b"].peak <= 5
    assert result.sources[0].delivered.sum() < result.sources[0].sent.sum() / 5


@pytest.mark.parametrize(
    ("runtime", "told"),
    [
        ({"table_entries": [DEFAULT | {"table": "nothing"}]}, "no such table"),
        ({"table_entries": [DEFAULT | {"action_name": "go"}]}, "no such action"),
        ({"tables": []}, "tables"),
    ],
)
def test_what_the_program_does_not_have_is_reported_with_file_and_line(
    tmp_path: Path, runtime: dict[str, Any], told: str
) -> None:
    network = copying(tmp_path, runtime)
    with pytest.raises(WaymarkError, match=r"s1-runtime\.json:1: ") as raised:
        run(Scenario("wrong", network, 1, sources=(Cbr("a", "b", 1e5),)))
    assert told in str(raised.value)


def test_red_beside_a_runtime_file_is_refused(tmp_path: Path) -> None:
    network = copying(tmp_path, {"table_entries": []}).with_link("s1", "b", ecn_threshold=3)
    told = "link s1->b: RED, ECN thresholds, DualPI2 and trimming need"
    with pytest.raises(WaymarkError, match=told):
        run(Scenario("ecn", network, 1))


def test_a_table_of_the_users_that_is_named_as_one_of_p4src_is_explained(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "p4src", tmp_path / "p4src")
    forwarding = tmp_path / "p4src" / "controls" / "forwarding.p4"
    text = forwarding.read_text()
    assert '@name("dst_addr")' in text
    forwarding.write_text(text.replace('@name("dst_addr")', '@name("destination")'))
    program = tmp_path / "p4src" / PLAIN
    network = Topology(
        hosts=(Host("a"), Host("b")),
        switches=(Switch("s1", str(program)),),
        links=(*duplex("a", "s1", 1e6, 0.001), *duplex("s1", "b", 1e6, 0.001)),
    )
    with pytest.raises(WaymarkError) as raised:
        run(Scenario("own", network, 1, flows=(Flow("a", "b", "reno"),)))
    assert str(raised.value).splitlines() == [
        "scenario own: switches.s1.entries[0]: no key of this table is named `dst_addr` "
        "(valid: destination)",
        f"Waymark derived this entry from the topology, because {program} has a table ipv4_route:",
        "  ipv4_route dst_addr=10.0.0.1/32 -> direct(port=1)",
        "If the table is your own, rename it, or give the switch a runtime file: then Waymark "
        "derives no entries.",
    ]
