"""Entries to and from P4Runtime's messages.

In canonical form a number is an int, an address or prefix is text, and a key that matches anything
is left out, as P4Runtime 1.4 (9.1.1) wants it: an entry reads back as it was written.
"""

from ipaddress import IPv4Address
from typing import Any

from finsy.p4entity import P4TableAction, P4TableEntry, P4TableMatch
from finsy.p4schema import P4Schema
from finsy.proto import p4r

from waymark.entry import Entry, Value
from waymark.errors import WaymarkError

_IPV4_NAMES = frozenset({"dst_addr", "src_addr", "next_hop"})
_MAC_NAMES = frozenset({"dst_addr", "src_addr"})


def encode(entry: Entry, schema: P4Schema) -> p4r.TableEntry:
    """The message that stands for ``entry``.

    Raises:
        WaymarkError: the program has no such table, key, action or parameter; or a value is
            too wide.
    """
    try:
        fields = schema.tables[entry.table].match_fields
        match = {
            name: value
            for name, value in entry.match.items()
            if not _matches_anything(value, fields[name].bitwidth)
        }
        return P4TableEntry(
            entry.table,
            match=P4TableMatch(match),
            action=P4TableAction(entry.action, **entry.params),
            priority=entry.priority,
        ).encode_entry(schema)
    except (ValueError, KeyError) as error:
        raise WaymarkError(f"{entry.table}: {error}") from error


def decode(message: p4r.TableEntry, schema: P4Schema) -> Entry:
    """The entry that ``message`` stands for, in canonical form.

    Raises:
        WaymarkError: it is of a table or action that the program does not have.
    """
    try:
        read = P4TableEntry.decode_entry(message, schema)
    except (ValueError, KeyError) as error:
        raise WaymarkError(f"an entry that is not of this program: {error}") from error
    fields = schema.tables[read.table_id].match_fields
    match: dict[str, Value] = {}
    read_match: dict[str, Any] = read.match or {}
    for name, value in read_match.items():
        width = fields[name].bitwidth
        if not _matches_anything(value, width):
            match[name] = _prefix(name, value, width)
    if not isinstance(read.action, P4TableAction):
        return Entry(read.table_id, match, "none", {}, read.priority)
    actions = schema.actions[read.action.name]
    params: dict[str, int | str] = {
        param.name: _address(param.name, read.action.args[param.name], param.bitwidth)
        for param in actions.params
    }
    return Entry(read.table_id, match, actions.alias, params, read.priority)


def canonical(entry: Entry, schema: P4Schema) -> Entry:
    """``entry`` as it would be read back."""
    return decode(encode(entry, schema), schema)


def update(kind: "p4r.Update.Type.ValueType", entry: p4r.TableEntry) -> p4r.Update:
    """One write of a table entry."""
    return p4r.Update(type=kind, entity=p4r.Entity(table_entry=entry))


def _matches_anything(value: Any, bitwidth: int) -> bool:
    return isinstance(value, tuple) and value == (0, 2**bitwidth - 1)


def _prefix(name: str, value: Any, bitwidth: int) -> Value:
    if isinstance(value, tuple) and name in _IPV4_NAMES and bitwidth == 32:  # of an lpm key
        address, length = value  # pyright: ignore
        return f"{IPv4Address(address)}/{length}"  # pyright: ignore
    return value if isinstance(value, tuple) else _address(name, value, bitwidth)  # pyright: ignore


def _address(name: str, value: Any, bitwidth: int) -> int | str:
    if bitwidth == 32 and name in _IPV4_NAMES:
        return str(IPv4Address(value))
    if bitwidth == 48 and name in _MAC_NAMES:
        return value.to_bytes(6, "big").hex(":")
    return int(value)
