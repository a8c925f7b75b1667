"""What README, ARCHITECTURE and docs/ name exists."""

from __future__ import annotations

import re

from conftest import ROOT
from typer.main import get_command

import waymark
from waymark import experiment
from waymark.cli import load

README = (ROOT / "README.md").read_text()
TUTORIAL = (ROOT / "docs" / "congestion-control.md").read_text()
TOUR = (ROOT / "docs" / "tour.md").read_text()
BLOCKS = "\n".join(re.findall(r"```(?:sh|console)\n(.*?)```", README + TOUR, re.DOTALL))


def test_every_command_of_readme_and_tour_exists() -> None:
    commands = set(get_command(load()).commands)  # pyright: ignore
    used = re.findall(r"^(?:\.venv/bin/)?waymark (\S+)(.*)$", BLOCKS, re.MULTILINE)
    assert used
    for command, arguments in used:
        assert command in commands | {"--version"}, command
        for experiment_id in re.findall(r"(?<!/)\bchan/\S+", arguments):
            assert experiment.find(experiment_id)
        for path in re.findall(r"\S+\.(?:p4|stf|json)\b", arguments):
            assert (ROOT / path).is_file(), path


def test_every_make_target_of_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    used = set(re.findall(r"\bmake ([a-z-]+)", README))
    assert {"lab", "test"} <= used <= targets


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) < 150


def test_every_link_of_the_documents_leads_somewhere() -> None:
    folders = (
        ".",
        "controller",
        "experiments",
        "fuzz",
        "hosts",
        "p4src",
        "ptf_tests",
        "topologies",
    )
    pages = [page for folder in folders for page in (ROOT / folder).glob("*.md")]
    documents = [*pages, *(ROOT / "docs").rglob("*.md")]
    assert len(pages) >= 11
    for document in documents:
        for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (document.parent / link).exists(), f"{document}: {link}"


def test_the_code_map_names_every_crate() -> None:
    map_of_the_code = (ROOT / "ARCHITECTURE.md").read_text()
    for crate in (ROOT / "crates").iterdir():
        assert f"{crate.name}/" in map_of_the_code, crate.name


def test_the_tutorial_s_control_is_the_example() -> None:
    blocks = re.findall(r"```python\n(.*?)```", TUTORIAL, re.DOTALL)
    control = blocks[0].removeprefix("import waymark as wm\n\n\n")
    assert control in (ROOT / "examples" / "aimd.py").read_text()


def test_the_tutorial_names_every_method_event_field_and_column() -> None:
    told = set(re.findall(r"`(\w+)", TUTORIAL))
    methods = {name for name in vars(waymark.CongestionControl) if name.startswith("on_")}
    fields = {name for name in vars(waymark.AckEvent) if not name.startswith("_")}
    columns = set(waymark.Trace.__dataclass_fields__) - {"changes", "phases", "about"}
    assert methods | fields | columns <= told
