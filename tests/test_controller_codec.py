"""Entries read back as they were written, whoever's octets they are."""

from __future__ import annotations

import pytest
from conftest import ROOT
from finsy.proto import p4r

from controller import codec, pipeline
from waymark import entry as entry_of
from waymark.entry import Entry
from waymark.errors import WaymarkError
from waymark.red import Red

P4INFO = pipeline.p4info_of(ROOT / "p4src/v1model/waymark.p4")
SCHEMA = pipeline.make("waymark", P4INFO, b"").schema

ENTRIES = [
    entry_of.direct_route("10.0.1.0/24", 1),
    entry_of.route_via("10.0.2.1/32", 2, "10.255.0.2"),
    entry_of.neighbour(1, "10.0.1.1", own_mac="02:00:00:00:00:01", mac="02:00:00:00:01:01"),
    entry_of.punt(entry_of.ETHER_TYPE_ARP),
    entry_of.queue_limit(1, 50),
    entry_of.feedback(1, ("aqt", "ci"), 10e6),
    *entry_of.red(2, Red(5, 15, 0.1)),
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.table)
def test_an_entry_reads_back_as_it_was_written(entry: Entry) -> None:
    assert codec.canonical(entry, SCHEMA) == entry


def test_a_key_that_matches_anything_is_not_sent() -> None:
    low = next(e for e in entry_of.drai(1, 10e6, 50) if e.params["index"] == 1)
    sent = codec.encode(low, SCHEMA)
    assert [field.field_id for field in sent.match] == [1, 2]
    assert "window_octets" not in codec.decode(sent, SCHEMA).match
    everywhere = codec.encode(entry_of.direct_route("0.0.0.0/0", 1), SCHEMA)
    assert list(everywhere.match) == []


def test_leading_zeros_of_another_server_make_no_difference() -> None:
    sent = codec.encode(ENTRIES[0], SCHEMA)
    padded = p4r.TableEntry()
    padded.CopyFrom(sent)
    padded.action.action.params[0].value = b"\0\0" + sent.action.action.params[0].value
    assert codec.decode(padded, SCHEMA) == ENTRIES[0]


@pytest.mark.parametrize(
    "entry",
    [
        Entry("port_queue", {"port": 512}, "drop_tail", {"max_waiting": 1}),
        Entry("port_queue", {"port": 1}, "drop_head", {"max_waiting": 1}),
        Entry("port_queue", {"port": 1}, "drop_tail", {"limit": 1}),
        Entry("port_queue", {"queue": 1}, "drop_tail", {"max_waiting": 1}),
        Entry("queue", {"port": 1}, "drop_tail", {"max_waiting": 1}),
    ],
)
def test_what_the_program_does_not_have_is_told(entry: Entry) -> None:
    with pytest.raises(WaymarkError, match=entry.table):
        codec.encode(entry, SCHEMA)
