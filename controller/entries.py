"""The table entries of a switch's configuration."""

from collections.abc import Collection

from controller.config import IntConfig, PortConfig, RouteConfig, SwitchConfig
from controller.replication import Held
from waymark import entry as entry_of
from waymark.architecture import V1MODEL, Architecture
from waymark.csig import SIGNALS
from waymark.entry import ETHER_TYPE_ARP, Entry
from waymark.errors import WaymarkError

PROTOCOLS = {"tcp": 6, "udp": 17}


def held_by(
    switch: SwitchConfig, tables: Collection[str], architecture: Architecture = V1MODEL
) -> list[Held]:
    """The complete desired state of ``switch``.

    Args and Raises:
        As :func:`entries_for`.
    """
    return [
        *entries_for(switch, tables, architecture),
        *(default.to_default() for default in switch.defaults),
        *(group.to_group() for group in switch.multicast_groups),
        *(session.to_session() for session in switch.clone_sessions),
    ]


def entries_for(
    switch: SwitchConfig, tables: Collection[str], architecture: Architecture = V1MODEL
) -> list[Entry]:
    """All entries that the tables of ``switch`` are to hold.

    Args:
        switch: its configuration.
        tables: the names of its program's tables.
        architecture: in whose units the entries are. If its traffic manager limits queues, the
            setting ``queue_limit`` describes its configuration, and produces no entry.

    Raises:
        WaymarkError: the program has no table for a setting.
    """
    has_ecmp = "ecmp_route" in tables
    entries = [_route(switch, route, has_ecmp=has_ecmp) for route in switch.routes]
    entries += [
        entry_of.neighbour(
            neighbour.port,
            str(neighbour.address),
            own_mac=switch.ports[neighbour.port].mac,
            mac=neighbour.mac,
        )
        for neighbour in switch.neighbours
    ]
    if switch.cpu_port is not None:
        entries.append(entry_of.punt(ETHER_TYPE_ARP))
    for number, port in switch.ports.items():
        entries += _port(number, port, architecture)
    entries += _csig(switch)
    for entry in entries:
        if entry.table not in tables:
            raise WaymarkError(
                f"{switch.program} has no table {entry.table}, which {_setting(entry)} needs; "
                f"its tables: {', '.join(tables)}"
            )
    return [*entries, *(entry.to_entry() for entry in switch.entries)]


def _route(switch: SwitchConfig, route: RouteConfig, *, has_ecmp: bool) -> Entry:
    to = str(route.to)
    if route.via is None:
        assert route.port is not None  # checked: via or port
        if has_ecmp:
            return entry_of.ecmp_route(to, [(route.port, None)])
        return entry_of.direct_route(to, route.port)
    port = next(
        n.port for n in switch.neighbours if n.address == route.via and route.port in (None, n.port)
    )
    is_direct = route.to.prefixlen == 32 and route.to.network_address == route.via
    if has_ecmp:
        hops = [(port, None if is_direct else str(route.via))]
        ports = {n.address: n.port for n in switch.neighbours}
        hops += [(ports[address], str(address)) for address in route.also]
        return entry_of.ecmp_route(to, hops)
    if route.also:
        raise WaymarkError(
            f"{switch.program} has no table ecmp_route, which `also` of the route to {to} needs"
        )
    if is_direct:
        return entry_of.direct_route(to, port)
    return entry_of.route_via(to, port, str(route.via))


def _port(number: int, port: PortConfig, architecture: Architecture) -> list[Entry]:
    entries: list[Entry] = []
    if port.queue_limit is not None and not architecture.limits_queues:
        entries.append(entry_of.queue_limit(number, port.queue_limit))
    if port.red is not None:
        try:
            entries += entry_of.red(number, port.red.to_red(), architecture)
        except WaymarkError as error:
            raise WaymarkError(f"port {number}: {error}") from error
    if port.ecn_threshold is not None:
        entries.append(entry_of.ecn_threshold(number, port.ecn_threshold))
    if port.dual_pi2 is not None:
        entries.append(entry_of.dual_pi2(number, port.dual_pi2.to_dual_pi2()))
    if port.trim is not None:
        trim = port.trim
        entries += entry_of.trimming(
            number, trim.trimmable, trim.trimmed, trim.octets, trim.queue_limit
        )
    if port.tcp_int:
        assert port.rate is not None  # checked: tcp_int needs it
        entries.append(entry_of.tcp_int(number, port.rate))
    if port.telemetry is not None:
        entries += _telemetry(number, port.telemetry, port.rate)
    if port.marks:
        entries.append(entry_of.feedback(number, port.marks, port.rate))
    if "drai" in port.marks:
        assert port.rate is not None  # checked: drai has both
        assert port.queue_limit is not None
        entries += entry_of.drai(number, port.rate, port.queue_limit, architecture)
    return entries


def _csig(switch: SwitchConfig) -> list[Entry]:
    """CSIG's bands, ports, and edges of its domain."""
    entries = [
        entry_of.csig_insertion(number, SIGNALS[port.csig.insert])
        for number, port in switch.ports.items()
        if port.csig is not None and port.csig.insert is not None
    ]
    if switch.csig is None:
        return entries
    quantiser = switch.csig.quantiser()
    for number, port in switch.ports.items():
        assert port.rate is not None  # checked: csig needs it
        strip = port.csig is not None and port.csig.strip
        locator = switch.csig.locator
        entries.append(entry_of.csig_port(number, port.rate, locator, quantiser, strip=strip))
    return [*entries, *entry_of.csig_bands(quantiser)]


def _telemetry(number: int, settings: IntConfig, rate_bps: float | None) -> list[Entry]:
    if settings.remove:
        at_port = entry_of.telemetry_removed(number)
    else:
        # Checked: a port that records has both.
        assert rate_bps is not None
        assert settings.node is not None
        at_port = entry_of.telemetry(number, settings.node, rate_bps, settings.mtu)
    sources = [
        entry_of.telemetry_source(
            number, PROTOCOLS[source.protocol], source.dst_ports, source.to_request()
        )
        for source in settings.sources
    ]
    return [at_port, *sources]


def _setting(entry: Entry) -> str:
    settings = {
        "port_feedback": "marks",
        "drai": "the mark drai",
        "red": "red",
        "red_weight": "red",
        "port_queue": "queue_limit",
        "window_unit": "the mark drai",
        "int_port": "telemetry",
        "int_source": "telemetry",
        "punt": "cpu_port",
        "tcp_int_port": "tcp_int",
        "csig_band": "csig",
        "csig_insertion": "csig",
        "csig_port": "csig",
    }
    setting = settings.get(entry.table, entry.table)
    return f"{setting} of port {entry.match['port']}" if "port" in entry.match else setting
