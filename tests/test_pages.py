"""docs/testing.md and docs/lesson.md: their commands, as they are written, outside the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT
from tour import make_commands

TESTING = (ROOT / "docs" / "testing.md").read_text()
LESSON = (ROOT / "docs" / "lesson.md").read_text()


class Folder:
    """A folder that looks like a checkout, in which a page's commands are run."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "work"
        self.path.mkdir()
        for name in ("p4src", "topologies"):
            shutil.copytree(ROOT / name, self.path / name)
        commands = folder / "bin"
        commands.mkdir()
        make_commands(commands)
        self._environment = os.environ | {
            "PATH": f"{commands}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "WAYMARK_HOME": str(ROOT),
            "COLUMNS": "80",
        }

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run shell commands."""
        return subprocess.run(
            ["sh", "-e"],
            input=script,
            cwd=self.path,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=600,
        )


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def blocks(page: str, language: str = "sh") -> list[str]:
    """The fenced blocks of a language."""
    fenced = re.findall(r"^```(.*?)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return [text for its, text in fenced if its == language]


def test_the_packet_script_passes_and_a_broken_program_fails_it(folder: Folder) -> None:
    [script] = re.findall(r'```text title="ttl.stf"\n(.*?)```', TESTING, re.DOTALL)
    (folder.path / "ttl.stf").write_text(script)
    passing, tracing, breaking, _ = blocks(TESTING)
    passed, traced, broken = (folder.run(each) for each in (passing, tracing, breaking))
    shown = blocks(TESTING, "")
    assert passed.stdout == shown[0], passed.stderr
    assert [passed.returncode, traced.returncode, broken.returncode] == [0, 0, 1]
    for line in shown[1].replace("  …\n", "").splitlines():
        assert line in traced.stdout.splitlines()
    assert broken.stdout + broken.stderr == shown[2]


def test_the_ptf_test_is_one_that_exists() -> None:
    [test] = blocks(TESTING, "python")
    assert test in (ROOT / "ptf_tests" / "tests" / "forwarding.py").read_text()


def measured(shown: str) -> dict[str, tuple[str, float]]:
    """Throughput as it is shown, and mean queue, of each control."""
    rows = re.findall(r"^ +(\S+) +(\d+ ± \d+) +([\d.]+)", shown, re.MULTILINE)
    return {name: (rate, float(queue)) for name, rate, queue in rows}


def test_the_lesson_shows_what_it_says(folder: Folder) -> None:
    other, same, change, halved, write = blocks(LESSON)
    rows = measured(folder.run(other).stdout)
    for name in ("Vegas", "RoVegas"):
        rate, queue = rows[name.casefold()]
        assert f"| {name} | {rate} | {queue} packets |" in LESSON
    alike = measured(folder.run(same).stdout)
    for name in ("vegas", "rovegas"):
        assert abs(int(alike[name][0].split()[0]) - 166) <= 2
    compiled = folder.run(change)
    assert compiled.returncode == 0, compiled.stderr
    rate, queue = measured(folder.run(halved).stdout)["rovegas"]
    assert f"{rate} kb/s, and its queue is longer ({queue} packets)" in LESSON
    written = folder.run(write)
    assert written.returncode == 0, written.stderr
    assert "Mine" in measured(written.stdout)
