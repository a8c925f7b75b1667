"""Experiments in files of the user, in a folder outside the checkout."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Cli

FIGURE = """\
import waymark as wm
from waymark import plots

import beside


class Mine(wm.CongestionControl):
    def on_ack(self, event):
        self.cwnd += 1 / self.cwnd


def scenarios(scale, seed):
    controls = {"vegas": "vegas", "mine": Mine}
    return {
        label: wm.Scenario(label, beside.NETWORK, 3.0, (wm.Flow("a", "b", control),), seed=seed)
        for label, control in controls.items()
    }


def rows(runs):
    return [
        wm.Row.of(label, "kb/s", [run.throughput_bps(0, 1, 3) / 1e3 for run in several])
        for label, several in runs.items()
    ]


def draw(runs, table):
    figure = plots.new_figure()
    plots.compare(figure.subplots(), table)
    return figure


EXPERIMENT = wm.Experiment(
    id="me/queues.1",
    paper="Mine & yours, figure <1>",
    claim="Vegas fills the link",
    parameters={},
    seeds={"quick": 1, "full": 2},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
)
"""

BESIDE = """\
import waymark as wm

NETWORK = wm.Topology(
    hosts=(wm.Host("a"), wm.Host("b")),
    switches=(wm.Switch("r"),),
    links=(*wm.duplex("a", "r", 10e6, 0.001), *wm.duplex("r", "b", 1.6e6, 0.02)),
)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an experiment, as the working directory."""
    (tmp_path / "my_figure.py").write_text(FIGURE)
    (tmp_path / "beside.py").write_text(BESIDE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", sys.path.copy())
    monkeypatch.delitem(sys.modules, "beside", raising=False)
    return tmp_path


def test_a_file_is_run_as_an_experiment_of_the_project(cli: Cli, folder: Path) -> None:
    first = cli("run", "./my_figure.py", "--trace", "--seeds", 2, "--jobs", 2)
    assert first.code == 0, first.err
    assert "me/queues.1: 4 of 4 runs" in first.err
    results = folder / "results" / "me" / "queues.1"
    assert {file.name for file in results.iterdir()} == {
        *("table.csv", "plot.png", "plot.svg", "run.json", "trace")
    }
    assert (results / "trace" / "mine-flow0.parquet").is_file()
    record = json.loads((results / "run.json").read_text())
    assert record["verdict"] == "measured"
    assert [row["quantity"] for row in record["rows"]] == ["vegas", "mine"]
    assert "PASS" not in first.out


def test_its_finished_runs_are_kept(cli: Cli, folder: Path) -> None:
    assert cli("run", "./my_figure.py", "--jobs", 1).code == 0
    kept = list((folder / "results" / ".runs").rglob("*.npz"))
    assert len(kept) == 2  # Vegas' two seeds; the code of a control in Python has no key
    made = [file.stat().st_mtime_ns for file in kept]
    assert cli("run", "./my_figure.py", "--jobs", 1).code == 0
    assert [file.stat().st_mtime_ns for file in kept] == made
    assert cli("run", "./my_figure.py", "--jobs", 1, "--again").code == 0
    remade = [file.stat().st_mtime_ns for file in kept]
    assert all(after > before for before, after in zip(made, remade, strict=True))


def test_a_module_is_run_as_a_file(cli: Cli, folder: Path) -> None:
    package = folder / "my_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "figure.py").write_text(FIGURE)
    shown = cli("run", "my_package.figure", "chan/fig2.2", "--scale", "quick", "--jobs", 1)
    assert shown.code == 0, shown.err
    assert "me/queues.1" in shown.out
    assert "chan/fig2.2" in shown.out


def test_report_shows_them_from_their_records(cli: Cli, folder: Path) -> None:
    assert cli("run", "./my_figure.py", "--scale", "quick", "--jobs", 1).code == 0
    (folder / "my_figure.py").unlink()
    assert cli("report").code == 0
    page = (folder / "results" / "report.html").read_text()
    assert "Own experiments" in page
    assert "Mine &amp; yours, figure &lt;1&gt;" in page
    assert "waymark run ./my_figure.py --scale quick --jobs 1" in page
    assert 'src="me/queues.1/plot.png"' in page
    assert "not run" not in page  # the project's experiments, none of which was run


BROKEN = {
    "no experiment": ("EXPERIMENT = wm", "OTHER = wm", "my_figure.py: no EXPERIMENT; expected"),
    "another type": ("EXPERIMENT = wm", "EXPERIMENT = 3\nX = wm", "EXPERIMENT is 3; expected"),
    "syntax": ("def rows(runs):", "def rows(runs:", "my_figure.py:20: SyntaxError: "),
    "null byte": ("import beside", "\0", "my_figure.py:1: SyntaxError: "),
    "import": ("import beside", "1 / 0", "my_figure.py:4: ZeroDivisionError: division by zero\n"),
    "exit": ("import beside", "raise SystemExit", "my_figure.py:4: the file ends the process; "),
    "a setting": ('"b", control', '"c", control', "scenario vegas: traffic a->c: no host"),
    "scenarios": (
        "return {\n",
        "return 3 and {} and {\n",
        "scenarios returned {}; expected a dict",
    ),
    "rows": ("throughput_bps(0", "throughput_bps(9", "no flow 9; the run has flow 0 only\n    wm."),
    "no rows": ("return [\n", "lambda: [\n", "me/queues.1: rows returned None; expected a list"),
    "draw": ("return figure", "pass", "draw returned None; expected a matplotlib Figure"),
    "id": ("me/queues.1", "../queues", "EXPERIMENT.id: found '../queues'; expected letters"),
    "taken id": ("me/queues.1", "chan/fig3.6", "chan/fig3.6 is an experiment of the project"),
    "seeds": ('"full": 2', '"fill": 2', "EXPERIMENT.seeds: found None for 'full'; expected"),
    "draws nothing": ("draw=draw", "draw=None", "EXPERIMENT.draw: found None; expected a function"),
}


@pytest.mark.parametrize(("old", "new", "told"), BROKEN.values(), ids=list(BROKEN))
def test_an_error_is_reported_with_its_place(
    cli: Cli, folder: Path, old: str, new: str, told: str
) -> None:
    assert old in FIGURE
    (folder / "my_figure.py").write_text(FIGURE.replace(old, new))
    shown = cli("run", "./my_figure.py", "--scale", "quick", "--jobs", 1)
    assert shown.code == 2
    assert told in shown.err
    assert "Traceback" not in shown.err


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("./none.py", "none.py: no such file"),
        (".", "no experiment '.'; see: waymark list; your own file: ./my_figure.py"),
        ("none.such", "no experiment and no module 'none.such' (looked in "),
        ("beside", "beside.py: no EXPERIMENT"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_name_of_nothing_is_reported(cli: Cli, name: str, told: str) -> None:
    shown = cli("run", name)
    assert shown.code == 2
    assert told in shown.err


def test_two_experiments_of_one_id_are_refused(cli: Cli, folder: Path) -> None:
    (folder / "other.py").write_text(FIGURE)
    shown = cli("run", "./my_figure.py", "./other.py")
    assert shown.code == 2
    assert "two experiments have the id me/queues.1; rename one" in shown.err


def test_one_that_fails_does_not_end_the_others(cli: Cli, folder: Path) -> None:
    broken = FIGURE.replace("me/queues.1", "me/broken").replace("(0, 1, 3)", "(9, 1, 3)")
    (folder / "broken.py").write_text(broken.replace("1e3 for", "1e3  # [/odd]\n        for"))
    shown = cli("run", "./broken.py", "./my_figure.py", "--scale", "quick", "--jobs", 1)
    assert shown.code == 1
    assert "me/broken failed, the others continue: broken.py:" in shown.err
    assert "# [/odd]" in shown.err
    assert "me/queues.1   measured" in shown.out


def test_a_cluster_runs_them(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its control is imported by the cluster's workers, which are other processes."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1"
    ) as local:
        words = ("--scale", "quick", "--scheduler", local.scheduler_address, "--out", "there")
        shown = cli("run", "./my_figure.py", *words)
    assert shown.code == 0, shown.err
    assert cli("run", "./my_figure.py", "--scale", "quick", "--jobs", 1, "--out", "here").code == 0
    tables = [folder / out / "me" / "queues.1" / "table.csv" for out in ("there", "here")]
    assert tables[0].read_bytes() == tables[1].read_bytes()
