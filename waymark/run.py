"""Running a scenario in this process; many at once: :mod:`waymark.pool`."""

import json
import time
from pathlib import Path

import numpy as np

from waymark import _core, program
from waymark.errors import WaymarkError
from waymark.result import (
    Check,
    FlowResult,
    QueueResult,
    Result,
    Trace,
    Truth,
    Verdicts,
)
from waymark.scenario import Scenario, to_core


def run(scenario: Scenario, capture: Path | None = None) -> Result:
    """Run a scenario in virtual time; the same scenario gives the same result, to the octet.

    Args:
        scenario: what to run.
        capture: where to write every link's packets (pcapng); None: nowhere.

    Raises:
        WaymarkError: a P4 program that is missing or wrong, a scenario that the core refuses, a
            capture that cannot be written.
    """
    started, started_cpu = time.monotonic(), time.process_time()
    try:
        programs = {name: program.of_project(name) for name in scenario.programs}
        record = _core.simulate(
            json.dumps(to_core(scenario, {n: p.tables for n, p in programs.items()})),
            programs,
            pcap=None if capture is None else str(capture),
        )
    except (_core.WaymarkCoreError, OSError) as error:
        raise WaymarkError(f"scenario {scenario.name}: {error}") from error
    return _result(scenario, record, time.monotonic() - started, time.process_time() - started_cpu)


def _result(scenario: Scenario, record: "_core.Results", wall_s: float, cpu_s: float) -> Result:
    return Result(
        sample_s=record["sample_s"],
        flows=tuple(
            FlowResult(
                counted_octets=flow.counted_octets,
                delivered=measured["delivered_packets"].astype(np.int64),
                sent=measured["sent_packets"].astype(np.int64),
                goodput=measured["goodput_octets"].astype(np.int64),
                retransmissions=int(measured["resent_packets"].sum()),
                losses=int(measured["lost_packets"].sum()),
                timeouts=measured["timeouts"],
                finished_s=measured["finished_s"],
                verdicts=_verdicts(measured["verdicts"]),
                trace=_trace(measured["trace"]),
            )
            for flow, measured in zip(scenario.flows, record["flows"].values(), strict=True)
        ),
        queues={
            name: QueueResult(
                waiting=line["mean_waiting"], peak=int(line["max_waiting"].max(initial=0))
            )
            for name, line in record["lines"].items()
        },
        packets=record["totals"]["packets"],
        packet_hops=record["totals"]["packet_hops"],
        aqt=_check(record["check_aqt"]),
        wall_s=wall_s,
        cpu_s=cpu_s,
    )


def _trace(record: "_core.Trace | None") -> Trace | None:
    return None if record is None else Trace(**record)


def _verdicts(record: "_core.Verdicts | None") -> Verdicts | None:
    if record is None:
        return None
    return Verdicts(Truth(**record["random"]), Truth(**record["congestion"]))


def _check(record: "_core.CheckRecord | None") -> Check | None:
    if record is None:
        return None
    return Check(record["compared"], record["mismatches"], tuple(record["first"]))
