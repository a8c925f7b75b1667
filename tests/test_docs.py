"""What README and ARCHITECTURE tell is there."""

from __future__ import annotations

import re

from conftest import ROOT
from typer.main import get_command

from waymark import experiment
from waymark.cli import app

README = (ROOT / "README.md").read_text()
BLOCKS = "\n".join(re.findall(r"```(?:sh|console)\n(.*?)```", README, re.DOTALL))


def test_every_command_of_the_readme_exists() -> None:
    commands = set(get_command(app).commands)  # pyright: ignore
    used = re.findall(r"^(?:\.venv/bin/)?waymark (\S+)(.*)$", BLOCKS, re.MULTILINE)
    assert used
    for command, arguments in used:
        assert command in commands | {"--version"}, command
        for experiment_id in re.findall(r"\bchan/\S+", arguments):
            assert experiment.find(experiment_id)
        for path in re.findall(r"\S+\.(?:p4|stf|json)\b", arguments):
            assert (ROOT / path).is_file(), path


def test_every_make_target_of_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    used = set(re.findall(r"\bmake ([a-z-]+)", README))
    assert {"lab", "test"} <= used <= targets


def test_every_link_of_the_documents_leads_somewhere() -> None:
    for document in (ROOT / d for d in ("README.md", "ARCHITECTURE.md", "controller/README.md")):
        for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (document.parent / link).exists(), f"{document}: {link}"


def test_the_code_map_names_every_crate() -> None:
    map_of_the_code = (ROOT / "ARCHITECTURE.md").read_text()
    for crate in (ROOT / "crates").iterdir():
        assert f"{crate.name}/" in map_of_the_code, crate.name
