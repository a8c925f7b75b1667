"""``--help`` of every command: it fits, and its examples are commands that can be given."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import Cli
from typer.main import get_command

from waymark.cli import load

ROOT: Any = get_command(load())


def commands(of: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of each command, groups too."""
    yield path
    for name, command in getattr(of, "commands", {}).items():
        yield from commands(command, (*path, name))


def found(words: list[str]) -> tuple[Any, list[str]]:
    """The command that words name, and its arguments."""
    command = ROOT
    while words and hasattr(command, "commands"):
        command, words = command.commands[words[0]], words[1:]
    return command, words


@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
def test_help_has_examples_that_can_be_parsed(cli: Cli, path: tuple[str, ...]) -> None:
    shown = cli(*path, "--help")
    assert shown.code == 0
    assert "Example: " not in shown.out
    *_, told = shown.out.partition("Examples:\n")
    examples = re.findall(r"^ +waymark (.+)$", told, re.MULTILINE)
    assert examples
    for example in examples:
        command, arguments = found(shlex.split(example))
        context = command.make_context("waymark", [], resilient_parsing=True)
        command.make_parser(context).parse_args(arguments)  # refuses an unknown option
    if path:
        assert any(example.startswith(" ".join(path)) for example in examples)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("stauts",), "No such command 'stauts'. Did you mean 'status'?"),
        (("controller", "pln"), "No such command 'pln'. Did you mean 'plan'?"),
        (("status", "--jsn"), "No such option: --jsn"),
    ],
)
def test_a_mistyped_command_gets_a_suggestion(
    cli: Cli, arguments: tuple[str, ...], told: str
) -> None:
    shown = cli(*arguments)
    assert shown.code == 2
    assert told in shown.err


def test_the_reference_of_the_site_has_every_command() -> None:
    """``docs/site_hooks.py`` has typer write it of the module."""
    command = [sys.executable, "-m", "typer", "waymark.cli", "utils", "docs", "--name", "waymark"]
    page = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for path in commands():
        assert f"`{' '.join(('waymark', *path))}`" in page
