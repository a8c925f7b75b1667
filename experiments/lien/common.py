"""What the simulations of Lien and Chung have in common."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from waymark import STOCK, Choice, Flow, Profile, Result, Topology
from waymark.drai import ROUND_TRIP_LOG2, WINDOW_PACKETS
from waymark.traffic import Algorithm

END_S = 30.0
START_WITHIN_S = 0.1
HOST_QUEUE = 1000
"""The paper's buffers are its routers'; hosts drop nothing."""

PROFILES: Mapping[Algorithm, Profile] = {
    "tahoe": replace(STOCK, packet_octets=1040),
    "reno": replace(STOCK, packet_octets=1040),
    "newreno": replace(STOCK, packet_octets=1040),
    "vegas": STOCK,
    "muzha": STOCK,
}

PARAMETERS: dict[str, object] = {
    "profiles": {name: profile.by_family() for name, profile in PROFILES.items()},
    "vegas_alpha_beta_gamma": [1, 3, 1],
    "drai": {"window_log2_us": ROUND_TRIP_LOG2, "least_packets_of_a_window": WINDOW_PACKETS},
}

DRAI_CHOICE = Choice(
    "DRAI formula",
    "by waiting packets (¼, ½, ¾ of the buffer) and by utilisation (⅓, 4/7, ⅞) of the last 33 ms, "
    "65 ms at 1 Mb/s: waymark/drai.py",
    "the paper has none ('an empirical approach'); each index asks for as much as the senders' "
    "reaction to it can do without harm; the ranges are the same in all simulations",
    "over 0.5 s, senders act several times on one reading: alone at 1 Mb/s and a buffer of 15, "
    "Muzha falls from 973 to 310 kb/s",
)

START_CHOICE = Choice(
    "starts",
    "all at 0 s with the first seed, uniform in the first 0.1 s with the others",
    "the paper gives none",
    "drop-tail mixes are chaotic: see the deviation over the seeds",
)

OCTETS_NOTE = (
    "Throughput counts each delivered data packet once, with all its octets: 1040 for Tahoe, Reno "
    "and NewReno, 1000 for Vegas and Muzha. "
)


def routers(network: Topology, buffer: int) -> Topology:
    """The network with this buffer in its routers, each of which writes DRAI and nothing else."""
    names = {switch.name for switch in network.switches}
    links = tuple(
        replace(link, queue_packets=buffer if link.source in names else HOST_QUEUE)
        for link in network.links
    )
    return replace(network, links=links).with_feedback({"drai"})


def flow(source: str, target: str, algorithm: Algorithm, start_s: float = 0.0) -> Flow:
    """A greedy flow with the algorithm's settings."""
    return Flow(source, target, algorithm, PROFILES[algorithm], start_s=start_s)


def starts_s(seed: int, count: int) -> list[float]:
    """When flows start: the first seed's all at once."""
    if seed == 1:
        return [0.0] * count
    return [float(s) for s in np.random.default_rng(seed).uniform(0, START_WITHIN_S, count)]


def kbps(result: Result, flow: int, from_s: float = 0.0, to_s: float = END_S) -> float:
    """Mean throughput of a flow in kb/s of whole packets, Muzha's option counted."""
    return result.useful_bps(flow, from_s, to_s) * whole(result, flow) / 1e3


def whole(result: Result, flow: int) -> float:
    """A packet's octets over those of them that count as throughput elsewhere."""
    measured = result.flows[flow]
    return measured.packet_octets / measured.counted_octets


def loss_percent(result: Result) -> float:
    """Data packets of all flows that were dropped, of those sent, in percent."""
    return 100 * sum(f.losses for f in result.flows) / sum(int(f.sent.sum()) for f in result.flows)


def from_zero(axes: Axes) -> None:
    """Start the y axis a little below 0, so that marks at 0 are not cut."""
    axes.set_ylim(-0.03 * axes.get_ylim()[1])


def legend_below(figure: Figure, axes: Axes, columns: int) -> None:
    """One legend below all panels, of what one of them shows."""
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=columns, fontsize="small")
