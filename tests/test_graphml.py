"""Networks in GraphML become topology files."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Cli

from waymark import Topology, WaymarkError, graphml
from waymark.fabric import Cable

# Two places 111.2 km apart (a degree of latitude), one without a place, two links between the same
# nodes and one from a node to itself. The labels differ only in characters that names do not have.
ZOO = """\
<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d3" />
  <key attr.name="label" attr.type="string" for="node" id="d2" />
  <key attr.name="Longitude" attr.type="double" for="node" id="d1" />
  <key attr.name="Latitude" attr.type="double" for="node" id="d0" />
  <graph edgedefault="undirected">
    <node id="0">
      <data key="d0">47.0</data><data key="d1">8.0</data><data key="d2">Zürich</data>
    </node>
    <node id="1"><data key="d0">48</data><data key="d1">8</data><data key="d2">Zu rich</data></node>
    <node id="2"><data key="d2">1 East</data></node>
    <edge source="0" target="1"><data key="d3">2.5e9</data></edge>
    <edge source="1" target="0"><data key="d3">1e9</data></edge>
    <edge source="2" target="2" />
    <edge source="1" target="2" />
  </graph>
</graphml>
"""
CABLE = Cable(100e6, 1e-3, 50)


def write(folder: Path, text: str) -> Path:
    file = folder / "zoo.graphml"
    file.write_text(text)
    return file


def test_rates_and_delays_are_those_of_the_file_or_of_the_command(tmp_path: Path) -> None:
    network = graphml.load(write(tmp_path, ZOO), CABLE)
    assert [switch.name for switch in network.switches] == ["Zurich", "Zurich2", "n1East"]
    assert [host.name for host in network.hosts] == ["Zurich-h", "Zurich2-h", "n1East-h"]
    far = network.link("Zurich2", "Zurich")
    assert (far.rate_bps, far.delay_s, far.queue_packets) == (2.5e9, 0.000556, 50)
    near = network.link("Zurich2", "n1East")
    assert (near.rate_bps, near.delay_s) == (100e6, 1e-3)
    assert len(network.links) == 2 * (3 + 2)


def test_the_command_writes_a_topology_file(cli: Cli, tmp_path: Path) -> None:
    file, made = write(tmp_path, ZOO), tmp_path / "zoo.yaml"
    shown = cli("topology", file, "--rate", "10 Mb/s", "--out", made)
    assert shown.code == 0, shown.err
    assert Topology.load(made).link("Zurich-h", "Zurich").rate_bps == 10e6
    assert "--trunk is not valid" in cli("topology", file, "--trunk", "1 Gb/s").err


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("</graphml>", "", "zoo.graphml:19: not XML: no element found"),
        ("<graph ", "<tree ", "not XML: mismatched tag"),
        ('target="1"', 'target="7"', "a link to '7', which is no node"),
        ('<edge source="1" target="2" />', "", "no path to node '1 East'; expected a connected"),
        ("http://graphml.graphdrawing.org/xmlns", "x:y", "found <graphml> without a <graph>"),
    ],
)
def test_a_file_without_a_network_is_refused(old: str, new: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(WaymarkError) as raised:
        graphml.load(write(tmp_path, ZOO.replace(old, new, 1)), CABLE)
    assert told in str(raised.value)
