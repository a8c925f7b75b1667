"""The command line, as a user runs it."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, Cli

from waymark import experiment

SCRIPTS = sorted((ROOT / "p4src" / "tests").glob("*.stf"))


def test_version(cli: Cli) -> None:
    assert re.fullmatch(r"waymark \d+\.\d+\.\d+\n", cli("--version").out)


def test_list_names_every_experiment_with_claim_and_cost(cli: Cli) -> None:
    shown = cli("list")
    assert shown.code == 0
    for file in (ROOT / "experiments").glob("*/fig*.py"):
        assert f"{file.parent.name}/{file.stem.replace('_', '.')}" in shown.out
    for one in experiment.everything():
        assert one.claim in shown.out
    assert "full: 5 runs, 1000 simulated s" in shown.out  # figure 3.4: five k of 200 s


def test_an_unknown_experiment_gets_a_suggestion(cli: Cli) -> None:
    shown = cli("run", "chan/fig36")
    assert shown.code == 2
    assert "no experiment 'chan/fig36'; did you mean chan/fig3.6" in shown.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run", "chan/fig3.6", "--scale", "huge"), "'huge' is not one of 'quick', 'full'"),
        (("run", "chan/fig3.6", "--jobs", "0"), "--jobs"),
        (("compile", "none.p4"), "none.p4: no such file"),
        (("compile", ROOT), "is a folder"),
        (("stf", ROOT / "p4src/v1model/plain.p4", "none.stf"), "none.stf: no such file"),
    ],
)
def test_what_cannot_be_done_is_reported(
    cli: Cli, arguments: tuple[object, ...], told: str
) -> None:
    shown = cli(*arguments)
    assert shown.code == 2
    assert told in shown.err
    assert "Traceback" not in shown.err


def test_a_results_folder_that_cannot_be_made_is_reported(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    shown = cli("run", "chan/fig3.4", "--out", tmp_path / "file")
    assert shown.code == 2
    assert "Not a directory" in shown.err


@pytest.mark.parametrize("main", ["plain", "aqt", "waymark"])
def test_p4info_is_written_as_the_golden_has_it(cli: Cli, main: str, tmp_path: Path) -> None:
    out = tmp_path / "out.txtpb"
    shown = cli("compile", ROOT / "p4src" / "v1model" / f"{main}.p4", "--p4info", out)
    assert shown.code == 0
    golden = ROOT / "p4src" / "p4info" / f"{main}.p4info.txtpb"
    assert out.read_text(encoding="utf-8") == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("main", ["plain", "aqt", "waymark"])
def test_the_project_s_programs_compile(cli: Cli, main: str) -> None:
    shown = cli("compile", ROOT / "p4src" / "v1model" / f"{main}.p4")
    assert shown.code == 0, shown.err
    assert "compiled" in shown.out
    assert shown.err == ""


PSA = ROOT / "crates" / "stf" / "tests" / "programs" / "psa.p4"
TOFINO = ROOT / "crates" / "stf" / "tests" / "programs" / "tna"


def test_a_psa_program_is_compiled_and_run(cli: Cli) -> None:
    shown = cli("compile", PSA)
    assert (shown.code, shown.err) == (0, "")
    shown = cli("stf", PSA, PSA.with_suffix(".stf"))
    assert shown.code == 0, shown.out
    assert "passed" in shown.out


@pytest.mark.parametrize("architecture", ["tna", "t2na"])
def test_a_tofino_program_is_compiled_and_run(cli: Cli, tmp_path: Path, architecture: str) -> None:
    program = TOFINO / f"{architecture}.p4"
    shown = cli("compile", program, "--p4info", tmp_path / "out.txtpb")
    assert (shown.code, shown.err) == (0, "")
    assert f'arch: "{architecture}"' in (tmp_path / "out.txtpb").read_text()
    shown = cli("stf", program, TOFINO / "paths.stf")
    assert shown.code == 0, shown.out
    assert "passed" in shown.out


def test_what_tofino_cannot_do_is_refused_unless_lifted(cli: Cli) -> None:
    tests = ROOT / "crates" / "tofino-rules" / "tests"
    program = tests / "err" / "range-key.p4"
    shown = cli("compile", program, "-I", tests)
    assert shown.code == 1
    assert "[range-key] Error: `hdr.v.a` is a range key of 32 bits" in shown.err
    assert "range-key.p4:7:" in shown.err
    assert "--no-target-rules" in shown.err
    errors = json.loads(cli("compile", program, "-I", tests, "--json").out)["errors"]
    assert errors == [{"file": str(program), "line": 7}]
    assert cli("switch", "--p4", program, "-I", tests).code == 1
    assert cli("compile", program, "-I", tests, "--no-target-rules").code == 0


OTHER = """
#include <core.p4>
control Block(inout bit<8> value);
package Other(Block block);
control Mine(inout bit<8> value) { apply { value = 1; } }
Other(Mine()) main;
"""


def test_a_program_for_another_architecture_is_compiled_but_not_run(
    cli: Cli, tmp_path: Path
) -> None:
    program = tmp_path / "other.p4"
    program.write_text(OTHER)
    shown = cli("compile", program)
    assert shown.code == 0
    assert "compiled" in shown.out
    refusal = "cannot run a program for the package `Other`; it runs programs for `V1Switch`"
    assert refusal in shown.err
    assert "`PSA_Switch`, the package of psa.p4" in shown.err
    assert refusal in json.loads(cli("compile", program, "--json").out)["refusal"]
    script = tmp_path / "empty.stf"
    script.write_text("")
    for command in (("stf", program, script), ("switch", "--p4", program)):
        shown = cli(*command)
        assert shown.code == 1
        assert refusal in shown.err


def test_dump_shows_the_typed_program(cli: Cli) -> None:
    shown = cli("compile", ROOT / "p4src" / "v1model" / "plain.p4", "--dump")
    assert shown.code == 0
    assert "ipv4_route" in shown.out


def test_an_error_in_a_program_is_shown_in_its_line(cli: Cli, tmp_path: Path) -> None:
    source = (ROOT / "p4src" / "v1model" / "plain.p4").read_text()
    broken = tmp_path / "broken.p4"
    broken.write_text(
        source.replace('"../', f'"{ROOT}/p4src/').replace("departure.apply", "departur.apply")
    )
    line = next(n for n, t in enumerate(broken.read_text().splitlines(), 1) if "departur.a" in t)
    shown = cli("compile", broken)
    assert shown.code == 1
    assert f"broken.p4:{line}:" in shown.err
    assert "departur.apply(meta.place, " in shown.err
    assert "Traceback" not in shown.err


def test_a_locale_without_greek_letters_is_accepted() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "waymark", "list"],
        cwd=ROOT,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"?" in done.stdout


def on_a_terminal(*arguments: object, **environ: str) -> str:
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "waymark", *map(str, arguments)]
    inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    fixed = {"WAYMARK_HOME": str(ROOT), "TERM": "xterm-256color"}
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=inherited | fixed | environ
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # EIO: the last writer has gone
        while read := os.read(ours, 4096):
            shown += read
    process.wait(timeout=60)
    os.close(ours)
    return shown.decode()


COLOUR = re.compile(r"\x1b\[[\d;]*(3[0-8]|4[0-8]|9[0-7]|10[0-7])[\d;]*m")


@pytest.mark.parametrize(
    "arguments",
    [
        ("compile", "{broken}"),
        ("stf", "{broken}", ROOT / "p4src/tests/plain-forwarding.stf"),
        ("compile", ROOT / "p4src/v1model/plain.p4"),
        ("run", "chan/fig2.2", "--scale", "quick", "--out", "{out}"),
        ("run", "chan/fig36"),
        ("run", "--help"),
        ("list", "--out", "{out}"),
    ],
)
def test_no_color_is_honoured(tmp_path: Path, arguments: tuple[object, ...]) -> None:
    """https://no-color.org."""
    broken = tmp_path / "broken.p4"
    broken.write_text("control C() { apply { x = 1; } }\n")
    given = [str(each).format(broken=broken, out=tmp_path / "out") for each in arguments]
    assert not COLOUR.search(on_a_terminal(*given, NO_COLOR="1"))
    assert not COLOUR.search(on_a_terminal(*given, TERM="dumb"))
    if "{broken}" in arguments:
        assert COLOUR.search(on_a_terminal(*given))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_the_project_s_packet_scripts_pass(cli: Cli, script: Path) -> None:
    main = ROOT / "p4src" / "v1model" / f"{script.stem.partition('-')[0]}.p4"
    shown = cli("stf", main, script)
    assert shown.code == 0, shown.out + shown.err
    assert "passed" in shown.out


def test_a_packet_other_than_expected_is_reported_with_its_line(cli: Cli, tmp_path: Path) -> None:
    lines = (ROOT / "p4src" / "tests" / "plain-forwarding.stf").read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("expect"))
    head, port, octets = lines[at].split(" ", 2)
    lines[at] = f"{head} {int(port) + 1} {octets}"
    script = tmp_path / "wrong.stf"
    script.write_text("\n".join(lines) + "\n")
    shown = cli("stf", ROOT / "p4src" / "v1model" / "plain.p4", script)
    assert shown.code == 1
    assert f"{at + 1}" in shown.out
    assert "FAILED" in shown.out


def is_alive(group: int) -> bool:
    """Whether a process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_a_run_and_its_workers(tmp_path: Path, sign: signal.Signals) -> None:
    command = [sys.executable, "-m", "waymark", "run", "chan/fig3.7", "--out", str(tmp_path)]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"WAYMARK_HOME": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    try:
        process.stderr.readline()  # it has begun
        time.sleep(1)
        process.send_signal(sign)
        _, shown = process.communicate(timeout=30)
        deadline = time.monotonic() + 20
        while is_alive(process.pid) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not is_alive(process.pid)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert "interrupted" in shown
    assert "Traceback" not in shown
