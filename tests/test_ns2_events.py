"""The ns2 profile beside ns-2 itself: random runs, every event at the bottleneck."""

import json
import math
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


SHIFTS_S = (1, 2, 3, 4, 6, 8, 12, 16, 24)
"""Whole ticks of any clock."""


@pytest.mark.parametrize("variant", ns2_runs.AGENTS)
def test_random_runs_have_the_same_events(tmp_path: Path, variant: str) -> None:
    """Packet numbers equal, times within 20 us, up to where ns-2 does not agree with itself.

    A packet that waits a round trip for a resend has an RTT of exactly twice the base; Vegas' Diff
    is then a whole number and a half, and ns-2 rounds it by the last bit of its clock: so that the
    same run, some seconds later, goes on otherwise.
    """
    different: list[str] = []
    for seed in range(RUNS):
        description = ns2_runs.draw(variant, seed)
        theirs = events_of_ns2(description, tmp_path)
        assert len(theirs) > 0
        ours = ns2_runs.rows_of_replay(_core.replay(json.dumps(description)))
        difference = ns2_runs.first_difference(description, theirs, ours)
        if difference and difference[0] < undecided_from_s(description, theirs, tmp_path) - 20e-6:
            different.append(f"seed {seed}: {difference[1]}")
    assert not different, "\n".join(different)


def events_of_ns2(description: ns2_runs.Description, folder: Path) -> list[ns2_runs.Row]:
    """What ns-2 makes of it."""
    script, trace = folder / "run.tcl", folder / "run.tr"
    script.write_text(ns2_runs.script(description, trace))
    home = os.environ | {"HOME": str(folder)}
    subprocess.run(["ns", script], cwd=folder, env=home, check=True, timeout=120)
    return ns2_runs.rows_of_ns2(trace)


def undecided_from_s(
    description: ns2_runs.Description, now: list[ns2_runs.Row], folder: Path
) -> float:
    """When ns-2's run first differs from the same run some seconds later."""
    times_s = [math.inf]
    for shift_s in SHIFTS_S:
        later = events_of_ns2(ns2_runs.shifted(description, shift_s), folder)
        back = [(row[0] - shift_s, *row[1:]) for row in later]
        difference = ns2_runs.first_difference(description, now, back)
        times_s += [difference[0]] if difference else []
    return min(times_s)
