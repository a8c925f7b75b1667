"""Running scenarios: one in this process, many in a pool of them."""

import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
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
    started = time.monotonic()
    try:
        programs = {name: program.of_project(name) for name in scenario.programs}
        record = _core.simulate(
            json.dumps(to_core(scenario, {n: p.tables for n, p in programs.items()})),
            programs,
            pcap=None if capture is None else str(capture),
        )
    except (_core.WaymarkCoreError, OSError) as error:
        raise WaymarkError(f"scenario {scenario.name}: {error}") from error
    return _result(scenario, record, time.monotonic() - started)


def run_all(
    scenarios: Sequence[Scenario],
    *,
    jobs: int | None = None,
    captures: Sequence[Path | None] | None = None,
    done: Callable[[], None] = lambda: None,
) -> list[Result]:
    """Run scenarios, each in a process of a pool; results keep the scenarios' order.

    Args:
        scenarios: what to run.
        jobs: processes; None: one a core.
        captures: where each run's packets go; None: nowhere.
        done: called after each run.

    Raises:
        WaymarkError: as :func:`run`, from the first scenario that fails.
    """
    tasks = list(zip(scenarios, captures or [None] * len(scenarios), strict=True))
    processes = max(1, min(jobs or os.cpu_count() or 1, len(tasks)))
    results: list[Result] = []
    context = multiprocessing.get_context("spawn")
    with _interrupts_ignored():  # workers inherit it: Ctrl-C is for the parent, which ends them
        pool = context.Pool(processes)
    with pool:
        for result in pool.imap(_run_task, tasks):
            results.append(result)
            done()
    return results


def _run_task(task: tuple[Scenario, Path | None]) -> Result:
    return run(*task)


@contextmanager
def _interrupts_ignored() -> Generator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)


def _result(scenario: Scenario, record: "_core.Results", wall_s: float) -> Result:
    return Result(
        sample_s=record["sample_s"],
        flows=tuple(
            FlowResult(
                counted_octets=flow.counted_octets,
                delivered=measured["delivered_packets"].astype(np.int64),
                sent=measured["sent_packets"].astype(np.int64),
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
