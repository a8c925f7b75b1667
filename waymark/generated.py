"""Topologies by name and numbers, ``"fat-tree:4"``, and topologies as files."""

from io import StringIO
from typing import Any

from ruamel.yaml import YAML

from waymark.errors import WaymarkError, suggestion
from waymark.fabric import Cable, dumbbell, fat_tree, leaf_spine, parking_lot
from waymark.topology import Link, Switch, Topology

FORMS = {
    "fat-tree": "fat-tree:K",
    "leaf-spine": "leaf-spine:LEAVESxSPINESxHOSTS",
    "dumbbell": "dumbbell:PAIRS",
    "parking-lot": "parking-lot:HOPS",
}
"""The notation of each kind."""

_NUMBERS = {"fat-tree": 1, "leaf-spine": 3, "dumbbell": 1, "parking-lot": 1}


def is_generated(text: str) -> bool:
    """Whether a text names a generated topology instead of a file."""
    return text.partition(":")[0] in FORMS and ":" in text


def generate(
    text: str, cable: Cable, trunk: Cable | None = None, feedback: tuple[str, ...] = ("aqt",)
) -> Topology:
    """The topology that a text such as ``"fat-tree:4"`` or ``"leaf-spine:4x2x8"`` names.

    Args:
        cable: of all links; with ``trunk``, of those to hosts.
        trunk: between switches; a fat-tree's links are all equal.
        feedback: the marks that all ports of switches write.

    Raises:
        WaymarkError: an unknown kind, or numbers that do not fit the kind.
    """
    kind, _, numbers = text.partition(":")
    if kind not in FORMS:
        raise WaymarkError(f"topology {text}: {suggestion(kind, list(FORMS))}")
    words = numbers.split("x")
    if len(words) != _NUMBERS[kind] or not all(map(_is_size, words)):
        raise WaymarkError(f"topology {text[:60]}: expected {FORMS[kind]}, with numbers")
    sizes = [int(word) for word in words]
    match kind:
        case "fat-tree":
            if trunk is not None and trunk != cable:
                raise WaymarkError(
                    f"topology {text}: a fat-tree has one kind of link; --trunk is not valid"
                )
            return fat_tree(sizes[0], cable, feedback=feedback)
        case "leaf-spine":
            leaves, spines, hosts = sizes
            return leaf_spine(leaves, spines, hosts, cable, trunk, feedback=feedback)
        case "dumbbell":
            return dumbbell(sizes[0], cable, trunk or cable, feedback=feedback)
        case _:
            return parking_lot(sizes[0], cable, trunk or cable, feedback=feedback)


def _is_size(word: str) -> bool:
    """Whether a word is a number that ``int`` reads: ``int`` refuses thousands of digits."""
    return word.isdecimal() and len(word) < 10


def as_yaml(topology: Topology, description: str) -> str:
    """A topology as a file in Waymark's format (``topologies/README.md``), for ``waymark up``.

    It contains what this module generates: the hosts' addresses, rates, delays, queues and ECN.
    """
    links: list[dict[str, Any]] = []
    for link in topology.links:
        back = topology.link(link.target, link.source)
        if any(entry["ends"] == [link.target, link.source] for entry in links[-1:]):
            continue
        entry: dict[str, Any] = {"ends": [link.source, link.target], **_settings(link)}
        different = {k: v for k, v in _settings(back).items() if entry.get(k) != v}
        links.append(entry | ({"back": different} if different else {}))
    document = {
        "description": description,
        "hosts": {host.name: {"address": host.address} for host in topology.hosts},
        "switches": {switch.name: _switch(switch) for switch in topology.switches},
        "links": links,
    }
    text = StringIO()
    yaml = YAML(typ="safe")
    yaml.default_flow_style = None
    yaml.width = 120
    yaml.sort_base_mapping_type_on_output = False  # pyright: ignore[reportAttributeAccessIssue]
    yaml.dump(document, text)  # pyright: ignore
    return text.getvalue()


def _switch(switch: Switch) -> dict[str, Any]:
    return {"program": switch.program, "feedback": sorted(switch.feedback)}


def _settings(link: Link) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "rate": f"{link.rate_bps:.15g} b/s",
        "delay": f"{link.delay_s * 1e9:.15g} ns",
        "queue": link.queue_packets,
    }
    return settings | ({} if link.ecn_threshold is None else {"ecn": link.ecn_threshold})
