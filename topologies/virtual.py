"""The state of a P4 tutorials' switch in virtual time, from its ``sX-runtime.json``."""

from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

from finsy.p4schema import P4MatchType, P4Schema
from finsy.proto import p4i
from google.protobuf import text_format

from controller import pipeline
from topologies import tutorial
from waymark import _core


def held(runtime: Path, program: _core.Program) -> dict[str, Any]:
    """Entries, default actions, multicast groups and clone sessions, in the core's format.

    Args:
        runtime: the file.
        program: the switch's compiled program.

    Raises:
        WaymarkError: the file cannot be read, or does not match the program.
    """
    p4info = text_format.Parse(program.p4info(), p4i.P4Info())
    schema = pipeline.make(program.name, p4info, b"").schema
    made = tutorial.settings(tutorial.read(runtime), schema)
    return {
        "entries": [_entry(entry, schema) for entry in made.get("entries", ())],
        "default_actions": [
            default | {"params": _params(default)} for default in made.get("defaults", ())
        ],
        "multicast_groups": made.get("multicast_groups", []),
        "clone_sessions": made.get("clone_sessions", []),
    }


def _entry(entry: dict[str, Any], schema: P4Schema) -> dict[str, Any]:
    fields = schema.tables[entry["table"]].match_fields
    match = {key: _match(value, fields[key].match_type) for key, value in entry["match"].items()}
    return entry | {"match": match, "params": _params(entry)}


def _match(value: Any, kind: object) -> Any:
    """A key's value, from the controller's form: a prefix, a pair or one value."""
    match value:
        case [value, mask] if kind is P4MatchType.TERNARY:
            return f"{_value(value)} &&& {_value(mask)}"
        case [value, length] if kind is P4MatchType.LPM:
            return f"{_value(value)}/{length}"
        case [low, high]:
            return [_value(low), _value(high)]
        case str() if kind is P4MatchType.LPM:
            prefix, _, length = value.rpartition("/")
            return f"{_value(prefix)}/{length}"
        case _:
            return _value(value)


def _params(action: dict[str, Any]) -> dict[str, str]:
    return {name: _value(value) for name, value in action["params"].items()}


def _value(value: Any) -> str:
    """The value as text, for numbers of any width; IPv6 addresses become numbers for the core."""
    if isinstance(value, int):
        return hex(value)
    if value.count(":") > 1 and len(value.split(":")) != 6:
        return hex(int(IPv6Address(value)))
    return str(value)
