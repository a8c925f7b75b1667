"""The ns2 profile beside ns-2 itself: random runs, every event at the bottleneck."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import ns2_runs
import pytest

from waymark import _core

pytestmark = pytest.mark.skipif(shutil.which("ns") is None, reason="ns (ns-2) is not on PATH")

RUNS = int(os.environ.get("WAYMARK_NS2_RUNS", "25"))
"""Runs of each variant."""


@pytest.mark.parametrize("variant", ns2_runs.AGENTS)
def test_random_runs_have_the_same_events(tmp_path: Path, variant: str) -> None:
    """Packet numbers equal, times within 20 us, in every run without Vegas, and nearly all with it.

    A packet that waits a round trip for a resend has an RTT of exactly twice the base; Vegas' Diff
    is then a whole number and a half, and ns-2 rounds it by the last bit of its clock.
    """
    different: list[str] = []
    by_rounding: list[str] = []
    for seed in range(RUNS):
        description = ns2_runs.draw(variant, seed)
        script, trace = tmp_path / "run.tcl", tmp_path / "run.tr"
        script.write_text(ns2_runs.script(description, trace))
        home = os.environ | {"HOME": str(tmp_path)}
        subprocess.run(["ns", script], cwd=tmp_path, env=home, check=True, timeout=120)
        theirs = ns2_runs.rows_of_ns2(trace)
        ours = ns2_runs.rows_of_replay(_core.replay(json.dumps(description)))
        assert len(theirs) > 0
        difference = ns2_runs.first_difference(description, theirs, ours)
        if difference:
            vegas = any(flow["control"]["name"] == "vegas" for flow in description["flows"])
            (by_rounding if vegas else different).append(f"seed {seed}: {difference}")
    assert not different, "\n".join(different)
    assert len(by_rounding) <= RUNS / 6, "\n".join(by_rounding)
