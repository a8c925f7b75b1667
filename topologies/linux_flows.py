"""A scenario's flows in Linux's own TCP: what it can run, and the settings of its hosts."""

from dataclasses import asdict, replace

from topologies import linux_tcp, runners, system
from topologies.state import State
from waymark import kernel
from waymark.errors import WaymarkError
from waymark.scenario import Scenario
from waymark.traffic import MODERN, Flow, ModernProfile


def paced(scenario: Scenario) -> Scenario:
    """The scenario with pacing, which controls in Linux always have, for virtual time."""
    flows = (
        replace(flow, profile=replace(flow.profile, pacing=True))
        if isinstance(flow.profile, ModernProfile)
        else flow
        for flow in scenario.flows
    )
    return replace(scenario, flows=tuple(flows))


def check(scenario: Scenario) -> None:
    """Raise a :class:`WaymarkError` unless Linux's TCP can have the flows of a scenario.

    The scenario is one that Waymark's hosts on interfaces can run.
    """
    controls: dict[str, str] = {}
    known = kernel.controls()
    for flow in scenario.flows:
        where = f"scenario {scenario.name}, flow {flow.source}->{flow.target}, --hosts kernel"
        algorithm = str(flow.algorithm)
        if algorithm not in known:
            raise WaymarkError(
                f"{where}: no BPF program for control {algorithm}; valid: {', '.join(known)}"
            )
        _check_profile(flow, where)
        for host in (flow.source, flow.target):
            if controls.setdefault(host, algorithm) != algorithm:
                raise WaymarkError(
                    f"{where}: host {host} has flows of {controls[host]} and {algorithm}; "
                    "valid: one control per host"
                )
    for source in scenario.sources:
        shared = {source.source, source.target} & controls.keys()
        if shared:
            raise WaymarkError(
                f"scenario {scenario.name}, --hosts kernel: host {shared.pop()} has flows and "
                "cross traffic, which is sent in user space; valid: one of the two per host"
            )


def _check_profile(flow: Flow, where: str) -> None:
    profile = asdict(flow.profile)
    if profile["window"] != MODERN.window:
        raise WaymarkError(
            f"{where}: its profile has window {profile['window']}; Linux sizes windows itself. "
            f"Valid: {MODERN.window}"
        )
    if profile["delayed_ack_s"] not in (0.0, MODERN.delayed_ack_s):
        raise WaymarkError(
            f"{where}: its profile has delayed_ack_s {profile['delayed_ack_s']:g}; valid: 0, or "
            f"{MODERN.delayed_ack_s:g} for Linux's own delayed acknowledgements"
        )


def prepare(scenario: Scenario, network: State) -> None:
    """Give each flow's hosts its control and profile; other hosts lose their kernel addresses.

    Raises:
        WaymarkError: the kernel refuses.
    """
    flows = {host: flow for flow in scenario.flows for host in (flow.source, flow.target)}
    for host in network.hosts:
        prefix = runners.prefix(network, host)
        interface = network.places[host]["interface"]
        if host not in flows:
            system.run(*prefix, "ip", "addr", "flush", "dev", interface)
            continue
        profile = asdict(flows[host].profile)
        system.run(*prefix, "ip", "link", "set", interface, "mtu", str(profile["packet_octets"]))
        route = ("default", "via", network.places[host]["gateway"], "dev", interface, "onlink")
        settings = ["initcwnd", str(profile["initial_window"])]
        if profile["delayed_ack_s"] == 0:
            settings += ["quickack", "1"]
        system.run(*prefix, "ip", "route", "replace", *route, *settings)
        control = str(flows[host].algorithm)
        linux_tcp.use(network, control, [host], lambda one: runners.prefix(network, one))
