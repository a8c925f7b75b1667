"""Judging by a corpus: a little one of our own, laid out as p4c's."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from conftest import ROOT, Cli

from waymark import isolated

CORPUS = ROOT / "tests" / "corpus"


def test_scripts_are_run_and_failures_reported(cli: Cli) -> None:
    shown = cli("stf", "--corpus", CORPUS, "--jobs", "2")
    assert shown.code == 1
    lines = shown.out.splitlines()
    assert lines[0] == "differs: failed: line 3: the packet at port 3 differs"
    assert lines[1].startswith("refused: failed: [unknown-name] Error")
    assert lines[2:] == ["2 passed, 2 failed, 0 skipped"]


def test_a_glob_picks_programs_and_all_passing_is_success(cli: Cli) -> None:
    shown = cli("stf", "--corpus", CORPUS / "p4_16_samples", "--match", "for*")
    assert (shown.code, shown.out) == (0, "1 passed, 0 failed, 0 skipped\n")


def test_strict_compares_ports_that_the_script_does_not_name(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "p4_16_samples"
    folder.mkdir()
    shutil.copy(CORPUS / "p4_16_samples" / "forward.p4", folder)
    script = folder / "forward.stf"
    script.write_text("add route hdr.frame.to:0x10/4 send(port:3)\npacket 1 12 05\n")
    assert cli("stf", folder / "forward.p4", script).code == 0
    shown = cli("stf", folder / "forward.p4", script, "--strict")
    assert shown.code == 1
    assert "unexpected packet at port 3" in shown.out
    assert cli("stf", "--corpus", tmp_path).code == 0
    assert cli("stf", "--corpus", tmp_path, "--strict").code == 1


def test_compiling_counts_samples_and_errors(cli: Cli) -> None:
    shown = cli("compile", "--corpus", CORPUS)
    assert shown.code == 1
    lines = shown.out.splitlines()
    assert lines[0].startswith("refused: failed: [unknown-name]")
    assert lines[1] == "v1model and PSA programs compiled: 3 passed, 1 failed, 0 skipped"
    assert lines[2].startswith("elsewhere: failed: rejected at line 3, by p4c at line 1: [unknown-")
    assert lines[3] == "fine: failed: accepted; p4c rejects it at line 1"
    assert lines[4].startswith("places: failed: rejected at line 2, by p4c at line 1: [duplicate-")
    assert lines[5].startswith("warnings: failed: rejected at line 3, by p4c at line 1: [unknown-")
    assert (
        lines[6]
        == "programs that p4c rejects, rejected at the same line: 2 passed, 4 failed, 0 skipped"
    )


def test_only_the_folder_of_errors(cli: Cli) -> None:
    shown = cli("compile", "--corpus", CORPUS / "p4_16_errors", "--match", "named")
    assert shown.code == 0
    expected = (
        "programs that p4c rejects, rejected at the same line: 1 passed, 0 failed, 0 skipped\n"
    )
    assert shown.out == expected


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("stf", "--corpus", "/nowhere/at/all"), "no such folder"),
        (("stf", "--corpus", CORPUS, "--match", "none*"), "found no program of the corpus"),
        (("stf", "x.p4", "--corpus", CORPUS), "no program is expected with --corpus"),
        (("stf",), "no F.stf: expected a file"),
        (("compile",), "no F.p4: expected a file"),
        (("stf", "--corpus", CORPUS, "--trace"), "expected one script, not --corpus"),
    ],
)
def test_what_cannot_be_done_is_reported(
    cli: Cli, arguments: tuple[object, ...], told: str
) -> None:
    shown = cli(*arguments)
    assert shown.code == 2
    assert told in shown.err


def test_via_p4c_says_that_it_needs_p4c(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    shown = cli("stf", "--corpus", CORPUS, "--via", "p4c")
    assert shown.code == 2
    assert "--via p4c needs p4c: no p4c-bm2-ss on PATH" in shown.err


@pytest.mark.skipif(not shutil.which("p4c-bm2-ss"), reason="p4c-bm2-ss is not on PATH")
def test_a_corpus_runs_through_p4c(cli: Cli) -> None:
    shown = cli("stf", "--corpus", CORPUS, "--via", "p4c", "--match", "[df]*")
    lines = shown.out.splitlines()
    assert lines[0] == "differs: failed: line 3: the packet at port 3 differs"
    assert lines[1:] == ["1 passed, 1 failed, 0 skipped"]


def test_a_device_configuration_runs_unchanged(cli: Cli) -> None:
    folder = ROOT / "crates" / "bmv2-json" / "tests" / "config"
    assert cli("stf", folder / "relay.json", folder / "relay.stf").code == 0
    dump = cli("compile", folder / "relay.json", "--dump")
    assert dump.code == 0
    assert "table Relaying.by_kind" in dump.out


def test_a_wrong_configuration_is_refused_with_its_place(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "wrong.json").write_text('{"errors": [["NoError", "0"]]}')
    shown = cli("compile", tmp_path / "wrong.json")
    assert shown.code == 1
    assert "wrong.json: errors[0][1]: expected a number" in shown.err


def _job(task: str) -> str:
    if task == "sleeps":
        time.sleep(30)
    if task == "dies":
        os._exit(3)
    if task == "raises":
        raise ValueError("no such thing")
    return task.upper()


def test_jobs_that_hang_die_or_raise_do_not_stop_the_others() -> None:
    tasks = ["a", "sleeps", "dies", "raises", "b"]
    done = dict(isolated.each(_job, tasks, jobs=3, limit_s=1))
    assert list(done) == tasks
    assert (done["a"], done["b"]) == ("A", "B")
    assert done["sleeps"] == isolated.Lost("not done after 1 s")
    assert done["dies"] == isolated.Lost("the process ended with 3")
    assert done["raises"] == isolated.Lost("ValueError: no such thing")
