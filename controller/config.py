"""The configuration file: the desired state of each switch.

Errors show a field's description as the valid value.
"""

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv4Network
from math import log2
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from controller import check
from controller.replication import CloneSession, DefaultAction, MulticastGroup
from waymark import csig, trim, units, yaml_file
from waymark.drai import MAX_DEPTH
from waymark.entry import Entry
from waymark.fields import MAX_S, DualPi2Settings, Mac, Rate, RedSettings, Time
from waymark.ports import CPU_PORT, MAX_PORT
from waymark.telemetry import HPCC, MAX_HOPS, Instruction, Request
from waymark.topology import DEFAULT_PROGRAM

DEFAULT_ELECTION_ID = 10
"""Leaves room for backup controllers with lower ids."""

Mark = Literal["aqt", "drai", "ci"]

Signal = Literal["abw", "abw/c", "delay"]
"""A signal of CSIG."""

MAX_DSCP = 63


MAX_NODE = 0xFFFFFFFF
LEAST_MTU = 68
"""RFC 791."""

MAX_TRANSPORT_PORT = 65535


def _prefix(value: object) -> IPv4Network:
    if not isinstance(value, str):
        raise ValueError("not a prefix")
    return IPv4Network(value)  # its error names the host bits that are set


Prefix = Annotated[IPv4Network, BeforeValidator(_prefix)]
PortNumber = Annotated[int, Field(ge=1, le=MAX_PORT, strict=True)]
TransportPort = Annotated[int, Field(ge=0, le=MAX_TRANSPORT_PORT, strict=True)]


class Settings(BaseModel):
    """The base of all parts of a configuration: immutable, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TrimConfig(Settings):
    """Packet trimming at a port."""

    trimmable: int = Field(
        trim.TRIMMABLE,
        ge=0,
        le=MAX_DSCP,
        strict=True,
        description="0 to 63: the DSCP of packets that can be trimmed",
    )
    trimmed: int = Field(
        trim.TRIMMED,
        ge=0,
        le=MAX_DSCP,
        strict=True,
        description="0 to 63: the DSCP of trimmed packets",
    )
    octets: int = Field(
        trim.Trim.octets,
        ge=trim.LEAST_OCTETS,
        le=trim.MOST_OCTETS,
        strict=True,
        description=f"{trim.LEAST_OCTETS} to {trim.MOST_OCTETS}: what is left of a frame",
    )
    queue_limit: int = Field(
        trim.Trim.queue_packets,
        ge=2,
        le=MAX_DEPTH,
        strict=True,
        description="2 or more trimmed packets",
    )

    @model_validator(mode="after")
    def _two_classes(self) -> Self:
        if self.trimmable == self.trimmed:
            raise ValueError("`trimmable` and `trimmed` are the same DSCP")
        return self


class CsigConfig(Settings):
    """CSIG at a switch, of csig.p4; all but the locator is the same at all hops of a domain."""

    locator: int = Field(
        ge=1,
        le=csig.MAX_LOCATOR,
        strict=True,
        description=f"1 to {csig.MAX_LOCATOR}: identifies this hop",
    )
    interval: Time = Field(
        256e-6, description="2^k us, such as 256 us: the time over which ports measure bandwidth"
    )
    delay_unit: Time = Field(
        1e-6, gt=0, le=MAX_S, description="above 0, to 4294 s: delays below are in band 0"
    )
    octets_unit: float = Field(
        1.0,
        gt=0,
        le=csig.MAX_VALUE,
        description=f"octets in an interval, above 0, to {csig.MAX_VALUE}: bandwidth below is in "
        "band 0",
    )

    @field_validator("interval")
    @classmethod
    def _power_of_two(cls, interval_s: float) -> float:
        interval_us = interval_s * 1e6
        exponent = round(log2(max(interval_us, 1)))
        if exponent > csig.MAX_INTERVAL_LOG2 or abs(interval_us - 2**exponent) > 1e-3:
            raise ValueError(f"not 2^k us, k to {csig.MAX_INTERVAL_LOG2}")
        return interval_s

    def quantiser(self) -> csig.Quantiser:
        """The settings for `waymark.csig`."""
        return csig.Quantiser(
            interval_log2=round(log2(self.interval * 1e6)),
            delay_unit_us=round(self.delay_unit * 1e6, 6),
            octets_unit=self.octets_unit,
        )


class CsigPortConfig(Settings):
    """CSIG tags where a domain ends."""

    insert: Signal | None = Field(
        None,
        description="abw, abw/c or delay: the signal that is requested for packets without a tag",
    )
    strip: bool = Field(False, description="true or false: whether tags are removed")


class IntSourceConfig(Settings):
    """Packets that come by a port and get telemetry."""

    protocol: Literal["tcp", "udp"] = Field(description="tcp or udp")
    dst_ports: tuple[TransportPort, TransportPort] = Field(
        (0, MAX_TRANSPORT_PORT), description="[first, last] of the destination ports, 0 to 65535"
    )
    instructions: tuple[Instruction, ...] = Field(
        HPCC,
        min_length=1,
        description="a list of any of " + ", ".join(get_args(Instruction)),
    )
    hops: int = Field(
        8,
        ge=1,
        le=MAX_HOPS,
        strict=True,
        description=f"1 to {MAX_HOPS}: the number of hops that record",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.dst_ports[0] > self.dst_ports[1]:
            raise ValueError("the first of `dst_ports` is greater than the last")
        return self

    def to_request(self) -> Request:
        """What hops record."""
        return Request(self.instructions, self.hops)


class IntConfig(Settings):
    """In-band network telemetry at a port."""

    node: int | None = Field(
        None,
        ge=0,
        le=MAX_NODE,
        strict=True,
        description=f"0 to {MAX_NODE}: the switch's number in the domain",
    )
    mtu: int = Field(
        1500,
        ge=LEAST_MTU,
        le=trim.MOST_OCTETS,
        strict=True,
        description=f"{LEAST_MTU} to {trim.MOST_OCTETS}: the largest packet of the link in octets",
    )
    remove: bool = Field(
        False,
        strict=True,
        description="true or false: whether telemetry is removed from departing packets",
    )
    sources: tuple[IntSourceConfig, ...] = Field(
        (), description="a list of the flows from this port that get telemetry"
    )


class PortConfig(Settings):
    """One port of a switch."""

    mac: Mac = Field(description='a MAC address, such as "02:00:00:00:00:01"')
    rate: Rate | None = Field(None, description=f"bits per second with a unit: {units.RATE}")
    queue_limit: int | None = Field(
        None,
        ge=2,
        le=MAX_DEPTH,
        strict=True,
        description="2 or more packets, including the one in transmission (as ns-2's limit)",
    )
    marks: tuple[Mark, ...] = Field((), description="a list of any of aqt, drai, ci")
    red: RedSettings | None = Field(None, description="thmin, thmax, pmax and w")
    dual_pi2: DualPi2Settings | None = Field(
        None, description="target, step, coupling, alpha and beta of DualPI2, for L4S"
    )
    trim: TrimConfig | None = Field(
        None, description="trimmable, trimmed, octets and queue_limit of packet trimming"
    )
    tcp_int: bool = Field(False, description="true or false: whether TCP-INT is written")
    csig: CsigPortConfig | None = Field(None, description="insert and strip, of CSIG tags")
    telemetry: IntConfig | None = Field(
        None, description="node, mtu, remove and sources of in-band telemetry (INT)"
    )
    ecn_threshold: int | None = Field(
        None,
        ge=0,
        le=MAX_DEPTH,
        strict=True,
        description="0 or more packets: a packet behind more waiting packets is marked",
    )


class NeighbourConfig(Settings):
    """A next hop and its MAC address: static, because the dataplane does not answer ARP."""

    port: PortNumber = Field(description=f"a port number, 1 to {MAX_PORT}")
    address: IPv4Address = Field(description='an IPv4 address, such as "10.0.1.1"')
    mac: Mac = Field(description='a MAC address, such as "02:00:00:00:01:01"')


class RouteConfig(Settings):
    """The route of a prefix: ``via`` a neighbour, or to neighbours at ``port``."""

    to: Prefix = Field(
        description='an IPv4 prefix without host bits, such as "10.0.1.0/24"; IPv6 is not routed'
    )
    via: IPv4Address | None = Field(None, description="the address of one of the neighbours")
    port: PortNumber | None = Field(None, description=f"a port number, 1 to {MAX_PORT}")
    also: tuple[IPv4Address, ...] = Field(
        (), description="addresses of other neighbours; flows are distributed among them and via"
    )


class EntryConfig(Settings):
    """A table entry for a user's own program."""

    table: str = Field(description="a table of the program, such as MyIngress.ipv4_lpm")
    match: Mapping[str, int | str | tuple[int, int]] = Field(
        default_factory=dict[str, int | str | tuple[int, int]],
        description="a mapping of keys to a number, an address, a prefix, or [low, high]",
    )
    action: str = Field(description="an action of the table")
    params: Mapping[str, int | str] = Field(
        default_factory=dict[str, int | str], description="a mapping of names to values"
    )
    priority: int = Field(
        0,
        ge=0,
        lt=2**31,
        strict=True,
        description="0; 1 or more if a key is a range or mask",
    )

    def to_entry(self) -> Entry:
        """The entry for ``controller.codec``."""
        return Entry(self.table, self.match, self.action, self.params, self.priority)


class DefaultConfig(Settings):
    """The default action of a table of a user's own program."""

    table: str = Field(description="a table of the program, such as MyIngress.ipv4_lpm")
    action: str = Field(description="an action of the table")
    params: Mapping[str, int | str] = Field(
        default_factory=dict[str, int | str], description="a mapping of names to values"
    )

    def to_default(self) -> DefaultAction:
        """The default action for ``controller.codec``."""
        return DefaultAction(self.table, self.action, self.params)


class ReplicaConfig(Settings):
    """One replica of a packet."""

    port: int = Field(ge=0, le=CPU_PORT, strict=True, description=f"0 to {CPU_PORT}")
    instance: int = Field(
        0, ge=0, lt=2**16, strict=True, description="0 to 65535: the replica's egress_rid"
    )


class MulticastConfig(Settings):
    """A multicast group."""

    id: int = Field(ge=1, lt=2**16, strict=True, description="1 to 65535: mcast_grp")
    replicas: tuple[ReplicaConfig, ...] = Field(
        description="a list of port and instance, each pair once"
    )

    def to_group(self) -> MulticastGroup:
        """The group for ``controller.codec``."""
        return MulticastGroup(self.id, _replicas(self.replicas))


class CloneConfig(Settings):
    """A clone session."""

    id: int = Field(ge=1, lt=2**15, strict=True, description="1 to 32767: the session of clone()")
    replicas: tuple[ReplicaConfig, ...] = Field(
        description="a list of port and instance, each pair once"
    )
    octets: int = Field(
        0,
        ge=0,
        lt=2**16,
        strict=True,
        description="octets of a clone; 0: not truncated",
    )

    def to_session(self) -> CloneSession:
        """The session for ``controller.codec``."""
        return CloneSession(self.id, _replicas(self.replicas), self.octets)


def _replicas(replicas: Iterable[ReplicaConfig]) -> tuple[tuple[int, int], ...]:
    return tuple((replica.port, replica.instance) for replica in replicas)


class TlsConfig(Settings):
    """PEM files, relative to the configuration file."""

    ca: Path = Field(description="the certificate file of the CA of the switch's certificate")
    certificate: Path | None = Field(None, description="the controller's certificate file")
    key: Path | None = Field(None, description="the private key file of that certificate")


class SwitchConfig(Settings):
    """The configuration of one switch."""

    address: str = Field(
        pattern=r"^\S+:\d+$", description='host and port of P4Runtime, such as "127.0.0.1:9559"'
    )
    device_id: int = Field(
        1, ge=0, lt=2**64, strict=True, description="the switch's --device-id, 0 or more"
    )
    target: Literal["embedded", "bmv2"] = Field(
        "embedded", description="embedded (waymark switch) or bmv2 (simple_switch_grpc)"
    )
    program: str = Field(
        DEFAULT_PROGRAM,
        description="a program of p4src/, such as v1model/waymark.p4, or your own P4 file",
    )
    p4info: Path | None = Field(None, description="a P4Info file in protobuf text format")
    device_config: Path | None = Field(
        None, description="the file that the target loads: P4 source (embedded) or JSON (bmv2)"
    )
    tls: TlsConfig | None = Field(None, description="ca, certificate and key")
    cpu_port: int | None = Field(
        None,
        ge=CPU_PORT,
        le=CPU_PORT,
        strict=True,
        description=f"{CPU_PORT}, the program's CPU_PORT; if set, ARP goes there",
    )
    csig: CsigConfig | None = Field(
        None, description="locator, interval, delay_unit and octets_unit of CSIG"
    )
    ports: Mapping[PortNumber, PortConfig] = Field(
        default_factory=dict[int, PortConfig], description="settings by port number"
    )
    neighbours: tuple[NeighbourConfig, ...] = Field(
        (), description="a list of port, address and mac"
    )
    routes: tuple[RouteConfig, ...] = Field((), description="a list of to, with via or port")
    entries: tuple[EntryConfig, ...] = Field(
        (), description="a list of table, match, action and params"
    )
    defaults: tuple[DefaultConfig, ...] = Field(
        (), description="a list of table, action and params: default actions"
    )
    multicast_groups: tuple[MulticastConfig, ...] = Field(
        (), description="a list of id and replicas"
    )
    clone_sessions: tuple[CloneConfig, ...] = Field(
        (), description="a list of id, replicas and octets"
    )


class Config(Settings):
    """A configuration file."""

    election_id: int = Field(
        DEFAULT_ELECTION_ID,
        ge=1,
        lt=2**127,
        strict=True,
        description="1 or more: the controller with the largest id writes, the others wait",
    )
    switches: Mapping[str, SwitchConfig] = Field(description="switches by name")


def load(path: Path) -> Config:
    """Read and check a configuration file.

    Raises:
        WaymarkError: all errors, each with file, line, key, what was found, what is valid.
    """
    document = yaml_file.read(path)
    config = yaml_file.validate(Config, document)
    problems = check.problems(config)
    if problems:
        raise yaml_file.refused(document, problems)
    return config
