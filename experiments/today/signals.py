"""Current signals and the papers' marks: what each control needs from switches and hosts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from experiments.beyond import today
from waymark import MODERN, Choice, Flow, Topology, plots
from waymark.dual_pi2 import WEIGHTS, DualPi2
from waymark.traffic import Algorithm, ModernProfile
from waymark.workload import DATACENTER

MARKS = frozenset({"aqt", "drai", "ci"})


@dataclass(frozen=True)
class Ground:
    """What follows from where the flows are: a wide-area path, or a data centre.

    Attributes:
        bottlenecks: the links whose queues grow.
        profile: of the flows.
        delay_target_s: the queueing that controls with a target delay keep.
        ecn_threshold: DCTCP's K in packets; None: by each link's own delay.
        base_rtt_s: of the longest path, as HPCC and PowerTCP are configured; None: they measure it.
        dual_pi2: at the bottlenecks.
        drai_window_log2: ports measure their rate over 2^k µs at least.
    """

    bottlenecks: Sequence[str]
    delay_target_s: float
    profile: ModernProfile = MODERN
    ecn_threshold: int | None = None
    base_rtt_s: float | None = None
    dual_pi2: DualPi2 = field(default_factory=DualPi2)
    drai_window_log2: int = 15


def wide_area(bottlenecks: Sequence[str], rate_bps: float) -> Ground:
    """Round trips of some 10 ms; the target delay is the time of 3 packets at this rate."""
    return Ground(bottlenecks, TARGET_PACKETS * 8 * MODERN.packet_octets / rate_bps)


TARGET_PACKETS = 3
"""As many as Vegas' β."""

PROFILE = replace(DATACENTER, delayed_ack_s=0.0)
"""Of flows in a data centre: each packet is acknowledged."""

DCTCP_K = 65
"""Packets at 10 Gb/s (Alizadeh et al., SIGCOMM 2010, §4)."""
DATACENTER_TARGET_S = 25e-6


BASE_RTT_MARGIN = 1.05


def datacenter(bottlenecks: Sequence[str], longest_rtt_s: float) -> Ground:
    """Links of 10 Gb/s and round trips of some 10 µs, without queues at most ``longest_rtt_s``."""
    step_s = DCTCP_K * 8 * PROFILE.packet_octets / 10e9
    return Ground(
        bottlenecks,
        DATACENTER_TARGET_S,
        PROFILE,
        DCTCP_K,
        BASE_RTT_MARGIN * longest_rtt_s,
        DualPi2(step_s=step_s),
        drai_window_log2=5,
    )


def _marks(network: Topology, ground: Ground) -> Topology:
    switches = (
        replace(switch, feedback=MARKS, drai_window_log2=ground.drai_window_log2)
        for switch in network.switches
    )
    return replace(network, switches=tuple(switches))


def _threshold(program: str) -> Callable[[Topology, Ground], Topology]:
    """Switches that mark by a threshold (ECN) at the bottlenecks."""

    def switches(network: Topology, ground: Ground) -> Topology:
        network = network.with_program(f"v1model/{program}.p4")
        for link in network.links:
            if link.name in ground.bottlenecks:
                k = ground.ecn_threshold or today.threshold(link.rate_bps, 2 * link.delay_s)
                network = network.with_link(link.source, link.target, ecn_threshold=k)
        return network

    return switches


def with_dual_pi2(network: Topology, ground: Ground, program: str = "v1model/l4s.p4") -> Topology:
    """The network with switches that have two queues, coupled at the bottlenecks."""
    network = network.with_program(program)
    for link in network.links:
        if link.name in ground.bottlenecks:
            network = network.with_link(
                link.source, link.target, dual_pi2=ground.dual_pi2, weights=WEIGHTS
            )
    return network


def _program(name: str) -> Callable[[Topology, Ground], Topology]:
    """Switches that need nothing but their program."""
    return lambda network, _: network.with_program(f"v1model/{name}.p4")


def _no_settings(_: Ground) -> Mapping[str, float]:
    return {}


def _target(ground: Ground) -> Mapping[str, float]:
    return {"target_s": ground.delay_target_s}


def _base_rtt(ground: Ground) -> Mapping[str, float]:
    return {} if ground.base_rtt_s is None else {"base_rtt_s": ground.base_rtt_s}


@dataclass(frozen=True)
class Signal:
    """What a control reads, and what it needs for that.

    Attributes:
        reads: the signal, in words.
        switches: gives a network the switches that write it.
        settings: of the control on a ground.
    """

    reads: str
    switches: Callable[[Topology, Ground], Topology] = _marks
    settings: Callable[[Ground], Mapping[str, float]] = _no_settings


PAPERS = ("vegas", "rovegas", "muzha", "redvegas")
"""The papers' proposals, and what they improve."""

SIGNALS: Mapping[Algorithm, Signal] = {
    "cubic": Signal("losses"),
    "bbr": Signal("delivery rate, round-trip time"),
    "bbr3": Signal("delivery rate, round-trip time, losses"),
    "dctcp": Signal("ECN behind a threshold", _threshold("ecn")),
    "prague": Signal("L4S: ECN of DualPI2", with_dual_pi2),
    "thetapowertcp": Signal("round-trip time"),
    "swift": Signal("round-trip time", settings=_target),
    "swiftaqt": Signal("AQT", settings=_target),
    "swifttcpint": Signal("TCP-INT", _program("tcp_int"), _target),
    "swiftcsig": Signal("CSIG", _program("csig"), _target),
    "hpcc": Signal("INT", _program("int"), _base_rtt),
    "powertcp": Signal("INT", _program("int"), _base_rtt),
    "nscc": Signal("ECN, delay, trimmed packets", _threshold("trim"), _target),
    "vegas": Signal("round-trip time"),
    "rovegas": Signal("AQT"),
    "muzha": Signal("DRAI"),
    "redvegas": Signal("CI"),
    "waymark": Signal("AQT, DRAI, CI"),
}
"""All controls, in the order of tables and pictures."""

OF_TODAY = tuple(plots.NAMES[control] for control in SIGNALS if control not in (*PAPERS, "waymark"))
"""The titles of those that are no proposals of the papers."""

READS = {plots.NAMES[control]: signal.reads for control, signal in SIGNALS.items()}
"""In words, by title."""
MARKERS = dict(zip(SIGNALS, "os^vD<>P*h+x1pXd8H", strict=False))
"""Of a control in pictures, whose colours are not enough."""


def network_for(control: Algorithm, network: Topology, ground: Ground) -> Topology:
    """The network with the switches that write a control's signal."""
    return SIGNALS[control].switches(network, ground)


def flow(
    control: Algorithm,
    source: str,
    target: str,
    ground: Ground,
    start_s: float = 0.0,
    segments: int | None = None,
) -> Flow:
    """A flow with the ground's profile and the control's settings there."""
    return Flow(
        source,
        target,
        control,
        ground.profile,
        start_s=start_s,
        segments=segments,
        settings=SIGNALS[control].settings(ground),
    )


PROFILE_CHOICE = today.PROFILE_CHOICE
MARKING_CHOICE = Choice(
    "what switches write",
    "for Prague l4s.p4 with DualPI2, weights 1 and 9; for DCTCP ecn.p4 with a threshold of a "
    "seventh of the bottleneck's own bandwidth-delay product, at least 5 packets; for NSCC trim.p4 "
    "with the same threshold; for Swift (TCP-INT) tcp_int.p4; for Swift (CSIG) csig.p4; for HPCC "
    "and PowerTCP int.p4; else waymark.p4 with all marks",
    "RFC 9332's constants, RFC 8257's guideline, this project's programs",
    "not swept",
)
TARGET_CHOICE = Choice(
    "the target delay of Swift and NSCC",
    "the time of 3 packets at the bottleneck",
    "as many packets as Vegas' β; a target for data centres is less than one packet here",
    "not swept",
)
DATACENTER_CHOICES = (
    Choice(
        "the rest of the transport",
        "the modern profile with a least RTO of 5 ms, a first RTO of 10 ms, and an acknowledgement "
        "of each packet",
        "200 ms are 10,000 round trips here, 40 ms of delay for an acknowledgement 2,000; HPCC, "
        "PowerTCP and Swift acknowledge each packet",
        "delayed by 1 ms, the acknowledgement of a lone packet is congestion to those who read "
        "round-trip times",
    ),
    Choice(
        "ECN for DCTCP and NSCC",
        f"ecn.p4, trim.p4, K = {DCTCP_K} packets",
        "Alizadeh et al. 2010, section 4, at 10 Gb/s",
        "not swept",
    ),
    Choice(
        "DualPI2 for Prague",
        f"l4s.p4, a step of {DCTCP_K} packets' time instead of 1 ms; weights 1 and 9",
        "RFC 9332's defaults are for Internet paths; L4S is alone here, and the step is DCTCP's",
        "with 1 ms the queue holds 833 packets before a mark, more than the buffer",
    ),
    Choice(
        "the base round-trip time of HPCC and PowerTCP",
        f"{BASE_RTT_MARGIN} times that of the longest path without queues; the first window is "
        "what the host's link sends in it",
        "hosts of both papers know them; HPCC's T is a little more than the greatest RTT",
        "incast: at 1.0 HPCC's flow alone has 1 % less of the link; at 1.1 it has as much",
    ),
    Choice(
        "DRAI's window",
        "32 µs instead of 33 ms",
        "about a round trip, as waymark/drai.py wants it",
        "over 33 ms no window ends within the run",
    ),
    Choice(
        "the target delay of Swift and NSCC",
        f"{1e6 * DATACENTER_TARGET_S:g} µs of queueing",
        "about a round trip of this network; the paper leaves it to the operator",
        "not swept",
    ),
)
