"""Code that the experiments beyond the papers share: current transports and the papers'."""

from collections.abc import Sequence
from typing import Literal

from waymark import MODERN, Choice, Flow, Topology, plots
from waymark.experiment import Comparison

Control = Literal[
    "reno",
    "cubic",
    "bbr",
    "bbr3",
    "dctcp",
    "vegas",
    "rovegas",
    "redvegas",
    "muzha",
    "waymark",
]

WITHOUT_ECN: tuple[Control, ...] = (
    "cubic",
    "bbr",
    "bbr3",
    "vegas",
    "rovegas",
    "muzha",
    "waymark",
)
"""Controls for switches that write the papers' marks and no ECN."""

RIVALS = ("Reno", "CUBIC", "BBR", "BBRv3", "DCTCP")
"""The titles of the current transports."""

COLOURS = plots.COLOURS | {"bbr3": plots.PALETTE[3], "muzha": "#000000"}
"""Of controls in these pictures: BBRv3's would be DCTCP's, and Muzha's RoVegas's."""

MARKS = frozenset({"aqt", "drai", "ci"})

PROFILE_CHOICE = Choice(
    "the rest of the transport",
    "the modern profile: RACK-TLP with SACK, initial window 10, delayed ACKs, pacing, 1500 octets",
    "what hosts have today; the papers' experiments have the papers' own",
    "the papers' folders have the same claims under the profile of the papers' simulator",
)
ECN_CHOICE = Choice(
    "marking for DCTCP",
    "ecn.p4 instead of waymark.p4, marking where more than a seventh of the bottleneck's own "
    "bandwidth-delay product is waiting, at least 5 packets",
    "RFC 8257's guideline for one threshold; with less than a few packets delayed ACKs' bursts "
    "are marked",
    "not swept; the others' switches run waymark.p4 with all marks on",
)


def flow(control: Control, source: str, target: str, start_s: float = 0.0) -> Flow:
    """A greedy flow under the modern profile."""
    return Flow(source, target, control, MODERN, start_s=start_s)


def marking(network: Topology, control: Control, bottlenecks: Sequence[str]) -> Topology:
    """The network as a control wants its switches: for DCTCP with ECN in front of the named links,
    for all others with the project's marks."""
    if control != "dctcp":
        return network.with_feedback(MARKS)
    network = network.with_program("v1model/ecn.p4")
    for link in network.links:
        if link.name in bottlenecks:
            network = network.with_link(
                link.source, link.target, ecn_threshold=threshold(link.rate_bps, 2 * link.delay_s)
            )
    return network


def threshold(rate_bps: float, round_trip_s: float) -> int:
    """DCTCP's K in packets: a seventh of the bandwidth-delay product, at least 5."""
    return max(5, round(rate_bps * round_trip_s / 7 / (8 * MODERN.packet_octets)))


def compared(more: Sequence[str], less: Sequence[str]) -> tuple[Comparison, ...]:
    """Quantities, with ``{}`` for the control's title, of which more or less is better."""
    return (
        *(Comparison(quantity, "more", RIVALS) for quantity in more),
        *(Comparison(quantity, "less", RIVALS) for quantity in less),
    )
