"""How long it takes to start: in processor time beyond an empty Python's, since other processes run
on the machine."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import waymark
from waymark import cli

MOST_S = 0.150


def cpu_s(*arguments: str) -> float:
    """Least processor time of ``python ARGUMENTS`` over some runs, in seconds."""

    def once() -> float:
        before = os.times()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        after = os.times()
        return after.children_user + after.children_system - before[2] - before[3]

    return min(once() for _ in range(5))


@pytest.mark.parametrize("arguments", [("-c", "import waymark"), ("-m", "waymark", "--version")])
def test_starting_takes_less_than_150_ms(arguments: tuple[str, ...]) -> None:
    assert cpu_s(*arguments) - cpu_s("-c", "pass") < MOST_S


@pytest.mark.parametrize(
    ("code", "without"),
    [
        ("import waymark", ("numpy", "pydantic", "rich", "typer")),
        ("from waymark.cli import load; load(['compile'])", ("numpy", "matplotlib", "grpc")),
        ("from waymark.cli import load; load()", ("matplotlib", "grpc", "finsy", "pyarrow")),
    ],
)
def test_what_takes_long_to_import_waits_until_it_is_used(
    code: str, without: tuple[str, ...]
) -> None:
    told = f"{code}; import sys; print(*sorted(set(sys.modules) & {set(without)!r}))"
    shown = subprocess.run(
        [sys.executable, "-c", told], check=True, capture_output=True, text=True
    ).stdout
    assert shown.split() == []


def test_every_name_of_the_package_is_there() -> None:
    for name in waymark.__all__:
        assert getattr(waymark, name) is not None
    assert set(waymark.__all__) <= set(dir(waymark))
    assert callable(waymark.run)
    with pytest.raises(AttributeError, match="no attribute 'Flo'"):
        _ = waymark.Flo  # pyright: ignore


@pytest.mark.parametrize("command", sorted(cli.MODULES))
def test_a_command_s_own_module_brings_it(command: str) -> None:
    code = (
        "import sys; from typer.main import get_command; from waymark.cli import load; "
        f"assert {command!r} in get_command(load([{command!r}])).commands"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_wrong_choice_of_machine_code_is_an_error_with_what_is_valid() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "waymark", "--version"],
        env=os.environ | {"WAYMARK_JIT": "yes"},
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("error: WAYMARK_JIT is `yes`; valid: 1 (compile P4 programs")
