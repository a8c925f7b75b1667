"""The experiments' baselines beside ns-2 itself, where the Debian package ns2 is installed."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import ns2_scenario
import pytest
from scapy.utils import RawPcapNgReader

from experiments.chan import enhanced, fig3_12, heterogeneous, parking_lot, single_bottleneck
from waymark import STOCK, Scenario, run
from waymark.experiment import find
from waymark.result import Result

pytestmark = pytest.mark.skipif(shutil.which("ns") is None, reason="ns (ns-2) is not on PATH")

WITHOUT_CHANCE = {
    "chan/fig3.4": 0.001,
    "chan/fig3.14": 0.02,
    "chan/fig3.15": 0.001,
    "chan/fig5.2": 0.01,
    "srijith/tab1": 0.001,
    "srijith/tab2": 0.001,
    "srijith/tab3": 0.05,
    "srijith/tab4": 0.001,
    "srijith/tab5": 0.001,
    "srijith/tab6": 0.002,
    "srijith/tab7": 0.002,
    "srijith/tab8": 0.002,
}
"""Experiments in which nothing is random, and how far a row may be off. It may be where packets of
several flows meet at one instant: rounding decides in ns-2 which is first."""


def at_quick_scale(experiment_id: str) -> dict[str, Scenario]:
    """The runs of an experiment that ns-2 can make too, of the first seed."""
    runs = find(experiment_id).scenarios("quick", 1)
    return {name: scenario for name, scenario in runs.items() if ns2_scenario.is_baseline(scenario)}


@pytest.mark.parametrize("experiment_id", WITHOUT_CHANCE)
def test_all_rows_of_baselines_are_as_in_ns2(tmp_path: Path, experiment_id: str) -> None:
    experiment = find(experiment_id)
    ours = {name: [run(s)] for name, s in experiment.scenarios("quick", 1).items()}
    theirs = {
        name: [ns2_scenario.simulate(s, tmp_path)]
        for name, s in at_quick_scale(experiment_id).items()
    }
    rows = zip(experiment.rows(ours), experiment.rows(ours | theirs), strict=True)
    for row, reference in rows:
        if "longest queue" in row.quantity:
            continue  # ns-2's monitor keeps means
        expected = pytest.approx(reference.waymark, rel=WITHOUT_CHANCE[experiment_id])
        assert row.waymark == expected, row.quantity


@pytest.mark.parametrize("experiment_id", ["chan/fig3.14", "chan/fig3.15"])
def test_flows_in_the_stock_profile_get_the_same_shares(tmp_path: Path, experiment_id: str) -> None:
    for scenario in at_quick_scale(experiment_id).values():
        flows = tuple(replace(flow, profile=STOCK) for flow in scenario.flows)
        stock = replace(scenario, flows=flows)
        ours, theirs = run(stock), ns2_scenario.simulate(stock, tmp_path)
        for our, their in zip(ours.flows, theirs.flows, strict=True):
            assert our.delivered.sum() == pytest.approx(their.delivered.sum(), rel=0.02)


def test_vegas_flows_that_join_fill_the_same_queue(tmp_path: Path) -> None:
    """After the seventh join packets meet at one instant: that is 2 %."""
    scenario = fig3_12.scenarios("full", 1)["vegas"]
    ours, theirs = run(scenario), ns2_scenario.simulate(scenario, tmp_path)
    for join in (flow.start_s for flow in scenario.flows):
        span = fig3_12.QUEUE, join, join + fig3_12.JOIN_EVERY_S
        assert ours.mean_waiting(*span) == pytest.approx(theirs.mean_waiting(*span), rel=0.04)


def departures_s(capture: Path, interface: str) -> Iterator[float]:
    """When packets left on an interface of a capture, in seconds."""
    with RawPcapNgReader(str(capture)) as reader:
        for _, about in reader:
            if about.ifname == interface.encode():
                yield ((about.tshigh << 32) + about.tslow) / about.tsresol


def against_the_same_traffic(scenario: Scenario, folder: Path) -> tuple[Result, Result]:
    """Our result and ns-2's, whose sources send when ours did."""
    capture = folder / "run.pcapng"
    ours = run(scenario, capture=capture)
    uplinks = {link.source: link.name for link in scenario.topology.links}
    sends = {
        place: list(departures_s(capture, uplinks[source.source]))
        for place, source in enumerate(scenario.sources)
    }
    return ours, ns2_scenario.simulate(scenario, folder, sends)


def congested_way_back(load: float, seed: int) -> Scenario:
    """Chan 2004, figures 3.6 and 3.7."""
    traffic = single_bottleneck.backward_traffic(load, 20.0)
    network = single_bottleneck.topology()
    return single_bottleneck.run("vegas", "vegas", network, traffic, 100.0, seed)


def with_the_defect(scenario: Scenario) -> Scenario:
    """With ns-2's defect of Vegas, which shows only after timeouts."""
    flows = (replace(f, profile=replace(f.profile, phantom_rtt=True)) for f in scenario.flows)
    return replace(scenario, flows=tuple(flows))


WITH_CHANCE = {
    "fig3.7, load .5": congested_way_back(0.5, 1),
    "fig3.6": congested_way_back(0.9, 2),
    "fig3.7, load 1": congested_way_back(1.0, 3),
    "fig3.10, load 1": parking_lot.run("vegas", "vegas", 1.0, (0.0, 0.0, 0.0), 100.0, 1),
    "fig4.2": enhanced.run("vegas", "vegas", enhanced.traffic(0.9, 20.0), 100.0, 1),
    "fig4.3, load 1": enhanced.run("vegas", "vegas", enhanced.traffic(1.0), 100.0, 2),
}


@pytest.mark.parametrize("figure", WITH_CHANCE)
def test_vegas_against_the_same_traffic_delivers_the_same_packets(
    tmp_path: Path, figure: str
) -> None:
    ours, theirs = against_the_same_traffic(with_the_defect(WITH_CHANCE[figure]), tmp_path)
    our, their = ours.flows[0].delivered, theirs.flows[0].delivered
    # A timeout moves all that follows it.
    off = 0.02 * their.sum() if theirs.flows[0].timeouts else 2
    assert our.sum() == pytest.approx(their.sum(), abs=off)
    assert our[:20].sum() == pytest.approx(their[:20].sum(), abs=2)


@pytest.mark.parametrize("name", ["Reno", "Vegas with ns-2's defect"])
@pytest.mark.parametrize("load", [0.3, 0.7])
def test_losses_to_cross_traffic_cost_as_much(tmp_path: Path, name: str, load: float) -> None:
    """Chapter 6 without random loss; of 200 s, each of the timeouts takes one or more."""
    variant = next(variant for variant in heterogeneous.VARIANTS if variant.name == name)
    scenario = heterogeneous.run(name, variant, load, 0.0, 200.0, seed=1)
    ours, theirs = against_the_same_traffic(scenario, tmp_path)
    assert ours.flows[0].goodput.sum() == pytest.approx(theirs.flows[0].goodput.sum(), rel=0.1)
