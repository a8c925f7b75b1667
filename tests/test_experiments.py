"""Experiments at quick scale: what they leave behind, and the papers' orderings."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Cli, Golden
from rich.console import Console

from waymark import Row, Scenario, WaymarkError, experiment
from waymark.report import COLUMNS, read_table, terminal_table
from waymark.tables import digits

LEFT_BEHIND = {"table.csv", "plot.png", "plot.svg", "run.json"}


RANDOM_LOSS = {"chan/fig6.4", "chan/fig6.5", "chan/fig6.6", "chan/fig6.7", "chan/tab6.1"}
"""A minute of these says nothing: the papers' ten hours are an hour at full scale."""

DRAWN = {"beyond/fig6", "today/fig7"}
"""The first ten of two hundred networks, or a millisecond's flows, say little about the others."""


@pytest.mark.parametrize("one", experiment.everything(), ids=lambda e: e.id)
def test_an_experiment_leaves_a_table_pictures_and_a_record(
    one: experiment.Experiment, quick_run: Path
) -> None:
    folder = quick_run / one.id
    assert {path.name for path in folder.iterdir()} == LEFT_BEHIND
    with (folder / "table.csv").open() as file:
        table = list(csv.DictReader(file))
    assert list(table[0]) == list(COLUMNS)
    quantities = [row["quantity"] for row in table]
    assert len(set(quantities)) == len(quantities)
    record = json.loads((folder / "run.json").read_text())
    assert record["seeds"] == list(range(1, one.seeds["quick"] + 1))
    assert set(record["program_sha256"]) & {"v1model/waymark.p4", "v1model/l4s.p4"}
    assert record["packets"] > 0
    assert record["expectations"], "an experiment without a claim shows nothing"
    claims = {e["claim"]: e["holds"] for e in record["expectations"]}
    if one.id not in RANDOM_LOSS | DRAWN:
        assert any(claims.values()), claims


@pytest.mark.parametrize("one", experiment.everything(), ids=lambda e: e.id)
def test_a_table_shows_each_number_whole_at_80_columns(
    one: experiment.Experiment, quick_run: Path
) -> None:
    rows = read_table(quick_run / one.id / "table.csv")
    console = Console(width=80, color_system=None)
    with console.capture() as capture:
        console.print(terminal_table(one, rows))
    shown = capture.get()
    words = shown.split()
    for row in rows:
        for number in (row.paper, row.ns2, row.waymark, row.waymark_sd):
            assert number is None or digits(number) in words
    assert max(map(len, shown.splitlines())) <= 80


def test_one_experiment_shows_its_table_and_files(cli: Cli, tmp_path: Path) -> None:
    shown = cli("run", "chan/fig2.2", "--scale", "quick", "--out", tmp_path)
    assert shown.code == 0, shown.err
    for name in LEFT_BEHIND:
        assert str(tmp_path / "chan/fig2.2" / name) in shown.out
    assert "Vegas, timeouts" in shown.out
    assert "PASS: Vegas' window is stable" in shown.out
    record = json.loads((tmp_path / "chan/fig2.2/run.json").read_text())
    expected = ["run", "chan/fig2.2", "--scale", "quick", "--out", str(tmp_path)]
    assert record["command"][1:] == expected


def test_an_experiment_that_fails_does_not_end_the_others(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def odd(_: experiment.Runs) -> list[Row]:
        raise ZeroDivisionError("no packet got through")

    broken = experiment.find("chan/fig2.2")
    module = sys.modules["experiments.chan.fig2_2"]
    monkeypatch.setattr(module, "EXPERIMENT", replace(broken, rows=odd))
    arguments = ("--scale", "quick", "--out", tmp_path)
    several = cli("run", "chan/fig2.2", "srijith/tab1", *arguments)
    assert several.code == 1
    assert "chan/fig2.2 failed, the others continue: no packet got through" in several.err
    assert "failed: chan/fig2.2" in several.err
    assert (tmp_path / "srijith/tab1/run.json").exists()
    assert "srijith/tab1" in several.out
    with pytest.raises(ZeroDivisionError):
        cli("run", "chan/fig2.2", *arguments)


def refuting(claim_variant: str, holds: bool | None) -> experiment.Experiment:
    """An experiment with one more claim."""
    claim = experiment.Expectation("pigs fly", "none does", lambda _: holds, claim_variant)
    one = experiment.find("chan/fig2.2")
    return replace(one, expectations=(*one.expectations, claim))


@pytest.mark.parametrize(
    ("variant", "holds", "code"), [("", False, 1), ("", None, 0), ("with wings", False, 0)]
)
def test_check_fails_where_a_claim_of_the_paper_s_setting_fails(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    variant: str,
    holds: bool | None,
    code: int,
) -> None:
    module = sys.modules["experiments.chan.fig2_2"]
    monkeypatch.setattr(module, "EXPERIMENT", refuting(variant, holds))
    arguments = ("run", "chan/fig2.2", "--scale", "quick", "--out", tmp_path)
    assert cli(*arguments).code == 0
    shown = cli(*arguments, "--check")
    assert shown.code == code
    assert ("chan/fig2.2: FAIL: pigs fly (criterion: none does)" in shown.err) == (code == 1)
    several = cli(*arguments, "srijith/tab1", "--check")
    assert ("chan/fig2.2: FAIL: pigs fly" in several.err) == (code == 1)


def listed(shown: str) -> list[str]:
    return [line.split()[0] for line in shown.splitlines() if not line.startswith(" ")]


def test_list_filters_by_id_paper_and_verdict(cli: Cli, tmp_path: Path) -> None:
    out = ("--out", tmp_path)
    assert listed(cli("list", "chan/fig3.[67]", *out).out) == ["chan/fig3.6", "chan/fig3.7"]
    srijith = listed(cli("list", "--paper", "srijith", *out).out)
    assert "srijith/tab1" in srijith
    assert all(one.startswith("srijith/") for one in srijith)
    assert listed(cli("list", "--paper", "dahal 2007", "*/tab5.1", *out).out) == ["dahal/tab5.1"]
    folder = tmp_path / "chan" / "fig3.6"
    folder.mkdir(parents=True)
    record = {"verdict": "partly", "scale": "quick", "seeds": [1]}
    (folder / "run.json").write_text(json.dumps(record))
    assert listed(cli("list", "--verdict", "partly", *out).out) == ["chan/fig3.6"]
    assert "chan/fig3.6" not in listed(cli("list", "--verdict", "not run", *out).out)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--paper", "srijth"), "--paper srijth: no experiment; did you mean srijith?"),
        (("--verdict", "measured"), "no experiment with verdict measured in"),
        (("--verdict", "good"), "'good' is not one of 'reproduced', 'partly'"),
        (("chan/fig36",), "did you mean chan/fig3.6"),
    ],
)
def test_a_filter_that_leaves_nothing_says_what_is_valid(
    cli: Cli, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    shown = cli("list", *arguments, "--out", tmp_path)
    assert shown.code == 2
    assert told in shown.err


def test_list_and_run_print_json(cli: Cli, tmp_path: Path) -> None:
    out = ("--out", tmp_path, "--json")
    (listed,) = json.loads(cli("list", "chan/fig2.2", *out).out)
    assert (listed["id"], listed["verdict"]) == ("chan/fig2.2", "not run")
    assert listed["cost"]["quick"]["runs"] > 0
    (ran,) = json.loads(cli("run", "chan/fig2.2", "--scale", "quick", *out).out)
    assert ran["id"] == "chan/fig2.2"
    assert ran["expectations"]
    assert {row["quantity"] for row in ran["rows"]} >= {"Vegas, timeouts"}
    assert {Path(file).name for file in ran["files"]} == LEFT_BEHIND
    (listed,) = json.loads(cli("list", "chan/fig2.2", *out).out)
    assert listed["verdict"] == ran["verdict"]
    several = json.loads(cli("run", "chan/fig2.2", "srijith/tab1", "--scale", "quick", *out).out)
    assert [one["id"] for one in several] == ["chan/fig2.2", "srijith/tab1"]


OUTSIDE = ("<script", "<link", 'src="http', "@import")


def test_the_page_has_every_experiment_and_loads_pictures_beside_it(
    cli: Cli, quick_run: Path
) -> None:
    assert cli("report", "--out", quick_run).code == 0
    page = (quick_run / "report.html").read_text()
    for one in experiment.everything():
        assert f">{one.id}<" in page
        assert f'src="{one.id}/plot.png"' in page
    assert page.count('loading="lazy"') == len(experiment.everything())
    assert len(page) < 1_500_000
    assert not [word for word in OUTSIDE if word in page]


def test_an_embedding_page_needs_no_other_file(cli: Cli, quick_run: Path, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    assert cli("report", "--out", quick_run, "--html", file, "--embed").code == 0
    page = file.read_text()
    assert page.count("data:image/png;base64,") == len(experiment.everything())
    assert not [word for word in OUTSIDE if word in page]


def test_a_report_of_nothing_is_an_error(cli: Cli, tmp_path: Path) -> None:
    shown = cli("report", "--out", tmp_path / "empty")
    assert shown.code == 2
    assert "no results; first run: waymark run ID" in shown.err
    assert not (tmp_path / "empty").exists()


def test_an_experiment_is_found_by_any_of_its_figures() -> None:
    assert experiment.find("chan/tab5.3").id == "chan/tab5.1"
    assert [one.id for one in experiment.select(["srijith/tab[12]", "chan/fig2.3"])] == [
        "chan/fig2.2",
        "srijith/tab1",
        "srijith/tab2",
    ]
    with pytest.raises(WaymarkError, match="no experiment matches"):
        experiment.select(["chan/nothing*"])


def test_every_experiment_has_three_scales() -> None:
    for one in experiment.everything():
        quick, full, paper = (one.cost(scale) for scale in ("quick", "full", "paper"))
        assert quick[1] <= full[1]
        assert paper[0] <= full[0]


def test_the_file_of_costs_has_what_the_scenarios_cost(golden: Golden) -> None:
    made = experiment.costs_text()
    assert golden(experiment.costs_path(), made) == made


def test_the_list_builds_no_scenario(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def built(*_: object) -> None:
        raise AssertionError("a scenario is built")

    monkeypatch.setattr(Scenario, "__post_init__", built)
    for arguments in ((), ("--json",)):
        shown = cli("list", *arguments)
        assert shown.code == 0, shown.err
        assert "chan/fig3.6" in shown.out


def test_the_same_command_gives_the_same_octets(cli: Cli, tmp_path: Path) -> None:
    for name, jobs in (("first", 1), ("second", 2)):
        arguments = ("--scale", "quick", "--seeds", 2, "--jobs", jobs, "--out", tmp_path / name)
        assert cli("run", "chan/fig3.6", *arguments).code == 0
    for name in ("table.csv", "plot.png", "plot.svg"):
        first, second = (tmp_path / run / "chan/fig3.6" / name for run in ("first", "second"))
        assert first.read_bytes() == second.read_bytes(), name


def test_another_seed_gives_other_traffic(cli: Cli, tmp_path: Path) -> None:
    tables: list[str] = []
    for seed in (1, 2):
        arguments = (
            "--scale",
            "quick",
            "--seeds",
            1,
            "--seed",
            seed,
            "--out",
            tmp_path / str(seed),
        )
        assert cli("run", "chan/fig3.6", *arguments).code == 0
        tables.append((tmp_path / str(seed) / "chan/fig3.6" / "table.csv").read_text())
    assert tables[0] != tables[1]


def test_a_row_agrees_with_ns2_within_5_percent_or_the_range_of_the_seeds() -> None:
    assert Row.of("q", "1", [104.0], ns2=100).agrees_with_ns2
    assert not Row.of("q", "1", [106.0], ns2=100).agrees_with_ns2
    assert Row.of("q", "1", [90.0, 130.0], ns2=100).agrees_with_ns2
    assert Row.of("q", "1", [90.0, 130.0]).agrees_with_ns2 is None


def test_ratio_is_to_the_paper_and_else_to_ns2() -> None:
    assert Row("q", "1", 2, 4, 3).ratio == 1.5
    assert Row("q", "1", None, 4, 3).ratio == 0.75
    assert Row("q", "1", None, None, 3).ratio is None


@pytest.mark.parametrize("figure", ["6.4", "6.5", "6.6", "6.7"])
def test_chapter_6_is_judged_with_packets_of_one_size(figure: str) -> None:
    runs = experiment.find(f"chan/fig{figure}").scenarios("full", 1)
    judged = [run for label, run in runs.items() if label.split(",")[0] in ("Reno", "Vegas")]
    assert judged
    for run in judged:
        assert run.flows[0].profile.packet_octets == 1000
        assert all(source.packet_octets == 1000 for source in run.sources)
