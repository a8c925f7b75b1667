"""Entries read back as they were written, in any target's encoding."""

from __future__ import annotations

import pytest
from conftest import ROOT
from finsy.proto import p4i, p4r

from controller import codec, pipeline
from waymark import entry as entry_of
from waymark.entry import Entry
from waymark.errors import WaymarkError
from waymark.red import Red

P4INFO, SOURCE = pipeline.compiled(ROOT / "p4src/v1model/waymark.p4")
SCHEMA = pipeline.make("waymark", P4INFO, SOURCE).schema

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


def test_the_cookie_is_of_the_program_and_not_of_its_folder() -> None:
    cookie = pipeline.make("waymark", P4INFO, SOURCE).cookie
    moved = SOURCE.replace(str(ROOT).encode(), b"/somewhere/else")
    assert moved != SOURCE
    assert pipeline.make("waymark", P4INFO, moved).cookie == cookie
    assert pipeline.make("waymark", P4INFO, SOURCE + b"\n// more").cookie != cookie


def test_a_ternary_zero_is_not_taken_for_any() -> None:
    """Of a program that is not ours: value 0 under a full mask, and a range over all."""
    p4info = p4i.P4Info()
    table = p4info.tables.add()
    table.preamble.id, table.preamble.name, table.preamble.alias = 0x02000001, "t", "t"
    action = p4info.actions.add()
    action.preamble.id, action.preamble.name, action.preamble.alias = 0x01000001, "a", "a"
    table.action_refs.add().id = action.preamble.id
    kinds = (p4i.MatchField.TERNARY, p4i.MatchField.RANGE)
    for number, (name, kind) in enumerate(zip(("dst_addr", "to"), kinds, strict=True), start=1):
        table.match_fields.add(id=number, name=name, bitwidth=32, match_type=kind)
    schema = pipeline.make("t", p4info, b"").schema
    entry = Entry("t", {"dst_addr": (0, 2**32 - 1), "to": (0, 2**32 - 1)}, "a", {}, 1)
    assert codec.canonical(entry, schema) == Entry("t", {"dst_addr": (0, 2**32 - 1)}, "a", {}, 1)


def test_a_deletion_names_the_key_alone() -> None:
    sent = codec.encode(ENTRIES[0], SCHEMA, key_only=True)
    assert sent.match
    assert not sent.HasField("action")


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
def test_what_the_program_does_not_have_is_refused(entry: Entry) -> None:
    with pytest.raises(WaymarkError, match=entry.table):
        codec.encode(entry, SCHEMA)
