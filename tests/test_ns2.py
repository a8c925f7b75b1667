"""Runs beside ns-2 itself, where the Debian package ns2 is installed."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import ns2_scenarios
import numpy as np
import pytest
from scapy.utils import RawPcapNgReader

from experiments.chan import fig3_12, single_bottleneck
from experiments.dahal import wired
from experiments.kurata import early, shared_link
from experiments.lien import common, fig4_10
from waymark import Flow, Result, Scenario, run
from waymark.networks import dumbbell
from waymark.traffic import Algorithm

pytestmark = pytest.mark.skipif(shutil.which("ns") is None, reason="ns (ns-2) is not on PATH")

NETWORK = Path(__file__).parent / "ns2" / "network.tcl"


def simulate_in_ns2(folder: Path, script: str) -> list[float]:
    """Runs a script after the common network; the numbers that it prints."""
    path = folder / "run.tcl"
    path.write_text(f"{NETWORK.read_text()}\n{script}\n$ns run\n")
    home = os.environ | {"HOME": str(folder)}
    done = subprocess.run(
        ["ns", path], cwd=folder, env=home, capture_output=True, text=True, check=True, timeout=120
    )
    return [float(number) for number in done.stdout.split()]


def departures_s(capture: Path, interface: str) -> Iterator[float]:
    """When packets left on an interface of a capture, in seconds."""
    with RawPcapNgReader(str(capture)) as reader:
        for _, about in reader:
            if about.ifname == interface.encode():
                yield ((about.tshigh << 32) + about.tslow) / about.tsresol


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("load", [0.5, 0.9])
def test_vegas_against_the_same_traffic_delivers_the_same_packets(
    tmp_path: Path, seed: int, load: float
) -> None:
    """ns-2 gets the cross traffic's packets at the times at which they left here."""
    start_s, end_s = 20.0, 100.0
    traffic = single_bottleneck.backward_traffic(load, start_s)
    network = single_bottleneck.topology()
    capture = tmp_path / "vegas.pcapng"
    ours = run(
        single_bottleneck.run("vegas", "vegas", network, traffic, end_s, seed), capture=capture
    )
    sends = "\n".join(f'$ns at {at:.9f} "$udp send 1000"' for at in departures_s(capture, "s2->r2"))
    theirs = simulate_in_ns2(
        tmp_path,
        f"""
        add_pair 1
        add_pair 2
        set sink [add_vegas 1 0]
        set udp [new Agent/UDP]
        set null [new Agent/Null]
        $udp set packetSize_ 1000
        $ns attach-agent $d(2) $udp
        $ns attach-agent $s(2) $null
        $ns connect $udp $null
        {sends}
        $ns at {start_s} {{puts [$sink set bytes_]}}
        $ns at {end_s} {{puts [$sink set bytes_]; exit 0}}
        """,
    )
    alone, whole = (octets / 1000 for octets in theirs)
    delivered = ours.flows[0].delivered
    assert delivered.sum() == pytest.approx(whole, abs=2)
    assert delivered[: int(start_s)].sum() == pytest.approx(alone, abs=2)


def test_vegas_flows_that_join_fill_the_same_queue(tmp_path: Path) -> None:
    """Figure 3.12's run has no chance in it, but packets of several flows meet at the bottleneck at
    one instant, and rounding decides in ns-2 which is first: after the seventh join that is 2 %."""
    scenario = fig3_12.scenarios("full", 1)["vegas"]
    joins = [flow.start_s for flow in scenario.flows]
    ours = run(scenario)
    trace = tmp_path / "queue.tr"
    simulate_in_ns2(
        tmp_path,
        "\n".join(
            [f"add_pair {i}\nadd_vegas {i} {start_s}" for i, start_s in enumerate(joins)]
            + [f"set trace [open {trace} w]", "$ns trace-queue $r1 $r2 $trace"]
            + [f"$ns at {scenario.end_s} {{close $trace; exit 0}}"]
        ),
    )
    for join in joins:
        until = join + fig3_12.JOIN_EVERY_S
        assert ours.mean_waiting(fig3_12.QUEUE, join, until) == pytest.approx(
            mean_waiting(trace, join, until), rel=0.04
        )


def mean_waiting(trace: Path, from_s: float, to_s: float) -> float:
    """Mean packets waiting between two times, from the events of a traced queue."""
    rows = [line.split(maxsplit=2)[:2] for line in trace.read_text().splitlines()]
    events = [(float(at), 1 if kind == "+" else -1) for kind, at in rows if kind in "+-d"]
    times, steps = np.array([(0.0, 0), *events, (to_s, 0)]).T
    area = np.concatenate([[0.0], np.cumsum(np.cumsum(steps)[:-1] * np.diff(times))])
    return np.diff(np.interp([from_s, to_s], times, area)).item() / (to_s - from_s)


@pytest.mark.parametrize("algorithm", ["tahoe", "reno", "newreno", "sack", "vegas"])
@pytest.mark.parametrize("buffer", [3, 5, 15])
def test_a_lone_flow_of_the_stock_profile_is_the_same(algorithm: Algorithm, buffer: int) -> None:
    """A SYN, later fast retransmits that are suppressed, windows halved with their fraction."""
    profile = replace(common.PROFILES["reno"], packet_octets=1000 if algorithm == "vegas" else 1040)
    network = dumbbell(1, fig4_10.MIDDLE, fig4_10.ACCESS, queue_packets=buffer)
    flow = Flow("s1", "d1", algorithm, profile, start_s=0.0123457)
    scenario = Scenario("alone", network, 30.0, flows=(flow,))
    ours, theirs = run(scenario), ns2_scenarios.run(scenario)
    # Where what arrives and what leaves do so at one instant, ns-2's clock decides by its last bit.
    assert counts(ours) == pytest.approx(counts(theirs), abs=2, rel=0.01)


def counts(result: Result) -> list[int]:
    """What became of all flows' packets."""
    return [
        number
        for flow in result.flows
        for number in (int(flow.sent.sum()), flow.retransmissions, flow.timeouts)
    ]


def test_reno_and_vegas_share_a_buffer_as_in_ns2() -> None:
    """Lien and Chung's figure 4.10 with more than a few places in the queue: hardly a tie in it."""
    for buffer in (10, 50):
        scenario = fig4_10.scenarios("full", 2)[f"Reno with Vegas, B = {buffer}"]
        ours, theirs = run(scenario), ns2_scenarios.run(scenario)
        assert counts(ours) == pytest.approx(counts(theirs), abs=3)


@pytest.mark.parametrize("algorithm", ["newreno", "sack"])
def test_flows_lose_as_much_as_in_ns2(algorithm: Algorithm) -> None:
    """Dahal's 25 flows through a queue of 50; without ns-2.35's fixes NewReno loses 18 %."""
    scenario = replace(wired.run("25", wired.Control(algorithm), 25, 2), end_s=50.0)
    ours, theirs = run(scenario), ns2_scenarios.run(scenario)
    assert wired.loss_percent(ours) == pytest.approx(wired.loss_percent(theirs), rel=0.07)


def test_red_drops_as_much_as_in_ns2() -> None:
    """Kurata's figure 4: a draw for each packet by itself would drop half as much again."""
    scenario = shared_link.run("red", shared_link.CASES[0], 100, 1, early.settings(100, 1 / 30))
    scenario = replace(scenario, end_s=100.0)
    ours, theirs = run(scenario), ns2_scenarios.run(scenario)
    dropped = [sum(flow.losses for flow in result.flows) for result in (ours, theirs)]
    assert dropped[0] == pytest.approx(dropped[1], rel=0.07)
