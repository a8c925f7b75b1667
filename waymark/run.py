"""Running scenarios: one in this process, many in a pool of them."""

import json
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from waymark import _core, program, sctp, trace
from waymark.errors import WaymarkError
from waymark.result import Check, FlowResult, QueueResult, Result, Truth, Verdicts
from waymark.scenario import Scenario, custom_controls, to_core
from waymark.traffic import Flow


def run(scenario: Scenario, capture: Path | None = None) -> Result:
    """Run a scenario in virtual time; the same scenario gives the same result, to the octet.

    Args:
        scenario: what to run.
        capture: where to write every link's packets (pcapng); None: nowhere.

    Raises:
        WaymarkError: a P4 program that is missing or wrong, a scenario that the core refuses, a
            capture that cannot be written, a congestion control in Python that fails: the message
            ends with its traceback.
    """
    started = time.monotonic()
    try:
        programs = {name: program.of_project(name) for name in scenario.programs}
        record = _core.simulate(
            json.dumps(to_core(scenario, {n: p.tables for n, p in programs.items()})),
            programs,
            controls=custom_controls(scenario),
            pcap=None if capture is None else str(capture),
        )
    except _core.ControlError as error:
        raise WaymarkError(f"scenario {scenario.name}: {error}{_why(error)}") from None
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
    tasks = [
        (_sendable(scenario), capture)
        for scenario, capture in zip(scenarios, captures or [None] * len(scenarios), strict=True)
    ]
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


def _why(error: BaseException) -> str:
    """The traceback of what caused it: of a control's own code alone."""
    cause = error.__cause__
    return "" if cause is None else "\n" + "".join(traceback.format_exception(cause)).rstrip()


def _sendable(scenario: Scenario) -> bytes:
    """A scenario for another process; controls in Python go by the names of their modules."""
    try:
        return pickle.dumps(scenario)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise WaymarkError(
            f"scenario {scenario.name} cannot go to another process: {error}; "
            "define its congestion controls at the top of a module"
        ) from error


def _run_task(task: tuple[bytes, Path | None]) -> Result:
    sent, capture = task
    try:
        scenario: Scenario = pickle.loads(sent)
    except (AttributeError, ImportError) as error:
        raise WaymarkError(
            f"a congestion control is not found in another process: {error}; "
            "define it at the top of a module that can be imported"
        ) from error
    return run(scenario, capture)


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
            _flow(scenario, flow, name, measured)
            for flow, (name, measured) in zip(scenario.flows, record["flows"].items(), strict=True)
        ),
        associations=tuple(
            sctp.from_core(association, measured)
            for association, measured in zip(
                scenario.associations, record["associations"].values(), strict=True
            )
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


def _flow(scenario: Scenario, flow: Flow, name: str, measured: "_core.FlowRecord") -> FlowResult:
    about = {
        "scenario": scenario.name,
        "seed": str(scenario.seed),
        "flow": name,
        "algorithm": flow.algorithm_name,
    }
    traced = measured["trace"]
    return FlowResult(
        counted_octets=flow.counted_octets,
        delivered=measured["delivered_packets"].astype(np.int64),
        sent=measured["sent_packets"].astype(np.int64),
        retransmissions=int(measured["resent_packets"].sum()),
        losses=int(measured["lost_packets"].sum()),
        timeouts=measured["timeouts"],
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
