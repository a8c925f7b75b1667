"""Networks from GraphML, as the Internet Topology Zoo has them (http://graphml.graphdrawing.org).

Each node becomes a switch with one host. A link's rate is ``LinkSpeedRaw`` in bits per second. Its
delay is that of light in fibre over the distance of its ends (``Latitude``, ``Longitude``). Of
several links between two nodes, the fastest is used.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import asin, cos, radians, sin, sqrt
from pathlib import Path
from xml.etree import ElementTree

from waymark import files
from waymark.errors import WaymarkError
from waymark.fabric import Cable
from waymark.topology import Host, Link, Switch, Topology

_XML = "{http://graphml.graphdrawing.org/xmlns}"
_EARTH_M = 6.371e6
_FIBRE_M_PER_S = 2e8
_SHORTEST_S = 1e-6
_MOST_NODES = 250
"""Each node's host gets an address of 10.0.0.0/24 to 10.0.255.0/24."""

Data = Mapping[str, str]


@dataclass(frozen=True)
class _Edge:
    ends: tuple[str, str]
    cable: Cable


def is_graphml(text: str) -> bool:
    """Whether a text names a GraphML file."""
    return text.endswith(".graphml")


def load(path: Path, cable: Cable, feedback: tuple[str, ...] = ("aqt",)) -> Topology:
    """The network of a GraphML file: ``NAME`` and ``NAME-h`` for each node, named for its label.

    Args:
        path: of the file.
        cable: of links to hosts, and what the file does not give for other links.
        feedback: the marks that all ports of switches write.

    Raises:
        WaymarkError: the file cannot be read, is no GraphML, or its nodes are not all connected.
    """
    try:
        root = ElementTree.fromstring(files.read(path))
    except ElementTree.ParseError as error:
        raise WaymarkError(f"{path}:{error.position[0]}: not XML: {error}") from error
    graph = root.find(f"{_XML}graph")
    if graph is None:
        raise WaymarkError(
            f"{path}: found <{root.tag.rpartition('}')[2]}> without a <graph>; expected GraphML"
        )
    keys = {key.get("id", ""): key.get("attr.name", "") for key in root.iter(f"{_XML}key")}
    nodes = {one.get("id", ""): _data(one, keys) for one in graph.iter(f"{_XML}node")}
    if not 2 <= len(nodes) <= _MOST_NODES:
        raise WaymarkError(f"{path}: {len(nodes)} nodes; expected 2 to {_MOST_NODES}")
    edges = _edges(path, graph, keys, nodes, cable)
    apart = _not_connected(list(nodes), edges)
    if apart is not None:
        label = nodes[apart].get("label", apart)
        raise WaymarkError(f"{path}: no path to node {label!r}; expected a connected network")
    names = _names(nodes)
    links: list[Link] = []
    for name in names.values():
        links += cable.between(f"{name}-h", name, from_host=True)
    for edge in edges:
        links += edge.cable.between(*(names[end] for end in edge.ends))
    hosts = tuple(
        Host(f"{name}-h", f"10.0.{number}.1/24") for number, name in enumerate(names.values(), 1)
    )
    switches = tuple(Switch(name, feedback=frozenset(feedback)) for name in names.values())
    return Topology(hosts, switches, tuple(links))


def _data(element: ElementTree.Element, keys: Mapping[str, str]) -> Data:
    found = element.findall(f"{_XML}data")
    return {keys.get(one.get("key", ""), ""): (one.text or "").strip() for one in found}


def _edges(
    path: Path,
    graph: ElementTree.Element,
    keys: Mapping[str, str],
    nodes: Mapping[str, Data],
    cable: Cable,
) -> list[_Edge]:
    fastest: dict[frozenset[str], _Edge] = {}
    for element in graph.iter(f"{_XML}edge"):
        ends = (element.get("source", ""), element.get("target", ""))
        for end in ends:
            if end not in nodes:
                raise WaymarkError(f"{path}: a link to {end!r}, which is no node")
        if ends[0] == ends[1]:
            continue
        rate_bps = _number(_data(element, keys).get("LinkSpeedRaw"))
        delay_s = _delay_s(nodes[ends[0]], nodes[ends[1]])
        its = replace(cable, rate_bps=rate_bps or cable.rate_bps, delay_s=delay_s or cable.delay_s)
        known = fastest.get(frozenset(ends))
        if known is None or its.rate_bps > known.cable.rate_bps:
            fastest[frozenset(ends)] = _Edge(ends, its)
    return list(fastest.values())


def _number(text: str | None) -> float | None:
    """A finite positive number; None: the text is none."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 < number < 1e15 else None


def _delay_s(one: Data, other: Data) -> float | None:
    """Over the great circle, in whole microseconds; None: a place is not known."""
    try:
        places = [radians(float(n[key])) for n in (one, other) for key in ("Latitude", "Longitude")]
    except (KeyError, ValueError):
        return None
    a, b, c, d = places
    half = sin((c - a) / 2) ** 2 + cos(a) * cos(c) * sin((d - b) / 2) ** 2
    metres = 2 * _EARTH_M * asin(sqrt(min(1.0, half)))
    return max(round(metres / _FIBRE_M_PER_S, 6), _SHORTEST_S)


def _not_connected(nodes: list[str], edges: list[_Edge]) -> str | None:
    """A node without a path from the first one."""
    near: dict[str, list[str]] = {node: [] for node in nodes}
    for one, other in (edge.ends for edge in edges):
        near[one].append(other)
        near[other].append(one)
    seen, ahead = {nodes[0]}, [nodes[0]]
    while ahead:
        new = [node for node in near[ahead.pop()] if node not in seen]
        seen.update(new)
        ahead += new
    return next((node for node in nodes if node not in seen), None)


def _names(nodes: Mapping[str, Data]) -> dict[str, str]:
    """A name for each node: its label in letters and digits, with a number if it is not unique."""
    names: dict[str, str] = {}
    for node, data in nodes.items():
        plain = unicodedata.normalize("NFKD", data.get("label", "")).encode("ascii", "ignore")
        label = re.sub(r"\W|_", "", plain.decode())[:10]
        name = label if label[:1].isalpha() else f"n{label or node}"
        taken = {*names.values()}
        numbered = (f"{name}{number}" for number in range(2, len(nodes) + 2))
        names[node] = name if name not in taken else next(n for n in numbered if n not in taken)
    return names
