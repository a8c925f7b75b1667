"""Scenarios on interfaces, compared with the same in virtual time."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Cli

from topologies import live, state
from waymark import (
    MODERN,
    Cbr,
    Flow,
    LinkChange,
    OnOff,
    Scenario,
    Topology,
    WaymarkError,
    beside,
    run,
)
from waymark import experiment as experiments
from waymark.measure import on_architecture

NAME = f"live{os.getpid()}"

HOSTS = replace(MODERN, packet_octets=1000, initial_window=2, delayed_ack_s=0.0, pacing=False)

SHORT = Scenario(
    "short",
    Topology.load(ROOT / "topologies" / "bottleneck.yaml"),
    4.0,
    flows=(Flow("s1", "d1", "rovegas", HOSTS, trace=True),),
    sources=(
        OnOff("s2", "d2", 3.2e6, 0.01, 0.02, start_s=1.0),
        OnOff("s2", "d2", 800e3, 0.05, 0.15, "pareto", start_s=1.0),
        Cbr("d2", "s2", 100e3, packet_octets=500, stop_s=2.0),
    ),
    seed=3,
)


def leftovers(name: str) -> list[str]:
    """What a network of this name left on the machine."""
    namespaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    processes = subprocess.run(["pgrep", "-f", f"/run/waymark/{name}/"], capture_output=True)
    found = [line for line in namespaces.splitlines() if f"wm-{name}" in line]
    found += processes.stdout.decode().split()
    return found + [str(path) for path in state.FOLDER.glob(name)]


@pytest.fixture
def root() -> Iterator[None]:
    """Of a machine that is as it was at the end."""
    if os.geteuid() != 0:
        pytest.skip("namespaces need root")
    missing = [p for p in ("ip", "ethtool", "pgrep") if shutil.which(p) is None]
    if missing:
        pytest.skip(f"not on PATH: {', '.join(missing)}")
    tried = subprocess.run(["ip", "netns", "add", f"wm-{NAME}-probe"], capture_output=True)
    if tried.returncode:
        pytest.skip(f"no network namespaces here: {tried.stderr.decode().strip()}")
    subprocess.run(["ip", "netns", "del", f"wm-{NAME}-probe"], check=True)
    yield
    assert leftovers(NAME) == []


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize("architecture", ["v1model", "tna", "t2na"])
def test_interfaces_carry_the_simulator_s_traffic_and_the_marks(architecture: str) -> None:
    short = on_architecture(SHORT, architecture)
    on_interfaces = live.run(short, NAME, "netns", "embedded")
    simulated = run(short)
    sent = [source.packets for source in on_interfaces.sent]
    assert sent == [source.sent.sum() for source in simulated.sources]
    for ours, arrived in zip(on_interfaces.sent, on_interfaces.arrived, strict=True):
        assert 0.9 * ours.packets <= arrived.packets <= ours.packets
        assert arrived.octets * ours.packets == ours.octets * arrived.packets
    # Nothing of it is lost where no queue is full.
    assert on_interfaces.arrived[2].packets == on_interfaces.sent[2].packets
    trace = on_interfaces.traces[0]
    times = np.asarray(trace.column("time_s"))
    # 1.6 Mb/s carry 200 packets per second; a busy machine takes some of them.
    acked = np.asarray(trace.column("acked"))
    assert 0.4 * simulated.flows[0].delivered.sum() < acked[-1] <= 800
    back = np.nan_to_num(np.asarray(trace.column("aqt_backward_s"), dtype=np.float64))
    # A busy machine delays some; most find an empty queue until the traffic begins.
    assert np.median(back[times < 1]) < 0.001
    assert np.count_nonzero(back[times > 1] > 0.0025) > 20
    there = np.nan_to_num(np.asarray(trace.column("aqt_forward_s"), dtype=np.float64))
    assert np.count_nonzero(there) > 20


def test_runs_on_interfaces_have_the_programs_of_the_architecture() -> None:
    seen: list[set[str]] = []

    def run_live(scenario: Scenario) -> live.Live:
        seen.append({switch.program for switch in scenario.topology.switches})
        raise WaymarkError("no run is made")

    (experiment,) = experiments.select(["chan/fig3.6"])
    with pytest.raises(WaymarkError, match="no run is made"):
        beside.measure(experiment, "quick", [1], "netns", "embedded", "waymark", run_live, "tna")
    assert seen == [{"tna/waymark.p4"}]


def test_bmv2_has_no_programs_for_tofino(cli: Cli) -> None:
    refused = cli("run", "chan/fig3.6", "--runner", "netns", "--target", "bmv2", "--arch", "tna")
    assert refused.code == 2
    assert "--target bmv2 runs v1model, not --arch tna" in refused.err


def test_an_interrupt_while_a_host_starts_leaves_no_process_unrecorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(subprocess.Popen[str]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(state, "FOLDER", tmp_path)
    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    network = state.State(NAME, "", "netns", "embedded")
    network.folder.mkdir()
    with pytest.raises(KeyboardInterrupt):
        live.HostProcesses(network).launch("sleep at s1", ["sleep", "60"], ["sleep"])
    (process,) = state.load(NAME).processes
    assert process.is_alive
    state.end([process])


@pytest.mark.usefixtures("root")
def test_a_run_that_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    command = ("run", "chan/fig3.6", "--runner", "netns", "--scale", "quick", "--out", tmp_path)
    child = subprocess.Popen(
        [sys.executable, "-m", "waymark", *map(str, command)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    name = f"chan-fig3.6-{child.pid}"
    try:
        deadline = time.monotonic() + 60
        # The sender's, once all are there.
        while not (state.FOLDER / name / "host4.log").exists():
            assert child.poll() is None, child.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        _, told = child.communicate(timeout=120)
    finally:
        child.kill()
        if (state.FOLDER / name).exists():
            subprocess.run([sys.executable, "-m", "waymark", "down", name], cwd=ROOT)
    assert child.returncode == 130, told
    assert "the network is down" in told
    assert "Traceback" not in told
    assert leftovers(name) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("chan/fig3.4", "--runner", "netns"), "cannot run on interfaces; valid: chan/fig3.6"),
        (("chan/fig3.6", "--target", "bmv2"), "--target needs --runner netns or mininet"),
    ],
)
def test_what_runs_in_virtual_time_only_is_reported(
    cli: Cli, arguments: tuple[str, ...], told: str
) -> None:
    shown = cli("run", *arguments)
    assert shown.code == 2
    assert told in shown.err


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"flows": (Flow("s1", "d1", "vegas"),)},
            "flow s1->d1 has an ns-2 profile",
        ),
        ({"flows": (Flow("s1", "d1", "vegas", HOSTS, settings={"alpha": 2}),)}, "sets settings"),
        ({"changes": (LinkChange(1.0, "r1", "r2", loss=0.1),)}, "changes of links"),
    ],
)
def test_what_hosts_on_interfaces_cannot_do_is_reported(
    changed: dict[str, object], told: str
) -> None:
    scenario = replace(SHORT, **changed)  # pyright: ignore[reportArgumentType]
    with pytest.raises(WaymarkError, match=told):
        live.check(scenario)


def test_cross_traffic_says_what_is_missing(cli: Cli) -> None:
    if os.geteuid() != 0:
        pytest.skip("interfaces need root, and that is told first")
    place = ("--interface", "none", "--address", "10.0.0.1/24")
    shown = cli("host", "cross", "10.0.0.2", *place, "--off", "1 s")
    assert shown.code == 2
    assert "--off and --shape need --on" in shown.err
    shown = cli("host", "cross", "10.0.0.2", *place, "--on", "1 s")
    assert "--on needs --off" in shown.err
    shown = cli("host", "cross", "10.0.0.2", *place)
    assert shown.code == 1
    assert "no interface `none`" in shown.err
