"""The results of a run, as numpy arrays over time.

Arrays have one element per bin of ``sample_s`` seconds; bin k covers [k, k + 1) · ``sample_s``.
"""

import math
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
    """The fate of segments that a sender considered lost.

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
    """A sender's classification of its losses, and their true causes (Chan 2004, table 6.1).

    Attributes:
        random: losses that it classified as random.
        congestion: losses that it classified as congestion.
    """

    random: Truth
    congestion: Truth


@dataclass(frozen=True)
class FlowResult:
    """One TCP connection.

    Attributes:
        packet_octets: octets that a link charges for a full data packet; 0: none was sent.
        feedback_octets: its octets of options that hops write into.
        payload_octets: its octets of data.
        delivered: data packets that arrived, duplicates included, by bin.
        goodput: octets of data that became available in order, by bin.
        sent: data packets that left the host, retransmissions included, by bin.
        retransmissions, losses, trimmed, timeouts: over the whole run; losses are data packets that
            a queue, a program or a link dropped, and trimmed are those that arrived cut by a switch
            (trim.p4).
        reported_marks: data packets that the sender counted as marked (ECN), over the whole run.
        start_s: its start, in seconds of the run.
        segments: packets of data that it had to send; None: no limit.
        finished_s: when all of a finite flow's data was acknowledged, in seconds of the run.
        verdicts: if the congestion control classifies losses (RedVegas).
        trace: if the flow requested it.
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

        These are all except the options that hops write into (Chan 2004, §3.5).
        """
        return self.packet_octets - self.feedback_octets

    @property
    def completion_s(self) -> float | None:
        """The duration of a finite flow, in seconds; None: it has not ended."""
        return None if self.finished_s is None else self.finished_s - self.start_s


@dataclass(frozen=True)
class SourceResult:
    """A source of traffic that is not TCP: datagrams by bin.

    Attributes:
        sent: datagrams that left it.
        delivered: datagrams that arrived.
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
        compared: number of compared packets.
        mismatches: packets whose mark was wrong.
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
        switches: counters and registers of the P4 programs, by switch.
        packets: packets that hosts sent.
        packet_hops: packets sent on links, counted once per link.
        aqt: the comparison of AQT with the true values, if the scenario requested it.
        wall_s: duration of the run, in seconds of real time.
        cpu_s: processor time of the run, in seconds.
        core_s: the part of ``wall_s`` that ``threads`` share: without addresses, routes and table
            entries.
        threads: number of threads among which its network was divided.
        threads_limit: why these are fewer than requested; None: they are not.

    Raises:
        WaymarkError: from the methods: the run has no such flow, association or link; times are
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
        """As :meth:`throughput_bps`, for packets that became available in order, each counted once:
        the number that ns-2's receivers count."""
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
        """A flow's sender at every change, as an Arrow table (columns: :class:`Trace`).

        Raises:
            WaymarkError: the flow has no trace (``Flow(trace=True)``).
        """
        trace = self._flow(flow).trace
        if trace is None:
            raise WaymarkError(f"flow {flow} has no trace; set: Flow(…, trace=True)")
        return trace.table()

    def table(self) -> "Table":
        """The results over time, with a row per bin.

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
    """Mean and standard deviation (n - 1) of one value per seed; a single value has no
    deviation. Both are NaN if a seed's value is."""
    if any(math.isnan(value) for value in values):
        return math.nan, math.nan if len(values) > 1 else None
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None
