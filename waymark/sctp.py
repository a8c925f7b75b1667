"""SCTP between hosts with several interfaces: associations, and their results."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from waymark.addressing import Addressing, least_round_trip_s
from waymark.errors import WaymarkError, check_choice
from waymark.topology import Topology

if TYPE_CHECKING:
    from waymark import _core

Counts = NDArray[np.int64]
Values = NDArray[np.float64]

_DATA_HEADER = 16
_PACKET_HEADERS = 20 + 12
_TIMESTAMP = 12


@dataclass(frozen=True)
class AssociationProfile:
    """Settings of an association. The defaults are those of Dahal 2007, §6.2.1.

    Attributes:
        mtu: of every path, in octets.
        chunk_octets: a DATA chunk with its header of 16 octets.
        window: receiver's window in octets.
        ssthresh: initial slow-start threshold in octets.
        initial_packets: initial window in full packets.
        initial_octets: initial window in octets instead; None: in packets.
        least_packets: minimum window after a cut, in full packets: 2 (RFC 2960), 4 (RFC 9260).
        rto_initial_s, rto_min_s, rto_max_s: retransmission timeout before the first measurement,
            minimum and maximum, in seconds.
        association_max_retrans, path_max_retrans, max_init_retransmits: errors after which the
            association fails, a path becomes inactive, the handshake fails.
        heartbeat_s: how often an idle path is probed, in seconds; None: never.
        sack_delay_s: how long a SACK may wait for a second packet, in seconds.
        missing_reports: reports that trigger a fast retransmission.
        max_burst: packets that may leave after a SACK that acknowledges a fast retransmission;
            None: all that the window allows.
        ns2_quirks: ns-2.35's departures from RFC 9260 (`transport::sctp::Quirks`).
    """

    mtu: int = 1500
    chunk_octets: int = 1456
    window: int = 1_310_720
    ssthresh: int = 65_536
    initial_packets: int = 2
    initial_octets: int | None = None
    least_packets: int = 2
    rto_initial_s: float = 3.0
    rto_min_s: float = 1.0
    rto_max_s: float = 60.0
    association_max_retrans: int = 10
    path_max_retrans: int = 5
    max_init_retransmits: int = 8
    heartbeat_s: float | None = 30.0
    sack_delay_s: float = 0.2
    missing_reports: int = 4
    max_burst: int | None = 4
    ns2_quirks: bool = False


DAHAL_SCTP = AssociationProfile()
"""The settings of Dahal 2007, §6.2.1."""

NS2_SCTP = AssociationProfile(initial_octets=4380, least_packets=4, ns2_quirks=True)
"""The same with ns-2.35's rules: initial window and minimum window after a cut of RFC 4960, and
ns-2.35's departures from it."""


Control = Literal["std", "rbca"]
"""The congestion control of a path's window."""


@dataclass(frozen=True)
class Association:
    """An SCTP association. By default it sends messages of a full chunk without limit.

    Path i joins the i-th links of both hosts, in the topology's order of links.

    Attributes:
        source: the host that opens it and sends.
        target: the host that acknowledges.
        control: the congestion control of a path's window: ``"std"`` (RFC 9260) or ``"rbca"``
            (Dahal 2007, §6.1.1).
        spc: switch path on congestion (Dahal 2007, §6.1.2), with either control.
        profile: the other settings.
        start_s: start of the handshake, in seconds.
        stop_s: time after which it writes no new data, in seconds; None: never.
        chunks: full DATA chunks to send; None: no limit.
        threshold_rtt_s: T of each path for RBCA and SPC, in seconds; the last value applies to all
            further paths.
        threshold_factor: F instead of T: T = F · RTT_min of each path (6.5). RTT_min is the
            round-trip time of a 40-octet packet, without queues.
        primary: changes of the primary path: the time, in seconds, and the new path.
        delayed_sack: whether SACKs may wait; None: yes, but not with RBCA.
        timestamps: whether packets carry the Timestamp chunk; None: if RBCA or SPC need it.
        trace: whether to record windows and round-trip times of the paths, and each chunk's delay.

    Raises:
        WaymarkError: an unknown control, or thresholds that are missing or contradict each other.
    """

    source: str
    target: str
    control: Control = "std"
    spc: bool = False
    profile: AssociationProfile = field(default=DAHAL_SCTP)
    start_s: float = 0.0
    stop_s: float | None = None
    chunks: int | None = None
    threshold_rtt_s: Sequence[float] = ()
    threshold_factor: float | None = None
    primary: Sequence[tuple[float, int]] = ()
    delayed_sack: bool | None = None
    timestamps: bool | None = None
    trace: bool = False

    def __post_init__(self) -> None:
        where = f"association {self.source}->{self.target}"
        check_choice(f"{where}: control", self.control, get_args(Control))
        given = (self.threshold_factor is not None) + bool(self.threshold_rtt_s)
        if given > 1:
            raise WaymarkError(
                f"{where}: threshold_rtt_s and threshold_factor: expected one of them"
            )
        if not given and (self.spc or self.control == "rbca"):
            raise WaymarkError(f"{where}: RBCA and SPC need threshold_factor or threshold_rtt_s")

    @property
    def packet_octets(self) -> int:
        """Octets that a link charges for a packet with one full chunk."""
        needed = self.spc or self.control == "rbca"
        stamped = needed if self.timestamps is None else self.timestamps
        return _PACKET_HEADERS + stamped * _TIMESTAMP + self.profile.chunk_octets


@dataclass(frozen=True)
class AssociationTrace:
    """The state of the paths after each change, and the delay of each arriving chunk.

    Attributes:
        time_s: when a path changed, in seconds.
        path: its number.
        cwnd_octets, ssthresh_octets, outstanding_octets: its window, threshold and octets in
            flight.
        rtt_s: its round-trip time, if one was measured; else NaN.
        delay_time_s: when a chunk arrived, in seconds.
        delay_s: time since its last transmission, in seconds.
    """

    time_s: Values
    path: Counts
    cwnd_octets: Values
    ssthresh_octets: Values
    outstanding_octets: Values
    rtt_s: Values
    delay_time_s: Values
    delay_s: Values


@dataclass(frozen=True)
class AssociationResult:
    """One association. Arrays have one element per bin.

    Attributes:
        packet_octets: octets that a link charges for a packet with one full chunk.
        chunk_payload: octets of user data in a full chunk.
        sent: packets with DATA that left the host, retransmissions included.
        sent_on_path: the same for each path.
        delivered: packets with DATA that arrived, duplicates included.
        goodput_octets: user data that became available in order.
        retransmissions, losses, timeouts: over the whole run; losses are packets with DATA that a
            queue, a program or a link dropped.
        switches: path switches by SPC.
        mean_rtt_s: mean of the sender's measurements; NaN if there are none.
        latency_s: mean time of chunks from their last transmission to the SACK that acknowledges
            them; NaN if there are none.
        jitter_s: its standard deviation.
        mean_delay_s: mean time of chunks from their last transmission to their arrival, by bin; NaN
            in bins without any.
        trace: if the association requested it.
    """

    packet_octets: int
    chunk_payload: int
    sent: Counts
    sent_on_path: Sequence[Counts]
    delivered: Counts
    goodput_octets: Counts
    retransmissions: int
    losses: int
    timeouts: int
    switches: int
    mean_rtt_s: float
    latency_s: float
    jitter_s: float
    mean_delay_s: Values
    trace: AssociationTrace | None


def to_core(
    index: int, association: Association, topology: Topology, addressing: Addressing
) -> dict[str, Any]:
    """An association in the core's format.

    Raises:
        WaymarkError: its ends have different numbers of links, or a path is not connected.
    """
    a, b = association.source, association.target
    paths = len(addressing.ports[a])
    if len(addressing.ports[b]) != paths:
        raise WaymarkError(
            f"association {a}->{b}: {a} has {paths} links, {b} has {len(addressing.ports[b])}; "
            "expected as many"
        )
    # Both directions of every path must exist, even without thresholds.
    round_trips_s = [
        least_round_trip_s(topology, addressing, a, b, interface=path) for path in range(paths)
    ]
    thresholds_s = list(association.threshold_rtt_s)
    if association.threshold_factor is not None:
        thresholds_s = [association.threshold_factor * rtt_s for rtt_s in round_trips_s]
    return {
        "name": f"association{index}",
        "from": a,
        "to": b,
        "control": association.control,
        "spc": association.spc,
        "thresholds_s": thresholds_s,
        "delayed_sack": association.delayed_sack,
        "timestamps": association.timestamps,
        "profile": asdict(association.profile),
        "start_s": association.start_s,
        "stop_s": association.stop_s,
        "chunks": association.chunks,
        "primary": [{"at_s": at_s, "path": path} for at_s, path in association.primary],
        "trace": association.trace,
    }


def from_core(association: Association, measured: "_core.AssociationRecord") -> AssociationResult:
    """The result of an association, from the core's record."""
    flow = measured["flow"]
    traced = measured["trace"]
    chunks = measured["delay_chunks"].astype(np.float64)
    chunks[chunks == 0] = np.nan
    samples, acked = measured["rtt_samples"], measured["acked_chunks"]
    latency_s = measured["latency_s"] / acked if acked else float("nan")
    square = measured["latency_s_squared"] / acked if acked else float("nan")
    return AssociationResult(
        packet_octets=association.packet_octets,
        chunk_payload=association.profile.chunk_octets - _DATA_HEADER,
        sent=flow["sent_packets"].astype(np.int64),
        sent_on_path=tuple(sent.astype(np.int64) for sent in measured["sent_on_path"]),
        delivered=flow["delivered_packets"].astype(np.int64),
        goodput_octets=flow["goodput_octets"].astype(np.int64),
        retransmissions=int(flow["resent_packets"].sum()),
        losses=int(flow["lost_packets"].sum()),
        timeouts=flow["timeouts"],
        switches=measured["switches"],
        mean_rtt_s=measured["rtt_s"] / samples if samples else float("nan"),
        latency_s=latency_s,
        jitter_s=float(np.sqrt(np.maximum(square - latency_s**2, 0.0))),
        mean_delay_s=measured["delay_ns"].astype(np.float64) / chunks / 1e9,
        trace=None if traced is None else _trace(traced),
    )


def _trace(traced: "_core.AssociationTrace") -> AssociationTrace:
    return AssociationTrace(
        time_s=traced["time_s"],
        path=traced["path"].astype(np.int64),
        cwnd_octets=traced["cwnd_octets"],
        ssthresh_octets=traced["ssthresh_octets"],
        outstanding_octets=traced["outstanding_octets"],
        rtt_s=traced["rtt_s"],
        delay_time_s=traced["delay_time_s"],
        delay_s=traced["delay_s"],
    )
