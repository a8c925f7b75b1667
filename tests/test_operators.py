"""Operators of every width, on packets and folded by the compiler, against Python's integers."""

from __future__ import annotations

from pathlib import Path

import pytest
from random_operators import case

from waymark import program, stf

PROGRAMS = 60


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_operators_agree_with_pythons_integers(seed: int, tmp_path: Path) -> None:
    random = case(seed)
    source, script = tmp_path / "operators.p4", tmp_path / "operators.stf"
    source.write_text(random.program)
    script.write_text(f"packet 0 {random.packet.hex()}\nexpect 1 {random.expected.hex()} $\n")
    report = stf.run(program.compile_file(source), script)
    assert report["failures"] == []
    assert report["packets"] == 1
