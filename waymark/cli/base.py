"""Code that commands share: the app, consoles, exit codes, files and arguments."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from waymark.errors import os_errors
from waymark.help_text import examples

EXIT_FAILED = 1
"""The command ran, and the result is negative: errors in a program, an unexpected packet."""

EXIT_USAGE = 2
"""The command cannot run: no such file, no such experiment."""

EXIT_INTERRUPTED = 130
"""Ctrl-C, as in shells."""

app = typer.Typer(
    name="waymark",
    help="P4 switches that write congestion feedback into packets, and transports that read it.",
    epilog=examples(
        "waymark list 'chan/fig3*'",
        "waymark run chan/fig3.6 --scale quick",
        "waymark compare vegas rovegas cubic --load 0.9",
        "waymark compile p4src/v1model/waymark.p4",
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Let the caller handle a closed reader; rich ends the process."""
        raise BrokenPipeError  # without EPIPE, with which click ends it


out = _Console()
err = _Console(stderr=True)

Jobs = Annotated[
    int | None, typer.Option(min=1, help="Number of processes. Default: one per core.")
]

MOST_THREADS = 1024
"""Maximum number of threads of a run."""


STANDARD = Path("-")
"""Standard output, as the name of a file to write."""


def is_coloured(console: Console) -> bool:
    """Whether what a console shows may have colours: on a terminal, unless ``$NO_COLOR`` is set."""
    return console.color_system is not None and not console.no_color


def write(file: Path, text: str) -> None:
    """Write a text file, or to standard output if the file is ``-``."""
    if file == STANDARD:
        sys.stdout.write(text)
        return
    with os_errors(file):
        file.write_text(text, encoding="utf-8")


def make(folder: Path) -> None:
    """Make a folder and its parents, unless it exists."""
    with os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
