"""The packet scripts in p4src/tests are what their generator writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).parents[1] / "p4src" / "tests"


def test_packet_scripts_are_current() -> None:
    command = [sys.executable, SCRIPTS / "make_scripts.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_each_script_names_its_program() -> None:
    mains = {main.stem for main in (SCRIPTS.parent / "v1model").glob("*.p4")}
    scripts = list(SCRIPTS.glob("*.stf"))
    assert scripts
    assert {script.name.partition("-")[0] for script in scripts} <= mains
