"""docs/new-mark.md, as it is written, in a folder outside the checkout."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from conftest import ROOT
from tour import make_commands

PAGE = (ROOT / "docs" / "new-mark.md").read_text()


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_its_files_are_the_examples() -> None:
    declaration, control, _ = _blocks("python")
    _, hop = _blocks("p4")
    assert control == (ROOT / "examples" / "peak.py").read_text()
    assert hop == (ROOT / "examples" / "peak.p4").read_text()
    assert declaration in control


def test_the_header_is_the_declared_one() -> None:
    declared: dict[str, object] = {}
    exec(_blocks("python")[0] + "\nheader = PEAK.p4_header()", declared)
    assert declared["header"] == _blocks("p4")[0]


def test_every_command_runs_as_it_is_written(tmp_path: Path) -> None:
    commands = tmp_path / "bin"
    commands.mkdir()
    make_commands(commands)
    work = tmp_path / "work"
    work.mkdir()
    _, control, figure = _blocks("python")
    [network] = _blocks("yaml")
    for name, text in (
        ("peak.p4", _blocks("p4")[1]),
        ("peak.py", control),
        ("peak_figure.py", figure),
        ("peak.yaml", network),
    ):
        assert f"`{name}`" in PAGE
        (work / name).write_text(text)
    home = os.environ | {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "80",
    }
    del home["WAYMARK_HOME"]  # the package finds its checkout without it
    done = subprocess.run(
        ["sh", "-e"],
        input="".join(_blocks("sh")),
        cwd=work,
        env=home,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    [shown] = re.findall(r"```\n(Shallow: .*?)```", PAGE, re.DOTALL)
    assert shown in done.stdout  # the same numbers
    queues = {
        int(target): float(queue)
        for target, queue in re.findall(r"^ +([28]) +packets +([\d.]+)", done.stdout, re.MULTILINE)
    }
    assert set(queues) == {2, 8}
    for target, queue in queues.items():
        assert abs(queue - target) < 0.5
