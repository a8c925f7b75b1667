"""Cells, multicast groups, clone sessions, value sets and digests over P4Runtime."""

from __future__ import annotations

import queue
import time
from typing import Any

import grpc
import pytest
from finsy.proto import p4d, p4i, p4r
from p4runtime_client import DELETE, INSERT, MODIFY, Client, octets
from p4runtime_server import CPU_PORT, refused, said
from test_p4runtime import probe, register
from test_p4runtime_tables import INVALID, NOT_FOUND
from test_p4runtime_tables import probe as mark_of

p4runtime = pytest.mark.p4runtime
OUT_OF_RANGE, FULL, EXISTS = ["OUT_OF_RANGE"], ["RESOURCE_EXHAUSTED"], ["ALREADY_EXISTS"]


def counter(client: Client, index: int | None, packets: int | None = None) -> Any:
    entry = p4r.CounterEntry(counter_id=client.id_of("counters", "by_port"))
    if index is not None:
        entry.index.index = index
    if packets is not None:
        entry.data.packet_count = packets
    return entry


def meter(client: Client, index: int | None, rate: int | None = None) -> Any:
    entry = p4r.MeterEntry(meter_id=client.id_of("meters", "limits"))
    if index is not None:
        entry.index.index = index
    if rate is not None:
        entry.config.CopyFrom(p4r.MeterConfig(cir=rate, cburst=1, pir=rate, pburst=1))
    return entry


def colours(client: Client, packets: int) -> list[int]:
    """Send packets through the first cell; how many it made green, yellow and red so far."""
    asked = meter(client, 0)
    asked.counter_data.SetInParent()

    def counts() -> list[int]:
        data = client.read(asked)[0].counter_data
        return [colour.packet_count for colour in (data.green, data.yellow, data.red)]

    whole = sum(counts()) + packets
    for _ in range(packets):
        client.packet_out(0, probe(1))
    until = time.monotonic() + 5
    while sum(counts()) < whole and time.monotonic() < until:
        time.sleep(0.001)
    return counts()


# -- arrays of cells ----------------------------------------------------------------------------


@p4runtime("counter-modify", "counter-initial", "counter-unset", "counter-all", "index-unset")
def test_counters(client: Client) -> None:
    assert [entry.data for entry in client.read(counter(client, None))] == [p4r.CounterData()] * 8
    client.write((MODIFY, counter(client, 2, 7)))
    client.write((MODIFY, counter(client, 2)))
    assert client.read(counter(client, 2)) == [counter(client, 2, 7)]
    assert client.read(counter(client, 0))[0].index.index == 0, "index 0 is one cell"
    client.write((MODIFY, counter(client, None, 3)))
    assert [entry.data.packet_count for entry in client.read(counter(client, None))] == [3] * 8
    assert len(client.read(p4r.CounterEntry())) == 8, "of all counters"


@p4runtime("meter-modify", "meter-initial", "meter-unset", "meter-all", "meter-read")
def test_meters(client: Client) -> None:
    assert not any(entry.HasField("config") for entry in client.read(meter(client, None)))
    client.write((MODIFY, meter(client, 2, 7)))
    assert client.read(meter(client, 2)) == [meter(client, 2, 7)]
    client.write((MODIFY, meter(client, 2)))
    assert client.read(meter(client, 2)) == [meter(client, 2)]
    client.write((MODIFY, meter(client, None, 3)))
    assert client.read(p4r.MeterEntry()) == [meter(client, i, 3) for i in range(4)]


@p4runtime("meter-trtcm")
def test_a_meter_s_configuration(client: Client) -> None:
    wrong = [
        p4r.MeterConfig(cir=2, cburst=1, pir=1, pburst=1),
        p4r.MeterConfig(cir=-1, cburst=1, pir=1, pburst=1),
        p4r.MeterConfig(cir=1, cburst=-1, pir=1, pburst=1),
        p4r.MeterConfig(cir=1, cburst=1, pir=1, pburst=1, eburst=1),
    ]
    for config in wrong:
        entry = meter(client, 0)
        entry.config.CopyFrom(config)
        assert said(client, (MODIFY, entry)) == INVALID


@p4runtime("meter-srtcm", "meter-two-colours")
@pytest.mark.parametrize("kind", ["SINGLE_RATE_THREE_COLOR", "SINGLE_RATE_TWO_COLOR"])
def test_meters_of_a_single_rate(client: Client, kind: str) -> None:
    for definition in (client.p4info.meters[0], client.p4info.direct_meters[0]):
        definition.spec.type = p4i.MeterSpec.Type.Value(kind)
    client.set_pipeline(client.get_pipeline().config.p4_device_config)
    excess = int(kind == "SINGLE_RATE_THREE_COLOR")
    right = p4r.MeterConfig(cir=1, cburst=1, pir=1, pburst=1, eburst=excess)
    wrong = [
        p4r.MeterConfig(cir=1, cburst=1, pir=2, pburst=1),
        p4r.MeterConfig(cir=1, cburst=1, pir=1, pburst=2),
        p4r.MeterConfig(cir=1, cburst=1, pir=1, pburst=1, eburst=-1 if excess else 1),
    ]
    for config in wrong:
        indirect, direct = (
            meter(client, 0),
            client.entry("police", client.action("NoAction"), flow=1),
        )
        indirect.config.CopyFrom(config)
        direct.meter_config.CopyFrom(config)
        assert said(client, (MODIFY, indirect), (INSERT, direct)) == INVALID * 2
    entry = meter(client, 0)
    entry.config.CopyFrom(right)
    client.write((MODIFY, entry))
    assert client.read(entry) == [entry]
    assert colours(client, 4) == ([1, 1, 2] if excess else [1, 0, 3])


@p4runtime("colours-count", "colours-clear", "colours-nonzero", "colours-read")
def test_a_meter_counts_colours(client: Client) -> None:
    config = meter(client, 0)
    config.config.CopyFrom(p4r.MeterConfig(cir=1, cburst=1, pir=1, pburst=2))
    assert colours(client, 1) == [1, 0, 0], "without a configuration all are green"
    client.write((MODIFY, config))
    assert colours(client, 4) == [2, 1, 2]
    assert not client.read(meter(client, 0))[0].HasField("counter_data"), "it was not asked for"
    config.counter_data.red.byte_count = 1
    assert said(client, (MODIFY, config)) == INVALID
    config.counter_data.red.byte_count = 0
    client.write((MODIFY, config))
    assert colours(client, 0) == [0, 0, 0]


@p4runtime("register-read", "register-write", "register-all", "register-type", "register-wide")
@p4runtime("bytes-too-wide", "bytes-empty")
def test_registers(client: Client) -> None:
    client.write((MODIFY, register(client, "last_src", None, 5)))
    client.write((MODIFY, register(client, "last_src", 3, 0xBEEF)))
    found = client.read(register(client, "last_src", None))
    assert [entry.data.bitstring for entry in found[2:5]] == [b"\x05", b"\xbe\xef", b"\x05"]
    assert client.read(register(client, "last_src", 3)) == [found[3]]
    wrong = register(client, "last_src", 3, True)
    assert said(client, (MODIFY, wrong)) == INVALID
    wrong.data.CopyFrom(p4d.P4Data())
    assert said(client, (MODIFY, wrong)) == INVALID
    assert said(client, (MODIFY, register(client, "last_src", 3, 1 << 48))) == OUT_OF_RANGE
    wrong.data.bitstring = b""
    assert said(client, (MODIFY, wrong)) == OUT_OF_RANGE
    assert len(client.read(p4r.RegisterEntry())) == 16 + 2


@p4runtime("index-negative", "index-beyond", "cells-modify-only")
@pytest.mark.parametrize("kind", ["counter", "meter", "register"])
def test_indices_and_updates_of_cells(client: Client, kind: str) -> None:
    def cell(index: int) -> Any:
        made = {
            "counter": lambda: counter(client, index, 1),
            "meter": lambda: meter(client, index, 1),
            "register": lambda: register(client, "last_src", index, 1),
        }
        return made[kind]()

    assert said(client, (MODIFY, cell(-1)), (MODIFY, cell(99))) == INVALID + OUT_OF_RANGE
    assert said(client, (INSERT, cell(0)), (DELETE, cell(0))) == INVALID * 2
    for index in (-1, 99):
        assert refused(lambda i=index: client.read(cell(i))).code() is grpc.StatusCode.UNKNOWN


# -- replication --------------------------------------------------------------------------------


def multicast(number: int, *replicas: tuple[int, int]) -> Any:
    group = p4r.MulticastGroupEntry(multicast_group_id=number)
    for port, instance in replicas:
        group.replicas.add(port=octets(port), instance=instance)
    return group


def session(number: int, *replicas: tuple[int, int], length: int = 0) -> Any:
    made = p4r.CloneSessionEntry(session_id=number, packet_length_bytes=length)
    for port, instance in replicas:
        made.replicas.add(port=octets(port), instance=instance)
    return made


def replicated(client: Client, asked: Any) -> list[Any]:
    found = client.read(asked)
    return [getattr(entry, entry.WhichOneof("type")) for entry in found]


@p4runtime("multicast-insert", "multicast-zero", "multicast-instance", "multicast-twice")
@p4runtime("multicast-metadata", "multicast-read", "multicast-modify", "multicast-missing")
def test_multicast_groups(client: Client) -> None:
    group = multicast(5, (1, 0), (1, 1), (2, 65535))
    group.metadata = b"mine"
    client.write((INSERT, group))
    assert said(client, (INSERT, group)) == EXISTS
    assert replicated(client, multicast(5, (9, 9))) == [group], "only the number counts"
    wrong = [
        multicast(0, (1, 1)),
        multicast(6, (1, 65536)),
        multicast(6, (1, 1), (1, 1)),
        p4r.MulticastGroupEntry(multicast_group_id=6, replicas=[p4r.Replica(instance=1)]),
    ]
    assert said(client, *((INSERT, one) for one in wrong)) == INVALID * len(wrong)
    assert said(client, (MODIFY, multicast(6)), (DELETE, multicast(6))) == NOT_FOUND * 2
    assert said(client, (INSERT, multicast(6, (600, 1)))) == OUT_OF_RANGE
    client.write((INSERT, multicast(7)), (MODIFY, multicast(5, (3, 3))))
    assert replicated(client, multicast(0)) == [multicast(5, (3, 3)), multicast(7)]
    client.write((DELETE, multicast(5)))
    assert replicated(client, multicast(5)) == []


@p4runtime("multicast-copies", "multicast-deleted")
def test_multicast_groups_copy(client: Client) -> None:
    flood = client.entry("route", client.action("flood", group=3), address=(1, 32))
    client.write((INSERT, multicast(3, (CPU_PORT, 1), (CPU_PORT, 2))), (INSERT, flood))
    client.packet_out(0, probe(1))
    for _ in range(2):
        client.receive("packet")
    client.write((DELETE, multicast(3)))
    client.packet_out(0, probe(1))
    with pytest.raises(queue.Empty):
        client.receive("packet", 0.2)


@p4runtime("backup-replicas", "backup-same-port", "multicast-twice")
def test_backup_replicas_are_kept(client: Client) -> None:
    group = multicast(5, (1, 0))
    for port in (3, 2):
        group.replicas[0].backup_replicas.add(port=octets(port), instance=port)
    client.write((INSERT, group))
    assert replicated(client, group) == [group]
    for port, instance in ((1, 9), (3, 3)):
        group.replicas[0].backup_replicas.add(port=octets(port), instance=instance)
        assert said(client, (MODIFY, group)) == INVALID
        del group.replicas[0].backup_replicas[2]


@p4runtime("clone-insert", "clone-zero", "clone-instance", "clone-class", "clone-read")
@p4runtime("clone-modify", "clone-missing")
def test_clone_sessions(client: Client) -> None:
    entry = session(5, (1, 0), (2, 1), length=64)
    client.write((INSERT, entry))
    assert said(client, (INSERT, entry)) == EXISTS
    assert replicated(client, session(5, length=3)) == [entry], "only the number counts"
    wrong = [session(0, (1, 1)), session(6, (1, 65536)), session(6, (1, 1), length=-1)]
    assert said(client, *((INSERT, one) for one in wrong)) == INVALID * len(wrong)
    classed = session(6, (1, 1))
    classed.class_of_service = 1
    assert said(client, (INSERT, classed)) == INVALID
    assert said(client, (MODIFY, session(6)), (DELETE, session(6))) == NOT_FOUND * 2
    client.write((MODIFY, session(5, (3, 3))), (INSERT, session(9)))
    assert replicated(client, session(0)) == [session(5, (3, 3)), session(9)]
    client.write((DELETE, session(5)))
    assert replicated(client, session(5)) == []


@p4runtime("clone-copies", "clone-truncates", "clone-deleted")
def test_clone_sessions_copy(client: Client) -> None:
    copy = client.entry("classify", client.action("copy", session=8), 1, flow=(1, 1))
    client.write((INSERT, session(8, (CPU_PORT, 1), length=20)), (INSERT, copy))
    client.packet_out(0, probe(flow=1))
    assert len(client.receive("packet").payload) == 18
    client.write((MODIFY, session(8, (CPU_PORT, 1))))
    client.packet_out(0, probe(flow=1))
    assert len(client.receive("packet").payload) == len(probe()) - 2
    client.write((DELETE, session(8)))
    client.packet_out(0, probe(flow=1))
    with pytest.raises(queue.Empty):
        client.receive("packet", 0.2)


# -- value sets ---------------------------------------------------------------------------------


@p4runtime("values-modify-only", "values-full", "values-twice", "values-empty", "values-match")
def test_value_sets(tables: Client) -> None:
    def values(*members: tuple[int, int]) -> Any:
        entry = p4r.ValueSetEntry(value_set_id=tables.p4info.value_sets[0].preamble.id)
        for kind, klass in members:
            member = entry.members.add()
            member.match.add(field_id=1).exact.value = octets(kind)
            if klass:
                ternary = member.match.add(field_id=2).ternary
                ternary.value, ternary.mask = octets(klass), b"\xf0"
        return entry

    assert tables.read(values()) == [values()]
    two = values((1, 0), (2, 0x50))
    tables.write((MODIFY, two))
    assert tables.read(p4r.ValueSetEntry()) == [two]
    accepted = [mark_of(tables, klass, kind=kind) for kind, klass in ((1, 9), (2, 0x5F), (2, 9))]
    assert accepted == [0, 0, 0x40]
    assert said(tables, (INSERT, two), (DELETE, two)) == INVALID * 2
    assert said(tables, (MODIFY, values((1, 0), (2, 0), (3, 0)))) == FULL
    assert said(tables, (MODIFY, values((1, 0), (1, 0)))) == EXISTS
    assert said(tables, (MODIFY, values((1, 0x51)))) == INVALID, "bits that the mask leaves out"
    assert tables.read(values()) == [two]
    tables.write((MODIFY, values()))
    assert mark_of(tables, 9, kind=1) == 0x40


# -- digests ------------------------------------------------------------------------------------


def digest(client: Client, **config: int) -> Any:
    entry = p4r.DigestEntry(digest_id=client.p4info.digests[0].preamble.id)
    entry.config.CopyFrom(p4r.DigestEntry.Config(**config))
    return entry


def learn(client: Client, source: int) -> None:
    """Have the program send a digest of this source address."""
    client.packet_out(0, probe(flow=9)[:11] + octets(source) + probe(flow=9)[12:])


@pytest.fixture
def learning(client: Client) -> Client:
    entry = client.entry("classify", client.action("learn"), 1, flow=(9, 9))
    client.write((INSERT, entry))
    return client


def sources(digests: Any) -> list[int]:
    return [int.from_bytes(data.struct.members[0].bitstring, "big") for data in digests.data]


@p4runtime("digest-insert", "digest-modify", "digest-delete", "digest-read")
def test_digests_are_enabled_and_disabled(learning: Client) -> None:
    client = learning
    assert said(client, (MODIFY, digest(client)), (DELETE, digest(client))) == NOT_FOUND * 2
    learn(client, 1)
    with pytest.raises(queue.Empty):
        client.receive("digest", 0.2)
    client.write((INSERT, digest(client)))
    assert said(client, (INSERT, digest(client))) == EXISTS
    learn(client, 2)
    assert sources(client.receive("digest")) == [2]
    client.write((MODIFY, digest(client, max_list_size=4)))
    assert client.read(p4r.DigestEntry()) == [digest(client, max_list_size=4)]
    assert said(client, (MODIFY, digest(client, max_timeout_ns=-1))) == INVALID
    client.write((DELETE, digest(client)))
    assert client.read(p4r.DigestEntry()) == []
    learn(client, 3)
    with pytest.raises(queue.Empty):
        client.receive("digest", 0.2)


@p4runtime("digest-list-size", "digest-timeout", "digest-distinct")
def test_digests_wait_until_the_list_is_full_or_old(learning: Client) -> None:
    client = learning
    second = 1_000_000_000
    client.write((INSERT, digest(client, max_timeout_ns=3600 * second, max_list_size=2)))
    for source in (1, 1, 2, 3):
        learn(client, source)
    assert sources(client.receive("digest")) == [1, 2]
    client.write((MODIFY, digest(client, max_timeout_ns=second // 10, max_list_size=9)))
    learn(client, 4)
    assert sources(client.receive("digest")) in ([3], [3, 4])


@p4runtime("digest-ack", "digest-ack-timeout", "digest-no-ack-timeout", "digest-each")
def test_digests_are_not_repeated_before_they_are_acknowledged(learning: Client) -> None:
    client = learning
    client.write((INSERT, digest(client, ack_timeout_ns=3_600_000_000_000)))
    learn(client, 1)
    first = client.receive("digest")
    learn(client, 1)
    with pytest.raises(queue.Empty):
        client.receive("digest", 0.2)
    other = p4r.DigestListAck(digest_id=first.digest_id, list_id=first.list_id + 1)
    client.send(digest_ack=other)
    client.send(digest_ack=p4r.DigestListAck(digest_id=first.digest_id, list_id=first.list_id))
    learn(client, 1)
    assert sources(client.receive("digest")) == [1]
    client.write((MODIFY, digest(client, ack_timeout_ns=0)))
    for _ in range(2):
        learn(client, 2)
        assert sources(client.receive("digest")) == [2]
