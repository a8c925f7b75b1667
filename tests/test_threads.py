"""Runs on several threads: the results are those of one."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from waymark import CHAN, Cbr, Flow, Host, Switch, Topology, _core, duplex, experiment, program
from waymark.measure import Plan
from waymark.pool import pool
from waymark.running import run
from waymark.scenario import Scenario, to_core

PROJECT = experiment.everything()
# Two threads run the parts of these networks. That takes long where they wait for each other after
# every few events; of the other experiments, one thread runs both parts in turn.
ON_TWO_THREADS = {
    "chan/fig3.6",
    "chan/fig6.4",
    "dahal/tab5.1",
    "lien/fig4.2",
    "lien/fig4.8",
    "today/fig6",
    "today/fig7",
}


def _record(scenario: Scenario, parts: int, threads: int) -> Any:
    programs = {name: program.of_project(name) for name in scenario.programs}
    tables = {name: compiled.tables for name, compiled in programs.items()}
    text = json.dumps(to_core(scenario, tables))
    return _core.simulate(text, programs, parts=parts, threads=threads)


def test_networks_that_two_threads_run_are_experiments() -> None:
    assert {one.id for one in PROJECT} > ON_TWO_THREADS


def _parts(value: Any) -> Mapping[Any, Any]:
    """What a value consists of, if it has parts."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    return dict(enumerate(cast("list[Any]", value))) if isinstance(value, list) else {}


def _assert_same(one: Any, other: Any, place: str) -> None:
    """Two records are alike to the octet, numbers that are none (NaN) included."""
    assert type(one) is type(other), place
    if isinstance(one, np.ndarray):
        assert (one.dtype, one.tobytes()) == (other.dtype, other.tobytes()), place
        return
    mine, others = _parts(one), _parts(other)
    assert mine.keys() == others.keys(), place
    for key in mine.keys() - {"parts", "threads", "threads_limit"}:
        _assert_same(mine[key], others[key], f"{place}.{key}")
    assert mine or repr(one) == repr(other), place


@pytest.mark.parametrize("one", PROJECT, ids=[one.id for one in PROJECT])
def test_an_experiment_has_the_same_records_in_two_parts(one: experiment.Experiment) -> None:
    plan = Plan.of(one, "quick", 1, 1)
    labels = list(plan.scenarios)
    for label in {labels[0], labels[len(labels) // 2], labels[-1]}:
        scenario = plan.scenarios[label][0]
        if any(not isinstance(flow.algorithm, str) for flow in scenario.flows):
            continue
        threads = 2 if one.id in ON_TWO_THREADS else 1
        whole, divided = _record(scenario, 1, 1), _record(scenario, 2, threads)
        assert (divided["parts"] == 2) == (divided["threads_limit"] is None)
        _assert_same(whole, divided, f"{one.id} {label}")


def _scenario(network: Topology) -> Scenario:
    return Scenario("threads", network, end_s=2.0, flows=(Flow("a", "b", "vegas", CHAN),))


def _far() -> Scenario:
    """Two hosts whose switches are so far from each other that a round has many events."""
    network = Topology(
        hosts=(Host("a"), Host("b")),
        switches=(Switch("r1"), Switch("r2")),
        links=(
            *duplex("a", "r1", 100e6, 0.1),
            *duplex("r1", "r2", 100e6, 0.1),
            *duplex("r2", "b", 100e6, 0.1),
        ),
    )
    sources = (Cbr("a", "b", 20e6), Cbr("b", "a", 20e6))
    return Scenario("far", network, end_s=8.0, sources=sources)


def test_a_run_reports_how_many_threads_it_used() -> None:
    scenario = _far()
    assert run(scenario).threads == 1
    result = run(scenario, threads=2)
    assert (result.threads, result.threads_limit) == (2, None)
    many = run(scenario, threads=64)
    assert 2 < many.threads < 64
    assert many.threads_limit is not None
    assert "cannot be divided further" in many.threads_limit


def test_of_many_threads_a_network_has_those_that_pay() -> None:
    near = duplex("a", "r1", 100e6, 1e-6), duplex("r2", "b", 100e6, 1e-6)
    one = _far()
    links = (*near[0], *duplex("r1", "r2", 100e6, 0.1), *near[1])
    scenario = replace(one, topology=replace(one.topology, links=links))
    result = run(scenario, threads=4)
    assert result.threads == 2, "hosts and switches in different parts have rounds of few events"
    assert result.threads_limit is not None
    assert "too few events" in result.threads_limit
    whole = run(scenario)
    assert result.packet_hops == whole.packet_hops
    for source, other in zip(result.sources, whole.sources, strict=True):
        assert source.delivered.tolist() == other.delivered.tolist()


def test_rounds_of_few_events_are_run_by_one_thread(small: Topology) -> None:
    result = run(_scenario(small), threads=2)
    assert result.threads == 1
    assert result.threads_limit is not None
    assert "too few events" in result.threads_limit


def test_a_capture_is_written_by_one_thread(small: Topology, tmp_path: Path) -> None:
    scenario = _scenario(small)
    result = run(scenario, tmp_path / "two.pcapng", threads=2)
    run(scenario, tmp_path / "one.pcapng")
    assert result.threads == 1
    assert result.threads_limit is not None
    assert "capture" in result.threads_limit
    captured = (tmp_path / "two.pcapng").read_bytes()
    assert captured == (tmp_path / "one.pcapng").read_bytes()


def test_a_pool_counts_runs_that_used_fewer_threads(tmp_path: Path) -> None:
    scenario = _far()
    with pool(1, threads=2) as workers:
        workers.submit(scenario).result()
        workers.submit(scenario, tmp_path / "captured.pcapng").result()
    [((threads, limit), runs)] = workers.limits.items()
    assert (threads, runs) == (1, 1)
    assert "capture" in limit
