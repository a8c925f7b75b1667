"""Topologies: the files in the tree, and what is wrong with wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import ROOT

from waymark import ConstantDrop, Host, Link, Red, Switch, Topology, WaymarkError, duplex
from waymark.addressing import derive
from waymark.dual_pi2 import DualPi2
from waymark.trim import Trim

FILES = sorted((ROOT / "topologies").glob("*.yaml"))
HOSTS = (Host("a"), Host("b"))
SWITCHES = (Switch("r"),)
LINKS = (*duplex("a", "r", 1e6, 0.001), *duplex("r", "b", 1e6, 0.001))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_file_is_a_connected_topology(path: Path) -> None:
    derive(Topology.load(path))


def test_the_paper_s_bottleneck_is_as_printed() -> None:
    network = Topology.load(ROOT / "topologies" / "bottleneck.yaml")
    assert network.link("r1", "r2") == Link("r1", "r2", 1.6e6, 0.02, 50)
    assert network.link("s1", "r1") == Link("s1", "r1", 10e6, 0.001, 50)
    assert len(network.links) == 10


def test_a_changed_link_leaves_the_reverse_direction_unchanged() -> None:
    network = Topology.load(ROOT / "topologies" / "bottleneck.yaml")
    changed = network.with_link("r2", "r1", rate_bps=8000)
    assert changed.link("r2", "r1").rate_bps == 8000
    assert changed.link("r1", "r2") == network.link("r1", "r2")
    assert {link.queue_packets for link in network.with_queues(10).links} == {10}


def test_back_overrides_one_direction(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(
        "hosts: {a: {}, b: {}}\n"
        "links: [{ends: [a, b], rate: 1 Mb/s, delay: 1 ms, back: {rate: 64 kb/s}}]"
    )
    network = Topology.load(file)
    assert network.link("a", "b").rate_bps == 1e6
    assert network.link("b", "a") == Link("b", "a", 64e3, 0.001)


def test_ecn_is_of_both_directions_unless_said_otherwise(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    link = "ends: [a, b], rate: 1 Mb/s, delay: 1 ms, ecn: 5"
    file.write_text(f"hosts: {{a: {{}}, b: {{}}}}\nlinks: [{{{link}, back: {{ecn: 9}}}}]")
    network = Topology.load(file)
    assert [network.link(*ends).ecn_threshold for ends in ("ab", "ba")] == [5, 9]


def test_trimming_is_of_both_directions_unless_said_otherwise(tmp_path: Path) -> None:
    file = tmp_path / "net.yaml"
    link = "ends: [a, b], rate: 1 Mb/s, delay: 1 ms, trim: {octets: 80}"
    file.write_text(
        f"hosts: {{a: {{}}, b: {{}}}}\nlinks: [{{{link}, back: {{trim: {{queue: 9}}}}}}]"
    )
    network = Topology.load(file)
    assert network.link("a", "b").trim == Trim(octets=80)
    assert network.link("b", "a").trim == Trim(queue_packets=9)


def test_l4s_is_of_both_directions_unless_said_otherwise(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    link = "ends: [a, b], rate: 1 Mb/s, delay: 1 ms, dual_pi2: {target: 20 ms}, weights: [1, 9]"
    file.write_text(
        f"hosts: {{a: {{}}, b: {{}}}}\nlinks: [{{{link}, back: {{weights: [1], dual_pi2: {{}}}}}}]"
    )
    network = Topology.load(file)
    assert network.link("a", "b").dual_pi2 == DualPi2(target_s=0.02)
    assert network.link("b", "a").dual_pi2 == DualPi2()
    assert [network.link(*ends).weights for ends in ("ab", "ba")] == [(1, 9), (1,)]


def test_marks_of_one_direction_may_be_off_in_the_reverse_direction(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    link = "ends: [a, b], rate: 1 Mb/s, delay: 1 ms, dual_pi2: {}, ecn: 3"
    back = "back: {dual_pi2: off, ecn: off}"
    file.write_text(f"hosts: {{a: {{}}, b: {{}}}}\nlinks: [{{{link}, {back}}}]")
    network = Topology.load(file)
    there, here = network.link("a", "b"), network.link("b", "a")
    assert (there.dual_pi2, there.ecn_threshold) == (DualPi2(), 3)
    assert (here.dual_pi2, here.ecn_threshold) == (None, None)
    file.write_text(f"hosts: {{a: {{}}, b: {{}}}}\nlinks: [{{{link}, back: {{ecn: of}}}}]")
    with pytest.raises(WaymarkError, match=r"t\.yaml:2: links\.0\.back\.ecn: found 'of'; .*or off"):
        Topology.load(file)


RED = "red: {thmin: 5, thmax: 15, pmax: 0.1}"


@pytest.mark.parametrize(
    ("settings", "there", "back"),
    [
        (RED, Red(5, 15, 0.1), Red(5, 15, 0.1)),
        (f"{RED}, back: {{red: off}}", Red(5, 15, 0.1), None),
        (f"{RED}, back: {{drop: 0.01}}", Red(5, 15, 0.1), ConstantDrop(0.01)),
        (
            "drop: 0.5, back: {red: {thmin: 1, thmax: 2, pmax: 1, w: 2}}",
            ConstantDrop(0.5),
            Red(1, 2, 1, 2),
        ),
        ("drop: 0.5, back: {queue: 9}", ConstantDrop(0.5), ConstantDrop(0.5)),
    ],
)
def test_red_is_of_both_directions_unless_said_otherwise(
    tmp_path: Path, settings: str, there: Red, back: Red | None
) -> None:
    file = tmp_path / "t.yaml"
    link = f"ends: [a, b], rate: 1 Mb/s, delay: 1 ms, {settings}"
    file.write_text(f"hosts: {{a: {{}}, b: {{}}}}\nlinks: [{{{link}}}]")
    network = Topology.load(file)
    assert network.link("a", "b").red == there
    assert network.link("b", "a").red == back


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("red: {thmin: 5}", "t.yaml:2: links.0.red.thmax: missing; valid: packets, above thmin"),
        ("red: off", "t.yaml:2: links.0.red: found 'off'; valid: keys of thmin, thmax, pmax, w"),
        ("red: {thmin: 5, thmax: 4, pmax: 1}", "link a->b: RED from 5 to 4 packets, expected"),
        ("drop: 0", "t.yaml:2: links.0.drop: found 0; valid: a probability above 0, at most 1"),
        (f"drop: 0.1, {RED}", "t.yaml:2: links.0.drop: found with red; valid: one of red and"),
    ],
)
def test_impossible_red_is_reported(tmp_path: Path, settings: str, told: str) -> None:
    file = tmp_path / "t.yaml"
    link = f"ends: [a, b], rate: 1 Mb/s, delay: 1 ms, {settings}"
    file.write_text(f"hosts: {{a: {{}}, b: {{}}}}\nlinks: [{{{link}}}]")
    with pytest.raises(WaymarkError) as refused:
        Topology.load(file)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("hosts", "switches", "links", "told"),
    [
        (HOSTS, (Switch("a"),), LINKS, "two nodes have the name 'a'"),
        (HOSTS, SWITCHES, duplex("a", "x", 1e6, 0), "no node 'x' (nodes: a, b, r)"),
        (HOSTS, SWITCHES, (*LINKS, *duplex("a", "r", 1e6, 0)), "two links a->r"),
        (HOSTS, SWITCHES, LINKS[:1], "link a->r has no reverse link; add r->a"),
        (HOSTS, SWITCHES, duplex("a", "a", 1e6, 0), "link a->a connects a to itself"),
        (HOSTS, SWITCHES, duplex("a", "r", 0.5, 0), "rate 0.5 b/s, expected at least 1"),
        (HOSTS, SWITCHES, duplex("a", "r", 1e6, -1), "delay -1 s is negative"),
        (HOSTS, SWITCHES, duplex("a", "r", 1e6, 0, 1), "queue limit 1, expected at least 2"),
        (HOSTS, SWITCHES, duplex("a", "r", 1e6, 0, 50, 2), "loss 2, expected 0 to 1"),
        (HOSTS, SWITCHES, (Link("a", "r", 1e6, 0, ecn_threshold=-1), LINKS[1]), "threshold -1"),
        (HOSTS, SWITCHES, (Link("a", "r", 1e6, 0, weights=(0,)), LINKS[1]), "not all 0"),
        (
            *(HOSTS, SWITCHES),
            (Link("a", "r", 1e6, 0, trim=Trim(octets=77)), LINKS[1]),
            "trimmed to 77 octets, expected 78 to 65535",
        ),
        (
            *(HOSTS, SWITCHES),
            (Link("a", "r", 1e6, 0, dual_pi2=DualPi2(alpha_hz=16)), LINKS[1]),
            "DualPI2's alpha_hz 16, expected 0 to 15.2 Hz",
        ),
        (HOSTS, SWITCHES, (Link("a", "r", 1e6, 0, port=600), LINKS[1]), "port 600, expected 1 to"),
        (HOSTS, SWITCHES, LINKS[:2], "host b has no link, expected at least one"),
        (HOSTS, (Switch("r", feedback=frozenset({"x"})),), LINKS, "unknown feedback 'x'"),
    ],
)
def test_errors_are_reported(
    hosts: tuple[Host, ...], switches: tuple[Switch, ...], links: tuple[Link, ...], told: str
) -> None:
    with pytest.raises(WaymarkError) as error:
        Topology(hosts, switches, links)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "t.yaml:1: not YAML"),
        ("[]", "t.yaml:1: found a list; valid: keys of description, hosts, switches, links"),
        ("hosts: {}\nlink: []", "t.yaml:2: link: unknown key, did you mean links?; valid: descr"),
        ("links:\n- ends: [a]", "t.yaml:2: links.0.ends.1: missing; valid: two nodes, such as"),
        (
            "links:\n- {ends: [a, b], rate: 1 Mb/s}",
            "t.yaml:2: links.0.delay: missing; valid: a time with a unit, one way",
        ),
        (
            "links:\n- {ends: [a, b], rate: 1 MB/s, delay: 0}",
            "t.yaml:2: links.0.rate: found '1 MB/s' (not a rate); valid: bits per second",
        ),
        ("hosts:\n  a: {address: 10.0.0.1/99}", "t.yaml:2: hosts.a.address: found '10.0.0.1/99'"),
        (
            "hosts: {}\nswitches: {}\nlinks:\n- [h1, s1-p1, soon]",
            "t.yaml:4: links.0: found ['h1', 's1-p1', 'soon']; valid: a list of [end, end, delay",
        ),
    ],
)
def test_errors_in_files_are_reported_with_their_place(
    tmp_path: Path, text: str, told: str
) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(text)
    with pytest.raises(WaymarkError) as error:
        Topology.load(file)
    assert told in str(error.value)
    assert str(file) in str(error.value)


def test_a_missing_topology_is_reported(tmp_path: Path) -> None:
    with pytest.raises(WaymarkError, match="no such file"):
        Topology.load(tmp_path / "none.yaml")


def test_the_tutorials_form_is_read() -> None:
    network = Topology.load(ROOT / "tests" / "topology_files" / "tutorial.json")
    addressing = derive(network)
    assert network.link("s1", "s2") == Link("s1", "s2", 2e6, 0.01, 64, port=3)
    assert network.link("h2", "s2").delay_s == 0.005
    assert dict(addressing.ports["s1"]) == {1: "h1", 3: "s2"}
    assert str(addressing.ipv4["h2"]) == "10.0.2.2"
    assert addressing.mac["h1", 1] == "08:00:00:00:01:11"
    assert len(network.hosts[0].commands) == 2


def test_ports_and_addresses_are_as_stated(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(
        "hosts: {a: {}, b: {address: 10.0.0.1/24}}\nswitches: {r: {}}\nlinks:\n"
        "- {ends: [a, r], rate: 1 Mb/s, delay: 0}\n"
        "- {ends: ['r:1', b], rate: 1 Mb/s, delay: 0}\n"
    )
    addressing = derive(Topology.load(file))
    assert dict(addressing.ports["r"]) == {1: "b", 2: "a"}
    assert str(addressing.ipv4["a"]) == "10.0.0.2"


def test_hosts_that_cannot_reach_each_other_are_reported() -> None:
    network = Topology(
        (*HOSTS, Host("c"), Host("d")), SWITCHES, (*LINKS, *duplex("c", "d", 1e6, 0))
    )
    with pytest.raises(WaymarkError, match="no path from"):
        derive(network)
