"""The experiments' baselines compared with ns-2, where the Debian package ns2 is installed."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import ns2_scenarios
import pytest
from scapy.utils import RawPcapNgReader

from experiments.chan import (
    enhanced,
    fig3_12,
    heterogeneous,
    parking_lot,
    single_bottleneck,
    tab5_1,
)
from experiments.dahal import paths, wired
from experiments.kurata import early, shared_link
from experiments.lien import common, fig4_6, fig4_10
from waymark import STOCK, Flow, Result, Scenario, run
from waymark.experiment import find
from waymark.networks import dumbbell
from waymark.traffic import Algorithm

pytestmark = pytest.mark.skipif(shutil.which("ns") is None, reason="ns (ns-2) is not on PATH")

WITHOUT_CHANCE = (
    "chan/fig3.4",
    "chan/fig3.14",
    "chan/fig3.15",
    "chan/fig5.2",
    *(f"srijith/tab{number}" for number in range(1, 9)),
)
"""Experiments in which nothing is random."""


def at_quick_scale(experiment_id: str) -> dict[str, Scenario]:
    """The runs of an experiment that ns-2 can make too, of the first seed."""
    runs = find(experiment_id).scenarios("quick", 1)
    return {name: scenario for name, scenario in runs.items() if ns2_scenarios.is_known(scenario)}


def in_ns2(scenario: Scenario, sends: ns2_scenarios.Sends | None = None) -> Result:
    """Its queues are those between switches."""
    switches = {switch.name for switch in scenario.topology.switches}
    links = scenario.topology.links
    watched = {link.name for link in links if {link.source, link.target} <= switches}
    return ns2_scenarios.run(scenario, sends, watched)


@pytest.mark.parametrize("experiment_id", WITHOUT_CHANCE)
def test_all_rows_of_baselines_are_as_in_ns2(experiment_id: str) -> None:
    experiment = find(experiment_id)
    ours = {name: [run(s)] for name, s in experiment.scenarios("quick", 1).items()}
    theirs = {name: [in_ns2(s)] for name, s in at_quick_scale(experiment_id).items()}
    rows = zip(experiment.rows(ours), experiment.rows(ours | theirs), strict=True)
    for row, reference in rows:
        # The longest queue is one packet's doing: 125 for 124.
        off = 0.01 if "longest" in row.quantity else 0.0005
        assert row.waymark == pytest.approx(reference.waymark, rel=off), row.quantity


@pytest.mark.parametrize("experiment_id", ["chan/fig3.14", "chan/fig3.15"])
def test_flows_in_the_stock_profile_get_the_same_shares(experiment_id: str) -> None:
    for scenario in at_quick_scale(experiment_id).values():
        flows = tuple(replace(flow, profile=STOCK) for flow in scenario.flows)
        stock = replace(scenario, flows=flows)
        ours, theirs = run(stock), in_ns2(stock)
        for our, their in zip(ours.flows, theirs.flows, strict=True):
            assert our.delivered.sum() == pytest.approx(their.delivered.sum(), abs=2)


def test_vegas_flows_that_join_fill_the_same_queue() -> None:
    scenario = fig3_12.scenarios("full", 1)["vegas"]
    ours, theirs = run(scenario), in_ns2(scenario)
    for join in (flow.start_s for flow in scenario.flows):
        span = fig3_12.QUEUE, join, join + fig3_12.JOIN_EVERY_S
        assert ours.mean_waiting(*span) == pytest.approx(theirs.mean_waiting(*span), rel=0.001)


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
    return ours, in_ns2(scenario, sends)


def congested_way_back(load: float, seed: int) -> Scenario:
    """Chan 2004, figures 3.6 and 3.7."""
    traffic = single_bottleneck.backward_traffic(load, 20.0)
    network = single_bottleneck.topology()
    return single_bottleneck.run("vegas", "vegas", network, traffic, 100.0, seed)


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
    ours, theirs = against_the_same_traffic(
        ns2_scenarios.with_the_defect(WITH_CHANCE[figure]), tmp_path
    )
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


@pytest.mark.parametrize(("name", "loss"), [("Reno", 0.06), ("Vegas with ns-2's defect", 0.03)])
def test_random_losses_cost_as_much(name: str, loss: float) -> None:
    """Chapter 6 without cross traffic, each with its own random numbers: a run of half an hour
    deviates by 3 %."""
    variant = next(variant for variant in heterogeneous.VARIANTS if variant.name == name)
    runs = [heterogeneous.run(name, variant, 0.0, loss, 1800.0, seed) for seed in range(1, 5)]
    ours = sum(run(one).flows[0].goodput.sum() for one in runs)
    theirs = sum(ns2_scenarios.run(one, watched=()).flows[0].goodput.sum() for one in runs)
    assert ours == pytest.approx(theirs, rel=0.06)


def test_flows_that_overflow_a_queue_at_once_lose_the_same_packets() -> None:
    """Table 5.1: twenty NewReno flows from one instant at 1 Gb/s, packets 8.32 us apart."""
    scenario = tab5_1.scenarios("full", 1)["newreno"]
    first = replace(scenario, end_s=20.0, flows=scenario.flows[: tab5_1.EACH["full"]])
    assert resent(run(first)) == resent(ns2_scenarios.run(first, watched=()))


@pytest.mark.parametrize("algorithm", ["tahoe", "reno", "newreno", "sack", "vegas"])
@pytest.mark.parametrize("buffer", [3, 5, 15])
def test_a_lone_flow_of_the_stock_profile_is_the_same(algorithm: Algorithm, buffer: int) -> None:
    """A SYN, later fast retransmits that are suppressed, windows halved with their fraction."""
    profile = replace(common.PROFILES["reno"], packet_octets=1000 if algorithm == "vegas" else 1040)
    network = dumbbell(1, fig4_10.MIDDLE, fig4_10.ACCESS, queue_packets=buffer)
    flow = Flow("s1", "d1", algorithm, profile, start_s=0.0123457)
    scenario = Scenario("alone", network, 30.0, flows=(flow,))
    ours, theirs = run(scenario), ns2_scenarios.run(scenario)
    assert counts(ours) == pytest.approx(counts(theirs), abs=2)


def counts(result: Result) -> list[int]:
    """The fate of all flows' packets."""
    return [
        number
        for flow in result.flows
        for number in (int(flow.sent.sum()), flow.retransmissions, flow.timeouts)
    ]


def test_reno_and_vegas_share_a_buffer_as_in_ns2() -> None:
    """Lien and Chung's figure 4.10."""
    for buffer in (3, 5, 10, 50):
        scenario = fig4_10.scenarios("full", 2)[f"Reno with Vegas, B = {buffer}"]
        ours, theirs = run(scenario), ns2_scenarios.run(scenario)
        assert counts(ours) == pytest.approx(counts(theirs), abs=3)


def resent(result: Result) -> list[tuple[int, int]]:
    """Each flow's retransmissions and timeouts. Of packets sent ns-2 counts the SYNs too."""
    return [(flow.retransmissions, flow.timeouts) for flow in result.flows]


@pytest.mark.parametrize("algorithm", ["newreno", "sack"])
def test_flows_that_meet_at_one_nanosecond_lose_the_same_packets(algorithm: Algorithm) -> None:
    """Dahal's 25 flows over links that are all alike: which of two that are due at once comes first
    decides who loses, and ns-2's clock decides it by its last bit."""
    scenario = replace(wired.run("25", wired.Control(algorithm), 25, 2), end_s=50.0)
    assert resent(run(scenario)) == resent(ns2_scenarios.run(scenario))


def test_fifty_vegas_flows_lose_as_much() -> None:
    """On a clock of whole nanoseconds they lost a fifth more in every run."""
    scenarios = [wired.run("50", wired.Control("vegas"), 50, seed) for seed in range(1, 6)]
    ours = fmean(wired.loss_percent(run(scenario)) for scenario in scenarios)
    theirs = fmean(wired.loss_percent(ns2_scenarios.run(scenario)) for scenario in scenarios)
    assert ours == pytest.approx(theirs, rel=0.05)


def test_flows_lose_the_same_packets_of_a_small_buffer() -> None:
    """Kurata's figure 3 with 10 packets: nine of ten Vegas flows have a timeout a second."""
    scenario = shared_link.run("10", shared_link.CASES[0], 10, 2)
    scenario = ns2_scenarios.with_the_defect(replace(scenario, end_s=60.0))
    assert resent(run(scenario)) == resent(ns2_scenarios.run(scenario))


@pytest.mark.parametrize("label", ["Vegas, B = 20, load 900 kb/s", "Reno, B = 60, load 300 kb/s"])
def test_four_flows_among_the_same_bursts_lose_the_same_packets(tmp_path: Path, label: str) -> None:
    """Lien and Chung's figure 4.6."""
    scenario = ns2_scenarios.with_the_defect(fig4_6.EXPERIMENT.scenarios("full", 1)[label])
    ours, theirs = against_the_same_traffic(scenario, tmp_path)
    assert resent(ours) == resent(theirs)


def test_red_drops_as_much_as_in_ns2() -> None:
    """Kurata's figure 4: a draw for each packet by itself would drop half as much again."""

    def drops(simulate: Callable[[Scenario], Result]) -> float:
        return fmean(sum(flow.losses for flow in simulate(one).flows) for one in scenarios)

    settings = early.settings(100, 1 / 30)
    runs = [shared_link.run("red", shared_link.CASES[0], 100, seed, settings) for seed in range(8)]
    scenarios = [replace(one, end_s=100.0) for one in runs]
    assert drops(run) == pytest.approx(drops(ns2_scenarios.run), rel=0.07)


def sctp_measures(runs: list[Result]) -> dict[str, float]:
    """Means over runs of Dahal 2007, ch. 6."""

    def crowd(result: Result) -> float:
        return result.mean_waiting("rs2->rd2", paths.SWITCHED_S, paths.END_S)

    measures: dict[str, Callable[[Result], float]] = {
        "loss": paths.loss_percent,
        "throughput": paths.utilisation_percent,
        "fairness": paths.fairness,
        "latency": paths.latency_s,
        "jitter": paths.jitter_s,
        "queue": crowd,
    }
    return {
        name: sum(measure(result) for result in runs) / len(runs)
        for name, measure in measures.items()
    }


def test_associations_crowd_a_path_as_in_ns2() -> None:
    scenarios = [paths.run("crowded", paths.NS2_STD, 5, seed) for seed in (1, 2)]
    ours = sctp_measures([run(one) for one in scenarios])
    theirs = sctp_measures([in_ns2(one) for one in scenarios])
    for name, value in theirs.items():
        assert ours[name] == pytest.approx(value, rel=0.05), name


@pytest.mark.parametrize(("loss", "seeds", "rel"), [(0.01, 3, 0.04), (0.05, 8, 0.12)])
def test_an_association_loses_as_much_to_random_loss(loss: float, seeds: int, rel: float) -> None:
    """Single runs differ by 1 and 7 %."""
    runs = range(1, 1 + seeds)
    scenarios = [paths.run("lossy", paths.NS2_STD, 1, seed, loss=loss) for seed in runs]
    ours = sctp_measures([run(one) for one in scenarios])
    theirs = sctp_measures([in_ns2(one) for one in scenarios])
    assert ours["throughput"] == pytest.approx(theirs["throughput"], rel=rel)
    assert ours["latency"] == pytest.approx(theirs["latency"], rel=0.05)
