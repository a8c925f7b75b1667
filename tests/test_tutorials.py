"""Topologies in the form of the P4 tutorials: what their files mean, and networks of them."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from machine import machine

from controller import config as controller_config
from controller import pipeline
from topologies import config, switches, tutorial
from topologies.plan import plan
from waymark import Topology, WaymarkError
from waymark.topology import Link, Tutorial

EXERCISE = ROOT / "tests" / "topology_files" / "exercise"
FILE = EXERCISE / "pods" / "topology.json"
RUNTIME = EXERCISE / "pods" / "s1-runtime.json"

SCHEMA = pipeline.make("star", *pipeline.compiled(EXERCISE / "star.p4")).schema


def configured(file: Path = FILE, **chosen: str) -> tuple[Path, str]:
    """The controller's configuration that follows, and what is in it."""
    network = tutorial.with_programs(Topology.load(file), chosen)
    written = file.with_name("controller.yaml")
    config.write(plan(network), file, written, None)
    return written, written.read_text()


@pytest.fixture
def exercise(tmp_path: Path) -> Path:
    """A copy of the exercise's topology, to be changed."""
    shutil.copytree(EXERCISE, tmp_path / "exercise")
    return tmp_path / "exercise" / "pods" / "topology.json"


def edit(file: Path, *pairs: tuple[str, str]) -> None:
    text = file.read_text()
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)


def test_paths_are_relative_to_the_exercise() -> None:
    (switch, _) = Topology.load(FILE).switches
    assert switch.runtime == RUNTIME
    assert switch.tutorial == Tutorial(EXERCISE, 0, cpu_port=509)


def test_paths_may_be_relative_to_the_topology(exercise: Path) -> None:
    edit(exercise, ("pods/s1-runtime.json", "s1-runtime.json"))
    (switch, _) = Topology.load(exercise).switches
    assert switch.runtime == exercise.with_name("s1-runtime.json")


def test_a_runtime_file_that_is_not_there_is_reported(exercise: Path) -> None:
    edit(exercise, ("s1-runtime", "s9-runtime"))
    with pytest.raises(WaymarkError, match=r"s9-runtime.json: no such file"):
        configured(exercise)


def test_delays_are_read_as_tc_reads_them() -> None:
    """Text without a unit is in microseconds; a number is in milliseconds."""
    network = Topology.load(FILE)
    assert network.link("h1", "s1") == Link("h1", "s1", 1e9, 0.0, 64)
    assert network.link("s1", "h2") == Link("s1", "h2", 0.5e6, 0.0015, 64, port=2)
    assert network.link("s1", "h3").delay_s == 0.002


@pytest.mark.parametrize("text", ["5 parsecs", "-1", "1.2.3", "", "ms"])
def test_other_delays_are_reported(exercise: Path, text: str) -> None:
    edit(exercise, ('"1500"', json.dumps(text)))
    with pytest.raises(WaymarkError, match=r"topology.json:14: links.1: found \['s1-p2', 'h2'"):
        Topology.load(exercise)


def test_switches_are_where_the_tutorials_clients_look_for_them() -> None:
    network = tutorial.with_programs(Topology.load(FILE), {})
    first, second = plan(network).switches
    assert (first.grpc, first.device_id, first.cpu_port) == ("127.0.0.1:50051", 0, 509)
    assert (second.grpc, second.device_id, second.cpu_port) == ("127.0.0.1:50052", 1, 510)
    command = switches.Embedded().command(first, Path())
    assert command[command.index("--queue-packets") + 1] == "64"


def test_all_that_a_runtime_file_has_is_configured(exercise: Path) -> None:
    file, text = configured(exercise)
    settings = controller_config.load(file)
    assert settings.election_id == 1
    assert list(settings.switches) == ["s1"], "s2 waits for a controller"
    its = settings.switches["s1"]
    assert [(d.table, d.action, d.params) for d in its.defaults] == [
        ("StarIngress.host", "StarIngress.flood", {"group": 1}),
        ("StarEgress.identity", "StarEgress.mark", {"switch_id": 65534}),
    ]
    assert its.entries[0].match == {
        "standard_metadata.ingress_port": 1,
        "hdr.ethernet.ether_type": (0, 0),
    }
    assert [group.to_group().replicas for group in its.multicast_groups] == [((1, 1), (2, 1))]
    (session,) = its.clone_sessions
    assert (session.id, session.octets) == (7, 60)
    assert str(exercise.parents[1] / "star.p4") in text


def test_a_program_is_named_for_all_or_for_one_switch(exercise: Path) -> None:
    shutil.copy(exercise.parents[1] / "star.p4", exercise.with_name("own.p4"))
    own = str(exercise.with_name("own.p4"))
    file, _ = configured(exercise, s2=own)
    assert controller_config.load(file).switches["s2"].program == own
    assert controller_config.load(file).switches["s2"].entries == ()


def test_a_missing_program_is_reported(exercise: Path) -> None:
    (exercise.parents[1] / "star.p4").unlink()
    with pytest.raises(WaymarkError, match=r"no program .*star.p4, the source of build/star.json"):
        configured(exercise)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('StarIngress.host", "match', 'X.host", "match', "table_entries.3.table: found 'X.h"),
        ('{"hdr.ethernet.dst_addr"', '{"dst"', "table_entries.3.match.dst: found 'dst', no"),
        ("StarIngress.forward", "StarEgress.back", "table_entries.3.action_name: found 'St"),
        ('{"port": 1}', '{"prt": 1}', "table_entries.3.action_params.prt: found 'prt', no su"),
        ('{"port": 1}', "{}", "table_entries.3.action_params: port is missing; valid: port"),
        ('"08:00:00:00:00:01"', '["08:00:00:00:00:01", 48]', "table_entries.3.match.hdr.ethernet"),
        ('"priority": 1, ', "", "table_entries.0: priority is missing; valid: 1 or more"),
        ('"multicast_group_id": 1', '"multicast_group_id": 0', "found 0; valid: 1 to 65535"),
        ('"clone_session_entries"', '"register_entries"', "register_entries: unknown key"),
        ('"egress_port": 3', '"egress_port": 600', "replicas.0.egress_port: found 600; valid"),
        ('"bmv2_json": "build/star.json",', "", "bmv2_json: missing; valid: p4c's JSON"),
    ],
)
def test_what_a_program_does_not_have_is_reported(
    exercise: Path, old: str, new: str, told: str
) -> None:
    edit(exercise.with_name("s1-runtime.json"), (old, new))
    with pytest.raises(WaymarkError) as error:
        configured(exercise)
    assert told in str(error.value)
    assert re.search(r"s1-runtime.json:\d+: ", str(error.value))


def test_commands_of_bmv2s_client_are_refused(exercise: Path) -> None:
    edit(exercise, ('"cpu_port": "509"', '"cli_input": "s1-commands.txt"'))
    with pytest.raises(WaymarkError, match=r"topology.json:9: switches.s1.cli_input: .*not supp"):
        Topology.load(exercise)


PROBE = """
import sys
sys.path.insert(0, "tests")
from p4runtime_client import Client
client = Client("127.0.0.1:50051", 1, device_id=0)
print("status", client.arbitrate().status.code)
client.close()
other = Client("127.0.0.1:50052", 1, device_id=1)
print("status", other.arbitrate().status.code)
other.close()
"""


def sniffed(machine: Any, node: str, count: int) -> list[str]:
    """The words that start a capture of ICMP packets at a host."""
    words = ("timeout", "10", "tcpdump", "-c", str(count), "-xx", "-i", "eth0", "--immediate-mode")
    return machine.waymark_words("exec", node, *words, "icmp")


def test_an_exercise_comes_up_and_behaves() -> None:
    with machine() as here:
        up = here.waymark("up", str(FILE), "--name", "star")
        assert up.returncode == 0, up.stderr
        assert up.stderr == "warning: h1: false: exit code 1\n"
        routes = here.waymark("exec", "h1", "ip", "route").stdout
        assert "10.9.0.0/24 via 10.0.0.2" in routes
        # ARP is flooded by the default action, to the group, and answered to a known address.
        ping = here.waymark("exec", "h1", "ping", "-c", "3", "-i", "0.2", "10.0.0.2")
        assert " 3 received" in ping.stdout, ping.stdout
        # The default action at egress marks the source address.
        neighbour = here.waymark("exec", "h1", "ip", "neigh").stdout
        assert "10.0.0.2 dev eth0 lladdr 08:00:00:00:00:02" in neighbour
        plan = here.waymark(
            "exec",
            "s1",
            *here.waymark_words("controller", "plan", "/run/waymark/star/controller.yaml"),
        )
        assert plan.stdout == "s1: nothing to do\n", plan.stdout + plan.stderr
        # The tutorials' controllers come with election id 1 and become primary.
        probe = here.waymark("exec", "s1", sys.executable, "-c", PROBE)
        assert probe.stdout == "status 0\nstatus 0\n", probe.stdout + probe.stderr
        # Replies to h1 are cloned to h3, cut to 60 octets of 98.
        if shutil.which("tcpdump") is not None:
            with here.running(*sniffed(here, "h3", 1)) as capture:
                capture.until("listening on")
                here.waymark("exec", "h1", "ping", "-c", "2", "-i", "0.2", "10.0.0.2")
                _, shown = capture.wait()
            dump = [line for line in shown.splitlines() if "0x0" in line]
            assert dump[0].split()[4:7] == ["fffe", "0000", "0002"], shown
            assert len(dump) == 4, shown
        assert here.waymark("down").returncode == 0
        assert here.changes() == []
