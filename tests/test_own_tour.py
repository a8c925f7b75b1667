"""docs/own-experiments.md, as it is written, in a folder outside the checkout."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from conftest import ROOT
from tour import make_commands

PAGE = (ROOT / "docs" / "own-experiments.md").read_text()


def test_every_command_runs_as_it_is_written(tmp_path: Path) -> None:
    commands = tmp_path / "bin"
    commands.mkdir()
    make_commands(commands)
    trace, sweep = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    work = tmp_path / "work"
    work.mkdir()
    (work / "my_sweep.py").write_text(sweep)
    (work / "trace.py").write_text(trace)
    # Two opportunities to send in the first 500 ms, none in the second, one in the third.
    (work / "mahimahi.trace").write_text("10\n20\n1400\n")
    (work / "traced.yaml").write_text(
        "topology: my_network.yaml\nseconds: 3\n"
        "flows: [{name: traced, from: s1, to: d1, control: vegas}]\n"
    )
    [scenario] = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (work / "page.yaml").write_text(scenario)
    script = "\n".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))
    script += "waymark run page.yaml --seeds 1\n"
    script += f"{sys.executable} trace.py mahimahi.trace >> traced.yaml\n"
    script += "waymark run traced.yaml --seeds 1\n"
    home = os.environ | {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "80",
    }
    del home["WAYMARK_HOME"]  # the package finds its checkout without it
    done = subprocess.run(
        ["sh", "-e"], input=script, cwd=work, env=home, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr
    shown = [line.rstrip() for line in done.stdout.splitlines()]
    for line in re.findall(r"```\n(bottleneck: .*?)```", PAGE, re.DOTALL)[0].splitlines():
        assert line in shown  # the same numbers
    report = (work / "results" / "report.html").read_text()
    assert "own/my_figure" in report
    assert "Comparison on bottleneck" in report
    assert "Comparison on my_network" in report
    assert "first, throughput, 25-40 s" in done.stdout
    assert "traced, throughput" in done.stdout
    rates = re.findall(
        r"at: (\d+) ms, link: r1->r2, rate: (\d+)", (work / "traced.yaml").read_text()
    )
    assert rates == [("0", "48128"), ("500", "24064"), ("1000", "24064")]
    assert json.loads((work / "scenario.schema.json").read_text())["required"] == ["seconds"]
    with (work / "sweep.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 36
    assert {row["algorithm"] for row in rows} == {"vegas", "newreno", "cubic"}
    assert "sweep: 36 of 36 runs" in done.stderr
