"""Shell completion: bash, zsh and fish, as their scripts ask for it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from conftest import ROOT


def asked(shell: str, line: str) -> str:
    """The completions of ``waymark`` for a command line whose last word is not finished."""
    words = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    environment = os.environ | words | {"_WAYMARK_COMPLETE": f"complete_{shell}"}
    shown = subprocess.run(
        [sys.executable, "-m", "waymark"],
        env=environment | {"WAYMARK_HOME": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stderr == ""
    return shown.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("waymark stat", "status"),
        ("waymark controller pl", "plan"),
        ("waymark run --sca", "--scale"),
        ("waymark run --scale qu", "quick"),
        ("waymark run chan/fig3.6", "chan/fig3.6"),
        ("waymark controls rove", "rovegas"),
        ("waymark host send 10.0.0.2 --control cub", "cubic"),
    ],
)
def test_commands_options_and_values_are_completed(shell: str, line: str, completed: str) -> None:
    assert completed in asked(shell, line)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell_asks_waymark(shell: str) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "waymark"],
        env=os.environ | {"_WAYMARK_COMPLETE": f"source_{shell}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"_WAYMARK_COMPLETE=complete_{shell}" in shown.stdout


def test_bash_completes_with_the_script() -> None:
    """The script as bash runs it, and ``waymark`` from this checkout."""
    script = f"""
waymark() {{ {sys.executable} -m waymark "$@"; }}
source <(_WAYMARK_COMPLETE=source_bash waymark)
complete -p waymark
"""
    shown = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert "_waymark_completion" in shown.stdout
