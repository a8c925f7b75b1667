"""Dahal 2007, figures 4.14 to 4.16: the threshold found by probing, and the static one."""

from collections.abc import Mapping, Sequence

from experiments.dahal import sweep
from experiments.dahal import wired as net
from waymark import Expectation, Scale, Scenario, plots

COUNTS: Mapping[Scale, Sequence[float]] = {
    "quick": (5, 25, 50),
    "full": (5, 10, 15, 20, 25, 30, 35, 40, 45, 50),
}
CONTROLS = {"static": net.Control("rbcc", 2.0), "dynamic": net.Control("rbcc")}


def _run(name: str, line: str, count: float, seed: int) -> Scenario:
    return net.run(name, CONTROLS[line], int(count), seed)


EXPERIMENT = sweep.experiment(
    figures=("4.14", "4.15", "4.16"),
    section="sections 4.5.8.1 to 4.5.8.3",
    claim="A threshold found by probing performs as well as the static one, except for loss at "
    "high load",
    x="n",
    x_title="number of flows",
    values=COUNTS,
    lines={"static": plots.COLOURS["rbcc"], "dynamic": plots.COLOURS["vegas"]},
    run=_run,
    parameters={"F": 2.0},
    expectations=(
        Expectation(
            "Losses are similar up to a reasonably high load",
            "within 1 percentage point up to 25 flows",
            lambda row: all(
                abs(loss - sweep.points(row, "dynamic", "loss")[n]) <= 1
                for n, loss in sweep.points(row, "static", "loss").items()
                if n <= 25
            ),
        ),
        Expectation(
            "There is no visible difference in throughput: both are near 100 %",
            "98 % or more everywhere",
            lambda row: all(
                rate >= 98
                for line in CONTROLS
                for rate in sweep.points(row, line, "throughput").values()
            ),
        ),
        Expectation(
            "Only under very high load the dynamic threshold loses more",
            "at 50 flows",
            lambda row: (
                sweep.points(row, "dynamic", "loss")[50] > sweep.points(row, "static", "loss")[50]
            ),
        ),
        Expectation(
            "In fairness both do equally well most of the time",
            "within .1 at more than half of the loads",
            lambda row: (
                sum(
                    abs(index - sweep.points(row, "dynamic", "fairness")[n]) <= 0.1
                    for n, index in sweep.points(row, "static", "fairness").items()
                )
                > len(sweep.points(row, "static", "fairness")) / 2
            ),
        ),
        Expectation(
            "At low load the dynamic threshold is somewhat less fair",
            "at 5 flows",
            lambda row: (
                sweep.points(row, "dynamic", "fairness")[5]
                < sweep.points(row, "static", "fairness")[5]
            ),
        ),
    ),
    notes="How evenly the dynamic threshold shares depends on the RTT that it begins with (4.4, "
    "step 1: 10 % above the minimum RTT at hand, once the connection is established). The RTT of "
    "the SYN is nearly the same for all flows, and 25 and 50 flows share evenly, as with the "
    "static threshold. Of 5 flows, the one that begins last can get most of the link (Jain's index "
    "from .40 to .94 over the seeds, mean .63): its probe ends highest, and it keeps the queue so "
    "long that all others see an RTT above their thresholds. This lasts, as heuristic IV gives a "
    "lean flow 5 %, 2.5 %, 1.7 % and so on, each 30 ACKs later.",
)
