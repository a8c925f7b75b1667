"""Many runs: kept ones are not made again, and a cluster gives the same."""

from __future__ import annotations

import gc
import json
import math
import os
import pickle
import random
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from queue import Queue
from typing import Any

import numpy as np
import pytest
from conftest import Cli

from waymark import CHAN, Association, Cbr, Flow, Scenario, Topology, WaymarkError, run_all
from waymark import pool as pools
from waymark.result import Result
from waymark.running import run
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


def test_runs_that_are_made_afresh_are_kept_as_well(
    small: Topology, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "RECENT_OCTETS", 0)
    one = scenario(small)
    old = Store(tmp_path)
    old.put(key_of(one), replace(run(one), packets=-1))
    with pools.pool(1, store=Store(tmp_path, afresh=True)) as workers:
        first = workers.submit(one)
        assert first.result().packets > 0
        assert workers.submit(one) is first
    kept = old.get(key_of(one))
    assert isinstance(kept, Result)
    assert kept.packets == first.result().packets


def test_results_are_in_memory_only_once_they_are_read(small: Topology, tmp_path: Path) -> None:
    def results() -> int:
        return sum(isinstance(each, Result) for each in gc.get_objects())

    before = results()
    with pools.pool(1, store=Store(tmp_path)) as workers:
        future = workers.submit(scenario(small))
        wait([future])
        assert results() == before
        assert future.result().packets > 0
        # What a killed worker did not finish goes with the pool.
        (drafts,) = tmp_path.glob("unfinished-*")
        (drafts / "part").write_bytes(b"PK")
    assert not drafts.exists()
    assert len(list(tmp_path.rglob("*.npz"))) == 1


def test_a_result_that_leaves_the_store_meanwhile_is_missed(
    small: Topology, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "RECENT_OCTETS", 0)
    path = kept(small, tmp_path)
    with pools.pool(1, store=Store(tmp_path)) as workers:
        future = workers.submit(scenario(small))
        assert future.result().packets > 0
        path.unlink()
        with pytest.raises(WaymarkError, match=r"no longer in .*repeat the command"):
            future.result()


EVERYTHING = (
    Flow("a", "b", "redvegas", CHAN, trace=True),
    Flow("a", "b", "rovegas", CHAN, segments=50),
)


def same(one: object, other: object) -> bool:
    """Whether values are equal: arrays element by element, NaN with NaN."""
    if isinstance(one, np.ndarray):
        assert isinstance(other, np.ndarray)
        is_float = one.dtype.kind == "f"
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=is_float)
    if is_dataclass(one):
        return type(one) is type(other) and all(
            same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one)
        )
    if isinstance(one, dict):
        assert isinstance(other, dict)
        return same(list(one.items()), list(other.items()))
    if isinstance(one, tuple | list):
        assert isinstance(other, type(one))
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or (one != one and other != other)


def test_a_kept_result_is_the_one_that_was_made(small: Topology, tmp_path: Path) -> None:
    marking = tuple(replace(s, feedback=frozenset({"aqt", "ci"})) for s in small.switches)
    tcp = scenario(
        replace(small, switches=marking),
        flows=EVERYTHING,
        sources=(Cbr("b", "a", 1e5),),
        check_aqt=True,
    )
    sctp = scenario(small, flows=(), associations=(Association("a", "b", trace=True, stop_s=3),))
    store = Store(tmp_path)
    for key, one in (("tcp", tcp), ("sctp", sctp)):
        made = run(one)
        store.put(key, made)
        assert same(store.get(key), made)


def refuse(constant: str) -> None:
    raise ValueError(constant)


def test_a_kept_result_is_json_in_every_parser(small: Topology, tmp_path: Path) -> None:
    """JSON has no NaN and no infinity (RFC 8259, section 6)."""
    made = replace(run(scenario(small)), wall_s=math.nan, cpu_s=math.inf)
    store = Store(tmp_path)
    store.put("key", made)
    [path] = tmp_path.rglob("*.npz")
    with np.load(path) as archive:
        json.loads(archive["result"].tobytes(), parse_constant=refuse)
    assert same(store.get("key"), made)


def kept(small: Topology, folder: Path) -> Path:
    """The file of a kept result."""
    Store(folder).put(key_of(scenario(small)), run(scenario(small)))
    [path] = folder.rglob("*.npz")
    return path


def noted(small: Topology, folder: Path) -> str:
    """The message of a store for a file that it cannot read, whose run is repeated."""
    notes: list[str] = []
    store = Store(folder, notes.append)
    with pools.pool(1, store=store) as workers:
        assert workers.submit(scenario(small)).result().packets > 0
    [note] = notes
    assert store.get(key_of(scenario(small))) is not None
    return note


class Code:
    """Pickled, it is code that runs where it is read."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.file,)


@pytest.mark.parametrize("way", ["whole", "array"])
def test_reading_a_result_runs_no_code(small: Topology, tmp_path: Path, way: str) -> None:
    path = kept(small, tmp_path / "store")
    ran = tmp_path / "ran"
    if way == "whole":
        path.write_bytes(pickle.dumps(Code(ran)))
    else:
        np.savez(path, result=np.array([Code(ran)], object))
    assert noted(small, tmp_path / "store").startswith(f"{path}: not a result: ")
    assert not ran.exists()


def test_a_damaged_file_is_made_again_with_a_notice(small: Topology, tmp_path: Path) -> None:
    path = kept(small, tmp_path)
    whole = path.read_bytes()
    path.write_bytes(b"")
    note = noted(small, tmp_path)
    assert note == f"{path}: not a result: File is not a zip file; the run is repeated"
    rng = random.Random(1)
    lost = 0
    for _ in range(300):
        octets = bytearray(whole)
        at = rng.randrange(len(octets))
        match rng.randrange(3):
            case 0:
                del octets[at:]
            case 1:
                octets[at] ^= 1 << rng.randrange(8)
            case _:
                octets[at : at + 16] = rng.randbytes(16)
        path.write_bytes(octets)
        notes: list[str] = []
        found = Store(tmp_path, notes.append).get(key_of(scenario(small)))
        assert (found is None) == bool(notes)
        lost += found is None
    assert lost > 250  # the others changed dates and the like


def change_result(path: Path, change: Callable[[Any], object]) -> None:
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    document = json.loads(arrays["result"].tobytes())
    change(document)
    arrays["result"] = np.frombuffer(json.dumps(document).encode(), np.uint8)
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda d: d.update(format=0), "another format"),
        (lambda d: d.update(result=None), "expected dict, found NoneType"),
        (lambda d: d["result"].pop("packets"), "Result has other fields"),
        (lambda d: d["result"].update(packets=1.5), "expected int, found float"),
        (lambda d: d["result"]["flows"][0].update(sent=99), "expected list, found int"),
        (lambda d: d["result"]["flows"][0].update(sent=[0]), "expected 2"),
        (lambda d: d["result"]["flows"][0].update(sent=[5, 1]), "no elements 5 to 1"),
        (lambda d: d["result"]["flows"][0].update(sent=[0, 10**9]), "no elements 0 to 1000000000"),
    ],
)
def test_a_file_of_another_form_is_made_again(
    small: Topology, tmp_path: Path, change: Callable[[Any], object], told: str
) -> None:
    change_result(kept(small, tmp_path), change)
    assert told in noted(small, tmp_path)


def test_a_compressed_result_is_not_read(small: Topology, tmp_path: Path) -> None:
    """A few octets of it could take any amount of memory."""
    path = kept(small, tmp_path)
    np.savez_compressed(path, result=np.zeros(100_000_000, np.uint8))
    assert "an entry is compressed" in noted(small, tmp_path)


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_name_that_is_not_a_file_is_not_waited_for(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "ke" / "y.npz"
    path.parent.mkdir()
    make(path)
    notes: list[str] = []
    assert Store(tmp_path, notes.append).get("key") is None
    assert notes == [f"{path}: not a result: no regular file; the run is repeated"]


def test_a_failing_run_is_reported(small: Topology) -> None:
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


def test_a_worker_that_is_killed_costs_no_run(small: Topology) -> None:
    """The runs of a sweep on two workers, of which one is killed, are those of this process."""
    distributed = pytest.importorskip("distributed")
    sweep = [scenario(small, seed=seed, end_s=300.0) for seed in range(12)]
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as local,
        pools.pool(scheduler=local.scheduler_address) as pool,
    ):
        futures = [pool.submit(one) for one in sweep]
        futures[0].result(timeout=120)
        assert not all(future.done() for future in futures)
        killed = next(iter(local.workers.values())).pid
        os.kill(killed, signal.SIGKILL)
        found = [future.result(timeout=120) for future in futures]
    for one, result in zip(sweep, found, strict=True):
        here = run(one)
        assert result.table() == here.table()
        assert result.packet_hops == here.packet_hops


def test_runs_wait_with_a_message_while_a_cluster_has_no_workers(
    small: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(pools, "NOTICE_AFTER_S", 0.2)
    shown: Queue[str] = Queue()

    def show(line: str, **_: object) -> None:
        shown.put(line)

    monkeypatch.setattr("builtins.print", show)
    one = scenario(small)
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as local,
        pools.pool(scheduler=local.scheduler_address) as pool,
    ):
        local.scale(0)
        lost = shown.get(timeout=120)
        assert "has no workers; waiting for one: dask worker inproc" in lost
        future = pool.submit(one)
        local.scale(1)
        assert "has workers again" in shown.get(timeout=120)
        assert future.result(timeout=120).table() == run(one).table()
    assert shown.empty(), "each is said once"


def test_a_scheduler_that_is_not_there_is_reported(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    arguments = ("--scheduler", "inproc://nothing/1/1", "--out", tmp_path)
    shown = cli("run", "chan/fig2.2", "--scale", "quick", *arguments)
    assert shown.code == 2
    assert "no Dask scheduler at" in shown.err


def test_a_scheduler_without_workers_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(pools, "WORKERS_WITHIN_S", 0.1)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as local,
        pytest.raises(WaymarkError, match="has no workers; start one: dask worker inproc"),
        pools.pool(scheduler=local.scheduler_address),
    ):
        pass
