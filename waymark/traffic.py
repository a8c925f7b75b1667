"""Traffic of hosts: TCP flows, and CBR and ON-OFF sources."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

from waymark import congestion, controls
from waymark.congestion import CongestionControl, Custom
from waymark.errors import WaymarkError, check_choice

PACKET_OCTETS = 1000
"""Octets that a link charges for a data packet of the papers' Vegas flows and sources."""


Ecn = Literal["off", "classic", "accurate"]
"""The meaning of congestion marks to a connection."""

Distribution = Literal["exponential", "pareto"]
"""The distribution of a source's bursts and idle times."""


@dataclass(frozen=True, init=False)
class Profile:
    """Settings of a TCP connection, apart from its congestion control.

    A profile is an :class:`Ns2Profile` or a :class:`ModernProfile`, each with its own defaults.

    Attributes:
        family: the name of the profile's kind in data: ``"ns2"`` or ``"modern"``.
        window: receiver's window in packets.
        initial_window: packets.
        min_rto_s, initial_rto_s: minimum and first retransmission timeout, in seconds.
        packet_octets: octets that a link charges for a full data packet, all options included.
        max_cwnd: largest congestion window, in packets; None: no cap.

    Raises:
        WaymarkError: a profile without a family.
    """

    family: ClassVar[str]
    window: int
    initial_window: int
    min_rto_s: float
    initial_rto_s: float
    packet_octets: int
    max_cwnd: int | None

    def __init__(self, *_: object, **__: object) -> None:
        raise WaymarkError(
            "Profile is abstract; use ModernProfile(...) for kind='modern', else Ns2Profile(...)"
        )

    def by_family(self) -> dict[str, dict[str, Any]]:
        """All settings as data: ``{"ns2": {...}}`` or ``{"modern": {...}}``."""
        return {self.family: dict(vars(self))}


@dataclass(frozen=True)
class Ns2Profile(Profile):
    """A TCP connection as in ns-2.

    It is established from the start, and acknowledges every packet at once. ``window`` is also the
    initial slow-start threshold; ``initial_window`` is 1 or 2. The defaults are ns-2's, without
    later fixes.

    Attributes:
        tick_s: granularity of the coarse timer, in seconds.
        rfc2988: whether the floor ``min_rto_s`` is applied before the backoff.
        limited_transmit: RFC 3042.
        phase_s: the coarse timer's position within a tick at time zero, in seconds.
        bugfix: suppress a fast retransmit while packets sent before the last cut are missing
            (Vegas: before the last timeout).
        syn: a SYN of 40 octets comes first, which takes a packet's number; Vegas has none.
        phantom_rtt: a defect of ns-2's Vegas: after a timeout it may measure the time between two
            acknowledgements of buffered data as a round-trip time, and starve.
        floating_rtt: RTTs are differences of floating-point seconds, whose last bits vary;
            otherwise of whole nanoseconds.
        exact_halving: Reno, NewReno and SACK keep the fraction of a halved window, as ns-2 does
            since 2006; otherwise whole packets.
    """

    family: ClassVar[str] = "ns2"
    window: int = 1000
    initial_window: int = 2
    min_rto_s: float = 0.2
    initial_rto_s: float = 3.0
    packet_octets: int = PACKET_OCTETS
    max_cwnd: int | None = None
    tick_s: float = 0.01
    rfc2988: bool = True
    limited_transmit: bool = True
    phase_s: float = 0.0
    bugfix: bool = False
    syn: bool = False
    phantom_rtt: bool = False
    floating_rtt: bool = True
    exact_halving: bool = False


@dataclass(frozen=True)
class ModernProfile(Profile):
    """Modern TCP (RFC 9293, 6298, 6928, 7323, 8985).

    It has handshake and teardown, delayed acknowledgements, timestamps, pacing, and RACK-TLP with
    selective acknowledgements for every algorithm.

    Attributes:
        delayed_ack_s: maximum time that an acknowledgement waits for a second packet, in seconds.
        ecn: the meaning of congestion marks: like losses, once per window (``"classic"``, RFC
            3168), or each echoed (``"accurate"``, RFC 8257).
        ecn_option: whether acknowledgements carry accurate ECN's option with counters of octets
            (RFC 9768, 3.2.3), if both ends count marks.
        pacing: whether a window is spread over its round trip.

    Raises:
        WaymarkError: an unknown meaning of marks.
    """

    family: ClassVar[str] = "modern"
    window: int = 1000
    initial_window: int = 10
    min_rto_s: float = 0.2
    initial_rto_s: float = 1.0
    packet_octets: int = 1500
    max_cwnd: int | None = None
    delayed_ack_s: float = 0.04
    ecn: Ecn = "off"
    ecn_option: bool = False
    pacing: bool = True

    def __post_init__(self) -> None:
        check_choice("profile: ecn", self.ecn, get_args(Ecn))


STOCK = Ns2Profile(bugfix=True, syn=True, exact_halving=True)
"""Stock ns-2.35, except NewReno, which is the slow-but-steady variant without deflation."""

CHAN = Ns2Profile(initial_window=1, min_rto_s=1.0, limited_transmit=False)
"""The settings of ns-2.1b9a that Chan 2004 used."""

SRIJITH = Ns2Profile(limited_transmit=False, tick_s=0.1, rfc2988=False, min_rto_s=0.0)
"""The settings of Srijith et al. (Vegas-A)."""

DAHAL = replace(STOCK, window=20)
"""The settings of Dahal 2007 (RBCC)."""

MODERN = ModernProfile()
"""Modern TCP."""

PROFILES: Mapping[str, Profile] = {
    "stock": STOCK,
    "modern": MODERN,
    "chan": CHAN,
    "srijith": SRIJITH,
    "dahal": DAHAL,
}
"""The profiles by their names in files and on the command line."""


Algorithm = str
"""The name of a compiled congestion control (:data:`waymark.controls.CONTROLS`). It selects the
loss recovery too."""


@dataclass(frozen=True)
class Tracing:
    """The changes that a flow's trace records: all, or fewer so that traces of long runs stay
    small.

    A row takes about 110 octets; a packet that is sent and acknowledged makes two rows.

    Attributes:
        from_s, to_s: only changes in [from_s, to_s), in seconds; ``to_s`` None: to the end.
        every_s: minimum interval between rows, in seconds: the next row is the first change after
            it. Timeouts are always recorded. 0: every change.
    """

    from_s: float = 0.0
    to_s: float | None = None
    every_s: float = 0.0


THRESHOLD = "threshold_rtt_s"
"""The setting that a flow's ``threshold_factor`` gives."""


@dataclass(frozen=True)
class Flow:
    """A TCP connection. By default it sends without limit.

    Attributes:
        source: the host that sends the data.
        target: the host that acknowledges it.
        algorithm: the congestion control: a name, or one in Python
            (:class:`waymark.CongestionControl`): the class, a factory, or an instance to copy.
        profile: settings of the rest of the transport.
        start_s: when the first packet leaves, in seconds.
        stop_s: when it stops sending new data, in seconds; None: never.
        segments: packets of data to send; None: no limit.
        settings: the congestion control's settings that differ from their defaults, by name:
            ``{"alpha": 2, "beta": 4}``. ``docs/controls.md`` lists them.
        threshold_factor: F instead of RBCC's setting ``threshold_rtt_s``: T = F · RTT_min (Dahal
            2007, 4.1). RTT_min is the round-trip time of a 40-octet packet on the path, without
            queues.
        trace: whether to record the sender's state at every change (:meth:`Result.trace`), or which
            changes.

    Raises:
        WaymarkError: an unknown algorithm, unknown or invalid settings, or thresholds that
            contradict each other.
    """

    source: str
    target: str
    algorithm: Algorithm | Custom = "vegas"
    profile: Profile = field(default=STOCK)
    start_s: float = 0.0
    stop_s: float | None = None
    segments: int | None = None
    settings: Mapping[str, controls.Value] = field(
        default_factory=dict[str, controls.Value], hash=False
    )
    threshold_factor: float | None = None
    trace: bool | Tracing = False

    def __post_init__(self) -> None:
        where = f"flow {self.source}->{self.target}"
        if isinstance(self.algorithm, str):
            check_choice(f"{where}: algorithm", self.algorithm, list(controls.BY_NAME))
        else:
            self.start_custom()
        if told := invalid_settings(self.algorithm, self.settings):
            raise WaymarkError(f"{where}: settings: {told}")
        if self.threshold_factor is None:
            return
        if not self.threshold_factor > 0:
            raise WaymarkError(
                f"{where}: threshold_factor {self.threshold_factor:g}, expected more than 0"
            )
        if THRESHOLD in self.settings:
            raise WaymarkError(f"{where}: {THRESHOLD} and threshold_factor: expected one of them")
        if told := invalid_settings(self.algorithm, {THRESHOLD: self.threshold_factor}):
            raise WaymarkError(f"{where}: threshold_factor: {told}")

    @property
    def algorithm_name(self) -> str:
        """The algorithm's name; for one in Python, the class's name."""
        if isinstance(self.algorithm, str):
            return self.algorithm
        return congestion.name(self.algorithm)

    def start_custom(self) -> CongestionControl:
        """A new control of an algorithm in Python.

        Raises:
            WaymarkError: the algorithm does not return one.
        """
        assert not isinstance(self.algorithm, str)
        return congestion.start(self.algorithm)


def invalid_settings(
    algorithm: Algorithm | Custom, settings: Mapping[str, controls.Value]
) -> str | None:
    """The error in the settings of a flow's congestion control; None: there is no error."""
    if isinstance(algorithm, str):
        return controls.invalid_settings(algorithm, settings)
    if settings:
        return "a control in Python has none; pass functools.partial(Mine, beta=2) instead"
    return None


@dataclass(frozen=True)
class OnOff:
    """A UDP source that sends in bursts; burst and idle lengths are drawn from the run's seed.

    Attributes:
        rate_bps: bits per second while ON.
        mean_on_s, mean_off_s: mean lengths of bursts and of the idle times between them, seconds.
        distribution: ``"exponential"``, or ``"pareto"`` with the given ``shape``.
        packet_octets: octets that a link charges for a packet.
        start_s, stop_s: when it begins and ends, in seconds; ``stop_s`` None: never.
    """

    source: str
    target: str
    rate_bps: float
    mean_on_s: float
    mean_off_s: float
    distribution: Distribution = "exponential"
    shape: float = 1.5
    packet_octets: int = PACKET_OCTETS
    start_s: float = 0.0
    stop_s: float | None = None

    def __post_init__(self) -> None:
        where = f"source {self.source}->{self.target}: distribution"
        check_choice(where, self.distribution, get_args(Distribution))

    @staticmethod
    def for_load(
        source: str,
        target: str,
        *,
        load: float,
        link_bps: float,
        rate_bps: float,
        mean_on_s: float,
        start_s: float = 0.0,
        stop_s: float | None = None,
        distribution: Distribution = "exponential",
        shape: float = 1.5,
    ) -> "OnOff":
        """A source whose mean rate is ``load`` times ``link_bps``.

        The idle time follows from mean rate = rate · ON / (ON + OFF). Bursts are whole packets, at
        least one, so that the actual rate is 1 to 2 % higher at 4 packets per burst, as in ns-2.

        Raises:
            WaymarkError: the load is not above 0, or the rate cannot reach it.
        """
        mean_bps = load * link_bps
        if not 0 < mean_bps < rate_bps:
            raise WaymarkError(
                f"a source of {rate_bps:g} b/s cannot send a load of {load:g} of {link_bps:g} b/s"
            )
        mean_off_s = mean_on_s * (rate_bps / mean_bps - 1)
        return OnOff(
            source,
            target,
            rate_bps,
            mean_on_s,
            mean_off_s,
            distribution,
            shape,
            start_s=start_s,
            stop_s=stop_s,
        )


@dataclass(frozen=True)
class Cbr:
    """A UDP source of constant bit rate.

    Attributes:
        rate_bps: bits per second.
        packet_octets: octets that a link charges for a packet.
        start_s, stop_s: when it begins and ends, in seconds; ``stop_s`` None: never.
    """

    source: str
    target: str
    rate_bps: float
    packet_octets: int = PACKET_OCTETS
    start_s: float = 0.0
    stop_s: float | None = None


Source = OnOff | Cbr
"""Any source of traffic that is not TCP."""
