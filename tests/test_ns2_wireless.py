"""The shared medium compared with ns-2's ``Mac/Simple``, if the Debian package ns2 is installed."""

import shutil
from dataclasses import replace
from statistics import fmean, stdev

import ns2_wireless
import pytest

from experiments.dahal import wired, wireless
from waymark import run

pytestmark = pytest.mark.skipif(shutil.which("ns") is None, reason="ns (ns-2) is not on PATH")

SEEDS = range(1, 11)


@pytest.mark.parametrize("scheme", ["Vegas", "NewReno", "SACK"])
@pytest.mark.parametrize("exponent", [2.0, 2.2])
def test_loss_and_throughput_over_the_medium_are_ns2s(scheme: str, exponent: float) -> None:
    """Dahal's chapter 5: ten flows to five hosts, the means of ten runs."""
    scenarios = [wireless.run(scheme, scheme, 10, exponent, seed) for seed in SEEDS]
    ours = [run(scenario) for scenario in scenarios]
    distances_m = [wireless.DISTANCE_M] * wireless.PAIRS
    theirs = [ns2_wireless.run(scenario, exponent, distances_m) for scenario in scenarios]
    for measure, off in ((wired.loss_percent, 0.1), (wireless.utilisation_percent, 0.01)):
        our, their = ([measure(result) for result in results] for results in (ours, theirs))
        # In addition to a difference that matters: the random difference of two means of ten.
        chance = 3 * ((stdev(our) ** 2 + stdev(their) ** 2) / len(SEEDS)) ** 0.5
        assert abs(fmean(our) - fmean(their)) <= max(off * fmean(their), chance)


def test_a_medium_that_is_nearly_full_loses_much() -> None:
    """Wired links of 1.3 Mb/s and hosts at 20 m, where nothing fades: a link of 2 Mb/s for each
    host would lose nothing, and carry all. ns-2 loses 14 %, of which this medium has 18."""
    scenario = wireless.run("x", "Vegas", 5, 2.0, 2, distances_m=[20.0] * wireless.PAIRS)
    links = tuple(
        link if link.medium else replace(link, rate_bps=1.3e6) for link in scenario.topology.links
    )
    faster = replace(scenario, topology=replace(scenario.topology, links=links))
    distances_m = [20.0] * wireless.PAIRS
    for result in (run(faster), ns2_wireless.run(faster, 2.0, distances_m)):
        assert wired.loss_percent(result) > 8
        assert wireless.utilisation_percent(result) < 100
