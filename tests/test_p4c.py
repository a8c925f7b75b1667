"""Every main compiles with p4c for BMv2, without a warning."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

MAINS = sorted((Path(__file__).parents[1] / "p4src" / "v1model").glob("*.p4"))
COMPILERS = {
    "p4c-bm2-ss": lambda main, out: ["--std", "p4-16", "-o", out / "out.json", main],
    "p4c": lambda main, out: ["--std", "p4-16", "-b", "bmv2", "-a", "v1model", "-o", out, main],
}
COMPILER = next(filter(shutil.which, COMPILERS), None)


def test_there_are_mains() -> None:
    assert {
        "plain",
        "aqt",
        "drai",
        "ci",
        "red",
        "ecn",
        "l4s",
        "trim",
        "csig",
        "tcp_int",
        "int",
        "fabric",
        "waymark",
    } == {main.stem for main in MAINS}


@pytest.mark.skipif(COMPILER is None, reason="neither p4c-bm2-ss nor p4c is on PATH")
@pytest.mark.parametrize("main", MAINS, ids=lambda main: main.stem)
def test_p4c_compiles_without_warning(main: Path, tmp_path: Path) -> None:
    assert COMPILER is not None
    command = [COMPILER, "--Werror", *COMPILERS[COMPILER](main, tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
