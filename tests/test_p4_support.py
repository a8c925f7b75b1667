"""The names in docs/p4-support.md exist, and its counts can be renewed."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from typing import Any

from conftest import ROOT
from typer.main import get_command

from waymark.cli import load

PAGE = ROOT / "docs" / "p4-support.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", TEXT)
    assert links
    for link in links:
        assert (PAGE.parent / link).exists(), link


def test_commands_exist_and_take_the_options() -> None:
    commands: dict[str, Any] = get_command(load()).commands  # pyright: ignore
    used = re.findall(r"`waymark (\w+)([^`]*)`", TEXT)
    assert {"compile", "stf"} <= {name for name, _ in used}
    for name, arguments in used:
        known = {option for param in commands[name].params for option in param.opts}
        assert set(re.findall(r"--[a-z-]+", arguments)) <= known, (name, arguments)


def test_every_extern_that_the_target_names_is_listed() -> None:
    row = next(line for line in TEXT.splitlines() if line.startswith("| extern functions |"))
    listed = set(re.findall(r"`(\w+)`", row))
    v1model = (ROOT / "crates/p4-frontend/src/include/v1model.p4").read_text()
    declared = set(re.findall(r"^extern (?:void|bool) (\w+)", v1model, re.MULTILINE))
    assert declared - {"V1Switch"} <= listed


def test_the_counts_can_be_renewed() -> None:
    renewed: Callable[..., str] = runpy.run_path(str(ROOT / "docs" / "p4_support.py"))["renewed"]
    page = renewed(TEXT, ROOT / "tests" / "corpus")
    assert "| v1model programs, compiled | 3 | 2 |" in page
    assert "| programs that p4c refuses, refused at the line of a p4c error | 6 | 2 |" in page
    assert "- refused: [unknown-name]" in page
    assert page.split("<!--")[0] == TEXT.split("<!--")[0]
    assert page.rpartition("-->")[2] == TEXT.rpartition("-->")[2]
