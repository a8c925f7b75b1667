"""docs/p4runtime-compliance.md says what the requirements and the tests that name them say."""

from __future__ import annotations

import runpy
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import ROOT

GENERATOR = ROOT / "docs" / "p4runtime_compliance.py"


def test_the_page_is_current_and_complete() -> None:
    """Every requirement has a test or a reason, and no test names an unknown one."""
    command = [sys.executable, str(GENERATOR), "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def generator() -> Any:
    return SimpleNamespace(**runpy.run_path(str(GENERATOR)))


def section(generator: Any, **requirements: Any) -> Any:
    return generator._section({"section": "9", "title": "Entities", "requirements": requirements})


def test_a_requirement_needs_a_test_that_passes_or_a_reason(generator: Any) -> None:
    sections = [
        section(
            generator,
            shown="It is.",
            untested="It may be.",
            failing="It should be.",
            left={"says": "It could be.", "not": "nobody asked"},
        )
    ]
    tests = {"tests/a.py::test_a": ["shown"], "tests/a.py::test_b": ["failing", "nothing"]}
    wrong = list(generator._join(sections, tests, {"tests/a.py::test_b"}))
    assert [line.split(":")[0] for line in wrong] == [
        "tests/a.py",
        "untested",
        "failing",
        "failing",
    ]
    page = generator._page(sections)
    assert "| It is. | met | [a](../tests/a.py) |" in page
    assert "| It could be. | not: nobody asked |  |" in page
    assert "| It may be. | not shown |  |" in page


def test_a_requirement_occurs_once(generator: Any) -> None:
    sections = [section(generator, one="It is."), section(generator, one="It is.")]
    wrong = list(generator._join(sections, {"tests/a.py::test_a": ["one"]}, set()))
    assert wrong == ["p4runtime_requirements.yaml: one occurs twice"]


def test_a_state_is_one_of_four(generator: Any) -> None:
    with pytest.raises(SystemExit, match="expected one of met, partly"):
        section(generator, one={"says": "It is.", "maybe": "who knows"})
