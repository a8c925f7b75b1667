"""Switches of the P4 tutorials (p4lang): their programs and ``sX-runtime.json`` files.

https://github.com/p4lang/tutorials, ``utils/p4runtime_lib/simple_controller.py`` and ``helper.py``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from finsy.p4schema import P4MatchType, P4Schema
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from waymark import files, yaml_file
from waymark.errors import WaymarkError
from waymark.ports import CPU_PORT
from waymark.topology import Switch, Topology
from waymark.yaml_file import Problem

ELECTION_ID = 1
"""The election id of the tutorials' controllers. A switch with a larger one would refuse them."""

Number = int | str
"""A number, or an address as text."""


class RuntimeModel(BaseModel):
    """The base of all parts of a runtime file: without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _value(value: object) -> object:
    """``[1]`` is 1."""
    if not isinstance(value, list):
        return value
    values = cast("list[object]", value)
    return values[0] if len(values) == 1 else values


Value = Annotated[
    Annotated[int, Field(strict=True)] | str | tuple[Number, Number], BeforeValidator(_value)
]


class RuntimeEntry(RuntimeModel):
    """A table entry, or a table's default action."""

    table: str = Field(description="a table of the program, such as MyIngress.ipv4_lpm")
    match: Mapping[str, Value] = Field(
        {}, description="a mapping of keys to a value, [value], or [value, length, mask or high]"
    )
    action_name: str = Field(description="an action of the table")
    action_params: Mapping[str, Value] = Field({}, description="a mapping of names to values")
    default_action: bool = Field(False, description="true or false")
    priority: int = Field(0, strict=True, ge=0, lt=2**31, description="0 or more")


class RuntimeReplica(RuntimeModel):
    """One replica of a packet."""

    egress_port: int = Field(strict=True, ge=0, le=CPU_PORT, description=f"a port, 0 to {CPU_PORT}")
    instance: int = Field(0, strict=True, ge=0, lt=2**16, description="0 to 65535")


class RuntimeGroup(RuntimeModel):
    """A multicast group."""

    multicast_group_id: int = Field(strict=True, ge=1, lt=2**16, description="1 to 65535")
    replicas: tuple[RuntimeReplica, ...] = Field(description="a list of egress_port and instance")


class RuntimeSession(RuntimeModel):
    """A clone session."""

    clone_session_id: int = Field(strict=True, ge=1, lt=2**15, description="1 to 32767")
    replicas: tuple[RuntimeReplica, ...] = Field(description="a list of egress_port and instance")
    packet_length_bytes: int = Field(0, strict=True, ge=0, lt=2**16, description="0 or more octets")


class RuntimeFile(RuntimeModel):
    """A ``sX-runtime.json``."""

    target: Literal["bmv2"] = Field("bmv2", description="bmv2")
    p4info: str = Field("", description="p4c's P4Info of the program")
    bmv2_json: str = Field("", description="p4c's JSON of the program, such as build/basic.json")
    table_entries: tuple[RuntimeEntry, ...] = Field((), description="a list of table entries")
    multicast_group_entries: tuple[RuntimeGroup, ...] = Field((), description="a list of groups")
    clone_session_entries: tuple[RuntimeSession, ...] = Field((), description="a list of sessions")


@dataclass(frozen=True)
class Runtime:
    """A parsed runtime file."""

    file: RuntimeFile
    document: yaml_file.Document


def read(path: Path) -> Runtime:
    """Read a runtime file.

    Raises:
        WaymarkError: all errors, each with file, line, key, what was found, what is valid.
    """
    document = yaml_file.read(path)
    return Runtime(yaml_file.validate(RuntimeFile, document), document)


def with_programs(topology: Topology, chosen: Mapping[str, str]) -> Topology:
    """The topology with the program of each tutorial switch.

    A switch without a runtime file and without a chosen program waits for a controller.

    Args:
        topology: the network.
        chosen: programs by switch, instead of the tutorial's.

    Raises:
        WaymarkError: a program is missing; a runtime file cannot be read.
    """
    for switch in topology.switches:
        if switch.name in chosen:
            topology = topology.with_program(chosen[switch.name], at=switch.name)
        elif switch.tutorial is not None:
            topology = topology.with_program(_program(switch), at=switch.name)
    return topology


def _program(switch: Switch) -> str:
    """The P4 source from which ``make`` compiles the JSON that the exercise's files name."""
    assert switch.tutorial is not None
    runtime = None if switch.runtime is None else read(switch.runtime)
    named = switch.tutorial.program or (runtime.file.bmv2_json if runtime is not None else "")
    if not named:
        if runtime is None:
            return ""
        problem = Problem((), "bmv2_json: missing; valid: p4c's JSON, such as build/basic.json")
        raise yaml_file.refused(runtime.document, [problem])
    source = switch.tutorial.folder / f"{Path(named).stem}.p4"
    if not files.is_file(source):
        raise WaymarkError(
            f"switch {switch.name}: no program {source}, the source of {named}; "
            f"set one: --p4 {switch.name}=F.p4"
        )
    return str(source)


def settings(runtime: Runtime, schema: P4Schema) -> dict[str, Any]:
    """A runtime file as keys of a switch in the controller's configuration.

    Args:
        runtime: the file.
        schema: of the switch's program.

    Raises:
        WaymarkError: all names that the program does not have, each with file, line, key.
    """
    problems: list[Problem] = []
    made: dict[str, list[Any]] = {}
    for index, entry in enumerate(runtime.file.table_entries):
        found = _problems(entry, ("table_entries", index), schema)
        problems += found
        if found:
            continue
        widths = {p.name: p.bitwidth for p in schema.actions[entry.action_name].params}
        params = {n: _wrapped(value, widths[n]) for n, value in entry.action_params.items()}
        action = {"action": entry.action_name, "params": params}
        if entry.default_action:
            made.setdefault("defaults", []).append({"table": entry.table, **action})
            continue
        fields = schema.tables[entry.table].match_fields
        match = {key: _match(value, fields[key]) for key, value in entry.match.items()}
        priority = {"priority": entry.priority} if entry.priority else {}
        made.setdefault("entries", []).append(
            {"table": entry.table, "match": match, **action, **priority}
        )
    if problems:
        raise yaml_file.refused(runtime.document, problems)
    for group in runtime.file.multicast_group_entries:
        made.setdefault("multicast_groups", []).append(
            {"id": group.multicast_group_id, "replicas": _replicas(group.replicas)}
        )
    for session in runtime.file.clone_session_entries:
        made.setdefault("clone_sessions", []).append(
            {
                "id": session.clone_session_id,
                "replicas": _replicas(session.replicas),
                "octets": session.packet_length_bytes,
            }
        )
    return made


def _problems(entry: RuntimeEntry, place: yaml_file.Place, schema: P4Schema) -> list[Problem]:
    """The parts of an entry that do not match the program."""

    def unknown(key: tuple[str, ...], what: str, found: str, valid: list[str]) -> Problem:
        message = f"found {found!r}, no such {what}; valid: {', '.join(valid) or 'none'}"
        return Problem((*place, *key), message)

    tables = {name for table in schema.tables for name in (table.name, table.alias)}
    if entry.table not in tables:
        return [unknown(("table",), "table", entry.table, [t.name for t in schema.tables])]
    table = schema.tables[entry.table]
    keys = [field.name for field in table.match_fields]
    found = [
        unknown(("match", key), f"key of {entry.table}", key, keys)
        for key in entry.match
        if key not in keys
    ]
    if entry.default_action and entry.match:
        found.append(Problem((*place, "match"), "found keys; valid: none with default_action"))
    actions = {n: a for a in table.actions for n in (a.name, a.alias)}
    if entry.action_name not in actions:
        names = [action.name for action in table.actions]
        what = f"action of {entry.table}"
        return [*found, unknown(("action_name",), what, entry.action_name, names)]
    wanted = [param.name for param in actions[entry.action_name].params]
    found += [
        unknown(("action_params", name), f"parameter of {entry.action_name}", name, wanted)
        for name in entry.action_params
        if name not in wanted
    ]
    found += [
        Problem((*place, "action_params"), f"{name} is missing; valid: {', '.join(wanted)}")
        for name in wanted
        if name not in entry.action_params
    ]
    for key, value in entry.match.items():
        if key not in keys:
            continue
        kind = cast("P4MatchType", table.match_fields[key].match_type)
        is_pair = isinstance(value, tuple)
        if is_pair != (kind in (P4MatchType.LPM, P4MatchType.TERNARY, P4MatchType.RANGE)):
            message = f"found {list(value) if is_pair else value!r}; valid: {_FORMS[kind]}"
            found.append(Problem((*place, "match", key), message))
        if kind in _WITH_PRIORITY and not entry.priority:
            message = f"priority is missing; valid: 1 or more, because {key} is {kind.name.lower()}"
            found.append(Problem((*place,), message))
    for name, value in entry.action_params.items():
        if isinstance(value, tuple):
            message = f"found {list(value)}; valid: a number or an address"
            found.append(Problem((*place, "action_params", name), message))
    return list(dict.fromkeys(found))


_WITH_PRIORITY = (P4MatchType.TERNARY, P4MatchType.RANGE, P4MatchType.OPTIONAL)

_FORMS = {
    P4MatchType.EXACT: "a number or an address",
    P4MatchType.OPTIONAL: "a number or an address",
    P4MatchType.LPM: '[value, prefix length], such as ["10.0.1.1", 32]',
    P4MatchType.TERNARY: "[value, mask]",
    P4MatchType.RANGE: "[low, high]",
    P4MatchType.UNSPECIFIED: "nothing",
}


def _match(value: Any, field: Any) -> Any:
    """A key's value in the controller's format."""
    match value:
        case [str(address), int(length)] if field.match_type is P4MatchType.LPM:
            return f"{address}/{length}"
        case [low, high]:
            return [_number(low, field.bitwidth), _number(high, field.bitwidth)]
        case _:
            return _wrapped(value, field.bitwidth)


def _replicas(replicas: tuple[RuntimeReplica, ...]) -> list[dict[str, int]]:
    return [{"port": r.egress_port, "instance": r.instance} for r in replicas]


_MAC = re.compile(r"([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}")


def _number(value: Any, bits: int) -> int:
    """An address as a number, where the controller accepts only numbers."""
    if not isinstance(value, str):
        return int(_wrapped(value, bits))
    if _MAC.fullmatch(value):
        return int(value.replace(":", ""), 16)
    return int(IPv6Address(value) if ":" in value else IPv4Address(value))


def _wrapped(value: Any, bits: int) -> Any:
    """A negative number in two's complement."""
    return value + (1 << bits) if isinstance(value, int) and value < 0 else value
