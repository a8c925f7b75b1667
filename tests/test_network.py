"""``waymark up``, ``exec``, ``down``: topologies on interfaces, as their user runs them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT

from controller import config as controller_config
from controller.entries import entries_for
from topologies import config, state
from topologies.plan import plan
from waymark import ConstantDrop, Red, Topology, WaymarkError, trace
from waymark.addressing import derive
from waymark.dual_pi2 import DualPi2
from waymark.entries import entries_for as entries_of_a_topology
from waymark.program import of_project
from waymark.trim import Trim

NAME = f"t{os.getpid()}"

TWO_ROUTERS = """\
hosts: {a: {}, b: {}}
switches: {r1: {}, r2: {}}
links:
  - {ends: [a, r1], rate: 100 Mb/s, delay: 1 ms}
  - {ends: [r1, r2], rate: 100 Mb/s, delay: 10 ms, queue: 100}
  - {ends: [r2, b], rate: 100 Mb/s, delay: 1 ms}
"""

TUTORIAL = ROOT / "tests" / "topology_files" / "tutorial.json"


def waymark(*arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "waymark", *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        cwd=ROOT,
    )


def leftovers() -> list[str]:
    """What a network of this test left on the machine."""
    namespaces = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True).stdout
    processes = subprocess.run(
        ["pgrep", "-f", f"/run/waymark/{NAME}/"], capture_output=True, text=True
    ).stdout
    found = [line for line in namespaces.splitlines() if NAME in line]
    found += [line for line in links.splitlines() if NAME in line or "r1-" in line]
    found += processes.split()
    return found + [str(path) for path in state.FOLDER.glob(NAME)]


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """A topology's file, on a machine that is as it was at the end."""
    if os.geteuid() != 0:
        pytest.skip("namespaces need root")
    missing = [p for p in ("ip", "ethtool", "ping", "pgrep") if shutil.which(p) is None]
    if missing:
        pytest.skip(f"not on PATH: {', '.join(missing)}")
    tried = subprocess.run(["ip", "netns", "add", f"wm-{NAME}-probe"], capture_output=True)
    if tried.returncode:
        pytest.skip(f"no network namespaces here: {tried.stderr.decode().strip()}")
    subprocess.run(["ip", "netns", "del", f"wm-{NAME}-probe"], check=True)
    path = tmp_path / f"{NAME}.yaml"
    path.write_text(TWO_ROUTERS)
    yield path
    if (state.FOLDER / NAME).exists():
        waymark("down", NAME)
    assert leftovers() == []


NEEDED = {"mininet": "mn", "bmv2": "simple_switch_grpc"}
"""What else must be on PATH."""


def rtt_ms(told: str) -> list[float]:
    return [
        float(line.split("time=")[1].split()[0]) for line in told.splitlines() if "time=" in line
    ]


@pytest.mark.parametrize("target", ["embedded", "bmv2"])
@pytest.mark.parametrize("runner", ["netns", "mininet"])
def test_ping_crosses_and_takes_the_links_delays(file: Path, runner: str, target: str) -> None:
    for program in (NEEDED[name] for name in (runner, target) if name in NEEDED):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not on PATH")
    up = waymark("up", str(file), "--runner", runner, "--target", target)
    assert up.returncode == 0, up.stderr
    assert "a, b" in up.stdout
    assert "P4Runtime on 127.0.0.1:9559 to 9560, device ids 1 to 2" in up.stdout
    ping = waymark("exec", "--network", NAME, "a", "ping", "-c", "5", "-i", "0.2", "b")
    times = rtt_ms(ping.stdout)
    assert len(times) == 5, ping.stdout + ping.stderr
    assert 24 <= min(times) < 34, times
    assert "10.0.0.2\tb" not in Path("/etc/hosts").read_text()
    status = waymark("status")
    assert NAME in status.stdout
    assert "DEAD" not in status.stdout.partition(f"{NAME} is up")[2].partition(" is up")[0]
    down = waymark("down", NAME)
    assert down.returncode == 0, down.stderr
    assert leftovers() == []


def test_a_tutorial_runs_on_the_entries_that_it_brings(file: Path) -> None:
    up = waymark("up", str(TUTORIAL), "--name", NAME, "--p4", "v1model/plain.p4")
    assert up.returncode == 0, up.stderr
    ping = waymark("exec", "--network", NAME, "h1", "ping", "-c", "3", "-i", "0.2", "10.0.2.2")
    assert len(rtt_ms(ping.stdout)) == 3, ping.stdout + ping.stderr
    assert min(rtt_ms(ping.stdout)) >= 20
    assert file.exists()


def test_our_transports_cross_and_read_the_marks(file: Path, tmp_path: Path) -> None:
    assert waymark("up", str(file), "--bare").returncode == 0
    receiver = subprocess.Popen(
        [sys.executable, "-m", "waymark", "host", "recv", "--at", "b", "--network", NAME],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == "listening on port 5001\n"
        table = tmp_path / "live.parquet"
        there = ("--at", "a", "--network", NAME, "--trace", str(table))
        sent = waymark(
            "host", "send", "b:5001", "--control", "rovegas", "--octets", "3000000", *there
        )
        assert sent.returncode == 0, sent.stderr
        assert re.search(r"AQT +[0-9.]+ there +[0-9.]+ back", sent.stdout), sent.stdout
        received = receiver.communicate(timeout=30)[0]
        assert received.splitlines()[-1].endswith(" 3000000 octets")
        unknown = waymark("host", "send", "c", *there)
        assert unknown.returncode == 2
        assert "has no host 'c' (hosts: a, b)" in unknown.stderr
        assert len(trace.read(table)) > 1000
    finally:
        receiver.kill()


def test_up_that_fails_leaves_nothing(file: Path) -> None:
    wrong = file.with_name("wrong.p4")
    wrong.write_text("control C() { apply { nonsense; } }")
    failed = waymark("up", str(file), "--p4", str(wrong))
    assert failed.returncode != 0
    assert "wrong.p4:1" in failed.stderr
    assert leftovers() == []


def test_a_program_that_is_not_there_is_reported(file: Path) -> None:
    failed = waymark("up", str(file), "--p4", "v1model/no.p4")
    assert failed.returncode == 2
    assert failed.stderr.startswith("error: switch r1: no program v1model/no.p4: ")
    assert leftovers() == []


def test_what_a_network_cannot_do_is_reported(file: Path) -> None:
    assert waymark("up", str(file)).returncode == 0
    unknown = waymark("exec", "--network", NAME, "c", "true")
    assert unknown.returncode == 2
    assert "no node 'c' (nodes: a, b, r1, r2)" in unknown.stderr
    told = waymark("exec", "--network", NAME, "a", "sh", "-c", 'echo "$@"', "sh", "--help", "-x")
    assert told.stdout == "--help -x\n", "the command's own options"
    kernels = waymark("host", "recv", "--at", "b", "--network", NAME)
    assert kernels.returncode == 2
    assert "waymark up --bare" in kernels.stderr


def test_nothing_is_up_is_reported() -> None:
    if os.geteuid() == 0 and state.names():
        pytest.skip("a network is up on this machine")
    assert "no network" in waymark("down", "nothing").stderr


def test_links_become_cables_and_wires() -> None:
    wanted = plan(Topology.load(ROOT / "topologies" / "bottleneck.yaml"))
    assert ("s1", "s1w") in wanted.cables
    assert ("r1-2", "r1-2w") in wanted.cables
    lines = dict(wanted.wires)
    assert lines["s1w", "r1-1w"] == (
        (10_000_000, 50, 0.001, 0.0),
        (10_000_000, None, 0.001, 0.0),
    )
    assert lines["r1-2w", "r2-1w"] == ((1_600_000, None, 0.02, 0.0),) * 2


@pytest.mark.parametrize(
    "main", ["plain", "ecn", "l4s", "trim", "csig", "tcp_int", "int", "red", "fabric", "waymark"]
)
def test_a_program_gets_the_entries_that_it_has_tables_for(main: str, tmp_path: Path) -> None:
    """The controller's configuration means what the lab writes, with every program."""
    network = Topology.load(ROOT / "topologies" / "bottleneck.yaml")
    network = network.with_program(f"v1model/{main}.p4")
    if main in ("ecn", "trim"):
        network = network.with_link("r1", "r2", ecn_threshold=5)
    if main == "trim":
        network = network.with_link("r1", "r2", trim=Trim(80, 50))
    if main == "l4s":
        network = network.with_link("r1", "r2", dual_pi2=DualPi2(target_s=0.02), weights=(1, 9))
    if main == "red":
        network = network.with_link("r1", "r2", red=Red(5, 15, 0.1, w=7))
    written = tmp_path / "controller.yaml"
    config.write(plan(network), Path("bottleneck.yaml"), written, None)
    tables = of_project(f"v1model/{main}.p4").tables
    known = {name.split(".")[-1] for name in tables}
    ours = entries_for(controller_config.load(written).switches["r1"], known)
    lab = [
        # Interfaces take packets of 1500 octets, links in virtual time longer ones as well.
        replace(entry, params={**entry.params, "mtu": 1500}) if entry.table == "int_port" else entry
        for entry in entries_of_a_topology(network, derive(network), network.switch("r1"), tables)
    ]
    assert sorted(map(repr, ours)) == sorted(map(repr, lab))


def test_constant_drops_are_of_virtual_time(tmp_path: Path) -> None:
    network = Topology.load(ROOT / "topologies" / "bottleneck.yaml")
    network = network.with_link("r1", "r2", red=ConstantDrop(0.1))
    with pytest.raises(WaymarkError, match="r1->r2: drop: packets are dropped with a constant"):
        config.write(plan(network), Path("bottleneck.yaml"), tmp_path / "controller.yaml", None)


def test_a_name_too_long_for_an_interface_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text(TWO_ROUTERS.replace("r1", "a_very_long_router"))
    with pytest.raises(WaymarkError, match="at most 15 octets"):
        plan(Topology.load(file))
