"""Scenarios on interfaces whose flows are in Linux's own TCP: ``--hosts kernel``."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from conftest import Cli
from kernel_hosts import needed
from test_live import leftovers

from experiments.chan import fig3_6
from experiments.chan import single_bottleneck as net
from topologies import linux_flows, live
from waymark import Flow, OnOff, Scenario, WaymarkError, run

pytestmark = pytest.mark.usefixtures("kernel_lock")

NAME = f"klive{os.getpid()}"

TRAFFIC_FROM_S = 1.0
MEASURED_FROM_S = 4.0
END_S = 14.0


@pytest.fixture(autouse=True)
def loader() -> None:
    """These need root, BTF and the loader."""
    needed("ethtool", "pgrep")


def short(algorithm: str, **profile: object) -> Scenario:
    """Chan's figure 3.6 in less time."""
    hosts = replace(fig3_6.LIVE_PROFILE, **profile)  # pyright: ignore[reportArgumentType]
    traffic = net.backward_traffic(fig3_6.LOAD, TRAFFIC_FROM_S)
    flow = Flow("s1", "d1", algorithm, hosts)
    return Scenario(algorithm, net.topology(), END_S, flows=(flow,), sources=traffic, seed=1)


def live_kbps(algorithm: str, runner: str = "netns") -> float:
    """Of packets of 1000 octets, while the reverse path is congested."""
    result = live.run(short(algorithm), NAME, runner, "embedded", "kernel")
    assert leftovers(NAME) == []
    (trace,) = result.traces
    assert trace.schema.metadata[b"waymark"].find(b'"algorithm": "' + algorithm.encode()) > 0
    times, acked = (np.asarray(trace.column(name)) for name in ("time_s", "acked"))
    assert 0 < times[0] < 1
    before, after = (acked[times < at][-1] for at in (MEASURED_FROM_S, END_S))
    return float(after - before) * 8 / (END_S - MEASURED_FROM_S)


def simulated_kbps(algorithm: str) -> float:
    """The same in virtual time."""
    result = run(linux_flows.paced(short(algorithm)))
    return result.throughput_bps(0, MEASURED_FROM_S, END_S) / 1e3


def test_rovegas_keeps_its_rate_where_acknowledgements_queue() -> None:
    rates = {algorithm: live_kbps(algorithm) for algorithm in ("vegas", "rovegas")}
    assert rates["rovegas"] > 1.7 * rates["vegas"]
    for algorithm, kbps in rates.items():
        # A short run on a machine that does other work; the figure's own length agrees within 10 %.
        assert kbps == pytest.approx(simulated_kbps(algorithm), rel=0.25)


def test_hosts_in_mininet_run_it_too() -> None:
    needed("mn")
    rate = live_kbps("rovegas", "mininet")
    assert rate == pytest.approx(simulated_kbps("rovegas"), rel=0.25)


def test_waymark_has_the_link_to_itself_where_acknowledgements_queue() -> None:
    assert live_kbps("waymark") == pytest.approx(simulated_kbps("waymark"), rel=0.1)


@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        (short("cubic"), "no BPF program for control cubic; valid: .*rovegas, vegas"),
        (short("vegas", window=64), "its profile has window 64"),
        (short("vegas", delayed_ack_s=0.01), "its profile has delayed_ack_s 0.01; valid: 0, or"),
        (
            replace(short("vegas"), flows=(net.flow("vegas"),)),
            "flow s1->d1 has an ns-2 profile",
        ),
        (
            replace(short("vegas"), sources=(OnOff("s1", "d2", 1e6, 0.1, 0.1),)),
            "host s1 has flows and cross traffic",
        ),
        (
            replace(
                short("vegas"),
                flows=(*short("vegas").flows, *short("rovegas").flows),
            ),
            "host s1 has flows of vegas and rovegas",
        ),
    ],
)
def test_what_linux_cannot_run_is_refused(scenario: Scenario, told: str) -> None:
    with pytest.raises(WaymarkError, match=told):
        live.check(scenario, "kernel")


def test_hosts_of_virtual_time_are_refused(cli: Cli) -> None:
    shown = cli("run", "chan/fig3.6", "--hosts", "kernel")
    assert shown.code == 2
    assert "--hosts needs --runner netns or mininet" in shown.err
