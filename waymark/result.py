"""What a run measured, as numpy arrays over time.

Arrays have one element a bin of ``sample_s`` seconds; bin k covers [k, k + 1) · ``sample_s``.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from waymark.errors import WaymarkError, suggestion
from waymark.sctp import AssociationResult
from waymark.switch_result import SwitchResult
from waymark.trace import Trace

if TYPE_CHECKING:
    import pyarrow as pa

    from waymark.frame import Table

Counts = NDArray[np.int64]
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Truth:
    """What became of segments that a sender took for lost.

    Attributes:
        link: lost on a link.
        queue: refused by a queue or a program.
        none: not lost, only late or overtaken.
    """

    link: int
    queue: int
    none: int


@dataclass(frozen=True)
class Verdicts:
    """What a sender took its losses for, beside the truth (Chan 2004, table 6.1).

    Attributes:
        random: losses that it took for random ones.
        congestion: losses that it took for congestion.
    """

    random: Truth
    congestion: Truth


@dataclass(frozen=True)
class FlowResult:
    """One TCP connection.

    Attributes:
        packet_octets: octets that a link charges for a full data packet; 0: none was sent.
        feedback_octets: of them, the options that hops write into.
        payload_octets: of them, data.
        delivered: data packets that arrived, copies included, by bin.
        goodput: octets of data that became available in order, by bin.
        sent: data packets that left the host, retransmissions included, by bin.
        retransmissions, losses, trimmed, timeouts: over the whole run; losses are data packets that
            a queue, a program or a link dropped, and trimmed are those that arrived cut by a switch
            (trim.p4).
        reported_marks: data packets that the sender took for marked (ECN), over the whole run.
        start_s: when it began, in seconds of the run.
        segments: packets of data that it had to send; None: without end.
        finished_s: when all of a finite flow's data was acknowledged, in seconds of the run.
        verdicts: where the congestion control judges losses (RedVegas).
        trace: where the flow asked for it.
    """

    packet_octets: int
    feedback_octets: int
    payload_octets: int
    delivered: Counts
    goodput: Counts
    sent: Counts
    retransmissions: int
    losses: int
    trimmed: int
    timeouts: int
    reported_marks: int
    start_s: float
    segments: int | None
    finished_s: float | None
    verdicts: Verdicts | None
    trace: Trace | None

    @property
    def counted_octets(self) -> int:
        """Octets of a full data packet that count as throughput.

        All but the options that hops write into (Chan 2004, §3.5).
        """
        return self.packet_octets - self.feedback_octets

    @property
    def completion_s(self) -> float | None:
        """How long a finite flow took, in seconds; None: it has not ended."""
        return None if self.finished_s is None else self.finished_s - self.start_s


@dataclass(frozen=True)
class SourceResult:
    """A source of traffic that is not TCP: datagrams by bin.

    Attributes:
        sent: that left it.
        delivered: that arrived.
    """

    sent: Counts
    delivered: Counts


@dataclass(frozen=True)
class QueueResult:
    """The queue in front of a link.

    Attributes:
        waiting: time average of the packets that waited (without the one being sent), by bin.
        peak: most packets that waited at once.
    """

    waiting: Values
    peak: int


@dataclass(frozen=True)
class Check:
    """Marks of arrived packets, compared with the simulator's state.

    Attributes:
        compared: packets that were compared.
        mismatches: those whose mark was wrong.
        first: a description of the first one.
    """

    compared: int
    mismatches: int
    first: tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """One run.

    Attributes:
        sample_s: width of a bin in seconds.
        flows: in the order of the scenario.
        associations: in the order of the scenario.
        sources: in the order of the scenario.
        queues: by link name, ``"r1->r2"``.
        switches: what P4 programs counted and kept, by switch.
        packets: packets that hosts sent.
        packet_hops: packets sent on links, counted once a link.
        aqt: the comparison of AQT with the truth, where the scenario asked for it.
        wall_s: how long the run took, in seconds of real time.
        cpu_s: seconds of one core that it took.
        core_s: the part of ``wall_s`` that ``threads`` share: without addresses, routes and table
            entries.
        threads: among how many threads its network was divided.
        threads_limit: why these were not as many as asked for; None: they were.

    Raises:
        WaymarkError: from the methods: a flow, an association or a link that the run has not; times
            beyond its end, or not between two bins.
    """

    sample_s: float
    flows: tuple[FlowResult, ...]
    associations: tuple[AssociationResult, ...]
    sources: tuple[SourceResult, ...]
    queues: Mapping[str, QueueResult]
    packets: int
    packet_hops: int
    aqt: Check | None
    wall_s: float
    cpu_s: float
    switches: Mapping[str, SwitchResult] = field(default_factory=dict[str, SwitchResult])
    threads: int = 1
    threads_limit: str | None = None
    core_s: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "queues", _Named("link", self.queues))
        object.__setattr__(self, "switches", _Named("switch", self.switches))

    @property
    def times_s(self) -> Values:
        """The middle of each bin, in seconds."""
        bins = len(next(iter(self.queues.values())).waiting)
        return (np.arange(bins, dtype=np.float64) + 0.5) * self.sample_s

    @property
    def end_s(self) -> float:
        """When the run ended, in seconds, to a whole bin."""
        return round(len(self.times_s) * self.sample_s, 9)

    def throughput_bps(self, flow: int, from_s: float, to_s: float) -> float:
        """Mean throughput of a flow between two times, in bits per second."""
        return float(np.mean(self.throughput_over_time_bps(flow)[self._bins(from_s, to_s)]))

    def throughput_over_time_bps(self, flow: int) -> Values:
        """Throughput of a flow in each bin, in bits per second."""
        measured = self._flow(flow)
        return measured.delivered.astype(np.float64) * (measured.counted_octets * 8 / self.sample_s)

    def useful_bps(self, flow: int, from_s: float, to_s: float) -> float:
        """As :meth:`throughput_bps`, of packets that became available in order, each once: what
        ns-2's receivers count."""
        measured = self._flow(flow)
        octets = float(measured.goodput[self._bins(from_s, to_s)].sum())
        packets = octets / measured.payload_octets if octets else 0.0
        return packets * measured.counted_octets * 8 / (to_s - from_s)

    def goodput_bps(self, association: int, from_s: float, to_s: float) -> float:
        """User data of an association that became available in order between two times, in bits per
        second."""
        measured = _numbered("association", association, self.associations)
        octets = measured.goodput_octets[self._bins(from_s, to_s)]
        return float(octets.sum()) * 8 / (to_s - from_s)

    def trace(self, flow: int) -> "pa.Table":
        """A flow's sender at every change, as an Arrow table (:class:`Trace` says its columns).

        Raises:
            WaymarkError: the flow was not asked for a trace (``Flow(trace=True)``).
        """
        trace = self._flow(flow).trace
        if trace is None:
            raise WaymarkError(f"flow {flow} has no trace; ask for it: Flow(…, trace=True)")
        return trace.table()

    def table(self) -> "Table":
        """What was measured over time, with a row per bin.

        Columns: ``time_s`` (the middle of the bin); of each flow ``flow0_bps`` (throughput), of
        each association ``association0_bps`` (goodput), of each source ``source0_delivered``
        (packets), of each queue ``waiting r1->r2`` (packets).
        """
        from waymark.frame import Table

        columns: dict[str, Values] = {"time_s": self.times_s}
        for number in range(len(self.flows)):
            columns[f"flow{number}_bps"] = self.throughput_over_time_bps(number)
        for number, association in enumerate(self.associations):
            octets = association.goodput_octets.astype(np.float64)
            columns[f"association{number}_bps"] = octets * 8 / self.sample_s
        for number, source in enumerate(self.sources):
            columns[f"source{number}_delivered"] = source.delivered.astype(np.float64)
        for link, queue in self.queues.items():
            columns[f"waiting {link}"] = queue.waiting
        return Table({name: column.tolist() for name, column in columns.items()}, ("time_s",))

    def mean_waiting(self, link: str, from_s: float, to_s: float) -> float:
        """Time average of the packets waiting in front of a link between two times."""
        return float(np.mean(self.queues[link].waiting[self._bins(from_s, to_s)]))

    def _flow(self, flow: int) -> FlowResult:
        return _numbered("flow", flow, self.flows)

    def _bins(self, from_s: float, to_s: float) -> slice:
        bins = len(self.times_s)
        first, last = (round(time_s / self.sample_s, 9) for time_s in (from_s, to_s))
        if not (0 <= first <= bins and 0 <= last <= bins):
            raise WaymarkError(
                f"[{from_s:g}, {to_s:g}) s is not within the run, [0, {bins * self.sample_s:g}) s"
            )
        if first != int(first) or last != int(last) or first >= last:
            raise WaymarkError(
                f"[{from_s:g}, {to_s:g}) s is not a whole number of bins of {self.sample_s:g} s"
            )
        return slice(int(first), int(last))


T = TypeVar("T")


class _Named(dict[str, T]):
    def __init__(self, what: str, items: Mapping[str, T]) -> None:
        super().__init__(items)
        self._what = what

    def __missing__(self, name: str) -> T:
        there = suggestion(name, list(self)) if self else "there is none"
        raise WaymarkError(f"no {self._what} {name!r}; {there}")


def _numbered(what: str, number: int, of: Sequence[T]) -> T:
    if not 0 <= number < len(of):
        there = {0: "none", 1: f"{what} 0 only"}.get(len(of), f"{what}s 0 to {len(of) - 1}")
        raise WaymarkError(f"no {what} {number}; the run has {there}")
    return of[number]


def mean_sd(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean and standard deviation (n - 1) of one value per seed; no deviation of a single one."""
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None
