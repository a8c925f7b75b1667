"""Processes that run scenarios, and what a command does when they, its reader or its disk fail."""

from __future__ import annotations

import os
import pickle
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from waymark import Flow, Scenario, Topology

COMMAND = (sys.executable, "-m", "waymark")
QUICK = ("run", "chan/fig2.2", "--scale", "quick")

SCRIPT = """\
import os, signal, sys, time
from waymark import Cbr, Host, Scenario, Switch, Topology, WaymarkError, duplex, run_all
from waymark.congestion import CongestionControl
from waymark import Flow

class Own(CongestionControl):
    def on_start(self, limits):
        super().on_start(limits)
        {on_start}

{main}
    network = Topology(
        hosts=(Host("a"), Host("b")),
        switches=(Switch("r", "v1model/plain.p4"),),
        links=(*duplex("a", "r", 10e6, 0.001), *duplex("r", "b", 1.6e6, 0.02)),
    )
    runs = [
        Scenario("one", network, 2, seed=seed, flows=(Flow("a", "b", Own),)) for seed in range(3)
    ]
    try:
        print(len(run_all(runs, jobs=2)), "results")
    except WaymarkError as error:
        sys.exit(f"error: {{error}}")
"""


def ran(script: Path, text: str, *, environ: dict[str, str] | None = None) -> tuple[int, str, str]:
    """Exit code, output and errors of a script, which has a minute."""
    script.write_text(text)
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"WAYMARK_HOME": str(ROOT)} | (environ or {}),
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def text(main: str = 'if __name__ == "__main__":', on_start: str = "pass") -> str:
    return SCRIPT.format(main=main, on_start=on_start)


def test_a_worker_runs_what_the_main_module_defines(tmp_path: Path) -> None:
    assert ran(tmp_path / "own.py", text()) == (0, "3 results\n", "")


def test_workers_that_cannot_start_fail_the_run_with_their_error(tmp_path: Path) -> None:
    guard = 'if __name__ != "__main__":\n    import no_such_module\nelse:'
    code, out, err = ran(tmp_path / "own.py", text(guard))
    assert (code, out) == (1, "")
    told = "exit code 1: ModuleNotFoundError: No module named 'no_such_module'"
    assert err == f"error: a worker cannot start ({told})\n"


def test_workers_start_no_workers(tmp_path: Path) -> None:
    """A script that runs scenarios when it is imported would start processes without end."""
    code, out, err = ran(tmp_path / "own.py", text("if True:"))
    assert (code, out) == (1, "")
    assert "a worker cannot start workers" in err
    assert 'under if __name__ == "__main__":' in err


def test_a_worker_that_is_killed_fails_its_run(tmp_path: Path) -> None:
    code, out, err = ran(tmp_path / "own.py", text(on_start="os.kill(os.getpid(), signal.SIGKILL)"))
    assert (code, out) == (1, "")
    assert err == "error: a worker ended before its run did (SIGKILL)\n"


def test_what_a_worker_writes_to_its_standard_error_is_shown(tmp_path: Path) -> None:
    code, out, err = ran(tmp_path / "own.py", text(on_start=r"sys.stderr.write('here\n')"))
    assert (code, out) == (0, "3 results\n")
    assert err == "here\n" * 3


def test_a_run_in_another_checkout_takes_this_package(tmp_path: Path) -> None:
    """Its experiments and P4 programs, run by the command and the core that was started."""
    for folder in ("p4src", "experiments", "topologies"):
        shutil.copytree(ROOT / folder, tmp_path / "other" / folder)
    (tmp_path / "other/waymark").mkdir()
    (tmp_path / "other/waymark/__init__.py").write_text("raise ImportError('another checkout')\n")
    command = [sys.executable, "-c", "from waymark.cli import main; main()", *QUICK]
    environ = {key: value for key, value in os.environ.items() if key != "WAYMARK_HOME"}
    done = subprocess.run(
        [command[0], "-P", *command[1:], "--out", tmp_path / "results"],
        cwd=tmp_path / "other",
        capture_output=True,
        text=True,
        timeout=120,
        env=environ,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results/chan/fig2.2/table.csv").exists()


@pytest.mark.parametrize("both", ["", "2>&1"])
def test_a_reader_that_leaves_does_not_stop_the_run(tmp_path: Path, both: str) -> None:
    command = f"{' '.join((*COMMAND, *QUICK, '--out', str(tmp_path)))} {both} | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert (tmp_path / "chan/fig2.2/run.json").exists()


@pytest.mark.parametrize("command", ["list", "controls"])
def test_a_reader_that_is_not_there_is_no_failure(command: str) -> None:
    """Also if a print finds the pipe closed, for which click exits with 1."""
    reader, writer = os.pipe()
    os.close(reader)
    words = [*COMMAND, command]
    done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def limited(octets: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A command whose files can have this many octets; more is refused as on a full disk."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (octets, octets)),
        check=False,
    )


def test_a_full_disk_is_reported_in_one_line(tmp_path: Path) -> None:
    """That of kept runs, of tables, of pictures, of captures."""
    kept = limited(100, *QUICK, "--out", tmp_path / "kept")
    assert kept.returncode == 2
    assert kept.stderr.splitlines()[-1].startswith(f"error: {tmp_path}/kept/.runs/")
    assert kept.stderr.endswith(".npz: File too large\n")
    assert not [path for path in (tmp_path / "kept/.runs").rglob("*") if path.is_file()]

    assert limited(1 << 24, *QUICK, "--out", tmp_path / "table").returncode == 0
    for limit, file in ((50, "table.csv"), (4096, "plot.png")):
        table = limited(limit, *QUICK, "--out", tmp_path / "table")
        assert table.returncode == 2
        assert table.stderr.endswith(
            f"error: {tmp_path}/table/chan/fig2.2/{file}: File too large\n"
        )
        assert "Traceback" not in table.stderr

    captured = limited(4096, *QUICK, "--again", "--pcap", "--out", tmp_path / "captured")
    assert captured.returncode == 2
    assert f"{tmp_path}/captured/chan/fig2.2/pcap/" in captured.stderr
    assert "File too large" in captured.stderr
    assert "Traceback" not in captured.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_an_output_that_cannot_be_written_is_reported_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "list"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "error: output: No space left on device\n"


def test_a_list_whose_reader_leaves_ends_quietly() -> None:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {' '.join(COMMAND)} list | head -1 | cat"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in (0, 1)  # head may have left before or after the list was written
    assert done.stderr == ""


def test_a_run_in_the_background_ends_with_its_pool() -> None:
    """A pool that is closed in the middle of runs waits for none of them."""
    script = (
        "import time\n"
        "from concurrent.futures import Future\n"
        "from waymark.workers import Workers\n"
        "workers = Workers(2)\n"
        "futures = [workers.submit(time.sleep, 1000) for _ in range(4)]\n"
        "time.sleep(1)\n"
        "workers.close()\n"
        "print([str(future.exception()) for future in futures])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == f"{['the pool is closed'] * 4}\n", done.stderr


@pytest.mark.parametrize("sign", ["SIGINT", "SIGTERM"])
def test_a_signal_while_an_object_is_freed_ends_the_wait(small: Topology, sign: str) -> None:
    """Python drops exceptions of finalizers, also the one that a signal raises there."""
    script = (
        "import os, pickle, signal, sys\n"
        "from waymark.pool import pool\n"
        "class Freed:\n"
        "    def __del__(self):\n"
        f"        os.kill(os.getpid(), signal.{sign})\n"
        "scenario = pickle.load(sys.stdin.buffer)\n"
        "with pool(1) as workers:\n"
        "    future = workers.submit(scenario)\n"
        "    Freed()\n"
        "    try:\n"
        "        future.result(timeout=60)\n"
        "    except KeyboardInterrupt:\n"
        "        print('interrupted')\n"
    )
    endless = Scenario("endless", small, 1e6, flows=(Flow("a", "b", "newreno"),))
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=pickle.dumps(endless),
        capture_output=True,
        timeout=90,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"interrupted\n"), done.stderr
    assert b"ignored" in done.stderr  # it was raised where Python drops it


def test_a_callback_that_leaves_ends_no_worker() -> None:
    script = (
        "import os, sys\n"
        "from waymark.workers import Workers\n"
        "workers = Workers(1)\n"
        "first = workers.submit(os.getpid)\n"
        "first.add_done_callback(lambda _: sys.exit(3))\n"
        "print(workers.submit(os.getpid).result(timeout=30) > 0)\n"
        "workers.close()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
