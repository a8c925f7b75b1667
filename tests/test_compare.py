"""``waymark compare``: its numbers are those of the runs, and bad requests are refused."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Cli

import waymark as wm
from waymark.comparison import compare
from waymark.dual_pi2 import DualPi2

NETWORK = """\
hosts: {a: {}, b: {}, c: {}, d: {}}
switches: {r1: {}, r2: {}}
links:
  - {ends: [a, r1], rate: 10 Mb/s, delay: 1 ms}
  - {ends: [r1, r2], rate: 1.6 Mb/s, delay: 20 ms, queue: 10}
  - {ends: [r2, b], rate: 10 Mb/s, delay: 1 ms}
  - {ends: [c, r1], rate: 10 Mb/s, delay: 1 ms}
  - {ends: [r2, d], rate: 10 Mb/s, delay: 1 ms}
"""

CONTROL = """\
import waymark as wm


class Fixed(wm.CongestionControl):
    def on_start(self, limits):
        super().on_start(limits)
        self.cwnd = 4
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a topology and a control, as the working directory."""
    (tmp_path / "net.yaml").write_text(NETWORK)
    (tmp_path / "fixed.py").write_text(CONTROL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as opened:
        return list(csv.DictReader(opened))


def test_the_numbers_are_those_of_the_runs(cli: Cli, folder: Path) -> None:
    words = ("--topology", "net.yaml", "--seconds", "6 s", "--load", 0.5, "--seeds", 2)
    shown = cli("compare", "vegas", "reno", "fixed.py", *words, "--jobs", 2, "--out", "out")
    assert shown.code == 0, shown.err
    found = rows(folder / "out" / "compare" / "net" / "runs.csv")
    assert [(row["control"], row["seed"]) for row in found] == [
        (control, seed) for control in ("vegas", "reno", "Fixed") for seed in "12"
    ]
    flow = wm.Flow("a", "b", "reno", trace=True)
    cross = wm.OnOff.for_load(*("c", "d"), load=0.5, link_bps=1.6e6, rate_bps=3.2e6, mean_on_s=0.01)
    network = wm.Topology.load("net.yaml")
    run = wm.run(wm.Scenario("reno", network, 6.0, (flow,), (cross,), seed=2, sample_s=0.01))
    reno = {name: float(value) for name, value in list(found[3].items())[2:]}
    assert reno["throughput_kbps"] == pytest.approx(run.throughput_bps(0, 1, 6) / 1e3, rel=1e-5)
    assert reno["queue_mean"] == pytest.approx(run.mean_waiting("r1->r2", 1, 6), rel=1e-5)
    waiting = run.queues["r1->r2"].waiting[100:]
    assert reno["queue_p99"] == pytest.approx(np.percentile(waiting, 99), rel=1e-5)
    trace = run.flows[0].trace
    assert trace is not None
    rtts = trace.rtt_s[(trace.time_s >= 1) & ~np.isnan(trace.rtt_s)] * 1e3
    assert reno["rtt_p50_ms"] == pytest.approx(np.percentile(rtts, 50), rel=1e-5)
    assert reno["rtt_p99_ms"] == pytest.approx(np.percentile(rtts, 99), rel=1e-5)
    losses = 100 * run.flows[0].losses / run.flows[0].sent.sum()
    assert reno["loss_percent"] == pytest.approx(losses, rel=1e-5)
    assert losses > 0


@pytest.mark.usefixtures("folder")
def test_a_flow_without_a_round_trip_time_has_none(cli: Cli) -> None:
    words = ("--topology", "net.yaml", "--seconds", 0.1, "--from", 0.07, "--seeds", 2, "--jobs", 1)
    shown = cli("compare", "vegas", *words)
    assert shown.code == 0, shown.err
    assert "–" in shown.out
    assert "nan" not in shown.out

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    record = Path("results/compare/net/run.json").read_text()
    written = json.loads(record, parse_constant=refuse)["rows"]
    assert None in [row["waymark"] for row in written]
    assert cli("report").code == 0
    printed = json.loads(cli("compare", "vegas", *words, "--json").out, parse_constant=refuse)
    assert [run["rtt_p50_ms"] for run in printed["runs"]] == [None, None]


@pytest.mark.parametrize(
    ("beta", "told"),
    [
        ("beta=1 / 0", "error: fixed.py:"),
        ("beta", "error: Fixed: missing a required argument: 'beta'; expected a control that is"),
    ],
)
def test_a_control_that_cannot_be_made_is_reported(
    cli: Cli, folder: Path, beta: str, told: str
) -> None:
    name, _, default = beta.partition("=")
    made = (
        f"    def __init__(self, {name}{'=0' if default else ''}):\n        {default or 'pass'}\n"
    )
    (folder / "fixed.py").write_text(CONTROL.replace("    def on_start", made + "    def on_start"))
    shown = cli("compare", "fixed.py", "--topology", "net.yaml")
    assert (shown.code, shown.err.startswith(told)) == (2, True), shown.err
    flow = "flows: [{from: a, to: b, control: fixed.py}]"
    (folder / "s.yaml").write_text(f"topology: net.yaml\nseconds: 1\n{flow}\n")
    shown = cli("run", "./s.yaml")
    assert (shown.code, told.removeprefix("error: ") in shown.err) == (2, True), shown.err


def test_it_leaves_table_picture_and_record_and_is_in_the_report(cli: Cli, folder: Path) -> None:
    words = ("compare", "vegas", "reno", "--topology", "net.yaml", "--seconds", 3)
    flows = ("--flow", "a:b", "--flow", "c:d")
    shown = cli(*words, *flows, "--jobs", 1)
    assert shown.code == 0, shown.err
    assert "compare/net: 2 of 2 runs" in shown.err  # nothing is random: one seed
    assert "Jain" in shown.out
    assert "Flows: a to b, c to d; queue of r1->r2 (1.6 Mb/s, limit 10)" in " ".join(
        shown.out.split()
    )
    results = folder / "results" / "compare" / "net"
    names = {file.name for file in results.iterdir()}
    assert names == {"table.csv", "runs.csv", "plot.png", "plot.svg", "run.json"}
    record = json.loads((results / "run.json").read_text())
    assert record["parameters"]["flows"] == ["a:b", "c:d"]
    assert record["parameters"]["profile"] == {"ns2": asdict(wm.STOCK)}
    kept = [file.stat().st_mtime_ns for file in (folder / "results" / ".runs").rglob("*.npz")]
    assert len(kept) == 2
    assert cli(*words, *flows, "--jobs", 1).code == 0
    assert cli("report").code == 0
    assert "Comparison on net" in (folder / "results" / "report.html").read_text()
    again = [file.stat().st_mtime_ns for file in (folder / "results" / ".runs").rglob("*.npz")]
    assert sorted(again) == sorted(kept)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("vegsa",), "control: found 'vegsa'; did you mean vegas"),
        (("vegas", "vegas"), "control vegas: given twice"),
        (("bbr",), "bbr: needs --profile modern"),
        (("fixed.py:Fixd",), "fixed.py: no control 'Fixd'; did you mean Fixed? valid: Fixed"),
        (("none.py",), "none.py: no such file"),
        (("vegas", "--flow", "a:z"), "net has no host 'z'; valid: a, b, c, d"),
        (("vegas", "--flow", "a"), "--flow a: expected FROM:TO, such as s1:d1"),
        (("vegas", "--link", "a:b"), "no link a->b; links: a->r1"),
        (("vegas", "--load", 2.5), "load 2.5: expected 0 to 2"),
        (("vegas", "--from", 70), "measuring from 70 s: expected 0 to less than 60 s"),
        (("vegas", "--load", 1, "--flow", "a:b", "--flow", "c:d"), "--cross HOST:HOST is needed"),
        (("vegas", "--topology", "nte"), "no such file or topology; valid: bottleneck, dahal"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_compared_is_reported(
    cli: Cli, words: tuple[object, ...], told: str
) -> None:
    shown = cli("compare", "--topology", "net.yaml", *words)
    assert shown.code == 2
    assert told in shown.err


@pytest.mark.usefixtures("folder")
def test_marks_that_nobody_writes_are_reported(cli: Cli) -> None:
    words = ("--topology", "net.yaml", "--seconds", 1, "--jobs", 1)
    shown = cli("compare", "muzha", "rovegas", *words)
    assert shown.code == 0
    assert "muzha reads drai, which no switch of net writes: add --feedback aqt,drai\n" in shown.err
    assert "rovegas reads" not in shown.err
    shown = cli("compare", "muzha", "rovegas", *words, "--feedback", "aqt, drai")
    assert shown.code == 0
    assert "reads" not in shown.err


@pytest.mark.usefixtures("folder")
def test_a_mark_of_no_switch_is_refused(cli: Cli) -> None:
    shown = cli("compare", "muzha", "--topology", "net.yaml", "--feedback", "aqt,ecn")
    assert shown.code == 2
    assert "unknown feedback 'ecn' (valid: aqt, drai, ci)" in shown.err


@pytest.mark.parametrize(
    ("control", "wanted"),
    [
        ("dctcp", "ecn: PACKETS to its links, and program: v1model/ecn.p4"),
        ("nscc", "ecn: PACKETS to its links, and program: v1model/trim.p4"),
        ("prague", "dual_pi2: {} to its links, and program: v1model/l4s.p4"),
    ],
)
def test_what_sets_ecn_marks_follows_from_the_control(
    folder: Path, control: wm.Algorithm, wanted: str
) -> None:
    net = wm.Topology.load(folder / "net.yaml")
    (told,) = compare("net", net, {control: control}, profile=wm.MODERN).missing_marks()
    assert f"add {wanted} to its switches" in told


def test_links_with_dual_pi2_set_ecn_marks(folder: Path) -> None:
    net = wm.Topology.load(folder / "net.yaml").with_program("v1model/l4s.p4")
    net = net.with_link("r1", "r2", dual_pi2=DualPi2())
    comparison = compare("net", net, {"prague": "prague"}, profile=wm.MODERN)
    assert not list(comparison.missing_marks())


PEAK = ROOT / "examples" / "peak.p4"


@pytest.mark.parametrize(
    ("program", "warned"), [("", True), ("v1model/waymark.p4", True), (str(PEAK), False)]
)
def test_a_declared_mark_that_no_switch_writes_is_warned_of(
    cli: Cli, folder: Path, program: str, warned: bool
) -> None:
    if program:
        network = NETWORK.replace("r2: {}", f"r2: {{program: {program}}}")
        (folder / "net.yaml").write_text(network)
    control = PEAK.with_suffix(".py")
    words = ("--topology", "net.yaml", "--seconds", "1 s", "--seeds", 1, "--jobs", 1)
    shown = cli("compare", f"{control}:Shallow", *words)
    assert shown.code == 0, shown.err
    sentence = (
        "warning: Shallow reads peak, which no switch of net writes: no program has a header with "
        "its fields or its option type, 0x9e; add program: FILE.p4 to its switches\n"
    )
    assert (sentence in shown.err) == warned
