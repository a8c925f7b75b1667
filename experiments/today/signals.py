"""What the experiments with the signals of today share: switches and flows for each control."""

from collections.abc import Sequence
from dataclasses import replace

from experiments.beyond import today
from waymark import MODERN, Choice, Flow, Topology
from waymark.dual_pi2 import DualPi2
from waymark.traffic import Algorithm

PROFILE_CHOICE = today.PROFILE_CHOICE
MARKING_CHOICE = Choice(
    "what switches write",
    "for Prague l4s.p4 with DualPI2, weights 1 and 9; for DCTCP ecn.p4 with a threshold of a "
    "seventh of the bottleneck's own bandwidth-delay product, at least 5 packets; else waymark.p4 "
    "with all marks",
    "RFC 9332's constants, RFC 8257's guideline, this project's program",
    "not swept",
)

CLASSIC_AND_L4S = (1, 9)
"""Weights of the two queues (RFC 9332, appendix A: a tenth for Classic packets)."""


def network_for(control: Algorithm, network: Topology, bottlenecks: Sequence[str]) -> Topology:
    """The network with the switches that write a control's signal, at the named links."""
    if control == "prague":
        return with_dual_pi2(network, bottlenecks)
    return today.marking(network, "dctcp" if control == "dctcp" else "waymark", bottlenecks)


def with_dual_pi2(network: Topology, bottlenecks: Sequence[str]) -> Topology:
    """The network with L4S switches, and DualPI2 at the named links."""
    network = network.with_program("v1model/l4s.p4")
    for link in network.links:
        if link.name in bottlenecks:
            network = network.with_link(
                link.source, link.target, dual_pi2=DualPi2(), weights=CLASSIC_AND_L4S
            )
    return network


def flow(control: Algorithm, source: str, target: str, swift_target_s: float) -> Flow:
    """A greedy flow under the modern profile; Swift's have their target."""
    flow = Flow(source, target, control, MODERN)
    if control in ("swift", "swiftaqt"):
        return replace(flow, settings={"target_s": swift_target_s})
    return flow
