"""The wheel, installed into an empty environment and used from a folder outside the checkout.

``make test-wheel`` builds it and names it in ``$WAYMARK_WHEEL``.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import ROOT

from waymark.cli import EXTRAS

NAMED = os.environ.get("WAYMARK_WHEEL", "")

pytestmark = pytest.mark.skipif(not NAMED, reason="no $WAYMARK_WHEEL; make test-wheel builds one")

WHEEL = Path(NAMED).resolve()


class Installed:
    """An environment with the wheel in it.

    Attributes:
        folder: where commands are run: nothing of the project is above it.
        bin: the environment's programs.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        subprocess.run([sys.executable, "-m", "venv", folder / "env"], check=True)
        self.bin = folder / "env" / "bin"
        ours = ("WAYMARK_HOME", "PYTHONPATH", "VIRTUAL_ENV")
        self.environment = {name: value for name, value in os.environ.items() if name not in ours}

    def install(self, extras: str = "") -> None:
        """Install the wheel, with extras such as ``"[all]"``."""
        command = [self.bin / "python", "-m", "pip", "install", "--quiet", f"{WHEEL}{extras}"]
        subprocess.run(command, check=True)

    def shell(self, script: str, folder: Path) -> subprocess.CompletedProcess[str]:
        """A script's commands in a folder, as in the activated environment; each has to succeed."""
        folder.mkdir(exist_ok=True)
        path = f"{self.bin}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-e"],
            input=script,
            cwd=folder,
            env=self.environment | {"PATH": path, "COLUMNS": "80"},
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        return done

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """``waymark ARGUMENTS``."""
        return subprocess.run(
            [self.bin / "waymark", *map(str, arguments)],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
        )

    @property
    def package(self) -> Path:
        """Where the package is installed."""
        return next((self.bin.parent / "lib").glob("python*/site-packages/waymark"))


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """With what the core needs alone."""
    installed = Installed(tmp_path_factory.mktemp("bare"))
    installed.install()
    return installed


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """With everything."""
    installed = Installed(tmp_path_factory.mktemp("full"))
    installed.install("[all]")
    return installed


def test_it_takes_no_name_but_waymark() -> None:
    names = zipfile.ZipFile(WHEEL).namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"waymark"}
    assert re.search(r"-cp311-abi3-manylinux_\d+_\d+_\w+\.whl$", WHEEL.name)
    for needed in (
        "p4src/v1model/waymark.p4",
        "p4src/p4info/waymark.p4info.txtpb",
        "topologies/bottleneck.yaml",
        "exercises/1_forward/solution/forwarding.p4",
        "experiments/chan/fig3_6.py",
        "controller/examples/two_ports.yaml",
        "packaging/systemd/waymark-controller.service",
        "packaging/grafana/waymark.json",
        "hosts/layers/aqt.py",
        "templates/report.html.j2",
        "web/index.html",
        "web/lab.wasm",
        "web/data/presets.json",
    ):
        assert f"waymark/{needed}" in names


def test_the_core_compiles_and_runs_packets(bare: Installed) -> None:
    assert re.fullmatch(r"waymark \d+\.\d+\.\d+\n", bare.run("--version").stdout)
    p4src = bare.package / "p4src"
    compiled = bare.run("compile", p4src / "v1model" / "waymark.p4")
    assert compiled.returncode == 0, compiled.stderr
    script = p4src / "tests" / "waymark-aqt_options.stf"
    passed = bare.run("stf", p4src / "v1model" / "waymark.p4", script)
    assert passed.returncode == 0, passed.stderr


def test_the_core_simulates(bare: Installed) -> None:
    program = """
from waymark import Flow, Host, Scenario, Switch, Topology, duplex, run
links = (*duplex("a", "r", 10e6, 0.001), *duplex("r", "b", 1.6e6, 0.02))
network = Topology(hosts=(Host("a"), Host("b")), switches=(Switch("r"),), links=links)
result = run(Scenario("first", network, end_s=5, flows=(Flow("a", "b", "rovegas"),)))
print(result.throughput_bps(0, 2, 5))
"""
    shown = subprocess.run(
        [bare.bin / "python", "-c", program],
        cwd=bare.folder, env=bare.environment, capture_output=True, text=True,
    )  # fmt: skip
    assert shown.returncode == 0, shown.stderr
    assert float(shown.stdout) > 1.5e6


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (("run", "chan/fig3.6", "--scale", "quick"), "plot"),
        (("controller", "plan", "{package}/controller/examples/two_ports.yaml"), "controller"),
    ],
)
def test_a_package_that_is_missing_is_named_with_its_extra(
    bare: Installed, arguments: tuple[str, ...], extra: str
) -> None:
    given = [each.format(package=bare.package) for each in arguments]
    shown = bare.run(*given)
    assert shown.returncode == 2
    assert f"is not installed: pip install 'waymark[{extra}]'" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_an_experiment_runs(full: Installed) -> None:
    shown = full.run("run", "chan/fig3.6", "--scale", "quick")
    assert shown.returncode == 0, shown.stderr
    left = {path.name for path in (full.folder / "results" / "chan" / "fig3.6").iterdir()}
    assert left == {"table.csv", "plot.png", "plot.svg", "run.json"}
    record = json.loads((full.folder / "results/chan/fig3.6/run.json").read_text())
    assert record["rows"]
    assert "chan/fig3.6" in full.run("list", "chan/*").stdout


def test_controls_are_compared(full: Installed) -> None:
    topology = full.package / "topologies" / "bottleneck.yaml"
    arguments = ("vegas", "rovegas", "--topology", topology, "--seeds", "1")
    shown = full.run("compare", *arguments)
    assert shown.returncode == 0, shown.stderr
    assert "rovegas" in shown.stdout.casefold()


@contextmanager
def served(installed: Installed) -> Generator[str]:
    """The address of an embedded switch without interfaces."""
    switch = subprocess.Popen(
        [installed.bin / "waymark", "switch", "--grpc-server-addr", "127.0.0.1:0"],
        cwd=installed.folder, env=installed.environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert switch.stdout is not None
        line = switch.stdout.readline()
        found = re.search(r"127\.0\.0\.1:\d+", line)
        assert found, line
        yield found[0]
    finally:
        switch.terminate()
        switch.wait(timeout=30)


def test_a_controller_plans_for_a_switch(full: Installed) -> None:
    assert "P4Runtime" in full.run("switch", "--help").stdout
    example = full.package / "controller" / "examples" / "two_ports.yaml"
    with served(full) as address:
        text, found = re.subn(r"127\.0\.0\.1:9559", address, example.read_text())
        assert found == 1
        file = full.folder / "two_ports.yaml"
        file.write_text(text)
        planned = full.run("controller", "plan", file, "--json")
        assert planned.returncode == 0, planned.stderr
        (switch,) = json.loads(planned.stdout)["switches"].values()
        assert switch["push"] is not None
        assert len(switch["changes"]) > 10
        applied = full.run("controller", "apply", file)
        assert applied.returncode == 0, applied.stderr
        assert "nothing to do" in full.run("controller", "plan", file).stdout


def test_every_extra_brings_its_packages(full: Installed) -> None:
    code = f"import importlib; [importlib.import_module(name) for name in {sorted(EXTRAS)!r}]"
    subprocess.run([full.bin / "python", "-c", code], check=True, cwd=full.folder)


# Five users' tasks, each as its page documents it.


def block(page: str, language: str, containing: str = "") -> str:
    """The only block of a page in a language that contains a text."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    [found] = [each for each in blocks if containing in each]
    return found


def test_a_control_in_python_is_compared_with_three_others(full: Installed) -> None:
    folder = full.folder / "control"
    script = block("own-experiments.md", "sh", "waymark new control")
    shown = full.shell(script, folder).stdout
    rows = [line.split()[0] for line in shown.splitlines() if "±" in line]
    assert len(rows) == 4
    assert {"vegas", "cubic", "rovegas"} < set(rows)
    with (folder / "results/compare/my_network/runs.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 4 * 2


def test_a_sweep_of_36_runs_on_an_own_topology_resumes(bare: Installed) -> None:
    folder = bare.folder / "sweep"
    folder.mkdir()
    bare.shell("waymark new topology my_network", folder)
    (folder / "my_sweep.py").write_text(block("own-experiments.md", "python", "wm.sweep("))
    script = block("own-experiments.md", "sh", "my_sweep.py")
    bare.shell(script, folder)
    first = (folder / "sweep.csv").read_text()
    assert len(first.splitlines()) == 1 + 36
    kept = sorted((folder / "results" / ".runs").rglob("*.npz"))
    assert len(kept) == 36
    times = [path.stat().st_mtime_ns for path in kept]
    kept[7].unlink()  # as if the sweep had been interrupted
    bare.shell(script, folder)
    assert (folder / "sweep.csv").read_text() == first
    again = [path.stat().st_mtime_ns for path in kept]
    assert [k for k in range(36) if again[k] != times[k]] == [7]


def test_an_own_program_s_table_counter_and_register_are_read_back(bare: Installed) -> None:
    folder = bare.folder / "own-p4"
    folder.mkdir()
    for language, name in (("p4", "count.p4"), ("python", "count.py")):
        (folder / name).write_text(block("own-p4.md", language))
    shown = bare.shell(block("own-p4.md", "sh"), folder).stdout
    numbers = {what: int(number) for what, number in re.findall(r"^([a-z ]+): (\d+)$", shown, re.M)}
    assert numbers["from a"] == numbers["routed to b"] > 2000
    assert numbers["matched no entry"] == 0
    assert numbers["longest queue to b"] == 19
    assert numbers["dropped by full queues"] > 0
    with (folder / "s1.csv").open(newline="") as file:
        rows = {(row["kind"], row["name"], row["cell"]): row for row in csv.DictReader(file)}
    assert rows["register", "MyEgress.longest", "2"]["value"] == "19"


def test_a_mark_of_its_own_needs_no_checkout(bare: Installed) -> None:
    for name in ("peak.p4", "peak.py"):
        text = (ROOT / "examples" / name).read_text(encoding="utf-8")
        (bare.folder / name).write_text(text, encoding="utf-8")
    assert bare.run("compile", "peak.p4").returncode == 0
    shown = subprocess.run(
        [bare.bin / "python", "peak.py"],
        cwd=bare.folder,
        env=bare.environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert "8 of them the mark's" in shown.stdout, shown.stderr


def test_the_tutorials_basic_runs_in_virtual_time(full: Installed) -> None:
    """With a program and files of the exercise's form; the exercise's own are not committed."""
    folder = full.folder / "basic"
    shutil.copytree(ROOT / "tests" / "topology_files" / "basic", folder)
    (folder / "virtual.py").write_text(block("tutorials.md", "python"))
    shown = full.shell(block("tutorials.md", "sh", "virtual.py"), folder).stdout
    assert re.match(r"finished after 0\.\d+ s\n", shown)
    packets = re.findall(r"^(s\d) (\d+) packets, (\d+) dropped$", shown, re.M)
    assert [(name, dropped) for name, _, dropped in packets] == [("s1", "0"), ("s2", "0")]
    assert all(int(number) >= 500 for _, number, _ in packets)
