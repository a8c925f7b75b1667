"""Running a scenario in this process; for many at once, see :mod:`waymark.pool`."""

import json
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from waymark import _core, program, sctp, switch_result, trace
from waymark.errors import WaymarkError
from waymark.result import (
    Check,
    FlowResult,
    QueueResult,
    Result,
    SourceResult,
    Truth,
    Verdicts,
)
from waymark.scenario import Scenario, custom_controls, explain_derived, halves_to_core
from waymark.traffic import Flow


def run(
    scenario: Scenario,
    capture: Path | None = None,
    threads: int = 1,
    *,
    ended: "Callable[[_core.EndedFlows], None] | None" = None,
) -> Result:
    """Run a scenario in virtual time; the same scenario gives the same result, to the octet.

    Args:
        scenario: the scenario.
        capture: the file for every link's packets (pcapng); None: no capture.
        threads: maximum number of threads among which the network is divided; the result does not
            depend on it. Fewer are used if the network cannot be divided, or while so few events
            happen that threads would only wait: :attr:`Result.threads_limit` gives the reason.
        ended: called with the flows as they end, in groups of 4,096, and finally with those that
            did not end; ``Result.flows`` is then empty, so memory does not grow with ended flows.

    Raises:
        WaymarkError: a P4 program is missing or has errors, the core refuses the scenario, the
            capture cannot be written, ``threads`` is below one, or a congestion control in Python
            fails: the message then ends with its traceback.
    """
    if threads < 1:
        raise WaymarkError(f"threads {threads}, expected 1 or more")
    started, started_cpu = time.monotonic(), time.process_time()
    tables: dict[str, list[str]] = {}
    try:
        programs = {name: program.of_project(name) for name in scenario.programs}
        tables = {name: compiled.tables for name, compiled in programs.items()}
        text = _text(*halves_to_core(scenario, tables, as_they_end=ended is not None))
        core_started = time.monotonic()
        record = _core.simulate(
            text,
            programs,
            controls=custom_controls(scenario),
            pcap=None if capture is None else str(capture),
            ended=ended,
            threads=threads,
        )
    except _core.ControlError as error:
        raise WaymarkError(f"scenario {scenario.name}: {error}{_why(error)}") from None
    except _core.WaymarkCoreError as error:
        derived = explain_derived(scenario, tables, str(error))
        raise WaymarkError(f"scenario {scenario.name}: {error}{derived}") from error
    except OSError as error:
        raise WaymarkError(f"scenario {scenario.name}: {capture}: {error}") from error
    now, cpu_s = time.monotonic(), time.process_time() - started_cpu
    return _result(scenario, record, now - started, cpu_s, now - core_started)


def _text(network: str, run: dict[str, Any]) -> str:
    """A scenario as JSON, encoded in parts, because many flows at once would take much memory."""
    flows = ", ".join(map(json.dumps, run.pop("flows")))
    return f'{network[:-1]}, {json.dumps(run)[1:-1]}, "flows": [{flows}]}}'


def _why(error: BaseException) -> str:
    """The traceback of the cause, with only the frames of a control's own code."""
    cause = error.__cause__
    return "" if cause is None else "\n" + "".join(traceback.format_exception(cause)).rstrip()


def _result(
    scenario: Scenario, record: "_core.Results", wall_s: float, cpu_s: float, core_s: float
) -> Result:
    return Result(
        sample_s=record["sample_s"],
        flows=tuple(
            _flow(scenario, flow, name, measured)
            for flow, (name, measured) in zip(scenario.flows, record["flows"].items(), strict=True)
        )
        if record["flows"]
        else (),
        associations=tuple(
            sctp.from_core(association, measured)
            for association, measured in zip(
                scenario.associations, record["associations"].values(), strict=True
            )
        ),
        sources=tuple(
            SourceResult(
                sent=source["sent_packets"].astype(np.int64),
                delivered=source["delivered_packets"].astype(np.int64),
            )
            for source in record["sources"].values()
        ),
        queues={
            name: QueueResult(
                waiting=line["mean_waiting"], peak=int(line["max_waiting"].max(initial=0))
            )
            for name, line in record["lines"].items()
        },
        switches={
            name: switch_result.from_core(switch) for name, switch in record["switches"].items()
        },
        packets=record["totals"]["packets"],
        packet_hops=record["totals"]["packet_hops"],
        aqt=_check(record["check_aqt"]),
        wall_s=wall_s,
        cpu_s=cpu_s,
        threads=record["threads"],
        threads_limit=record["threads_limit"],
        core_s=core_s,
    )


def _flow(scenario: Scenario, flow: Flow, name: str, measured: "_core.FlowRecord") -> FlowResult:
    about = {
        "scenario": scenario.name,
        "seed": str(scenario.seed),
        "flow": name,
        "algorithm": flow.algorithm_name,
    }
    traced = measured["trace"]
    packet = measured["packet_octets"]
    return FlowResult(
        packet_octets=packet["link"],
        feedback_octets=packet["feedback"],
        payload_octets=packet["payload"],
        delivered=measured["delivered_packets"].astype(np.int64),
        goodput=measured["goodput_octets"].astype(np.int64),
        sent=measured["sent_packets"].astype(np.int64),
        retransmissions=int(measured["resent_packets"].sum()),
        losses=int(measured["lost_packets"].sum()),
        trimmed=int(measured["trimmed_packets"].sum()),
        timeouts=measured["timeouts"],
        reported_marks=measured["reported_marks"],
        start_s=flow.start_s,
        segments=flow.segments,
        finished_s=measured["finished_s"],
        verdicts=_verdicts(measured["verdicts"]),
        trace=None if traced is None else trace.from_core(traced, about),
    )


def _verdicts(record: "_core.Verdicts | None") -> Verdicts | None:
    if record is None:
        return None
    return Verdicts(Truth(**record["random"]), Truth(**record["congestion"]))


def _check(record: "_core.CheckRecord | None") -> Check | None:
    if record is None:
        return None
    return Check(record["compared"], record["mismatches"], tuple(record["first"]))
