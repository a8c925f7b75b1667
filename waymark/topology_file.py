"""Topology files: YAML in Waymark's format, and the ``topology.json`` of the P4 tutorials (p4lang).

``topologies/README.md`` describes both. JSON is YAML, so either format may be written in either.
"""

import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Interface
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from waymark import files, units, yaml_file
from waymark.drai import MAX_DEPTH
from waymark.dual_pi2 import DualPi2
from waymark.errors import WaymarkError
from waymark.fields import DualPi2Settings, Mac, Rate, RedSettings, Time, TrimSettings
from waymark.ports import CPU_PORT, PRIORITIES
from waymark.red import ConstantDrop, Red
from waymark.topology import DEFAULT_PROGRAM, Host, Link, Switch, Topology, Tutorial
from waymark.trim import Trim

UNSTATED_RATE_BPS = 1e9
"""Rate of the tutorials' links without a bandwidth."""

MOST_DIGITS = 9
"""Maximum digits of a port's number: more digits belong to the node's name."""

UNSTATED_QUEUE = 64
"""Queue limit of the tutorials' links, in packets: BMv2's default."""


def _address(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("not an address")
    return str(IPv4Interface(value))


Address = Annotated[str, BeforeValidator(_address)]
Weight = Annotated[int, Field(strict=True, ge=0, le=255)]
Feedback = Literal["aqt", "drai", "ci"]

RATE = f"bits per second with a unit: {units.RATE}"
DELAY = f"a time with a unit, one way: {units.TIME}"
QUEUE = "2 or more packets, including the one in transmission (as ns-2's limit)"
LOSS = "a probability, 0 to 1"
DUAL_PI2 = "target, step, coupling, alpha and beta of DualPI2, for L4S"
TRIM = "octets and queue of packet trimming"
WEIGHTS = "a list of up to 8 numbers, 0 to 255: the shares of the port's queues, by priority from 0"
ECN = "0 or more packets: a packet behind more waiting packets is marked"
RED = "thmin, thmax, pmax and w of random early detection"
DROP = "a probability above 0, at most 1, that a packet is dropped before the queue"

NO_RED = RedSettings.model_construct(thmin=0, thmax=0, pmax=0)
"""``red: off``, in the reverse direction."""


OFF = "off"

T = TypeVar("T")


def _red(value: object) -> object:
    return NO_RED if value == OFF else value


def _off(value: object, valid: ValidatorFunctionWrapHandler) -> object:
    return OFF if value == OFF else valid(value)


def _or_off(schema: dict[str, Any]) -> None:
    schema["anyOf"].append({"const": OFF})


class Settings(BaseModel):
    """What all parts share: immutable, and no key that is not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class HostFile(Settings):
    """A host."""

    address: Address | None = Field(None, description='an address such as "10.0.1.1/24"')
    mac: Mac | None = Field(None, description='a MAC address, such as "02:00:00:00:01:01"')


class SwitchFile(Settings):
    """A switch."""

    program: str = Field(DEFAULT_PROGRAM, description="a program of p4src/, or your own P4 file")
    feedback: tuple[Feedback, ...] = Field(("aqt",), description="a list of any of aqt, drai, ci")


class DirectionFile(Settings):
    """What differs in the reverse direction."""

    rate: Rate | None = Field(None, description=RATE)
    delay: Time | None = Field(None, description=DELAY)
    queue: int | None = Field(None, strict=True, ge=2, description=QUEUE)
    loss: float | None = Field(None, ge=0, le=1, description=LOSS)
    ecn: Annotated[int | None, WrapValidator(_off)] = Field(
        None,
        strict=True,
        ge=0,
        le=MAX_DEPTH,
        description=f"{ECN}; or off",
        json_schema_extra=_or_off,
    )
    red: Annotated[RedSettings | None, BeforeValidator(_red)] = Field(
        None, description=f"{RED}; or off", json_schema_extra=_or_off
    )
    drop: float | None = Field(None, gt=0, le=1, description=DROP)
    dual_pi2: Annotated[DualPi2Settings | None, WrapValidator(_off)] = Field(
        None, description=f"{DUAL_PI2}; or off", json_schema_extra=_or_off
    )
    trim: TrimSettings | None = Field(None, description=TRIM)
    weights: tuple[Weight, ...] | None = Field(None, max_length=PRIORITIES, description=WEIGHTS)


class LinkFile(Settings):
    """A full-duplex link."""

    ends: tuple[str, str] = Field(
        description='two nodes, such as [r1, r2]; "r1:3" is port 3 of a switch'
    )
    rate: Rate = Field(description=RATE)
    delay: Time = Field(description=DELAY)
    queue: int = Field(50, strict=True, ge=2, description=QUEUE)
    loss: float = Field(0.0, ge=0, le=1, description=LOSS)
    ecn: int | None = Field(None, strict=True, ge=0, le=MAX_DEPTH, description=ECN)
    red: RedSettings | None = Field(None, description=RED)
    drop: float | None = Field(None, gt=0, le=1, description=DROP)
    dual_pi2: DualPi2Settings | None = Field(None, description=DUAL_PI2)
    trim: TrimSettings | None = Field(None, description=TRIM)
    weights: tuple[Weight, ...] | None = Field(None, max_length=PRIORITIES, description=WEIGHTS)
    back: DirectionFile | None = Field(
        None,
        description="rate, delay, queue, loss, ecn, red, drop, dual_pi2, trim or weights of the "
        "reverse link",
    )


class TopologyFile(Settings):
    """A file of our own form."""

    description: str = Field("", description="a sentence")
    hosts: Mapping[str, HostFile] = Field({}, description="a mapping of names to settings")
    switches: Mapping[str, SwitchFile] = Field({}, description="a mapping of names to settings")
    links: tuple[LinkFile, ...] = Field((), description="a list of links")


class TutorialHost(Settings):
    """A host of the tutorials."""

    ip: Address = Field(description='an address such as "10.0.1.1/24"')
    mac: Mac = Field(description='a MAC address, such as "08:00:00:00:01:11"')
    commands: tuple[str, ...] = Field((), description="a list of shell commands")


def _number_or_text(value: object) -> object:
    """Their files write the number of a CPU port as text."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _no_commands(_value: object) -> object:
    raise ValueError("commands of BMv2's own client are not supported")


class TutorialSwitch(Settings):
    """A switch of the tutorials."""

    runtime_json: str | None = Field(
        None, min_length=1, description="a file with table entries, relative to the exercise"
    )
    cli_input: Annotated[None, BeforeValidator(_no_commands)] = Field(
        None, description="entries in a file that runtime_json names"
    )
    program: str | None = Field(
        None, min_length=1, description="p4c's JSON of a program, such as build/firewall.json"
    )
    cpu_port: Annotated[int | None, BeforeValidator(_number_or_text)] = Field(
        None, strict=True, ge=1, le=CPU_PORT, description=f"a port, 1 to {CPU_PORT}"
    )
    priority_queues: int | None = Field(
        None,
        strict=True,
        ge=1,
        le=PRIORITIES,
        description=f"1 to {PRIORITIES} (a port always has {PRIORITIES} queues)",
    )


class TutorialFile(Settings):
    """``topology.json`` of the P4 tutorials."""

    hosts: Mapping[str, TutorialHost] = Field(description="a mapping of names to ip and mac")
    switches: Mapping[str, TutorialSwitch] = Field(description="a mapping of names to settings")
    links: tuple[tuple[str | float, ...], ...] = Field(
        description='a list of [end, end, delay, Mb/s]; an end is a host or "s1-p1"'
    )


def load(path: Path) -> Topology:
    """Read a topology file of either format.

    Raises:
        WaymarkError: all errors, each with file, line, key, the value found and the valid values.
    """
    document = yaml_file.read(path)
    try:
        if _is_tutorial(document.tree):
            return _of_tutorial(yaml_file.validate(TutorialFile, document), document)
        return of_file(yaml_file.validate(TopologyFile, document), document)
    except WaymarkError as error:
        message = str(error)
        if not message.startswith(str(path)):
            message = f"{path}: {message}"
        raise WaymarkError(message) from error


def _is_tutorial(tree: Any) -> bool:
    """Whether links are lists."""
    if not isinstance(tree, Mapping):
        return False
    links = cast("Mapping[str, Any]", tree).get("links")
    return isinstance(links, list) and any(isinstance(k, list) for k in cast("list[Any]", links))


def of_file(file: TopologyFile, document: yaml_file.Document) -> Topology:
    """The topology that a file in Waymark's format declares.

    Raises:
        WaymarkError: it is inconsistent.
    """
    nodes = [*file.hosts, *file.switches]
    unknown = [
        yaml_file.Problem(
            ("links", index, "ends"), f"found {end!r}, no such node; valid: {', '.join(nodes)}"
        )
        for index, entry in enumerate(file.links)
        for end in entry.ends
        if end not in nodes and _end(end, ":")[0] not in nodes
    ]
    both = [
        yaml_file.Problem((*place, "drop"), "found with red; valid: one of red and drop")
        for index, entry in enumerate(file.links)
        for place, one in ((("links", index), entry), (("links", index, "back"), entry.back))
        if one is not None and one.red is not None and one.drop is not None
    ]
    if unknown or both:
        raise yaml_file.refused(document, [*unknown, *both])
    return Topology(
        tuple(Host(name, host.address, host.mac) for name, host in file.hosts.items()),
        tuple(
            Switch(name, _program(switch.program, document.path), frozenset(switch.feedback))
            for name, switch in file.switches.items()
        ),
        tuple(link for entry in file.links for link in _two_ways(entry)),
    )


def _program(name: str, topology: Path) -> str:
    """A program of ``p4src/``, or a file whose path is relative to the topology's folder."""
    own = topology.parent / name
    return str(own.resolve()) if files.is_file(own) else name


def _two_ways(entry: LinkFile) -> Iterator[Link]:
    (a, a_port), (b, b_port) = (_end(end, ":") for end in entry.ends)
    back = entry.back or DirectionFile()  # pyright: ignore[reportCallIssue]
    yield Link(
        *(a, b, entry.rate, entry.delay, entry.queue, entry.loss, a_port),
        red=_early(entry.red, entry.drop),
        ecn_threshold=entry.ecn,
        dual_pi2=_dual_pi2(entry.dual_pi2),
        trim=_trim(entry.trim),
        weights=entry.weights,
    )
    # One of red and drop in ``back`` replaces both.
    its_own = back.red is not None or back.drop is not None
    yield Link(
        b,
        a,
        entry.rate if back.rate is None else back.rate,
        entry.delay if back.delay is None else back.delay,
        entry.queue if back.queue is None else back.queue,
        entry.loss if back.loss is None else back.loss,
        b_port,
        red=_early(back.red, back.drop) if its_own else _early(entry.red, entry.drop),
        ecn_threshold=_back(back.ecn, entry.ecn),
        dual_pi2=_dual_pi2(_back(back.dual_pi2, entry.dual_pi2)),
        trim=_trim(back.trim or entry.trim),
        weights=entry.weights if back.weights is None else back.weights,
    )


def _back(own: object, there: T | None) -> T | None:
    """The setting of the reverse direction: its own, or that of the forward direction; None:
    off."""
    return None if own == OFF else there if own is None else cast("T", own)


def _dual_pi2(settings: DualPi2Settings | None) -> DualPi2 | None:
    return None if settings is None else settings.to_dual_pi2()


def _trim(settings: TrimSettings | None) -> Trim | None:
    return None if settings is None else settings.to_trim()


def _early(red: RedSettings | None, drop: float | None) -> Red | ConstantDrop | None:
    if drop is not None:
        return ConstantDrop(drop)
    return None if red is None or red is NO_RED else red.to_red()


def _end(text: str, separator: str) -> tuple[str, int | None]:
    """A node, and its port if one is named."""
    node, found, port = text.rpartition(separator)
    if not found or not port.isdecimal() or len(port) > MOST_DIGITS:
        return text, None
    return node, int(port)


def _of_tutorial(file: TutorialFile, document: yaml_file.Document) -> Topology:
    links: list[Link] = []
    for index, entry in enumerate(file.links):
        try:
            links += _tutorial_link(entry)
        except (WaymarkError, ValueError, TypeError) as error:
            message = (
                f"found {list(entry)}; valid: {TutorialFile.model_fields['links'].description}"
            )
            raise yaml_file.refused(
                document, [yaml_file.Problem(("links", index), message)]
            ) from error
    hosts = (
        Host(name, host.ip, host.mac, tuple(host.commands)) for name, host in file.hosts.items()
    )
    folder = _exercise(document.path, file)
    switches = (
        Switch(
            name,
            runtime=None if its.runtime_json is None else folder / its.runtime_json,
            tutorial=Tutorial(folder, number, its.cpu_port, its.program),
        )
        for number, (name, its) in enumerate(file.switches.items())
    )
    return Topology(tuple(hosts), tuple(switches), tuple(links))


def _exercise(path: Path, file: TutorialFile) -> Path:
    """The folder to which the files' paths are relative.

    The tutorials run in the exercise's folder, which contains the topology, maybe in a subfolder.
    """
    named = [its.runtime_json for its in file.switches.values() if its.runtime_json is not None]
    here = path.absolute().parent
    for folder in (here, here.parent, Path.cwd()):
        if all(files.is_file(folder / name) for name in named):
            return folder
    return here


def _tutorial_link(entry: tuple[str | float, ...]) -> Iterator[Link]:
    """``["h1", "s1-p1", "10ms", 5]``: the bandwidth is in Mb/s."""
    a_text, b_text, *rest = entry
    if not (isinstance(a_text, str) and isinstance(b_text, str)) or len(rest) > 2:
        raise ValueError("two ends, a delay, a bandwidth")
    delay_s = _tutorial_delay_s(rest[0]) if rest else 0.0
    rate_bps = float(rest[1]) * 1e6 if len(rest) == 2 else UNSTATED_RATE_BPS
    (a, a_port), (b, b_port) = (_end(end, "-p") for end in (a_text, b_text))
    yield Link(a, b, rate_bps, delay_s, UNSTATED_QUEUE, port=a_port)
    yield Link(b, a, rate_bps, delay_s, UNSTATED_QUEUE, port=b_port)


def _tutorial_delay_s(delay: str | float) -> float:
    """A number is in ms; text has tc(8)'s format, in which a bare number is in microseconds."""
    if not isinstance(delay, str):
        return float(delay) / 1e3
    if re.fullmatch(r"[0-9.]+", delay):
        return float(delay) / 1e6
    return units.parse_time(delay)
