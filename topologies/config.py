"""The controller's configuration that follows from a topology."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from topologies.plan import Plan, SwitchPlan
from waymark import program
from waymark.errors import WaymarkError

HEADER = """\
# What follows from {file}: read by `waymark controller plan|apply|watch`.
# Written when the network came up; changing it changes nothing by itself.
"""


def write(plan: Plan, source: Path, target: Path, device_configs: dict[str, Path] | None) -> None:
    """Write the configuration of all switches.

    Args:
        plan: the network.
        source: the topology's file, to be named.
        target: where to.
        device_configs: p4c's JSON by program, for BMv2; None for the embedded switch.
    """
    switches = {s.name: _switch(plan, s, device_configs) for s in plan.switches}
    text = StringIO()
    yaml = YAML(typ="safe")
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # pyright: ignore[reportAttributeAccessIssue]
    yaml.dump({"switches": switches}, text)  # pyright: ignore
    target.write_text(HEADER.format(file=source.name) + text.getvalue(), encoding="utf-8")


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
    runtime = plan.topology.switch(switch.name).runtime
    if runtime is not None:
        return config | {"entries": _of_tutorial(runtime)}
    tables = {name.split(".")[-1] for name in program.of_project(switch.program).tables}
    # As in the lab: a program that writes no marks is asked for none.
    marks = sorted(plan.topology.switch(switch.name).feedback) if "port_feedback" in tables else []
    config["ports"] = {
        port: {
            "mac": addressing.mac[switch.name, port],
            "rate": link.rate_bps,
            "queue_limit": link.queue_packets,
            "marks": marks,
            **({} if link.ecn_threshold is None else {"ecn_threshold": link.ecn_threshold}),
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
    config["routes"] = [
        {
            "to": f"{addressing.ipv4[host.name]}/32",
            "via": str(addressing.ipv4[hop]),
            "port": addressing.port_to(switch.name, hop),
        }
        for host in plan.topology.hosts
        for hop in (addressing.next_hop[switch.name, host.name],)
    ]
    return config


def _of_tutorial(path: Path) -> list[dict[str, Any]]:
    """The entries of a ``sX-runtime.json``; default actions stay as the program has them.

    Raises:
        WaymarkError: it cannot be read, or has another form.
    """
    try:
        tables = json.loads(path.read_text(encoding="utf-8"))["table_entries"]
        return [_entry(entry) for entry in tables if not entry.get("default_action")]
    except OSError as error:
        raise WaymarkError(f"{path}: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise WaymarkError(f"{path}:{error.lineno}: not JSON: {error.msg}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise WaymarkError(
            f"{path}: expected table_entries, each with table, match, action_name and "
            f"action_params; {error} is missing or of another form"
        ) from error


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    """A prefix is ``["10.0.1.1", 32]`` there."""
    match = {key: _value(value) for key, value in entry["match"].items()}
    made: dict[str, Any] = {"table": entry["table"], "match": match, "action": entry["action_name"]}
    made["params"] = entry.get("action_params", {})
    return made | ({"priority": entry["priority"]} if "priority" in entry else {})


def _value(value: Any) -> Any:
    match value:
        case [str(address), int(length)]:
            return f"{address}/{length}"
        case _:
            return value
