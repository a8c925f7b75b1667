"""Counters and registers of a run's switches, by their names in the P4 programs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from waymark import _core
from waymark.errors import WaymarkError, suggestion

if TYPE_CHECKING:
    from waymark.frame import Table, Value

Counts = NDArray[np.int64]
Words = NDArray[np.uint64]

T = TypeVar("T")

MAX_SAMPLED = 4096
"""Number of cells of an object that are sampled: the first ones."""

_WORD = 64
"""Bits of a word."""


@dataclass(frozen=True)
class Samples:
    """The cells of an object at equal intervals, if the scenario requested them.

    Sample ``k`` is taken after ``k + 1`` intervals. There is a row for each cell that changed since
    the previous sample; all are zero at first.

    Attributes:
        every_s: the interval in seconds: the scenario's, doubled as often as necessary if a run has
            more changes than are stored.
        count: number of samples.
        sample: the sample of each row.
        index: the cell of each row.
        low: its packets, or the lower 64 bits of a register's cell.
        high: its octets, or the higher 64 bits of a register's cell.
    """

    every_s: float
    count: int
    sample: Counts
    index: Counts
    low: Words
    high: Words

    @property
    def times_s(self) -> NDArray[np.float64]:
        """When each sample was taken, in seconds."""
        return (np.arange(self.count, dtype=np.float64) + 1) * self.every_s

    def of(self, index: int) -> tuple[Words, Words]:
        """A cell's ``low`` and ``high`` at every sample."""
        at = np.searchsorted(self.sample[self.index == index], np.arange(self.count), side="right")
        low, high = (
            np.concatenate(([np.uint64(0)], column[self.index == index]))
            for column in (self.low, self.high)
        )
        return low[at], high[at]


@dataclass(frozen=True)
class Count:
    """Packets and octets; 0 for a unit that a counter does not count."""

    packets: int
    octets: int


@dataclass(frozen=True)
class CounterResult:
    """A counter at the end: ``counter[index]`` is a cell's :class:`Count`.

    Attributes:
        size: number of cells.
        index: of the cells that are not zero.
        packets, octets: of each cell in ``index``.
        samples: the cells during the run.

    Raises:
        WaymarkError: from the methods: there is no such cell, or there are no samples.
    """

    size: int
    index: Counts
    packets: Counts
    octets: Counts
    samples: Samples | None = None

    def __getitem__(self, index: int) -> Count:
        at = _position(self.index, index, self.size)
        return Count(0, 0) if at is None else Count(int(self.packets[at]), int(self.octets[at]))

    @property
    def total(self) -> Count:
        """The sum over all cells."""
        return Count(int(self.packets.sum()), int(self.octets.sum()))

    def table(self) -> "Table":
        """A row for each cell that is not zero: ``index``, ``packets``, ``octets``."""
        return _table(index=self.index, packets=self.packets, octets=self.octets)

    def over_time(self, index: int) -> "Table":
        """A cell at every sample: ``time_s``, ``packets``, ``octets``."""
        samples = _sampled(self.samples, index, self.size)
        packets, octets = samples.of(index)
        return _table(time_s=samples.times_s, packets=packets, octets=octets)


@dataclass(frozen=True)
class CountedEntry:
    """An entry of a table with a direct counter.

    Attributes:
        matches: the value of each key by its name, in the notation of P4: ``0xa000001``,
            ``0xa000000/24``, ``0x1 &&& 0x3``, ``0x1..0x9``, or ``_`` for any.
        priority: 0 if the table has no priorities.
    """

    matches: Mapping[str, str]
    priority: int


@dataclass(frozen=True)
class DirectCounterResult:
    """A table's direct counter at the end: ``counter[k]`` is the :class:`Count` of entry ``k``.

    Attributes:
        table_name: the table's name.
        entries: of the table, in the order in which they were written.
        packets, octets: of each entry; the last element is for packets that matched none.
        samples: the counts during the run.

    Raises:
        WaymarkError: from the methods: there is no such entry, or there are no samples.
    """

    table_name: str
    entries: Sequence[CountedEntry]
    packets: Counts
    octets: Counts
    samples: Samples | None = None

    def __getitem__(self, entry: int) -> Count:
        _check_index(entry, len(self.entries), "entry")
        return Count(int(self.packets[entry]), int(self.octets[entry]))

    @property
    def misses(self) -> Count:
        """Packets that matched no entry."""
        return Count(int(self.packets[-1]), int(self.octets[-1]))

    def table(self) -> "Table":
        """A row for each entry, then one for misses: ``entry``, ``packets``, ``octets``."""
        return _table(entry=self.labels(), packets=self.packets, octets=self.octets)

    def over_time(self, entry: int) -> "Table":
        """An entry at every sample: ``time_s``, ``packets``, ``octets``."""
        samples = _sampled(self.samples, entry, len(self.entries), "entry")
        packets, octets = samples.of(entry)
        return _table(time_s=samples.times_s, packets=packets, octets=octets)

    def labels(self) -> list[str]:
        """The matches of each entry as text, then ``"misses"``."""
        entries = (", ".join(f"{k}={v}" for k, v in e.matches.items()) for e in self.entries)
        return [*entries, "misses"]


@dataclass(frozen=True)
class RegisterResult:
    """A register at the end: ``register[index]`` is a cell's value, an ``int``.

    Attributes:
        size: number of cells.
        width: bits of a cell.
        signed: whether a cell contains an ``int<W>``.
        index: of the cells that are not zero.
        words: their values, each in as many words of 64 bits as ``width`` needs, the least
            significant first.
        samples: the cells during the run.

    Raises:
        WaymarkError: from the methods: there is no such cell, or there are no samples.
    """

    size: int
    width: int
    signed: bool
    index: Counts
    words: Words
    samples: Samples | None = None

    def __getitem__(self, index: int) -> int:
        at = _position(self.index, index, self.size)
        return 0 if at is None else self.values[at]

    @property
    def values(self) -> list[int]:
        """The values of the cells in ``index``."""
        cells = self.words.reshape(len(self.index), -1).tolist()
        return [self._value(cell) for cell in cells]

    def table(self) -> "Table":
        """A row for each cell that is not zero: ``index``, ``value``."""
        return _table(index=self.index, value=self.values)

    def over_time(self, index: int) -> "Table":
        """A cell at every sample: ``time_s``, ``value``."""
        if self.width > 2 * _WORD:
            raise WaymarkError(
                f"a register of {self.width} bits cannot be sampled, expected at most {2 * _WORD}"
            )
        samples = _sampled(self.samples, index, self.size)
        cells = zip(*(words.tolist() for words in samples.of(index)), strict=True)
        return _table(time_s=samples.times_s, value=[self._value(cell) for cell in cells])

    def _value(self, words: Sequence[int]) -> int:
        value = sum(word << (_WORD * place) for place, word in enumerate(words))
        negative = self.signed and value >> (self.width - 1)
        return value - (1 << self.width) if negative else value


@dataclass(frozen=True)
class PortResult:
    """A port of a switch, over the whole run.

    Attributes:
        link: the link out of it, as in ``Result.queues``.
        rx_packets, rx_octets: received; octets are those that links charge.
        tx_packets, tx_octets: sent.
        waiting: packets in its queues at the end.
        drops: packets dropped on their way to it, or received at it and dropped before a port was
            chosen, by cause.
    """

    link: str
    rx_packets: int
    rx_octets: int
    tx_packets: int
    tx_octets: int
    waiting: int
    drops: Mapping[str, int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "drops", _Names("cause of drops", self.drops))


@dataclass(frozen=True)
class SwitchResult:
    """A switch. Objects have the names of the P4 program: the full name, or a unique suffix.

    Attributes:
        program: its P4 program.
        packets: packets that its program processed.
        drops: dropped packets by cause: ``ingress`` and ``egress`` by the program, ``tm_full`` by a
            full queue, ``panic`` by a defect of the engine, others by limits of the engine.
        drops_over_time: the same by bin, of the causes that occurred.
        cut_loops: loops that were ended because they reached the maximum number of iterations.
        panic: the first panic of the engine; None: there was none.
        ports: ports with a link, by number.
        counters: the program's indexed counters.
        direct_counters: the tables' counters, one count per entry.
        registers: the program's registers.

    Raises:
        WaymarkError: there is no such name, or it is a suffix of several.
    """

    program: str
    packets: int
    drops: Mapping[str, int]
    drops_over_time: Mapping[str, Counts]
    cut_loops: int
    panic: str | None
    ports: Mapping[int, PortResult]
    counters: Mapping[str, CounterResult]
    direct_counters: Mapping[str, DirectCounterResult]
    registers: Mapping[str, RegisterResult]

    def __post_init__(self) -> None:
        others = {
            **dict.fromkeys(self.counters, "counters"),
            **dict.fromkeys(self.direct_counters, "direct_counters"),
            **dict.fromkeys(self.registers, "registers"),
        }
        named = (
            ("drops", "cause of drops", self.drops),
            ("drops_over_time", "drop with the cause", self.drops_over_time),
            ("ports", "port", self.ports),
            ("counters", "counter", self.counters),
            ("direct_counters", "direct counter", self.direct_counters),
            ("registers", "register", self.registers),
        )
        for field, what, items in named:
            object.__setattr__(self, field, _Names(what, items, others))

    def port_to(self, node: str) -> int:
        """The number of the port whose link leads to a neighbour."""
        ends = {port.link.partition("->")[2]: number for number, port in self.ports.items()}
        return _Names("port to", ends)[node]

    def table(self) -> "Table":
        """All values that are not zero.

        Columns: ``kind`` (``drop``, ``port``, ``counter``, ``direct counter``, ``register``),
            ``name`` (of the cause, the link or the object), ``cell`` (an index or an entry),
            ``packets``, ``octets`` (of a port: sent), ``value`` (of a register).
        """
        from waymark.frame import Table

        columns = ("kind", "name", "cell", "packets", "octets", "value")
        rows = [dict(zip(columns, row, strict=True)) for row in self._rows()]
        return Table({name: [row[name] for row in rows] for name in columns}, columns[:3])

    def _rows(self) -> "Iterator[tuple[Value, ...]]":
        for cause, packets in self.drops.items():
            if packets:
                yield "drop", cause, None, packets, None, None
        for port in self.ports.values():
            yield "port", port.link, None, port.tx_packets, port.tx_octets, None
        for name, counter in self.counters.items():
            for index, *counted in _rows(counter.index, counter.packets, counter.octets):
                yield "counter", name, str(index), *counted, None
        for name, direct in self.direct_counters.items():
            for entry, *counted in _rows(direct.labels(), direct.packets, direct.octets):
                yield "direct counter", name, str(entry), *counted, None
        for name, register in self.registers.items():
            for index, value in _rows(register.index, register.values):
                yield "register", name, str(index), None, None, value


class _Names(dict[str | int, T]):
    """Values by name; a unique suffix of a name can replace it."""

    def __init__(
        self,
        what: str,
        items: Mapping[str, T] | Mapping[int, T],
        others: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(items)  # pyright: ignore[reportArgumentType, reportCallIssue]
        self._what = what
        self._others = others or {}

    def __missing__(self, name: str | int) -> T:
        found = [full for full in self if str(full).endswith(f".{name}")]
        if len(found) == 1:
            return self[found[0]]
        if found:
            raise WaymarkError(f"{self._what} {name!r} may be {' or '.join(map(str, found))}")
        elsewhere = [
            f"{field}[{full!r}]"
            for full, field in self._others.items()
            if full == name or full.endswith(f".{name}")
        ]
        if elsewhere:
            raise WaymarkError(f"no {self._what} {name!r}; there is {elsewhere[0]}")
        valid = [str(full) for full in self]
        there = suggestion(name, valid) if valid else "there is none"
        raise WaymarkError(f"no {self._what} {name!r}; {there}")


def _check_index(index: int, size: int, what: str = "cell") -> None:
    if not 0 <= index < size:
        there = f"0 to {size - 1}" if size else "none"
        raise WaymarkError(f"no {what} {index}; valid: {there}")


def _position(cells: Counts, index: int, size: int) -> int | None:
    _check_index(index, size)
    at = int(np.searchsorted(cells, index))
    return at if at < len(cells) and cells[at] == index else None


def _sampled(samples: Samples | None, index: int, size: int, what: str = "cell") -> Samples:
    if samples is None:
        raise WaymarkError("nothing was sampled; set: Scenario(…, counters_every_s=1.0)")
    _check_index(index, size, what)
    if index >= MAX_SAMPLED:
        raise WaymarkError(f"{what} {index} is not sampled, only 0 to {MAX_SAMPLED - 1}")
    return samples


def _table(**columns: "Sequence[Value] | NDArray[np.generic]") -> "Table":
    from waymark.frame import Table

    lists = {n: c.tolist() if isinstance(c, np.ndarray) else c for n, c in columns.items()}
    return Table(lists, (next(iter(lists)),))


def _rows(*columns: "Sequence[Value] | NDArray[np.generic]") -> "Iterator[tuple[Value, ...]]":
    return zip(*_table(**{str(n): c for n, c in enumerate(columns)}).columns.values(), strict=True)


def from_core(record: "_core.SwitchRecord") -> SwitchResult:
    """A switch's result from the core's record."""
    return SwitchResult(
        program=record["program"],
        packets=record["handled_packets"],
        drops=record["drops"],
        drops_over_time={
            cause: dropped.astype(np.int64) for cause, dropped in record["dropped_packets"].items()
        },
        cut_loops=record["cut_loops"],
        panic=record["panic"],
        ports={
            number: PortResult(
                link=port["line"],
                rx_packets=port["rx_packets"],
                rx_octets=port["rx_octets"],
                tx_packets=port["tx_packets"],
                tx_octets=port["tx_octets"],
                waiting=port["waiting"],
                drops=port["drops"],
            )
            for number, port in record["ports"].items()
        },
        counters={
            name: CounterResult(
                size=counter["size"],
                index=counter["index"].astype(np.int64),
                packets=counter["packets"].astype(np.int64),
                octets=counter["octets"].astype(np.int64),
                samples=_samples(counter["samples"]),
            )
            for name, counter in record["counters"].items()
        },
        direct_counters={
            name: DirectCounterResult(
                table_name=counter["table"],
                entries=tuple(CountedEntry(**entry) for entry in counter["entries"]),
                packets=counter["packets"].astype(np.int64),
                octets=counter["octets"].astype(np.int64),
                samples=_samples(counter["samples"]),
            )
            for name, counter in record["direct_counters"].items()
        },
        registers={
            name: RegisterResult(
                size=register["size"],
                width=register["width"],
                signed=register["signed"],
                index=register["index"].astype(np.int64),
                words=register["words"],
                samples=_samples(register["samples"]),
            )
            for name, register in record["registers"].items()
        },
    )


def _samples(record: "_core.Samples | None") -> Samples | None:
    if record is None:
        return None
    return Samples(
        every_s=record["every_s"],
        count=record["count"],
        sample=record["sample"].astype(np.int64),
        index=record["index"].astype(np.int64),
        low=record["low"],
        high=record["high"],
    )
