"""Table entries, default entries and their direct resources over P4Runtime."""

from __future__ import annotations

import time
from typing import Any

import grpc
import pytest
from finsy.proto import p4r
from p4runtime_client import DELETE, INSERT, MODIFY, Client, octets
from p4runtime_server import CPU_PORT, refused, said

p4runtime = pytest.mark.p4runtime
ONE_CODE = {code: [code] for code in ("INVALID_ARGUMENT", "NOT_FOUND", "PERMISSION_DENIED")}
INVALID, NOT_FOUND, DENIED = ONE_CODE.values()


def default(client: Client, table: str, action: Any = None) -> Any:
    entry = client.entry(table, action)
    entry.is_default_action = True
    return entry


def mark(client: Client, value: int) -> Any:
    return client.action("mark", value=value)


def probe(client: Client, klass: int, flow: int = 0, rest: int = 0, kind: int = 0) -> int:
    """Send a packet through the tables of `tables.p4`; the mark that it came back with."""
    client.packet_out(0, bytes([kind, klass]) + octets(flow, 2) + octets(rest))
    packet = client.receive("packet")
    values = {metadata.metadata_id: metadata.value for metadata in packet.metadata}
    assert values[1] == octets(CPU_PORT)
    return int.from_bytes(values[2], "big")


UNMARKED = 0x40
"""The mark of a packet that hit nothing."""


# -- keys ---------------------------------------------------------------------------------------


@p4runtime("table-id", "id-zero")
def test_a_table_must_be_named(client: Client) -> None:
    entry = client.entry("route", client.action("forward", port=1), address=(1, 32))
    entry.table_id = 0
    assert said(client, (INSERT, entry)) == INVALID
    entry.table_id = 0x02FFFFFF
    assert said(client, (INSERT, entry)) == NOT_FOUND
    action = client.entry("route", p4r.Action(action_id=0), address=(1, 32))
    assert said(client, (INSERT, action)) == INVALID


@p4runtime("priority-needed", "priority-zero", "priority-equal", "priority-highest")
def test_priority_where_a_match_is_ternary_and_nowhere_else(tables: Client) -> None:
    low = tables.entry("initial", mark(tables, 1), 1, **{"class": (0x10, 0xF0)})
    high = tables.entry("initial", mark(tables, 2), 9, **{"class": (0x11, 0xFF)})
    equal = tables.entry("initial", mark(tables, 3), 9, flow=(5, 0xFFFF))
    without = tables.entry("initial", mark(tables, 1), 0, **{"class": (0x10, 0xF0)})
    negative = tables.entry("initial", mark(tables, 1), -1, **{"class": (0x10, 0xF0)})
    exact = tables.entry("scoped", mark(tables, 1), 1, **{"class": 1})
    assert said(tables, (INSERT, without), (INSERT, negative), (INSERT, exact)) == INVALID * 3
    tables.write((INSERT, low), (INSERT, high))
    assert probe(tables, 0x12) == 1
    assert probe(tables, 0x11) == 2, "the highest priority wins"
    tables.write((DELETE, low), (INSERT, equal))
    assert len(tables.read(tables.entry("initial", None, 9))) == 2


@p4runtime("key-names-entry", "modify-missing", "delete-missing", "insert-twice")
def test_match_and_priority_name_an_entry(tables: Client) -> None:
    entry = tables.entry("initial", mark(tables, 1), 4, **{"class": (0x10, 0xF0)})
    other = tables.entry("initial", mark(tables, 2), 5, **{"class": (0x10, 0xF0)})
    tables.write((INSERT, entry))
    assert said(tables, (MODIFY, other), (DELETE, other)) == NOT_FOUND * 2
    assert said(tables, (INSERT, entry)) == ["ALREADY_EXISTS"]
    tables.write((INSERT, other))
    assert tables.read(tables.entry("initial", None, 4)) == [entry]


@p4runtime("delete-key-only", "delete-removes")
def test_of_what_is_deleted_only_the_key_counts(tables: Client) -> None:
    entry = tables.entry("scoped", mark(tables, 1), **{"class": 1})
    tables.write((INSERT, entry))
    assert probe(tables, 1) == 1
    entry.action.action.action_id = 12345
    entry.idle_timeout_ns = -5
    entry.counter_data.packet_count = -1
    entry.time_since_last_hit.elapsed_ns = 1
    tables.write((DELETE, entry))
    assert tables.read(tables.entry("scoped")) == []
    assert probe(tables, 1) == UNMARKED


@p4runtime("keyless-insert", "default-modify")
def test_a_table_without_keys_has_only_its_default(tables: Client) -> None:
    entry = tables.entry("keyless", mark(tables, 1))
    assert said(tables, (INSERT, entry)) == INVALID
    tables.write((MODIFY, default(tables, "keyless", mark(tables, 7))))
    assert probe(tables, 9) == 7


@p4runtime("const-written")
@pytest.mark.parametrize("kind", [INSERT, MODIFY, DELETE])
def test_is_const_is_never_written(tables: Client, kind: int) -> None:
    entry = tables.entry("scoped", mark(tables, 1), **{"class": 1})
    tables.write((INSERT, entry))
    entry.is_const = True
    assert said(tables, (kind, entry)) == INVALID


@p4runtime("table-full")
def test_a_full_table_takes_no_more(tables: Client) -> None:
    entries = [tables.entry("scoped", mark(tables, i), **{"class": i}) for i in range(5)]
    codes = said(tables, *((INSERT, entry) for entry in entries))
    assert codes == ["OK"] * 4 + ["RESOURCE_EXHAUSTED"]
    tables.write((DELETE, entries[0]))
    tables.write((INSERT, entries[4]))


# -- matches ------------------------------------------------------------------------------------


@p4runtime("match-unknown-field", "match-type", "match-exact-missing", "match-field-twice")
def test_matches_are_those_of_the_table(client: Client) -> None:
    action = client.action("forward", port=1)

    def entry(*matches: Any) -> Any:
        made = client.entry("route", action)
        made.match.extend(matches)
        return made

    lpm = p4r.FieldMatch.LPM(value=b"\x01", prefix_len=32)
    wrong_id = entry(p4r.FieldMatch(field_id=9, lpm=lpm))
    unset = entry(p4r.FieldMatch(field_id=1))
    wrong_kind = entry(p4r.FieldMatch(field_id=1, exact=p4r.FieldMatch.Exact(value=b"\x01")))
    twice = entry(*[p4r.FieldMatch(field_id=1, lpm=lpm)] * 2)
    updates = [(INSERT, one) for one in (wrong_id, unset, wrong_kind, twice)]
    assert said(client, *updates) == INVALID * 4
    missing = client.entry("fixed", client.action("NoAction"))
    assert said(client, (DELETE, missing)) == INVALID


@p4runtime("match-lpm-bits", "match-lpm-any", "match-lpm-prefix")
def test_lpm_matches_are_canonical(client: Client) -> None:
    action = client.action("forward", port=1)
    wrong = [(0x0A000001, 8), (0, 0), (1, 33), (1, -1)]
    entries = [client.entry("route", action, address=match) for match in wrong]
    assert said(client, *((INSERT, entry) for entry in entries)) == INVALID * 4
    # What covers every value is an entry without the field.
    everything = client.entry("route", action)
    longest = client.entry("route", action, address=(0x0A000001, 32))
    client.write((INSERT, everything), (INSERT, longest))
    assert client.read(client.entry("route")) == [everything, longest]


@p4runtime("match-ternary-bits", "match-ternary-any")
def test_ternary_matches_are_canonical(client: Client) -> None:
    action = client.action("NoAction")
    for match in ((0x0100, 0x00FF), (0x1FF, 0xFF), (0, 0)):
        entry = client.entry("classify", action, 1, address=match)
        assert said(client, (INSERT, entry)) == INVALID
    padded = client.entry("classify", action, 1, address=(0x0A, 0xFF))
    padded.match[0].ternary.value = b"\0\0\0\x0a"
    client.write((INSERT, padded))
    assert client.read(client.entry("classify"))[0].match[0].ternary.value == b"\x0a"


@p4runtime("match-range-order", "match-range-any")
def test_range_matches_are_canonical(client: Client) -> None:
    action = client.action("NoAction")
    for match in ((9, 5), (0, 0xFFFF)):
        entry = client.entry("classify", action, 1, flow=match)
        assert said(client, (INSERT, entry)) == INVALID
    single = client.entry("classify", action, 1, flow=(5, 5))
    client.write((INSERT, single))
    assert client.read(client.entry("classify")) == [single]


@p4runtime("match-optional", "match-dont-care")
def test_optional_matches_are_a_value_or_left_out(client: Client) -> None:
    action = client.action("NoAction")
    entry = client.entry("classify", action, 1, **{"class": 7})
    anything = client.entry("classify", action, 2)
    client.write((INSERT, entry), (INSERT, anything))
    assert client.read(client.entry("classify")) == [entry, anything]
    entry.match[0].optional.value = b""
    assert said(client, (INSERT, entry)) == INVALID


@p4runtime("bytes-param", "bytes-any-length", "bytes-shortest", "bytes-zero")
def test_bytestrings(client: Client) -> None:
    forward = client.action("forward", port=0)
    entry = client.entry("route", forward, address=(0x0A000000, 8))
    value = entry.action.action.params[0]
    for octets_given in (b"", b"\x02\x00", b"\x01\x00\x00", b"\xff" * 99):
        value.value = octets_given
        assert said(client, (INSERT, entry)) == INVALID
    for octets_given, shortest in (
        (b"\0", b"\0"),
        (bytes(40), b"\0"),
        (b"\x00\x63", b"\x63"),
        (bytes(1000) + b"\x01\xff", b"\x01\xff"),
    ):
        value.value = octets_given
        client.write((INSERT, entry))
        [found] = client.read(client.entry("route"))
        assert found.action.action.params[0].value == shortest
        client.write((DELETE, entry))


@p4runtime("bytes-match")
@pytest.mark.parametrize("octets_given", [b"", b"\x01\0\0\0\0"])
def test_bytestrings_of_matches(client: Client, octets_given: bytes) -> None:
    entry = client.entry("route", client.action("forward", port=1), address=(0x0A000000, 8))
    entry.match[0].lpm.value = octets_given
    assert said(client, (INSERT, entry)) == INVALID


# -- actions ------------------------------------------------------------------------------------


@p4runtime("action-needed", "action-of-table", "param-unknown", "param-missing", "param-twice")
def test_actions_are_those_of_the_table_with_all_their_data(client: Client) -> None:
    def entry(action: Any) -> Any:
        return client.entry("route", action, address=(1, 32))

    param = p4r.Action.Param
    forward = client.id_of("actions", "forward")
    wrong = [
        None,
        p4r.TableAction(),
        client.action("learn"),
        p4r.Action(action_id=7),
        p4r.Action(action_id=forward),
        p4r.Action(action_id=forward, params=[param(param_id=1, value=b"\1")] * 2),
        p4r.Action(
            action_id=forward,
            params=[param(param_id=1, value=b"\1"), param(param_id=2, value=b"\1")],
        ),
    ]
    assert said(client, *((INSERT, entry(action)) for action in wrong)) == INVALID * len(wrong)


@p4runtime("action-scope")
def test_actions_stand_where_p4info_lets_them(tables: Client) -> None:
    only_default = tables.entry("scoped", tables.action("drop"), **{"class": 1})
    only_entry = tables.action("mark_both", high=1, low=2)
    assert said(tables, (INSERT, only_default)) == DENIED
    assert said(tables, (MODIFY, default(tables, "scoped", only_entry))) == DENIED
    tables.write((INSERT, tables.entry("scoped", only_entry, **{"class": 1})))
    assert probe(tables, 1) == 0x12
    tables.write((MODIFY, default(tables, "scoped", tables.action("drop"))))


@p4runtime("translated-width")
def test_translated_values_have_the_client_s_width(tables: Client) -> None:
    [port] = next(a for a in tables.p4info.actions if a.preamble.alias == "send").params
    assert port.bitwidth == 32
    entry = tables.entry("scoped", tables.action("send", port=5), **{"class": 1})
    tables.write((INSERT, entry))
    assert tables.read(tables.entry("scoped")) == [entry]
    for number in (1 << 32, 0x200):
        entry = tables.entry("scoped", tables.action("send", port=number), **{"class": 2})
        assert said(tables, (INSERT, entry)) == INVALID


@p4runtime("action-kind")
def test_direct_tables_run_actions_and_indirect_ones_members(tables: Client) -> None:
    member = p4r.TableAction(action_profile_member_id=1)
    group = p4r.TableAction(action_profile_group_id=1)
    one_shot = p4r.TableAction(action_profile_action_set=p4r.ActionProfileActionSet())
    one_shot.action_profile_action_set.action_profile_actions.add(action=mark(tables, 1), weight=1)
    for action in (member, group, one_shot):
        assert said(tables, (INSERT, tables.entry("scoped", action, **{"class": 1}))) == INVALID
    profile = tables.id_of("action_profiles", "plain")
    tables.write(
        (
            INSERT,
            p4r.ActionProfileMember(action_profile_id=profile, member_id=1, action=mark(tables, 1)),
        )
    )
    for action in (mark(tables, 1), one_shot):
        assert said(tables, (INSERT, tables.entry("members", action, **{"class": 1}))) == INVALID
    assert said(tables, (INSERT, tables.entry("few", mark(tables, 1), **{"class": 1}))) == INVALID


@p4runtime("modify-without-action", "modify-changes")
def test_modifying_without_an_action_keeps_it(tables: Client) -> None:
    entry = tables.entry("measured", tables.action("metered"), **{"class": 3})
    entry.metadata = b"mine"
    entry.meter_config.CopyFrom(p4r.MeterConfig(cir=1, cburst=1, pir=1, pburst=1))
    tables.write((INSERT, entry))
    nothing = tables.entry("measured", None, **{"class": 3})
    nothing.counter_data.packet_count = 9
    tables.write((MODIFY, nothing))
    asked = tables.entry("measured", None, **{"class": 3})
    asked.counter_data.SetInParent()
    asked.meter_config.SetInParent()
    [found] = tables.read(asked)
    assert found.action == entry.action
    assert found.counter_data.packet_count == 9
    assert found.metadata == b"mine"
    assert not found.HasField("meter_config"), "what is unset is the default"
    assert said(tables, (MODIFY, tables.entry("measured", None, **{"class": 4}))) == NOT_FOUND
    tables.write((MODIFY, tables.entry("measured", tables.action("NoAction"), **{"class": 3})))
    assert tables.read(asked)[0].action.action == tables.action("NoAction")


@p4runtime("metadata-kept", "controller-metadata-kept", "read-by-metadata")
def test_metadata_is_given_back_and_asked_for(tables: Client) -> None:
    first = tables.entry("scoped", mark(tables, 1), **{"class": 1})
    first.metadata, first.controller_metadata = b"\0any\xff", 77
    second = tables.entry("scoped", mark(tables, 2), **{"class": 2})
    tables.write((INSERT, first), (INSERT, second))
    assert tables.read(tables.entry("scoped")) == [first, second]
    asked = tables.entry("scoped")
    asked.metadata = first.metadata
    assert tables.read(asked) == [first]
    asked = tables.entry("scoped")
    asked.controller_metadata = 77
    assert tables.read(asked) == [first]
    second.metadata = b"new"
    tables.write((MODIFY, second))
    assert tables.read(tables.entry("scoped"))[1].metadata == b"new"


# -- default entries ----------------------------------------------------------------------------


@p4runtime(
    "default-insert-delete", "default-no-match", "default-no-priority", "default-action-kind"
)
def test_what_a_default_entry_is_not(tables: Client) -> None:
    entry = default(tables, "initial", mark(tables, 1))
    assert said(tables, (INSERT, entry), (DELETE, entry)) == INVALID * 2
    entry.priority = 3
    assert said(tables, (MODIFY, entry)) == INVALID
    assert refused(lambda: tables.read(entry))
    matched = tables.entry("initial", mark(tables, 1), **{"class": (1, 0xFF)})
    matched.is_default_action = True
    assert said(tables, (MODIFY, matched)) == INVALID
    member = p4r.TableAction(action_profile_member_id=1)
    assert said(tables, (MODIFY, default(tables, "initial", member))) == INVALID


@p4runtime("default-regular", "default-reset")
def test_a_default_entry_has_what_other_entries_have(tables: Client) -> None:
    entry = default(tables, "measured", tables.action("NoAction"))
    entry.metadata, entry.controller_metadata = b"mine", 5
    entry.counter_data.packet_count = 40
    entry.meter_config.CopyFrom(p4r.MeterConfig(cir=1, cburst=1, pir=1, pburst=1))
    tables.write((MODIFY, entry))
    asked = default(tables, "measured")
    asked.counter_data.SetInParent()
    asked.meter_config.SetInParent()
    assert tables.read(asked) == [entry]
    probe(tables, 0x55)
    assert tables.read(asked)[0].counter_data.packet_count == 41, "it counts misses"
    tables.write((MODIFY, default(tables, "measured")))
    [reset] = tables.read(asked)
    assert reset.action.action == tables.action("metered")
    assert (reset.metadata, reset.controller_metadata) == (b"", 0)
    assert not reset.HasField("meter_config")
    assert reset.counter_data == p4r.CounterData()


@p4runtime("default-const")
def test_a_constant_default_stays(client: Client) -> None:
    for action in (client.action("NoAction"), None):
        assert said(client, (MODIFY, default(client, "fixed", action))) == DENIED
    [found] = client.read(default(client, "fixed"))
    assert found.action.action == client.action("NoAction")


@p4runtime("default-idle")
def test_a_default_entry_does_not_age(client: Client) -> None:
    entry = default(client, "route", client.action("forward", port=1))
    entry.idle_timeout_ns = 5
    assert said(client, (MODIFY, entry)) == INVALID
    asked = default(client, "route")
    asked.time_since_last_hit.SetInParent()
    assert refused(lambda: client.read(asked)).code() is grpc.StatusCode.UNKNOWN


# -- entries of the source ----------------------------------------------------------------------


@p4runtime("const-table-write", "const-table-action", "const-table-direct")
def test_constant_tables_change_in_direct_resources_only(tables: Client) -> None:
    first = tables.read(tables.entry("constant"))[0]
    first.is_const = False
    new = tables.entry("constant", mark(tables, 1), 9, **{"class": (1, 0xFF)})
    assert said(tables, (INSERT, new), (MODIFY, first), (DELETE, first)) == DENIED * 3
    first.ClearField("action")
    first.counter_data.packet_count = 30
    tables.write((MODIFY, first))
    assert probe(tables, 0xE0) == 0x21
    asked = tables.entry("constant")
    asked.counter_data.SetInParent()
    assert tables.read(asked)[0].counter_data.packet_count == 31
    tables.write((MODIFY, default(tables, "constant", mark(tables, 5))))
    assert probe(tables, 1) == 5


@p4runtime("const-table-read", "const-table-priority")
def test_constant_tables_are_read_with_priorities_in_the_order_of_the_source(
    tables: Client,
) -> None:
    found = tables.read(tables.entry("constant"))
    assert [entry.action.action for entry in found] == [mark(tables, 0x21), mark(tables, 0x22)]
    assert all(entry.is_const and entry.match for entry in found)
    assert found[0].priority > found[1].priority > 0


@p4runtime("initial-read", "initial-change", "initial-const", "initial-insert")
def test_initial_entries_change_unless_they_are_constant(tables: Client) -> None:
    fixed, free = tables.read(tables.entry("initial"))
    assert (fixed.is_const, free.is_const) == (True, False)
    fixed.is_const = False
    assert said(tables, (MODIFY, fixed), (DELETE, fixed)) == DENIED * 2
    free.action.action.CopyFrom(mark(tables, 3))
    tables.write((MODIFY, free))
    assert probe(tables, 0xFD) == 3
    tables.write((DELETE, free))
    assert probe(tables, 0xFD) == UNMARKED
    entries = [
        tables.entry("initial", mark(tables, i), i, **{"class": (i, 0xFF)}) for i in range(1, 5)
    ]
    codes = said(tables, *((INSERT, entry) for entry in entries))
    assert codes == ["OK"] * 3 + ["RESOURCE_EXHAUSTED"]


# -- wildcard reads -----------------------------------------------------------------------------


@p4runtime("read-all-tables", "read-table", "read-default", "read-defaults-apart")
def test_entries_of_one_table_and_of_all(tables: Client) -> None:
    tables.write((INSERT, tables.entry("scoped", mark(tables, 1), **{"class": 1})))
    everything = tables.read(p4r.TableEntry())
    names = {table.preamble.id: table.preamble.alias for table in tables.p4info.tables}
    found = [names[entry.table_id] for entry in everything]
    assert sorted(found) == ["constant"] * 2 + ["initial"] * 2 + ["scoped"]
    assert not any(entry.is_default_action for entry in everything)
    defaults = tables.read(p4r.TableEntry(is_default_action=True))
    assert {names[entry.table_id] for entry in defaults} == set(names.values())
    assert len(tables.read(tables.entry("scoped"))) == 1
    assert len(tables.read(default(tables, "scoped"))) == 1


@p4runtime("read-by-match", "read-by-priority", "read-by-action", "read-all-matching")
def test_entries_asked_for_by_part(tables: Client) -> None:
    anything = tables.entry("initial", mark(tables, 1), 3)
    one = tables.entry("initial", tables.action("NoAction"), 4, **{"class": (1, 0xFF)})
    tables.write((INSERT, anything), (INSERT, one))
    assert tables.read(tables.entry("initial", None, 4, **{"class": (1, 0xFF)})) == [one]
    assert tables.read(tables.entry("initial", None, 5, **{"class": (1, 0xFF)})) == []
    assert tables.read(tables.entry("initial", None, 3)) == [anything]
    of_action = tables.entry("initial", p4r.Action(action_id=one.action.action.action_id))
    assert tables.read(of_action) == [one]
    # An entry that matches anything differs from all entries only by its priority.
    assert len(tables.read(tables.entry("initial"))) == 4
    wrong = tables.entry("initial", None, 4)
    wrong.match.add(field_id=9)
    assert refused(lambda: tables.read(wrong))


# -- direct resources ---------------------------------------------------------------------------


def measured(client: Client, **cells: Any) -> Any:
    entry = client.entry("measured", client.action("metered"), **{"class": 3})
    for name, cell in cells.items():
        getattr(entry, name).CopyFrom(cell)
    return entry


def read_measured(client: Client, *names: str) -> Any:
    asked = client.entry("measured", None, **{"class": 3})
    for name in names:
        getattr(asked, name).SetInParent()
    [found] = client.read(asked)
    return found


METER = p4r.MeterConfig(cir=1, cburst=1, pir=2, pburst=2)


@p4runtime("direct-meter-insert", "direct-meter-modify", "direct-meter-read")
def test_the_meter_of_an_entry(tables: Client) -> None:
    tables.write((INSERT, measured(tables)))
    assert not read_measured(tables, "meter_config").HasField("meter_config")
    tables.write((MODIFY, measured(tables, meter_config=METER)))
    assert read_measured(tables, "meter_config").meter_config == METER
    assert not read_measured(tables).HasField("meter_config"), "it was not asked for"
    tables.write((MODIFY, measured(tables)))
    assert not read_measured(tables, "meter_config").HasField("meter_config")
    wrong = measured(tables, meter_config=p4r.MeterConfig(cir=2, pir=1))
    wrong.action.action.CopyFrom(tables.action("NoAction"))
    assert said(tables, (MODIFY, wrong)) == INVALID
    assert read_measured(tables).action.action == tables.action("metered"), "nothing is changed"
    tables.write((DELETE, measured(tables)))
    assert said(tables, (INSERT, wrong)) == INVALID
    tables.write((INSERT, measured(tables, meter_config=METER)))
    assert read_measured(tables, "meter_config").meter_config == METER


@p4runtime("direct-counter-insert", "direct-counter-modify", "direct-counter-read")
def test_the_counter_of_an_entry(tables: Client) -> None:
    five = p4r.CounterData(packet_count=5, byte_count=50)
    tables.write((INSERT, measured(tables)))
    assert read_measured(tables, "counter_data").counter_data == p4r.CounterData()
    tables.write((MODIFY, measured(tables, counter_data=five)))
    tables.write((MODIFY, measured(tables)))
    assert read_measured(tables, "counter_data").counter_data == five, "unset: unchanged"
    assert not read_measured(tables).HasField("counter_data"), "it was not asked for"
    tables.write((DELETE, measured(tables)))
    tables.write((INSERT, measured(tables, counter_data=five)))
    probe(tables, 3)
    assert read_measured(tables, "counter_data").counter_data.packet_count == 6


@p4runtime("colours-count", "colours-clear", "colours-nonzero", "colours-read")
def test_the_colours_of_an_entry(tables: Client) -> None:
    tables.write((INSERT, measured(tables)))
    for _ in range(20):
        began = time.monotonic()
        tables.write((DELETE, measured(tables)), (INSERT, measured(tables, meter_config=METER)))
        for _ in range(4):
            probe(tables, 3)
        if time.monotonic() - began < 0.5:
            break  # before a token of `pir` came back
    colours = read_measured(tables, "meter_counter_data").meter_counter_data
    counts = [colours.green.packet_count, colours.yellow.packet_count, colours.red.packet_count]
    assert counts == [1, 1, 2]
    assert colours.red.byte_count == 2 * 7
    assert not read_measured(tables).HasField("meter_counter_data"), "it was not asked for"
    written = measured(tables, meter_config=METER)
    tables.write((MODIFY, written))
    kept = read_measured(tables, "meter_counter_data").meter_counter_data
    assert kept == colours, "unset: unchanged"
    written.meter_counter_data.green.packet_count = 1
    assert said(tables, (MODIFY, written)) == INVALID
    written.meter_counter_data.green.packet_count = 0
    tables.write((MODIFY, written))
    cleared = read_measured(tables, "meter_counter_data").meter_counter_data
    assert cleared.red.packet_count == 0


@p4runtime("direct-none")
def test_a_table_without_direct_resources(tables: Client) -> None:
    for name in ("counter_data", "meter_config", "meter_counter_data"):
        entry = tables.entry("scoped", mark(tables, 1), **{"class": 1})
        getattr(entry, name).SetInParent()
        assert said(tables, (INSERT, entry)) == INVALID
        assert refused(lambda e=entry: tables.read(e))


@p4runtime("direct-entry-insert", "direct-entry-missing", "direct-entry-unset", "direct-entry-read")
def test_direct_counters_as_entities(tables: Client) -> None:
    key = tables.entry("measured", None, **{"class": 3})
    counter = p4r.DirectCounterEntry(table_entry=key, data=p4r.CounterData(packet_count=4))
    meter = p4r.DirectMeterEntry(table_entry=key, config=METER)
    for entity in (counter, meter):
        assert said(tables, (MODIFY, entity)) == NOT_FOUND
        error = refused(lambda e=entity: tables.read(e))
        assert "class" in str(error.details()) or "key" in str(error.details())
    tables.write((INSERT, measured(tables)))
    for entity in (counter, meter):
        assert said(tables, (INSERT, entity), (DELETE, entity)) == INVALID * 2
    tables.write((MODIFY, counter), (MODIFY, meter))
    tables.write((MODIFY, p4r.DirectCounterEntry(table_entry=key)))
    [found] = tables.read(p4r.DirectCounterEntry(table_entry=key))
    assert found.data.packet_count == 4, "without data nothing changes"
    assert found.table_entry.match == key.match
    assert tables.read(p4r.DirectMeterEntry(table_entry=key))[0].config == METER
    tables.write((MODIFY, p4r.DirectMeterEntry(table_entry=key)))
    [found] = tables.read(p4r.DirectMeterEntry(table_entry=key))
    assert not found.HasField("config"), "without a config the meter is as it was at first"
    tables.write((DELETE, measured(tables)))
    assert said(tables, (MODIFY, counter)) == NOT_FOUND


@p4runtime("direct-entry-wildcard")
def test_direct_counters_of_whole_tables(tables: Client) -> None:
    tables.write((INSERT, measured(tables)))
    whole = p4r.DirectCounterEntry(table_entry=tables.entry("measured"))
    assert len(tables.read(whole)) == 1
    assert len(tables.read(p4r.DirectCounterEntry(table_entry=p4r.TableEntry()))) == 3
    assert len(tables.read(p4r.DirectMeterEntry(table_entry=p4r.TableEntry()))) == 1


@p4runtime("direct-entry-default")
def test_direct_resources_of_default_entries(tables: Client) -> None:
    entry = default(tables, "measured")
    meter = p4r.DirectMeterEntry(table_entry=entry, config=METER)
    tables.write((MODIFY, meter))
    for _ in range(3):
        probe(tables, 0x55)
    [counted] = tables.read(p4r.DirectCounterEntry(table_entry=entry))
    assert counted.data.packet_count == 3
    assert counted.table_entry.is_default_action
    meter.counter_data.SetInParent()
    [found] = tables.read(meter)
    assert found.config == METER
    assert found.counter_data.red.packet_count == 1
    tables.write((MODIFY, meter))
    assert tables.read(meter)[0].counter_data.red.packet_count == 0
    zero = p4r.DirectCounterEntry(table_entry=entry, data=p4r.CounterData())
    tables.write((MODIFY, zero))
    assert tables.read(zero)[0].data.packet_count == 0


# -- ageing -------------------------------------------------------------------------------------


@p4runtime("idle-unsupported", "idle-negative", "idle-write-since", "idle-zero", "idle-small")
@p4runtime("idle-kept", "idle-since", "idle-again", "idle-never-empty", "idle-notice")
def test_idle_timeouts_where_the_table_has_them(client: Client) -> None:
    entry = client.entry("police", client.action("NoAction"), flow=1)
    entry.idle_timeout_ns = 5
    assert said(client, (INSERT, entry)) == INVALID
    asked = client.entry("police")
    asked.time_since_last_hit.SetInParent()
    assert refused(lambda: client.read(asked))
    route = client.entry("route", client.action("forward", port=1), address=(1, 32))
    route.time_since_last_hit.SetInParent()
    assert said(client, (INSERT, route)) == INVALID
    route.ClearField("time_since_last_hit")
    route.idle_timeout_ns = -1
    assert said(client, (INSERT, route)) == INVALID
    route.idle_timeout_ns = 0
    client.write((INSERT, route))
    asked = client.entry("route")
    asked.time_since_last_hit.SetInParent()
    [found] = client.read(asked)
    assert found.time_since_last_hit.elapsed_ns > 0, "told where there is no timeout too"
    assert not client.read(client.entry("route"))[0].HasField("time_since_last_hit")
    smallest = client.entry("route", client.action("forward", port=1), address=(2, 32))
    smallest.idle_timeout_ns = 1
    client.write((INSERT, smallest))
    for _ in range(2):  # once more after another timeout
        told = client.receive("idle_timeout_notification")
        assert [one.match for one in told.table_entry] == [smallest.match]
        assert told.table_entry[0].idle_timeout_ns == 1
        assert abs(told.timestamp / 1e9 - time.time()) < 60
    assert client.read(smallest)[0].idle_timeout_ns == 1
    client.write((DELETE, smallest))
