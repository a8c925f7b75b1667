"""Single runs through the lab API."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from waymark import CHAN, Flow, OnOff, Scenario, Topology, WaymarkError, run

CROSS = OnOff.for_load("b", "a", load=0.9, link_bps=1.6e6, rate_bps=3.2e6, mean_on_s=0.01)


def scenario(network: Topology, algorithm: str = "rovegas", **changes: object) -> Scenario:
    flow = Flow("a", "b", algorithm, CHAN)  # pyright: ignore[reportArgumentType]
    fields = {"end_s": 20, "flows": (flow,), "sources": (CROSS,), "check_aqt": True} | changes
    return Scenario("test", network, **fields)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("program", ["v1model/aqt.p4", "v1model/waymark.p4"])
def test_aqt_is_the_time_that_packets_queued(small: Topology, program: str) -> None:
    result = run(scenario(small.with_program(program)))
    assert result.aqt is not None
    assert result.aqt.compared > 1000
    assert result.aqt.mismatches == 0, result.aqt.first


def test_a_lone_flow_fills_the_bottleneck(small: Topology) -> None:
    result = run(scenario(small, "vegas", sources=(), end_s=30))
    assert result.throughput_bps(0, 10, 30) == pytest.approx(1.6e6, rel=0.01)
    assert result.flows[0].timeouts == 0
    assert 1 <= result.mean_waiting("r1->r2", 10, 30) <= 3


def test_a_queue_never_holds_more_than_its_limit(small: Topology) -> None:
    result = run(scenario(small.with_queues(5), "vegas"))
    assert max(queue.peak for queue in result.queues.values()) == 4


def test_the_same_seed_gives_the_same_run(small: Topology) -> None:
    first, second = (run(scenario(small, end_s=10)) for _ in range(2))
    assert np.array_equal(first.flows[0].delivered, second.flows[0].delivered)
    assert first.packet_hops == second.packet_hops


def test_without_feedback_rovegas_still_runs(small: Topology) -> None:
    result = run(scenario(small.with_program("v1model/plain.p4"), check_aqt=False))
    assert result.throughput_bps(0, 10, 20) > 0


def test_an_average_needs_whole_bins(small: Topology) -> None:
    result = run(scenario(small, end_s=2))
    with pytest.raises(WaymarkError, match="not a whole number of bins"):
        result.throughput_bps(0, 0.5, 2)


def test_a_missing_program_is_told_with_those_there_are(small: Topology) -> None:
    with pytest.raises(WaymarkError, match=r"no P4 program .*waymark\.p4"):
        run(scenario(small.with_program("v1model/none.p4")))


def test_a_capture_is_written(small: Topology, tmp_path: Path) -> None:
    capture = tmp_path / "run.pcapng"
    run(scenario(small, end_s=1), capture)
    assert capture.read_bytes()[:4] == bytes.fromhex("0a0d0d0a")


def test_a_lab_switch_takes_the_entries_of_all_marks(small: Topology) -> None:
    marking = tuple(
        replace(switch, feedback=frozenset({"aqt", "drai", "ci"})) for switch in small.switches
    )
    result = run(scenario(replace(small, switches=marking), end_s=10))
    assert result.aqt is not None
    assert result.aqt.mismatches == 0, result.aqt.first
