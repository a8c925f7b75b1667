"""Experiments and configurations with the programs for Tofino: units, limits, numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
from conftest import Cli

from controller import config
from controller.entries import entries_for as entries_of_a_configuration
from experiments.chan import fig3_6, fig6_4
from experiments.lien import fig4_2
from topologies import config as network_config
from topologies.plan import plan
from topologies.switches import Embedded
from waymark import (
    MODERN,
    Experiment,
    Flow,
    Host,
    Red,
    Scenario,
    Switch,
    Topology,
    WaymarkError,
    duplex,
    run,
)
from waymark.addressing import derive
from waymark.architecture import T2NA, TNA, V1MODEL, Architecture
from waymark.drai import drai_ranges
from waymark.entries import entries_for
from waymark.measure import on_architecture
from waymark.program import of_project
from waymark.result import Result
from waymark.scenario import to_core

TOFINO = [TNA, T2NA]
RATE_BPS = 1.6e6


def tables_of(name: str) -> list[str]:
    return [table.split(".")[-1] for table in of_project(name).tables]


# -- units --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("architecture", "cells"), [(V1MODEL, 1), (TNA, 13), (T2NA, 6)])
def test_a_packet_of_1000_octets_takes_its_cells(architecture: Architecture, cells: int) -> None:
    """1,023 octets in the buffer: Ethernet and the bridged header besides."""
    assert architecture.depth_of(1000) == cells


@pytest.mark.parametrize("architecture", TOFINO)
@pytest.mark.parametrize("limit", [2, 5, 15, 50])
def test_a_queue_of_full_packets_has_the_index_that_it_has_in_packets(
    architecture: Architecture, limit: int
) -> None:
    def index(of: Architecture, waiting: int) -> int:
        depth = waiting * of.depth_of(1000)
        found = [
            each.index
            for each in drai_ranges(RATE_BPS, limit, of, 1000)
            if each.queue_depth[0] <= depth <= each.queue_depth[1] and each.window_octets[0] == 0
        ]
        assert len(found) == 1
        return found[0]

    for waiting in range(limit):
        assert index(architecture, waiting) == index(V1MODEL, waiting)


@pytest.mark.parametrize(
    ("rate_bps", "unit"), [(1e6, []), (10e6, []), (100e6, ["shift_8"]), (100e9, ["shift_16"])]
)
def test_octets_of_a_window_are_in_a_unit_in_which_they_fit(
    small: Topology, rate_bps: float, unit: list[str]
) -> None:
    network = small.with_link("r1", "r2", rate_bps=rate_bps)
    switch = replace(network.switch("r1"), feedback=frozenset({"drai"}))
    entries = entries_for(network, derive(network), switch, tables_of("tna/drai.p4"), TNA)
    port = derive(network).port_to("r1", "r2")
    of_port = [entry for entry in entries if entry.match.get("port") == port]
    assert [entry.action for entry in of_port if entry.table == "window_unit"] == unit
    octets = [e.match["window_octets"] for e in of_port if e.table == "drai"]
    assert max(high for _, high in octets if isinstance(high, int)) == 2**16 - 1  # type: ignore[misc]


# -- limits and ports ---------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", TOFINO)
def test_each_port_has_the_limit_of_its_own_link(
    small: Topology, architecture: Architecture
) -> None:
    one = Scenario("s", small.with_architecture(architecture.name), 1, flows=(Flow("a", "b"),))
    core = to_core(one, {name: of_project(name).tables for name in one.programs})
    switch = core["switches"]["r1"]
    assert switch["port_capacity"] == {1: 49, 2: 9}
    assert "port_queue" not in {entry["table"] for entry in switch["entries"]}


@pytest.mark.parametrize("architecture", [V1MODEL, *TOFINO])
def test_a_queue_holds_what_ns2_s_limit_lets_wait(
    small: Topology, architecture: Architecture
) -> None:
    network = small.with_architecture(architecture.name)
    result = run(Scenario("s", network, 20, flows=(Flow("a", "b", "reno"),)))
    assert result.queues["r1->r2"].peak == 9
    assert result.flows[0].losses > 0


def test_no_link_has_a_port_that_recirculates() -> None:
    hosts = tuple(Host(f"h{i}") for i in range(8))
    links = tuple(link for host in hosts for link in duplex(host.name, "r", 1e6, 0.001))
    network = Topology(hosts, (Switch("r"),), links)
    assert [*derive(network).ports["r"]] == [*range(1, 9)]
    assert [*derive(network.with_architecture("t2na")).ports["r"]] == [1, 2, 3, 4, 5, 8, 9, 10]


def test_a_program_that_is_not_there_for_an_architecture_is_refused(
    small: Topology, cli: Cli
) -> None:
    with pytest.raises(WaymarkError, match=r"ecn\.p4: no such program in p4src/tna/; valid:"):
        small.with_program("v1model/ecn.p4").with_architecture("tna")
    assert cli("run", "chan/fig3.6", "--arch", "dpdk").code != 0


def test_red_of_tofino_has_no_average(small: Topology) -> None:
    network = small.with_link("r1", "r2", red=Red(2, 5, 0.1)).with_architecture("tna")
    with pytest.raises(WaymarkError, match=r"programs for tna have no average; valid: w: 0"):
        run(Scenario("s", network, 1, flows=(Flow("a", "b"),)))


@pytest.mark.parametrize("architecture", TOFINO)
def test_red_of_tofino_keeps_the_queue_short(small: Topology, architecture: Architecture) -> None:
    flows = (Flow("a", "b", "newreno", profile=MODERN),)

    def waiting(red: Red | None) -> float:
        network = small.with_queues(50).with_link("r1", "r2", red=red)
        network = network.with_architecture(architecture.name)
        result = run(Scenario("s", network, 20, flows=flows))
        return result.mean_waiting("r1->r2", 5, 20)

    assert waiting(Red(5, 15, 0.1, w=0)) < 15 < waiting(None)


@pytest.mark.parametrize("architecture", TOFINO)
def test_a_switch_on_interfaces_has_the_limits_of_its_links(
    small: Topology, architecture: Architecture, tmp_path: Path
) -> None:
    network = plan(small.with_architecture(architecture.name))
    command = Embedded().command(network.switches[0], tmp_path)
    limits = [command[i + 1] for i, word in enumerate(command) if word == "--port-queue"]
    assert limits == ["1=49", "2=9"]
    assert command[command.index("--cpu-port") + 1] == str(architecture.cpu_port)
    written = tmp_path / "controller.yaml"
    assert network_config.write(network, Path("small.yaml"), written, None)
    its_program = f"{architecture.name}/waymark.p4"
    switch = config.load(written).switches["r1"]
    entries = entries_of_a_configuration(switch, tables_of(its_program), architecture)
    assert "port_queue" not in {entry.table for entry in entries}


# -- the controller -----------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", TOFINO)
def test_the_controller_writes_marks_and_no_queue_limit(
    architecture: Architecture, tmp_path: Path
) -> None:
    program = f"{architecture.name}/waymark.p4"
    file = tmp_path / "hop.yaml"
    file.write_text(
        "switches:\n  s1:\n    address: 127.0.0.1:9559\n"
        f"    program: {program}\n    ports:\n"
        '      1: {mac: "02:00:00:00:00:01", rate: 100 Mb/s, queue_limit: 50, marks: [drai, ci]}\n'
    )
    switch = config.load(file).switches["s1"]
    entries = entries_of_a_configuration(switch, tables_of(program), architecture)
    assert {entry.table for entry in entries} == {"port_feedback", "window_unit", "drai"}
    depths = [e.match["queue_depth"] for e in entries if e.table == "drai"]
    full = architecture.depth_of(1500)
    assert (0, 13 * full - 1) in depths  # up to 12 of 49


# -- the same numbers ---------------------------------------------------------------------------


def throughputs_kbps(experiment: Experiment, label: str, name: str, seeds: range) -> list[float]:
    def one(seed: int) -> Result:
        return run(on_architecture(experiment.scenarios("quick", seed)[label], name))

    return [r.throughput_bps(0, 0, r.end_s) / 1e3 for r in map(one, seeds)]


@pytest.mark.parametrize("name", ["tna", "t2na"])
def test_rovegas_gets_what_it_gets_on_v1model(name: str) -> None:
    """AQT within 1 µs + 0.03 %."""
    seeds = range(1, 4)
    for label in ("vegas", "rovegas"):
        known = throughputs_kbps(fig3_6.EXPERIMENT, label, "v1model", seeds)
        found = throughputs_kbps(fig3_6.EXPERIMENT, label, name, seeds)
        assert min(known) <= fmean(found) <= max(known), label


@pytest.mark.parametrize("name", ["tna", "t2na"])
def test_controls_without_marks_get_exactly_what_they_get_on_v1model(name: str) -> None:
    for label in ("Reno, B = 50", "NewReno, B = 15", "Vegas, B = 15"):
        pair = [
            throughputs_kbps(fig4_2.EXPERIMENT, label, n, range(1, 2)) for n in ("v1model", name)
        ]
        assert pair[0] == pair[1], label


@pytest.mark.parametrize("name", ["tna", "t2na"])
def test_muzha_gets_what_it_gets_on_v1model(name: str) -> None:
    """With a queue of 15 packets it depends on when the flow starts within a DRAI window."""

    def starting(buffer: int, name: str, start_s: float) -> float:
        one = fig4_2.EXPERIMENT.scenarios("quick", 1)[f"Muzha, B = {buffer}"]
        flow = replace(one.flows[0], start_s=start_s)
        result = run(on_architecture(replace(one, flows=(flow,)), name))
        return result.throughput_bps(0, 0, result.end_s)

    assert starting(50, name, 0) == pytest.approx(starting(50, "v1model", 0), rel=0.001)
    starts_s = [n * 0.004 for n in range(9)]
    known = [starting(15, "v1model", at) for at in starts_s]
    found = [starting(15, name, at) for at in starts_s]
    assert min(known) <= min(found) <= max(found) <= max(known)


@pytest.mark.parametrize("name", ["tna", "t2na"])
def test_redvegas_gets_what_it_gets_on_v1model(name: str) -> None:
    """CI on the packets that waited when another was refused."""
    seeds = range(1, 3)
    labels = [
        label for label in fig6_4.EXPERIMENT.scenarios("quick", 1) if label.startswith("RedVegas")
    ]
    assert labels
    for label in labels:
        known = throughputs_kbps(fig6_4.EXPERIMENT, label, "v1model", seeds)
        found = throughputs_kbps(fig6_4.EXPERIMENT, label, name, seeds)
        assert min(known) <= fmean(found) <= max(known), label
