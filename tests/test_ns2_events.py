"""The ns2 profile compared with ns-2: random runs, every event at the bottleneck."""

import json
import os
import shutil
from pathlib import Path

import ns2_runs
import pytest

from waymark import _core

pytestmark = pytest.mark.skipif(shutil.which("ns") is None, reason="ns (ns-2) is not on PATH")

RUNS = int(os.environ.get("WAYMARK_NS2_RUNS", "25"))
"""Runs of each variant."""


@pytest.mark.parametrize("variant", ns2_runs.AGENTS)
def test_random_runs_have_the_same_events(tmp_path: Path, variant: str) -> None:
    """Packet numbers equal, times within 20 us."""
    different: list[str] = []
    for seed in range(RUNS):
        description = ns2_runs.draw(variant, seed)
        theirs = events_of_ns2(description, tmp_path)
        assert len(theirs) > 0
        ours = ns2_runs.rows_of_replay(_core.replay(json.dumps(description)))
        difference = ns2_runs.first_difference(description, theirs, ours)
        if difference:
            different.append(f"seed {seed}: {difference[1]}")
    assert not different, "\n".join(different)


def events_of_ns2(description: ns2_runs.Description, folder: Path) -> list[ns2_runs.Row]:
    """What ns-2 makes of it."""
    trace = folder / "run.tr"
    ns2_runs.simulate(ns2_runs.script(description, trace), folder)
    return ns2_runs.rows_of_ns2(trace)
