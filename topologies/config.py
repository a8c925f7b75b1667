"""The controller's configuration for a topology."""

from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from controller import pipeline
from topologies import tutorial
from topologies.plan import Plan, SwitchPlan
from waymark import ecmp, program, project
from waymark.addressing import Addressing
from waymark.dual_pi2 import DualPi2
from waymark.entries import csig_locator, csig_quantiser
from waymark.errors import WaymarkError
from waymark.red import ConstantDrop
from waymark.topology import Link, Switch, Topology
from waymark.trim import TRIMMABLE, TRIMMED, Trim

HEADER = """\
# Generated from {file} for `waymark controller plan|apply|watch`.
# Written when the network came up. Apply your changes with `waymark controller apply`.
"""


def write(plan: Plan, source: Path, target: Path, device_configs: dict[str, Path] | None) -> bool:
    """Write the configuration of all switches. Returns whether it contains any.

    Switches without a program wait for the user's controller.

    Args:
        plan: the network.
        source: the topology's file, to be named.
        target: the file to write.
        device_configs: p4c's JSON by program, for BMv2; None for the embedded switch.

    Raises:
        WaymarkError: a runtime file is missing, or does not match the program.
    """
    switches = {s.name: _switch(plan, s, device_configs) for s in plan.switches if s.program}
    config: dict[str, Any] = {"switches": switches}
    if any(switch.tutorial is not None for switch in plan.topology.switches):
        config = {"election_id": tutorial.ELECTION_ID, **config}
    text = StringIO()
    yaml = YAML(typ="safe")
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # pyright: ignore[reportAttributeAccessIssue]
    yaml.dump(config, text)  # pyright: ignore
    target.write_text(HEADER.format(file=source.name) + text.getvalue(), encoding="utf-8")
    return bool(switches)


def _switch(plan: Plan, switch: SwitchPlan, device_configs: dict[str, Path] | None) -> Any:
    addressing = plan.addressing
    ends = addressing.ports[switch.name]
    config: dict[str, Any] = {
        "address": switch.grpc,
        "device_id": switch.device_id,
        "program": switch.program,
    }
    if device_configs is not None:
        config |= {"target": "bmv2", "device_config": str(device_configs[switch.program])}
    declared = plan.topology.switch(switch.name)
    if declared.entries:
        raise WaymarkError(
            f"switch {switch.name}: entries= is valid in virtual time only; on interfaces, write "
            "entries to the controller's configuration or to a runtime file"
        )
    if declared.runtime is not None:
        p4info, _ = pipeline.compiled(project.program_path(switch.program))
        schema = pipeline.make(switch.program, p4info, b"").schema
        return config | tutorial.settings(tutorial.read(declared.runtime), schema)
    if declared.tutorial is not None:  # the user's controller writes its entries
        return config
    tables = {name.split(".")[-1] for name in program.of_project(switch.program).tables}
    if "csig_port" in tables:
        config["csig"] = _csig(plan.topology, declared)
    # As in the lab: marks are configured only if the program writes marks.
    marks = sorted(plan.topology.switch(switch.name).feedback) if "port_feedback" in tables else []
    node = plan.topology.switches.index(declared) + 1
    config["ports"] = {
        port: {
            "mac": addressing.mac[switch.name, port],
            "rate": link.rate_bps,
            "queue_limit": link.queue_packets,
            "marks": marks,
            **({} if link.ecn_threshold is None else {"ecn_threshold": link.ecn_threshold}),
            **({} if link.dual_pi2 is None else {"dual_pi2": _dual_pi2(link.dual_pi2)}),
            **({"tcp_int": True} if "tcp_int_port" in tables else {}),
            **({"telemetry": {"node": node}} if "int_port" in tables else {}),
            **({"trim": _trim(link.trim or Trim())} if "trimming" in tables else {}),
            **_early_drops(link),
        }
        for port, link in switch.links.items()
    }
    config["neighbours"] = [
        {
            "port": port,
            "address": str(addressing.ipv4[end]),
            "mac": addressing.mac[end, addressing.port_to(end, switch.name)],
        }
        for port, end in ends.items()
    ]
    config["routes"] = (
        [_shared(addressing, switch.name, route) for route in ecmp.routes(addressing, switch.name)]
        if "ecmp_route" in tables
        else [
            {
                "to": f"{addressing.ipv4[host.name]}/32",
                "via": str(addressing.ipv4[hop]),
                "port": addressing.port_to(switch.name, hop),
            }
            for host in plan.topology.hosts
            for hop in (addressing.next_hop[switch.name, host.name],)
        ]
    )
    return config


def _trim(settings: Trim) -> dict[str, Any]:
    """Trimming as in the lab."""
    return {
        "trimmable": TRIMMABLE,
        "trimmed": TRIMMED,
        "octets": settings.octets,
        "queue_limit": settings.queue_packets,
    }


def _csig(topology: Topology, switch: Switch) -> dict[str, Any]:
    """CSIG as in the lab."""
    quantiser = csig_quantiser(topology)
    return {
        "locator": csig_locator(topology, switch),
        "interval": f"{quantiser.interval_us} us",
        "delay_unit": f"{quantiser.delay_unit_us!r} us",
        "octets_unit": quantiser.octets_unit,
    }


def _shared(addressing: Addressing, switch: str, route: ecmp.EcmpRoute) -> dict[str, Any]:
    """A route over all shortest paths as the controller's configuration has it."""
    first, *others = route.next_hops
    config: dict[str, Any] = {
        "to": str(route.prefix),
        "via": str(addressing.ipv4[first]),
        "port": addressing.port_to(switch, first),
    }
    also = [str(addressing.ipv4[hop]) for hop in others]
    return config | ({"also": also} if also else {})


def _early_drops(link: Link) -> dict[str, Any]:
    """RED as the controller's configuration has it.

    Raises:
        WaymarkError: constant drops, which it does not have.
    """
    if isinstance(link.red, ConstantDrop):
        raise WaymarkError(
            f"link {link.name}: drop: packets are dropped with a constant probability in virtual "
            "time only; on interfaces: loss, or red"
        )
    return {} if link.red is None else {"red": asdict(link.red)}


def _dual_pi2(settings: DualPi2) -> dict[str, Any]:
    return {
        "target": f"{settings.target_s * 1e6:g} us",
        "step": f"{settings.step_s * 1e6:g} us",
        "coupling": settings.coupling,
        "alpha": settings.alpha_hz,
        "beta": settings.beta_hz,
    }
