"""Handing out the runs of many experiments: order, and how many results are in memory."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from waymark import Flow, Scenario, Topology
from waymark import pool as pools
from waymark.experiment import Row, Runs, find
from waymark.measure import Plan, hand_out
from waymark.pool import Pool
from waymark.result import Result
from waymark.running import run
from waymark.store import Store

EXPERIMENTS, RUNS = 20, 5
RECENT = 3


class Executor:
    """Ends each run at once, or on end_all(); knows which results are still in memory."""

    def __init__(self, result: Result, *, at_once: bool) -> None:
        self._result = result
        self._at_once = at_once
        self._made: list[weakref.ref[Result]] = []
        self._open: list[Future[Result]] = []
        self.submitted = 0

    def submit(self, _function: Any, /, *_args: Any) -> Future[Result]:
        self.submitted += 1
        self._open.append(future := Future())
        if self._at_once:
            self.end_all()
        return future

    def end_all(self) -> None:
        """End all runs that were submitted."""
        for future in self._open:
            result = replace(self._result)
            self._made.append(weakref.ref(result))
            future.set_result(result)
        self._open.clear()

    @property
    def in_memory(self) -> int:
        """Results that somebody still holds."""
        return sum(one() is not None for one in self._made)


def results_in_memory() -> int:
    """All results, of any test."""
    gc.collect()
    return sum(isinstance(one, Result) for one in gc.get_objects())


@pytest.fixture
def result(small: Topology) -> Result:
    return run(Scenario("one", small, 1.0, flows=(Flow("a", "b", "vegas"),)))


def plans(small: Topology) -> list[Plan]:
    def scenario(seed: int) -> Scenario:
        return Scenario("one", small, 1.0, flows=(Flow("a", "b", "vegas"),), seed=seed)

    return [
        Plan(
            find("chan/fig2.2"),
            "quick",
            [1],
            {"run": [scenario(n * RUNS + i) for i in range(RUNS)]},
        )
        for n in range(EXPERIMENTS)
    ]


def test_results_are_in_memory_until_their_experiment_is_measured(
    small: Topology, result: Result
) -> None:
    executor = Executor(result, at_once=True)
    most = 0
    for handed in hand_out(plans(small), Pool(executor, None)):
        most = max(most, executor.in_memory)
        handed.release()
    assert executor.submitted == EXPERIMENTS * RUNS
    assert most == RUNS


def test_stored_results_are_read_when_their_experiment_is_measured(
    small: Topology, result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = results_in_memory()
    store = Store(tmp_path)
    store.put("any key", result)
    monkeypatch.setattr(pools, "RECENT_OCTETS", RECENT * store.octets("any key"))

    def no_rows(_runs: Runs) -> list[Row]:
        return []

    without_rows = replace(find("chan/fig2.2"), rows=no_rows)

    def measure() -> int:
        executor = Executor(result, at_once=False)
        workers = Pool(executor, store)
        ours = [replace(plan, experiment=without_rows) for plan in plans(small)]
        several = hand_out(ours, workers, ahead=EXPERIMENTS * RUNS)
        first = next(several)
        executor.end_all()
        for handed in (first, *several):
            executor.end_all()
            assert results_in_memory() <= before + RECENT
            runs = handed.measured().runs["run"]
            assert [one.packets for one in runs] == [result.packets] * RUNS
            assert [one.packets for one in runs[1:]] == [result.packets] * (RUNS - 1)
            assert runs[-1] is runs[-1], "read once"
            assert results_in_memory() <= before + RECENT
        return executor.submitted

    assert measure() == EXPERIMENTS * RUNS
    assert measure() == 0, "all are in the store"


def test_so_many_runs_are_handed_out_ahead(small: Topology, result: Result) -> None:
    executor = Executor(result, at_once=False)
    order: list[Plan] = []
    ours = plans(small)
    for handed in hand_out(ours, Pool(executor, None), ahead=12):
        assert executor.submitted <= (len(order) + 1) * RUNS + 12 + RUNS
        executor.end_all()
        order.append(handed.plan)
        handed.release()
    assert [id(plan) for plan in order] == [id(plan) for plan in ours]
