"""The commands of docs/tour.md, and what they need to run from a test."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from conftest import ROOT


def commands(heading: str) -> str:
    """All shell commands of a section."""
    section = (ROOT / "docs" / "tour.md").read_text().partition(f"## {heading}\n")[2]
    return "\n".join(re.findall(r"```sh\n(.*?)```", section.partition("\n## ")[0], re.DOTALL))


def make_commands(folder: Path) -> None:
    """Put ``waymark`` and ``python`` into a folder, as an activated environment has them."""
    for name, words in (("waymark", "-m waymark "), ("python", "")):
        command = folder / name
        command.write_text(f'#!/bin/sh\nexec {sys.executable} {words}"$@"\n')
        command.chmod(0o755)
