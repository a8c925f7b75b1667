"""Many runs: kept ones are not made again, and a cluster gives the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Cli

from waymark import CHAN, Flow, Scenario, Topology, WaymarkError, run_all
from waymark import pool as pools
from waymark.result import Result
from waymark.run import run
from waymark.store import Store, key_of


def scenario(network: Topology, **changes: object) -> Scenario:
    fields = {"end_s": 5.0, "flows": (Flow("a", "b", "vegas", CHAN),)} | changes
    return Scenario("pool", network, **fields)  # pyright: ignore[reportArgumentType]


def test_the_key_is_of_parameters_programs_and_code(
    small: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = scenario(small)
    others = [
        replace(one, seed=2),
        replace(one, topology=small.with_link("r1", "r2", delay_s=0.021)),
        replace(one, topology=small.with_program("v1model/aqt.p4")),
    ]
    assert key_of(replace(one, name="another name")) == key_of(one)
    assert len({key_of(s) for s in (one, *others)}) == 4
    before = key_of(one)
    monkeypatch.setattr("waymark.store.code_sha256", lambda: "another core")
    assert key_of(one) != before


def test_a_kept_run_is_not_made_again(small: Topology, tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pools.pool(1, store=store) as workers:
        made = workers.submit(scenario(small)).result()
        assert workers.submit(scenario(small)) is workers.submit(scenario(small))
    kept = store.get(key_of(scenario(small)))
    assert isinstance(kept, Result)
    assert kept.packet_hops == made.packet_hops
    store.put(key_of(scenario(small)), replace(made, packets=-1))
    with pools.pool(1, store=store) as workers:
        assert workers.submit(scenario(small)).result().packets == -1


def test_a_damaged_file_is_no_result(small: Topology, tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put(key_of(scenario(small)), run(scenario(small)))
    [path] = tmp_path.rglob("*.pickle")
    path.write_bytes(path.read_bytes()[:100])
    assert store.get(key_of(scenario(small))) is None


def test_a_failing_run_is_told(small: Topology) -> None:
    with pytest.raises(WaymarkError, match="no P4 program"):
        run_all([scenario(small.with_program("v1model/none.p4"))], jobs=1)


@pytest.fixture
def cluster() -> Iterator[str]:
    """The address of a Dask cluster on this machine, with one worker."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as local:
        yield local.scheduler_address


def test_a_dask_cluster_gives_the_same_octets(cluster: str, cli: Cli, tmp_path: Path) -> None:
    for name, where in (("there", ("--scheduler", cluster)), ("here", ("--jobs", 1))):
        shown = cli("run", "chan/fig2.2", "--scale", "quick", *where, "--out", tmp_path / name)
        assert shown.code == 0, shown.err
    there, here = (tmp_path / name / "chan/fig2.2/table.csv" for name in ("there", "here"))
    assert there.read_bytes() == here.read_bytes()


def test_a_scheduler_that_is_not_there_is_told(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    arguments = ("--scheduler", "inproc://nothing/1/1", "--out", tmp_path)
    shown = cli("run", "chan/fig2.2", "--scale", "quick", *arguments)
    assert shown.code == 2
    assert "no Dask scheduler at" in shown.err
