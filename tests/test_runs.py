"""Many runs from Python: sweeps, tables, and the libraries that take them."""

from __future__ import annotations

import csv
import importlib
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import waymark as wm
from waymark.progress import progress
from waymark.runs import Measures

NETWORK = wm.dumbbell(1, middle=(1.6e6, 0.02), senders=(10e6, 0.001), queue_packets=10)


class Fixed(wm.CongestionControl):
    """Keeps its initial window."""


def make(algorithm: Any, load: float, seed: int) -> wm.Scenario:
    cross = wm.OnOff.for_load(
        *("s1", "d1"), load=load, link_bps=1.6e6, rate_bps=3.2e6, mean_on_s=0.01
    )
    flows = (wm.Flow("s1", "d1", algorithm),)
    return wm.Scenario("sweep", NETWORK, 2.0, flows, (cross,), seed=seed)


def queue(result: wm.Result) -> Measures:
    return {"queue": result.mean_waiting("r1->r2", 1, 2)}


PARAMETERS = {"algorithm": ["vegas", "reno", Fixed], "load": [0.2, 0.8]}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> wm.Table:
    out = tmp_path_factory.mktemp("sweep")
    return wm.sweep(make, PARAMETERS, queue, seeds=2, jobs=2, out=out, progress=False)


def test_a_sweep_has_a_row_per_combination_and_seed(table: wm.Table) -> None:
    assert list(table.columns) == ["algorithm", "load", "seed", "queue"]
    assert [tuple(row.values())[:3] for row in table.rows()] == [
        (name, load, seed)
        for name in ("vegas", "reno", "Fixed")
        for load in (0.2, 0.8)
        for seed in (1, 2)
    ]
    expected = queue(wm.run(make("reno", 0.8, 2)))["queue"]
    assert table.where(algorithm="reno", load=0.8, seed=2)["queue"] == [expected]


def test_seeds_are_summed_up(table: wm.Table) -> None:
    means = table.over_seeds()
    assert list(means.columns) == ["algorithm", "load", "seeds", "queue", "queue_sd"]
    one, two = table.where(algorithm="reno", load=0.2)["queue"]
    [row] = means.where(algorithm="reno", load=0.2).rows()
    assert isinstance(one, float)
    assert isinstance(two, float)
    assert row["queue"] == pytest.approx((one + two) / 2)
    assert row["queue_sd"] == pytest.approx(abs(one - two) / 2**0.5)
    assert row["seeds"] == 2
    [alone] = table.where(algorithm="reno", load=0.2, seed=1).over_seeds().rows()
    assert alone["queue_sd"] is None


def test_finished_runs_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = {"algorithm": ["vegas"], "load": [0.2, 0.8]}

    def kept() -> list[int]:
        return sorted(file.stat().st_mtime_ns for file in tmp_path.rglob("*.npz"))

    first = wm.sweep(make, chosen, queue, jobs=1, out=tmp_path)
    assert "sweep: 2 of 2 runs" in capsys.readouterr().err
    made = kept()
    assert len(made) == 2
    assert wm.sweep(make, chosen, queue, jobs=1, out=tmp_path, progress=False) == first
    assert kept() == made
    assert capsys.readouterr().err == ""
    scenarios = [make("vegas", 0.2, 1), make("vegas", 0.2, 2)]
    wm.run_all(scenarios, jobs=1, out=tmp_path)
    assert len(kept()) == 3


def test_run_all_gives_a_table() -> None:
    scenarios = [make("vegas", 0.2, 1), replace(make("reno", 0.8, 3), name="other")]
    results = wm.run_all(scenarios, jobs=1)
    assert [result.flows[0].losses for result in results] == results.table()["flow0_losses"]
    table = results.table(queue)
    assert list(table.columns) == ["scenario", "seed", "queue"]
    assert table["scenario"] == ["sweep", "other"]
    assert table["seed"] == [1, 3]
    assert len(wm.run_all([])) == 0


def test_a_result_over_time_is_a_table() -> None:
    result = wm.run(make("vegas", 0.2, 1))
    table = result.table()
    assert len(table) == 2
    assert table["time_s"] == [0.5, 1.5]
    assert table["flow0_bps"] == list(result.throughput_over_time_bps(0))
    assert table["waiting r1->r2"] == list(result.queues["r1->r2"].waiting)
    assert table["source0_delivered"] == list(result.sources[0].delivered)
    assert result.end_s == 2.0


def test_a_table_is_shown_and_written(table: wm.Table, tmp_path: Path) -> None:
    assert str(table).count("vegas") == 4
    with table.write(tmp_path / "t.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["queue"]) for row in rows] == table["queue"]
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table(table.write(tmp_path / "t.parquet")).to_pydict() == table.columns
    with pytest.raises(wm.WaymarkError, match=r"t.xls: expected a name that ends in .csv or"):
        table.write(tmp_path / "t.xls")
    with pytest.raises(wm.WaymarkError, match=r"none/t.csv: No such file"):
        table.write(tmp_path / "none" / "t.csv")


def test_arrow_takes_it(table: wm.Table) -> None:
    pytest.importorskip("pyarrow")
    assert table.to_arrow().to_pydict() == table.columns


def test_pandas_takes_it(table: wm.Table) -> None:
    pytest.importorskip("pandas")
    frame = table.to_pandas()
    assert frame.to_dict("list") == table.columns
    assert frame.groupby("algorithm")["queue"].mean()["reno"] > 0


def test_polars_takes_it(table: wm.Table) -> None:
    pytest.importorskip("polars")
    assert table.to_polars().to_dict(as_series=False) == table.columns


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_not_there_is_reported(
    table: wm.Table, monkeypatch: pytest.MonkeyPatch, library: str
) -> None:
    def refuse(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(wm.WaymarkError, match=f"{library} is not installed: pip install {library}"):
        getattr(table, f"to_{library}")()


def nothing(**_: object) -> Any:
    return None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"parameters": {"load": []}}, r"parameter load: found \[\]; expected a list of values"),
        ({"parameters": {"algorithm": "vegas"}}, "parameter algorithm: found 'vegas'; expected a"),
        ({"parameters": {"seed": [1]}}, "parameter seed: expected as seeds="),
        ({"seeds": 0}, "seeds: found 0; expected at least one"),
        ({"make": nothing}, r"make\(algorithm='vegas', load=0.2, seed=1\) returned None; expected"),
        ({"measure": lambda _: 3}, "measure returned 3; expected a dict of names to numbers"),
        ({"measure": lambda _: {"load": 3}}, "measure returned 'load', which is a parameter"),
    ],
)
def test_what_cannot_be_swept_is_reported(changes: dict[str, Any], told: str) -> None:
    settings: dict[str, Any] = {
        "make": make,
        "parameters": {"algorithm": ["vegas"], "load": [0.2]},
        "measure": queue,
    }
    with pytest.raises(wm.WaymarkError, match=told):
        wm.sweep(**settings | changes, out=None, progress=False, jobs=1)


def test_what_a_result_lacks_is_reported(table: wm.Table) -> None:
    result = wm.run(make("vegas", 0.2, 1))
    with pytest.raises(wm.WaymarkError, match="no link 'r1-r2'; did you mean r1->r2"):
        result.queues["r1-r2"]
    with pytest.raises(wm.WaymarkError, match=r"\[0, 3\) s is not within the run, \[0, 2\) s"):
        result.throughput_bps(0, 0, 3)
    with pytest.raises(wm.WaymarkError, match="no column 'que'; did you mean queue"):
        table["que"]
    with pytest.raises(wm.WaymarkError, match="no column 'lod'; did you mean load"):
        table.where(lod=3)


def test_what_begins_after_the_end_is_refused() -> None:
    base = make("vegas", 0.2, 1)
    late = wm.Flow("s1", "d1", start_s=2.0)
    with pytest.raises(wm.WaymarkError, match="s1->d1: start_s 2, expected less than end_s, 2"):
        replace(base, flows=(late,))
    with pytest.raises(wm.WaymarkError, match="change of r1->r2: at_s 3, expected less than"):
        replace(base, changes=(wm.LinkChange(3.0, "r1", "r2", loss=0.1),))
    traced = wm.Flow("s1", "d1", trace=wm.Tracing(from_s=5))
    with pytest.raises(wm.WaymarkError, match="trace of flow s1->d1: from_s 5, expected less"):
        replace(base, flows=(traced,))


def test_progress_does_not_count_what_was_given_up(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(Console(stderr=True), "sweep", [1.0, 1.0]) as done:
        done(1.0)
    done(1.0)
    assert capsys.readouterr().err == "sweep: 2 runs\nsweep: 1 of 2 runs\n"


SCRIPT = """\
import waymark as wm

NETWORK = wm.dumbbell(1, middle=(1.6e6, 0.02), senders=(10e6, 0.001))


def make(algorithm, queue, seed):
    network = NETWORK.with_link("r1", "r2", queue_packets=queue)
    flows = (wm.Flow("s1", "d1", algorithm),)
    return wm.Scenario("mine", network, 2.0, flows, seed=seed)


if __name__ == "__main__":
    table = wm.sweep(make, {"algorithm": ["vegas", "reno"], "queue": [5, 50]}, seeds=3, jobs=2)
    table.write("sweep.csv")
"""


def test_a_script_outside_the_checkout_sweeps_and_resumes(tmp_path: Path) -> None:
    (tmp_path / "my_sweep.py").write_text(SCRIPT)
    home = os.environ | {"PYTHONPATH": str(Path(wm.__file__).parents[1])}
    command = [sys.executable, "my_sweep.py"]
    for _ in range(2):
        subprocess.run(command, cwd=tmp_path, env=home, check=True, timeout=300)
        assert len((tmp_path / "sweep.csv").read_text().splitlines()) == 13
        assert len(list((tmp_path / "results" / ".runs").rglob("*.npz"))) == 12
