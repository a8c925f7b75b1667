"""A switch's counters per port, and its waiting packets if registers can be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from finsy.grpcutil import GRPCStatusCode
from finsy.p4schema import P4Schema
from finsy.proto import p4r
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct

from controller.client import Client, SwitchError
from waymark.ports import PRIORITIES

DROP_CAUSES: Mapping[int, str] = {
    1: "malformed",
    2: "checksum",
    3: "ttl",
    4: "no_route",
    5: "queue_full",
    6: "red",
}
"""``drop_cause_t`` of ``p4src/include/types.p4``; index of ``drops``: 8 · port + cause."""

TM_FULL = "tm_full"
"""A packet that the program admitted and the traffic manager dropped."""

SEND_FAILED = "send_failed"
"""A packet that the port's interface did not take."""

MARK_KINDS: Mapping[int, str] = {0: "aqt", 1: "drai", 2: "ci"}
"""``mark_t``; index of ``marks``: 4 · port + kind."""

LOSSES = 0xFE
"""The type of the extern entry in which Waymark's switch reports losses
(``crates/p4runtime/src/losses.rs``)."""

_NO_REGISTERS = {GRPCStatusCode.UNIMPLEMENTED, GRPCStatusCode.UNKNOWN}

_BY_PROGRAM = {"ingress", "egress"}
"""The switch's causes that the program counts in more detail."""


@dataclass(frozen=True)
class PortCounts:
    """A port's counters since the pipeline was pushed.

    Attributes:
        drops: packets by cause; includes `TM_FULL` if registers can be read.
        marks: packets by kind.
        waiting: packets in its queues now, without the one being sent; None if registers
            cannot be read.
    """

    received_packets: int = 0
    received_octets: int = 0
    sent_packets: int = 0
    sent_octets: int = 0
    malformed_options: int = 0
    drops: Mapping[str, int] = field(default_factory=dict[str, int])
    marks: Mapping[str, int] = field(default_factory=dict[str, int])
    waiting: int | None = None


@dataclass(frozen=True)
class Queues:
    """A port's queues according to the program's registers.

    Attributes:
        waiting: packets in them now.
        passed: number of the last packet that left each queue, summed. All packets up to it have
            left or are lost.
    """

    waiting: int
    passed: int


@dataclass(frozen=True)
class Losses:
    """Losses of a switch that its program does not count.

    Attributes:
        ports: packets by port and cause, such as ``send_failed``; causes that did not occur are
            omitted.
        octets: the octets of these packets, where the switch counts them: of ``send_failed``.
        switch: messages to controllers by cause, such as ``digest_backlog``; truncated loops.
    """

    ports: Mapping[int, Mapping[str, int]] = field(default_factory=dict[int, Mapping[str, int]])
    octets: Mapping[int, Mapping[str, int]] = field(default_factory=dict[int, Mapping[str, int]])
    switch: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True)
class Cell:
    """One cell of a counter or register, its port and its meaning."""

    array: str
    index: int
    port: int
    meaning: str = ""


def counter_cells(ports: Sequence[int]) -> list[Cell]:
    """All counter cells of ``ports``."""
    cells: list[Cell] = []
    for port in ports:
        cells += [Cell(array, port, port) for array in ("received", "sent", "malformed_options")]
        cells += [Cell("drops", 8 * port + i, port, cause) for i, cause in DROP_CAUSES.items()]
        cells += [Cell("marks", 4 * port + i, port, kind) for i, kind in MARK_KINDS.items()]
    return cells


async def read_counts(
    client: Client, schema: P4Schema, ports: Sequence[int], *, registers: bool
) -> dict[int, PortCounts]:
    """The counts of ``ports``.

    Args:
        client: a connection.
        schema: of the switch's program. Counters that it does not have are 0.
        ports: their numbers.
        registers: whether to read the queues' occupancy; see `has_registers`.
    """
    known = {counter.alias: counter.id for counter in schema.counters}
    meant = {
        (known[cell.array], cell.index): cell
        for cell in counter_cells(ports)
        if cell.array in known
    }
    wanted = [
        p4r.Entity(counter_entry=p4r.CounterEntry(counter_id=id_, index=p4r.Index(index=index)))
        for id_, index in meant
    ]
    # Queues are read before the counters, so that packets in between do not count as lost.
    queues = await _queues(client, schema, ports) if registers else {}
    packets: dict[tuple[int, str, str], int] = {}
    octets: dict[tuple[int, str, str], int] = {}
    for entity in await client.read(wanted):
        read = entity.counter_entry
        cell = meant.get((read.counter_id, read.index.index))
        if cell is not None:
            at = (cell.port, cell.array, cell.meaning)
            packets[at], octets[at] = read.data.packet_count, read.data.byte_count
    counts = {
        port: PortCounts(
            received_packets=packets.get((port, "received", ""), 0),
            received_octets=octets.get((port, "received", ""), 0),
            sent_packets=packets.get((port, "sent", ""), 0),
            sent_octets=octets.get((port, "sent", ""), 0),
            malformed_options=packets.get((port, "malformed_options", ""), 0),
            drops={c: packets.get((port, "drops", c), 0) for c in DROP_CAUSES.values()},
            marks={k: packets.get((port, "marks", k), 0) for k in MARK_KINDS.values()},
        )
        for port in ports
    }
    for port, its in queues.items():
        lost = max(0, its.passed - counts[port].sent_packets)
        drops = {**counts[port].drops, TM_FULL: lost}
        counts[port] = replace(counts[port], drops=drops, waiting=its.waiting)
    return counts


async def read_losses(client: Client) -> Losses | None:
    """The switch's losses; None if the switch does not report them, like BMv2."""
    wanted = p4r.Entity(extern_entry=p4r.ExternEntry(extern_type_id=LOSSES))
    try:
        found = await client.read([wanted])
    except SwitchError as error:
        if error.code in _NO_REGISTERS:
            return None
        raise
    message = Struct()
    for entity in found:
        if entity.extern_entry.entry.Unpack(message):
            fields = json_format.MessageToDict(message)
            return Losses(
                ports=_by_port(fields["ports"]),
                octets=_by_port(fields.get("octets", {})),  # older switches have none
                switch=_whole(fields["switch"]),
            )
    return None


def _by_port(counts: Mapping[str, Mapping[str, float]]) -> dict[int, dict[str, int]]:
    return {int(port): _whole(its) for port, its in counts.items()}


def _whole(counts: Mapping[str, float]) -> dict[str, int]:
    return {name: int(count) for name, count in counts.items()}


def with_causes(
    counts: Mapping[int, PortCounts],
    losses: Losses,
    before: Mapping[int, PortCounts] = MappingProxyType({}),
) -> dict[int, PortCounts]:
    """``counts`` with the causes of ``losses`` among their drops, except the program's own.

    The program counts a packet as sent that the interface then does not take: it is dropped
    (`SEND_FAILED`) and not sent. The losses are read after the counters, so that a packet may be
    missing from what was sent ``before``; that is not taken back.
    """

    def one(port: int, count: PortCounts) -> PortCounts:
        causes = losses.ports.get(port, {})
        drops = {cause: n for cause, n in causes.items() if cause not in _BY_PROGRAM}
        if TM_FULL in count.drops:
            drops.setdefault(TM_FULL, 0)
        sent = max(0, count.sent_packets - causes.get(SEND_FAILED, 0))
        failed_octets = losses.octets.get(port, {}).get(SEND_FAILED, 0)
        octets = max(0, count.sent_octets - failed_octets)
        old = before.get(port, PortCounts())
        if old.sent_packets <= count.sent_packets:  # else the counters were reset
            sent = max(sent, old.sent_packets)
            octets = max(octets, old.sent_octets)
        return replace(count, sent_packets=sent, sent_octets=octets, drops={**count.drops, **drops})

    return {port: one(port, count) for port, count in counts.items()}


def with_losses(
    now: Mapping[int, PortCounts], before: Mapping[int, PortCounts]
) -> dict[int, PortCounts]:
    """``now``, with at least as many `TM_FULL` as ``before``, unless counters were reset.

    `TM_FULL` is the difference of two readings at different times. Under load it may be smaller
    than the true number, but never larger.
    """

    def one(count: PortCounts, old: PortCounts) -> PortCounts:
        if TM_FULL not in count.drops or count.sent_packets < old.sent_packets:
            return count
        lost = max(count.drops[TM_FULL], old.drops.get(TM_FULL, 0))
        return replace(count, drops={**count.drops, TM_FULL: lost})

    return {port: one(count, before.get(port, count)) for port, count in now.items()}


async def has_registers(client: Client, schema: P4Schema, ports: Sequence[int]) -> bool:
    """Whether the switch supports reading registers; BMv2's P4Runtime does not."""
    try:
        return bool(await _queues(client, schema, ports[:1]))
    except SwitchError as error:
        if error.code in _NO_REGISTERS:
            return False
        raise


async def _queues(client: Client, schema: P4Schema, ports: Sequence[int]) -> dict[int, Queues]:
    """The queues of each port, summed; empty if the program has no such registers."""
    ids = {register.alias: register.id for register in schema.registers}
    tail, dequeued = ids.get("queue_tail"), ids.get("queue_dequeued")
    if tail is None or dequeued is None:
        return {}
    wanted = [
        p4r.Entity(register_entry=p4r.RegisterEntry(register_id=id_, index=p4r.Index(index=index)))
        for port in ports
        for index in range(PRIORITIES * port, PRIORITIES * (port + 1))
        for id_ in (tail, dequeued)
    ]
    sums = {(port, id_): 0 for port in ports for id_ in (tail, dequeued)}
    for entity in await client.read(wanted):
        read = entity.register_entry
        value = int.from_bytes(read.data.bitstring, "big")
        sums[read.index.index // PRIORITIES, read.register_id] += value
    # The registers are read one after the other; a packet that leaves in between counts -1.
    return {
        port: Queues(max(0, sums[port, tail] - sums[port, dequeued]), sums[port, dequeued])
        for port in ports
    }
