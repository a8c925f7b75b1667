"""Conversion of entries to and from P4Runtime messages.

In canonical form a number is an int, an address or prefix is text, and a key that matches anything
is omitted, as P4Runtime 1.4 (9.1.1) requires: an entry reads back as it was written.
"""

from collections.abc import Iterable
from ipaddress import IPv4Address
from typing import Any, cast

from finsy.p4entity import P4IndirectAction, P4TableAction, P4TableEntry, P4TableMatch
from finsy.p4schema import P4MatchField, P4MatchType, P4Schema, P4Table
from finsy.proto import p4r

from controller.replication import CloneSession, DefaultAction, Held, MulticastGroup
from waymark.entry import Entry, Value
from waymark.errors import WaymarkError

_IPV4_NAMES = frozenset({"dst_addr", "src_addr", "next_hop"})
_MAC_NAMES = frozenset({"dst_addr", "src_addr"})


def encode(entry: Entry, schema: P4Schema, *, key_only: bool = False) -> p4r.TableEntry:
    """The message for ``entry``; a deletion needs only match and priority.

    Raises:
        WaymarkError: the program has no such table, key, action or parameter; or a value is
            too wide.
    """
    try:
        table = schema.tables[entry.table]
        fields = table.match_fields
        match = {n: v for n, v in entry.match.items() if not _matches_anything(v, fields[n])}
        return P4TableEntry(
            entry.table,
            match=P4TableMatch(match),
            action=None if key_only else _action(entry, table),
            priority=entry.priority,
        ).encode_entry(schema)
    except (ValueError, KeyError) as error:
        raise WaymarkError(f"{entry.table}: {error}") from error


def decode(message: p4r.TableEntry, schema: P4Schema) -> Entry:
    """The entry in ``message``, in canonical form.

    Raises:
        WaymarkError: the program does not have its table or action.
    """
    try:
        read = P4TableEntry.decode_entry(message, schema)
    except (ValueError, KeyError) as error:
        raise WaymarkError(f"the switch has an entry of another program: {error}") from error
    fields = schema.tables[read.table_id].match_fields
    match: dict[str, Value] = {}
    read_match: dict[str, Any] = read.match or {}
    for name, value in read_match.items():
        if not _matches_anything(value, fields[name]):
            match[name] = _value(value, fields[name])
    choices = _choices(read.action)
    if choices is None:  # a member or a group of an action profile, or several actions
        return Entry(read.table_id, match, "indirect", {}, read.priority)
    actions = schema.actions[choices[0].name]
    params, *alternatives = (
        {
            param.name: _address(param.name, choice.args[param.name], param.bitwidth)
            for param in actions.params
        }
        for choice in choices
    )
    return Entry(read.table_id, match, actions.alias, params, read.priority, tuple(alternatives))


def _action(entry: Entry, table: P4Table) -> P4TableAction | P4IndirectAction:
    """One action; for a table with an action selector, a one-shot group of those to choose among
    (9.2.3), all of weight 1.

    Raises:
        ValueError: several actions for a table without a selector.
    """
    choices = [P4TableAction(entry.action, **each) for each in (entry.params, *entry.alternatives)]
    if table.action_profile is not None:
        return P4IndirectAction([(1, choice) for choice in choices])
    if entry.alternatives:
        raise ValueError(f"{len(choices)} next hops, but the table has no action selector")
    return choices[0]


def _choices(action: P4TableAction | P4IndirectAction | None) -> list[P4TableAction] | None:
    """The actions of an entry, if they differ in parameters alone and weigh the same."""
    if isinstance(action, P4TableAction):
        return [action]
    if action is None or not action.action_set:
        return None
    choices = [choice for _, choice in action.action_set]
    alike = {choice.name for choice in choices}
    if len(alike) > 1 or any(weight != 1 for weight, _ in action.action_set):
        return None
    return choices


def entity(held: Held, schema: P4Schema, *, key_only: bool = False) -> p4r.Entity:
    """The message for any writable state; see :func:`encode`."""
    match held:
        case Entry():
            return p4r.Entity(table_entry=encode(held, schema, key_only=key_only))
        case DefaultAction():
            return p4r.Entity(table_entry=_encode_default(held, schema))
        case MulticastGroup():
            group = p4r.MulticastGroupEntry(
                multicast_group_id=held.group_id,
                replicas=() if key_only else map(_replica, held.replicas),
            )
            engine = p4r.PacketReplicationEngineEntry(multicast_group_entry=group)
        case CloneSession():
            session = p4r.CloneSessionEntry(
                session_id=held.session_id,
                replicas=() if key_only else map(_replica, held.replicas),
                packet_length_bytes=0 if key_only else held.octets,
            )
            engine = p4r.PacketReplicationEngineEntry(clone_session_entry=session)
    return p4r.Entity(packet_replication_engine_entry=engine)


def of_entity(message: p4r.Entity, schema: P4Schema) -> Held:
    """The state in ``message``, in canonical form; see :func:`decode`."""
    if message.HasField("table_entry"):
        entry = decode(message.table_entry, schema)
        if not message.table_entry.is_default_action:
            return entry
        return DefaultAction(entry.table, entry.action, entry.params)
    engine = message.packet_replication_engine_entry
    if engine.HasField("multicast_group_entry"):
        group = engine.multicast_group_entry
        return MulticastGroup(group.multicast_group_id, _replicas(group.replicas))
    session = engine.clone_session_entry
    return CloneSession(
        session.session_id, _replicas(session.replicas), session.packet_length_bytes
    )


def canonical(held: Held, schema: P4Schema) -> Held:
    """``held`` as it would be read back."""
    return of_entity(entity(held, schema), schema)


def _encode_default(default: DefaultAction, schema: P4Schema) -> p4r.TableEntry:
    try:
        return P4TableEntry(
            default.table,
            action=P4TableAction(default.action, **default.params),
            is_default_action=True,
        ).encode_entry(schema)
    except (ValueError, KeyError) as error:
        raise WaymarkError(f"{default.table}: {error}") from error


def _replica(replica: tuple[int, int]) -> p4r.Replica:
    port, instance = replica
    return p4r.Replica(egress_port=port, instance=instance)


def _replicas(messages: Iterable[p4r.Replica]) -> tuple[tuple[int, int], ...]:
    return tuple(sorted((_port(message), message.instance) for message in messages))


def _port(message: p4r.Replica) -> int:
    """The port, given as octets or as a number (deprecated since 1.4)."""
    if message.port:
        return int.from_bytes(message.port, "big")
    return message.egress_port  # pyright: ignore[reportDeprecated]


def _matches_anything(value: Any, field: P4MatchField) -> bool:
    return field.match_type is P4MatchType.RANGE and value == (0, 2**field.bitwidth - 1)


def _value(value: Any, field: P4MatchField) -> Value:
    if not isinstance(value, tuple):
        return _address(field.name, value, field.bitwidth)
    first, second = cast("tuple[int, int]", value)
    address = _address(field.name, first, field.bitwidth)
    if field.match_type is P4MatchType.LPM and isinstance(address, str):
        return f"{address}/{second}"
    return first, second


def _address(name: str, value: int, bitwidth: int) -> int | str:
    if bitwidth == 32 and name in _IPV4_NAMES:
        return str(IPv4Address(value))
    if bitwidth == 48 and name in _MAC_NAMES:
        return value.to_bytes(6, "big").hex(":")
    return value
