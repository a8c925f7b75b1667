"""Checks of settings that depend on each other."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from waymark.yaml_file import Place, Problem

if TYPE_CHECKING:
    from controller.config import Config, IntConfig, PortConfig, SwitchConfig


def problems(config: Config) -> list[Problem]:
    """All inconsistencies of ``config``."""
    found: list[Problem] = []
    seen: dict[tuple[str, int], str] = {}
    for name, switch in config.switches.items():
        place: Place = ("switches", name)
        twin = seen.setdefault((switch.address, switch.device_id), name)
        if twin != name:
            message = f"found {switch.address!r}, which is also {twin}'s; valid: each switch once"
            found.append(Problem((*place, "address"), message))
        found += _device_config(switch, place)
        for number, port in switch.ports.items():
            found += _port(port, (*place, "ports", number))
        found += _csig(switch, place)
        found += _neighbours(switch, place)
        found += _routes(switch, place)
        found += _once(switch, place)
    return found


def _device_config(switch: SwitchConfig, place: Place) -> Iterator[Problem]:
    if switch.target == "bmv2" and switch.device_config is None:
        message = "missing; valid: the program's JSON from p4c-bm2-ss (target bmv2)"
        yield Problem((*place, "device_config"), message)
    if switch.tls is not None and (switch.tls.certificate is None) != (switch.tls.key is None):
        yield Problem(
            (*place, "tls"), "found only one of certificate and key; valid: both or neither"
        )


def _port(port: PortConfig, place: Place) -> Iterator[Problem]:
    if "drai" in port.marks and (port.rate is None or port.queue_limit is None):
        wanted = "rate" if port.rate is None else "queue_limit"
        message = f"drai needs {wanted}, which is missing; valid: rate and queue_limit with drai"
        yield Problem((*place, "marks"), message)
    if "ci" in port.marks and port.queue_limit is None:
        message = "ci needs queue_limit, which is missing; valid: queue_limit with ci"
        yield Problem((*place, "marks"), message)
    if port.tcp_int and port.rate is None:
        message = "tcp_int needs rate, which is missing; valid: rate with tcp_int"
        yield Problem((*place, "tcp_int"), message)
    if port.telemetry is not None and not port.telemetry.remove and port.rate is None:
        message = "telemetry needs rate, which is missing; valid: rate with telemetry, or remove"
        yield Problem((*place, "telemetry"), message)
    if port.telemetry is not None and not port.telemetry.remove and port.telemetry.node is None:
        message = "missing; valid: the switch's number in the domain, or remove: true"
        yield Problem((*place, "telemetry", "node"), message)
    if port.telemetry is not None:
        yield from _sources(port.telemetry, (*place, "telemetry", "sources"))
    if port.red is None:
        return
    if port.red.thmax <= port.red.thmin:
        message = f"found {port.red.thmax:g}; valid: above thmin, which is {port.red.thmin:g}"
        yield Problem((*place, "red", "thmax"), message)
    if port.queue_limit is not None and port.red.thmin >= port.queue_limit - 1:
        message = (
            f"found {port.red.thmin:g}; valid: below the {port.queue_limit - 1} packets that can "
            "wait (queue_limit without the one in transmission)"
        )
        yield Problem((*place, "red", "thmin"), message)


def _sources(telemetry: IntConfig, place: Place) -> Iterator[Problem]:
    for number, source in enumerate(telemetry.sources):
        low, high = source.dst_ports
        for earlier, other in enumerate(telemetry.sources[:number]):
            first, last = other.dst_ports
            if source.protocol == other.protocol and low <= last and first <= high:
                message = (
                    f"found ports {first} to {last} of {source.protocol}, which source {earlier} "
                    "also has; valid: each port in one source"
                )
                yield Problem((*place, number, "dst_ports"), message)


def _csig(switch: SwitchConfig, place: Place) -> Iterator[Problem]:
    for number, port in switch.ports.items():
        at: Place = (*place, "ports", number)
        if switch.csig is not None and port.rate is None:
            message = "missing; valid: bits per second with a unit, at each port, with csig"
            yield Problem((*at, "rate"), message)
        if port.csig is not None and port.csig.strip and switch.csig is None:
            message = "found true without csig at the switch; valid: true only with csig"
            yield Problem((*at, "csig", "strip"), message)


def _known_ports(switch: SwitchConfig) -> str:
    return ", ".join(map(str, switch.ports)) or "none: ports is empty"


def _neighbours(switch: SwitchConfig, place: Place) -> Iterator[Problem]:
    seen: set[tuple[int, IPv4Address]] = set()
    for index, neighbour in enumerate(switch.neighbours):
        at: Place = (*place, "neighbours", index)
        if neighbour.port not in switch.ports:
            message = f"found {neighbour.port}; valid: one of ports ({_known_ports(switch)})"
            yield Problem((*at, "port"), message)
        if (neighbour.port, neighbour.address) in seen:
            message = f"found {neighbour.address} twice; valid: each address once per port"
            yield Problem((*at, "address"), message)
        seen.add((neighbour.port, neighbour.address))


def _routes(switch: SwitchConfig, place: Place) -> Iterator[Problem]:
    addresses = dict.fromkeys(str(neighbour.address) for neighbour in switch.neighbours)
    seen: set[str] = set()
    for index, route in enumerate(switch.routes):
        at: Place = (*place, "routes", index)
        if str(route.to) in seen:
            message = f"found {route.to} twice; valid: each prefix once"
            yield Problem((*at, "to"), message)
        seen.add(str(route.to))
        if route.port is not None and route.port not in switch.ports:
            message = f"found {route.port}; valid: one of ports ({_known_ports(switch)})"
            yield Problem((*at, "port"), message)
        missing = sorted({*route.also} - {n.address for n in switch.neighbours})
        if missing or (route.also and route.via is None):
            found_also = f"{missing[0]}" if missing else "no via"
            yield Problem(
                (*at, "also"), f"found {found_also}; valid: addresses of neighbours other than via"
            )
        if route.via is None and route.port is None:
            yield Problem(at, "via and port are missing; valid: via (a neighbour) or port")
        if route.via is None:
            continue
        behind = {n.port for n in switch.neighbours if n.address == route.via}
        if not behind:
            known = ", ".join(addresses) or "none: neighbours is empty"
            message = f"found {route.via}; valid: the address of a neighbour ({known})"
            yield Problem((*at, "via"), message)
        elif route.port is None and len(behind) > 1:
            message = (
                f"{route.via} is at ports {sorted(behind)}; valid: via together with one of these "
                "as port"
            )
            yield Problem((*at, "via"), message)
        elif route.port is not None and route.port not in behind:
            message = f"found {route.port}; valid: the port of {route.via}, {min(behind)}"
            yield Problem((*at, "port"), message)


def _once(switch: SwitchConfig, place: Place) -> Iterator[Problem]:
    """Default actions, groups, sessions and replicas that occur more than once."""
    for key, what, names in (
        ("defaults", "table", [default.table for default in switch.defaults]),
        ("multicast_groups", "id", [group.id for group in switch.multicast_groups]),
        ("clone_sessions", "id", [session.id for session in switch.clone_sessions]),
    ):
        for index, name in enumerate(names):
            if name in names[:index]:
                message = f"found {name} twice; valid: each {what} once"
                yield Problem((*place, key, index, what), message)
    for key, several in (
        ("multicast_groups", switch.multicast_groups),
        ("clone_sessions", switch.clone_sessions),
    ):
        for index, one in enumerate(several):
            for copy, replica in enumerate(one.replicas):
                if replica in one.replicas[:copy]:
                    message = f"found port {replica.port}, instance {replica.instance} twice"
                    message += "; valid: each pair once"
                    yield Problem((*place, key, index, "replicas", copy), message)
