"""Flow completion times, compared with those of an empty network, and histograms of queues."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waymark import _core, files
from waymark.addressing import Addressing, derive, path
from waymark.errors import WaymarkError, os_errors
from waymark.result import Result
from waymark.scenario import Scenario
from waymark.topology import Link

CLASSES: Mapping[str, tuple[float, float]] = {
    "to 10 kB": (0, 10e3),
    "to 100 kB": (10e3, 100e3),
    "to 1 MB": (100e3, 1e6),
    "above 1 MB": (1e6, np.inf),
}
"""Size classes of flows: (above, up to) in octets."""

ACK_OCTETS = 40
"""Minimum length of a packet without data."""

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Completions:
    """Columns with a row per flow.

    Attributes:
        flow: its number in the scenario, from 0.
        source, target: hosts.
        size_octets: data; 0 of a flow that sent none.
        start_s, end_s: when it began, and when all of its data was acknowledged, in seconds;
            NaN: it was not.
        ideal_s: the shortest completion time in an empty network, in seconds: a handshake, its
            packets one after another at the rate of the slowest link on the path, and the return of
            the last acknowledgement.
    """

    flow: NDArray[np.int64]
    source: Sequence[str]
    target: Sequence[str]
    size_octets: Values
    start_s: Values
    end_s: Values
    ideal_s: Values

    @property
    def slowdown(self) -> Values:
        """Completion time divided by the ideal one, 1 or more; NaN: not completed."""
        return (self.end_s - self.start_s) / self.ideal_s

    def by_class(self) -> dict[str, dict[str, float]]:
        """For each size class: flows, completed flows, and percentiles of the completed flows'
        slowdown and completion time in seconds (NaN: there are none)."""
        return {name: self._summary(*bounds) for name, bounds in CLASSES.items()} | {
            "all": self._summary(-1, np.inf)
        }

    def _summary(self, above: float, up_to: float) -> dict[str, float]:
        chosen = (self.size_octets > above) & (self.size_octets <= up_to)
        done = chosen & ~np.isnan(self.end_s)
        summary: dict[str, float] = {"flows": int(chosen.sum()), "completed": int(done.sum())}
        times = (self.end_s - self.start_s)[done]
        for name, values in (("slowdown", self.slowdown[done]), ("fct", times)):
            for percentile in (50, 99):
                value = float(np.percentile(values, percentile)) if len(values) else float("nan")
                summary[f"{name}_p{percentile}"] = value
        return summary

    def write(self, file: Path) -> None:
        """Write all columns to a Parquet file.

        Raises:
            WaymarkError: it cannot be written.
        """
        with FlowFile(file) as flows:
            flows.add(self)

    @staticmethod
    def read(file: Path) -> "Completions":
        """Read a file of :meth:`write` or a :class:`FlowFile`, in the order of the scenario.

        Raises:
            WaymarkError: it cannot be read.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        files.require_file(file)
        try:
            with os_errors(file):
                table = pq.read_table(file).sort_by("flow")
            table = table.select(["flow", "source", "target", *_NUMBERS])
        except (pa.ArrowInvalid, KeyError) as error:
            raise WaymarkError(f"{file}: not a file of flows: {error}") from error
        columns: dict[str, Any] = {name: table.column(name) for name in table.column_names}
        return Completions(
            columns["flow"].to_numpy(),
            columns["source"].to_pylist(),
            columns["target"].to_pylist(),
            *(columns[name].to_numpy() for name in _NUMBERS),
        )


_NUMBERS = ("size_octets", "start_s", "end_s", "ideal_s")


class FlowFile:
    """A Parquet file with a row per flow, which may be written while a run continues.

    Its columns are those of :class:`Completions`, and ``slowdown``. Until the ``with`` block ends,
    its name ends with ``.partial``. If an exception ends the block, the file is removed, and the
    file of an earlier run stays::

        with FlowFile(file) as flows:
            result = run(scenario, ended=flows.of(scenario))
        measured = Completions.read(file)

    Raises:
        WaymarkError: it cannot be written.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def __enter__(self) -> "FlowFile":
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._schema = pa.schema(
            [("flow", pa.int64()), ("source", pa.string()), ("target", pa.string())]
            + [(name, pa.float64()) for name in (*_NUMBERS, "slowdown")]
        )
        with ExitStack() as stack:
            octets = stack.enter_context(files.replacing(self._file))
            self._writer = pq.ParquetWriter(octets, self._schema)
            stack.callback(self._close)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *failure: Any) -> None:
        self._stack.__exit__(*failure)

    def _close(self) -> None:
        with os_errors(self._file):
            self._writer.close()

    def add(self, flows: Completions) -> None:
        """Write rows, as a group.

        Raises:
            WaymarkError: they cannot be written.
        """
        import pyarrow as pa

        numbers = [getattr(flows, name) for name in (*_NUMBERS, "slowdown")]
        columns: list[Any] = [flows.flow, flows.source, flows.target, *numbers]
        with os_errors(self._file):
            self._writer.write_table(pa.table(columns, schema=self._schema))

    def of(self, scenario: Scenario) -> Callable[["_core.EndedFlows"], None]:
        """A function that writes a run's flows as they end, for ``ended`` of
        :func:`waymark.run`."""
        ideal = _Ideal(scenario, derive(scenario.topology))

        def write(flows: "_core.EndedFlows") -> None:
            self.add(
                _completions(
                    scenario,
                    ideal,
                    flows["number"].astype(np.int64),
                    flows["finished_s"],
                    flows["packet_octets"],
                    flows["payload_octets"],
                )
            )

        return write


def completions(scenario: Scenario, result: Result) -> Completions:
    """The completion times of a run's TCP flows; endless flows are not completed."""
    return _completions(
        scenario,
        _Ideal(scenario, derive(scenario.topology)),
        np.arange(len(scenario.flows)),
        np.array([one.finished_s for one in result.flows], float),
        np.array([one.packet_octets for one in result.flows]),
        np.array([one.payload_octets for one in result.flows]),
    )


def _completions(
    scenario: Scenario,
    ideal: "_Ideal",
    numbers: NDArray[np.int64],
    finished_s: Values,
    packet_octets: NDArray[Any],
    payload_octets: NDArray[Any],
) -> Completions:
    chosen: list[int] = numbers.tolist()
    octets: list[int] = packet_octets.tolist()
    flows = [scenario.flows[number] for number in chosen]
    segments = [flow.segments or 0 for flow in flows]
    return Completions(
        numbers,
        [flow.source for flow in flows],
        [flow.target for flow in flows],
        np.array(segments, float) * payload_octets,
        np.array([flow.start_s for flow in flows], float),
        finished_s,
        np.array(
            [
                ideal.of(flow.source, flow.target, packets, each)
                for flow, packets, each in zip(flows, segments, octets, strict=True)
            ],
            float,
        ),
    )


class _Ideal:
    """Times in an empty network; pairs of hosts are looked up once."""

    def __init__(self, scenario: Scenario, addressing: Addressing) -> None:
        self._topology = scenario.topology
        self._addressing = addressing
        self._paths: dict[tuple[str, str], tuple[float, float, float, float]] = {}

    def of(self, source: str, target: str, packets: int, octets: float) -> float:
        both = source, target
        if both not in self._paths:
            there = path(self._topology, self._addressing, source, target)
            back = path(self._topology, self._addressing, target, source)
            self._paths[both] = (
                sum(1 / link.rate_bps for link in there),
                sum(link.delay_s for link in there),
                _time(there) + 2 * _time(back),
                1 / min(link.rate_bps for link in there),
            )
        per_bit, delay_s, control_s, slowest = self._paths[both]
        first = octets * 8 * per_bit + delay_s
        return control_s + first + max(packets - 1, 0) * octets * 8 * slowest


def _time(links: Sequence[Link]) -> float:
    return sum(ACK_OCTETS * 8 / link.rate_bps + link.delay_s for link in links)


def queue_histograms(result: Result) -> Iterator[tuple[str, int, int, float, int]]:
    """The histogram of each queue that was not always empty: its link, the bounds of a class of
    waiting packets (from, below), the share of the run's bins whose mean lies there, and the most
    packets that waited at once.

    Classes are 0 to 1 and then powers of two. The resolution in time is a bin of the run.
    """
    for name, queue in result.queues.items():
        if not queue.peak:
            continue
        classes = np.floor(np.log2(np.maximum(queue.waiting, 0.5))).astype(int) + 1
        counts = np.bincount(classes)
        for number, count in enumerate(counts):
            if count:
                low = 0 if number == 0 else 2 ** (number - 1)
                yield name, low, 2**number, float(count / len(classes)), queue.peak


def write_queues(result: Result, file: Path) -> None:
    """Write :func:`queue_histograms` to a Parquet file, which replaces a former one as a whole.

    Raises:
        WaymarkError: it cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = ("link", "waiting_from", "waiting_below", "share", "peak")
    rows = list(queue_histograms(result))
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    with files.replacing(file) as octets, os_errors(file):
        pq.write_table(pa.table(columns), octets)
