"""A connection as a table: complete, typed, bounded, in files, as a picture."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from conftest import ROOT, Cli

import waymark as wm

PNG = b"\x89PNG"


def traced(network: wm.Topology, algorithm: Any, how: bool | wm.Tracing = True) -> pa.Table:
    flow = wm.Flow("a", "b", algorithm, trace=how)
    return wm.run(wm.Scenario("traced", network, 10, flows=(flow,))).trace(0)


def test_columns_are_typed_and_say_nothing_where_nothing_came(small: wm.Topology) -> None:
    table = traced(small, "rovegas")
    types = {field.name: str(field.type) for field in table.schema}
    assert types == {
        "time_s": "double",
        "change": "dictionary<values=string, indices=uint8, ordered=0>",
        "phase": "dictionary<values=string, indices=uint8, ordered=0>",
        "cwnd": "double",
        "ssthresh": "double",
        "in_flight": "uint64",
        "acked": "uint64",
        "next": "uint64",
        "rtt_s": "double",
        "base_rtt_s": "double",
        "diff": "double",
        "aqt_forward_s": "double",
        "aqt_backward_s": "double",
        "mrai": "uint8",
        "ci": "bool",
        "random_losses": "uint64",
        "congestion_losses": "uint64",
    }
    rows = table.to_pylist()
    sent = [row for row in rows if row["change"] == "sent"]
    assert all(row["rtt_s"] is None and row["aqt_forward_s"] is None for row in sent)
    acks = [row for row in rows if row["change"] == "ack"]
    assert all(row["aqt_forward_s"] >= 0 and row["mrai"] is None for row in acks)
    assert all(row["in_flight"] == row["next"] - row["acked"] for row in rows)
    assert {row["phase"] for row in rows} == {"slow_start", "avoidance"}
    assert wm.trace.about(table) == {
        "scenario": "traced",
        "seed": "1",
        "flow": "flow0",
        "algorithm": "rovegas",
    }


def test_marks_and_verdicts_are_in_the_table(small: wm.Topology) -> None:
    marking = tuple(wm.Switch(s.name, feedback=frozenset({"drai", "ci"})) for s in small.switches)
    lossy = tuple(replace(link, loss=0.02) for link in small.links)
    network = replace(small, switches=marking, links=lossy)
    mrai = traced(network, "muzha").column("mrai")
    assert 0 < mrai.null_count < len(mrai)
    assert set(mrai.drop_null().to_pylist()) <= {1, 2, 3, 4, 5, 6}
    four = tuple(wm.Flow("a", "b", "redvegas", trace=True) for _ in range(4))
    red = wm.run(wm.Scenario("full", replace(small, switches=marking), 10, flows=four)).trace(3)
    assert 0 < red.column("ci").to_numpy().sum() < red.num_rows
    congestion = red.column("congestion_losses").to_numpy().astype(np.int64)
    assert congestion[-1] > 0
    assert (np.diff(congestion) >= 0).all()


def test_a_trace_is_bounded_by_what_is_asked_for(small: wm.Topology) -> None:
    every = traced(small, "reno").to_pylist()
    some = traced(small, "reno", wm.Tracing(from_s=2, to_s=8, every_s=0.25)).to_pylist()
    assert 6 / 0.25 * 0.9 < len(some) <= 6 / 0.25 + 1
    assert all(row in every for row in some)
    assert all(2 <= row["time_s"] < 8 for row in some)


def test_what_bounds_nothing_is_refused(small: wm.Topology) -> None:
    with pytest.raises(wm.WaymarkError, match=r"flows\[0\]\.tracing\.to_s: 1 s is not after"):
        traced(small, "reno", wm.Tracing(from_s=2, to_s=1))
    with pytest.raises(wm.WaymarkError, match=r"flows\[0\]\.tracing\.every_s"):
        traced(small, "reno", wm.Tracing(every_s=-1))


def test_a_flow_without_a_trace_says_how_to_get_one(small: wm.Topology) -> None:
    result = wm.run(wm.Scenario("untraced", small, 1, flows=(wm.Flow("a", "b"),)))
    with pytest.raises(wm.WaymarkError, match="flow 0 has no trace"):
        result.trace(0)


def test_files_hold_what_was_traced(small: wm.Topology, tmp_path: Path) -> None:
    table = traced(small, "vegas")
    wm.trace.write(table, tmp_path / "t.parquet")
    again = wm.trace.read(tmp_path / "t.parquet")
    assert again.equals(table)
    assert wm.trace.about(again) == wm.trace.about(table)
    wm.trace.write(table, tmp_path / "t.csv")
    plain = wm.trace.read(tmp_path / "t.csv")
    for name in ("time_s", "cwnd", "rtt_s", "change"):
        assert plain.column(name).to_pylist() == table.column(name).to_pylist()


def test_a_trace_into_no_folder_is_refused_before_anything_is_sent(
    cli: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "none" / "t.parquet"
    told = cli("host", "send", "10.0.0.2", "--at", "nobody", "--trace", file)
    assert (told.code, told.err) == (2, f"error: {file}: no such folder\n")


@pytest.mark.parametrize("algorithm", ["rovegas", "muzha", "redvegas", "newreno"])
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_plot_draws_a_trace(
    cli: Cli, small: wm.Topology, tmp_path: Path, algorithm: str, suffix: str
) -> None:
    file = wm.trace.write(traced(small, algorithm), tmp_path / f"trace{suffix}")
    shown = cli("plot", file)
    assert shown.code == 0, shown.err
    assert shown.out == f"{tmp_path / 'trace.png'}\n"
    assert (tmp_path / "trace.png").read_bytes().startswith(PNG)
    assert cli("plot", file, "-o", tmp_path / "part.svg", "--from", 2, "--to", 3).code == 0
    assert b"<svg" in (tmp_path / "part.svg").read_bytes()


def test_the_same_trace_gives_the_same_picture(
    cli: Cli, small: wm.Topology, tmp_path: Path
) -> None:
    file = wm.trace.write(traced(small, "vegas"), tmp_path / "trace.parquet")
    pictures = [tmp_path / name for name in ("one.png", "two.png")]
    for picture in pictures:
        assert cli("plot", file, "-o", picture).code == 0
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


def test_plot_draws_a_replay_s_events(cli: Cli, tmp_path: Path) -> None:
    events = tmp_path / "events.csv"
    assert cli("replay", ROOT / "tests/replay/reno_onedrop.toml", "--out", events).code == 0
    shown = cli("plot", events)
    assert shown.code == 0, shown.err
    assert (tmp_path / "events.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("none.parquet", None, "no such file"),
        ("t.txt", "", "expected a name that ends in .parquet or .csv"),
        ("t.parquet", "not parquet", "t.parquet"),
        ("t.csv", "a,b\n1,2\n", "no column time_s"),
        ("t.csv", "time_s,cwnd\n1,2\n", "not a trace: no column change, ssthresh"),
        ("t.csv", "time_s,change,cwnd,ssthresh\n1,ack,two,3\n", "cwnd does not contain numbers"),
        ("t.csv", "time_s,b\n1,2\n", "neither a trace nor the events"),
        ("t.csv", "", "t.csv"),
    ],
)
def test_plot_says_what_it_cannot_draw(
    cli: Cli, tmp_path: Path, name: str, text: str | None, told: str
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    shown = cli("plot", tmp_path / name)
    assert shown.code == 2
    assert told in shown.err
    assert "Traceback" not in shown.err


def test_plot_says_what_it_cannot_write(cli: Cli, small: wm.Topology, tmp_path: Path) -> None:
    file = wm.trace.write(traced(small, "vegas"), tmp_path / "t.parquet")
    assert "ends in .png, .svg, .pdf" in cli("plot", file, "-o", tmp_path / "t.bmp").err
    assert "No such file" in cli("plot", file, "-o", tmp_path / "no" / "t.png").err
    assert "no row" in cli("plot", file, "--from", 1000).err


def test_run_leaves_traces_to_plot(cli: Cli, tmp_path: Path) -> None:
    shown = cli(
        "run", "chan/fig3.6", "--scale", "quick", "--seeds", 1, "--trace", "--out", tmp_path
    )
    assert shown.code == 0, shown.err
    file = tmp_path / "chan/fig3.6/trace/rovegas-flow0.parquet"
    assert str(file) in shown.out.replace("\n", "")
    assert wm.trace.about(wm.trace.read(file))["algorithm"] == "rovegas"
    assert cli("plot", file).code == 0
