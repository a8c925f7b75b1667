"""What the tests share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from waymark import Host, Switch, Topology, duplex
from waymark.cli import main

ROOT = Path(__file__).parents[1]

pytest_plugins = ["kernel_lock", "p4runtime_server"]

# A shell's background job ignores SIGINT, and so would what the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Finished:
    """What a command left behind."""

    code: int
    out: str
    err: str


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--renew-goldens``; read the diff afterwards."""
    parser.addoption("--renew-goldens", action="store_true", help="write golden files anew")


INTERFACES = frozenset(
    f"test_{name}"
    for name in [
        "accurate_ecn",
        "controller_tour",
        "generator",
        "kernel_controls",
        "kernel_live",
        "kernel_lock",
        "kernel_network",
        "kernel_options",
        "kernel_replay",
        "lab_network",
        "live",
        "names",
        "network",
        "switch",
        "switch_gso",
        "switch_senders",
        "traffic",
    ]
)
"""Modules whose tests share the machine's interfaces and ports, or measure rates and times."""

ALONE = ("test_faults", "test_ns2", "test_threads")
"""What the names of modules begin with whose tests are long and share nothing."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests on interfaces; with ``--numprocesses``, have one process for a group of tests."""
    for item in items:
        module = item.path.stem
        if module.startswith(ALONE):
            continue
        group = module
        if module in INTERFACES:
            group = "interfaces"
            item.add_marker(pytest.mark.interfaces)
        if "quick_run" in getattr(item, "fixturenames", ()):
            group = "quick_run"  # takes minutes, and is made once per process
        item.add_marker(pytest.mark.xdist_group(group))


Cli = Callable[..., Finished]

Golden = Callable[[Path, str], str]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """What a golden file holds, once ``--renew-goldens`` has written there what was made now."""

    def read(path: Path, made: str) -> str:
        if request.config.getoption("--renew-goldens"):
            path.write_text(made, encoding="utf-8")
        return path.read_text(encoding="utf-8")

    return read


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that ``waymark run --all --scale quick`` writes."""
    folder = tmp_path_factory.mktemp("quick")
    command = [sys.executable, "-m", "waymark", "run", "--all", "--scale", "quick"]
    home = os.environ | {"WAYMARK_HOME": str(ROOT)}
    subprocess.run([*command, "--out", folder], cwd=ROOT, env=home, check=True)
    return folder


@pytest.fixture(autouse=True)
def _in_this_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAYMARK_HOME", str(ROOT))


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs ``waymark`` with arguments, in this process."""

    def run(*arguments: object) -> Finished:
        monkeypatch.setattr(sys, "argv", ["waymark", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        shown = capsys.readouterr()
        return Finished(code, shown.out, shown.err)

    return run


@pytest.fixture
def small() -> Topology:
    """Two hosts on two switches: a - r1 - r2 - b."""
    return Topology(
        hosts=(Host("a"), Host("b")),
        switches=(Switch("r1"), Switch("r2")),
        links=(
            *duplex("a", "r1", 10e6, 0.001),
            *duplex("r1", "r2", 1.6e6, 0.02, queue_packets=10),
            *duplex("r2", "b", 10e6, 0.001),
        ),
    )
