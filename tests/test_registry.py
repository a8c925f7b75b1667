"""A compiled congestion control is one file and its place in the registry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

from waymark.controls import CONTROLS, Control

CONGESTION = Path("crates/congestion/src")
CONFIG = re.compile(r"\bpub struct (\w+Config)\b")

ELSEWHERE = {
    # Figures of the papers compare these in fixed colours; others have the palette's.
    "waymark/plots.py": "tahoe reno newreno sack cubic bbr dctcp vegas rovegas enhancedvegas "
    "quickvegas redvegas vegasa muzha rbcc rbccwl",
    # Loss recoveries, which have the names of the controls that introduced them.
    "waymark/congestion.py": "tahoe reno newreno sack fack vegas",
    "waymark/templates/new/control.py": "newreno",
    # Defaults.
    "waymark/traffic.py": "vegas",
    "waymark/scenario_file.py": "vegas",
    "waymark/cli/host.py": "cubic newreno",
    # Examples in documentation.
    "waymark/__init__.py": "rovegas",
    "waymark/frame.py": "vegas",
    "waymark/runs.py": "vegas cubic",
    "waymark/templates/new/experiment.py": "vegas cubic",
    "crates/tcp-settings/src/control.rs": "vegas reno",
}
"""The other files that name controls, and which. A new control belongs into none of them."""


def sources() -> Iterator[Path]:
    """The code, without tests, experiments and examples."""
    for folder in ("waymark", "controller", "topologies", "hosts", "packaging", "ptf_tests"):
        yield from (ROOT / folder).rglob("*.py")
    for file in (ROOT / "crates").glob("*/src/**/*.rs"):
        if file.name != "tests.rs":
            yield file


TEXTS = {
    file.relative_to(ROOT).as_posix(): file.read_text("utf-8").partition("#[cfg(test)]")[0]
    for file in sources()
}


def naming(name: str) -> set[str]:
    """The files with the name in quotes."""
    quoted = re.compile(rf"""["']{name}["']""")
    return {path for path, text in TEXTS.items() if quoted.search(text)}


def own(control: Control) -> str:
    """The file with the control's descriptor."""
    declared = f'    name: "{control.name}",\n    label: "{control.title}",\n'
    [path] = [path for path, text in TEXTS.items() if declared in text]
    return path


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_a_control_is_named_in_its_own_file(control: Control) -> None:
    if control.name == "waymark":
        pytest.skip("it has the package's name")
    allowed = {path for path, names in ELSEWHERE.items() if control.name in names.split()}
    assert naming(control.name) == {own(control)} | allowed


def test_no_other_crate_names_a_control_s_code() -> None:
    """Its module or its config. Receivers, whose window nothing asks for, have Reno's."""
    own_files = {own(control) for control in CONTROLS}
    modules = {
        Path(path).relative_to(CONGESTION).parts[0].removesuffix(".rs") for path in own_files
    }
    configs = {name for path in own_files for name in CONFIG.findall(TEXTS[path])} - {"RenoConfig"}
    code = re.compile(rf"\bcongestion::(?:{'|'.join(modules)})\b|\b(?:{'|'.join(configs)})\b")
    for path, text in TEXTS.items():
        if path.endswith(".rs") and not Path(path).is_relative_to(CONGESTION):
            lines = text.splitlines()
            assert not [line for line in lines if code.search(line) and "//" not in line], path
