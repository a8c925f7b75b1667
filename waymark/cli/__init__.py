"""The command ``waymark``: one file a group of commands.

Every module of this folder is imported here, so that a new command is a new file: a function under
``@app.command`` of :mod:`waymark.cli.base`. What a command alone needs and takes long to import
(matplotlib, gRPC) it imports when it runs.
"""

import importlib
import os
import pkgutil
import sys
from typing import Annotated, TextIO

import typer

from controller.cli import app as controller_app
from waymark import _core
from waymark.cli.base import EXIT_FAILED, EXIT_USAGE, app
from waymark.errors import WaymarkError

__all__ = ["app", "main"]

for _module in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
app.add_typer(controller_app, name="controller")


def main() -> None:
    """Entry point of the ``waymark`` script."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except WaymarkError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(EXIT_USAGE)
    except _core.SwitchError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(EXIT_FAILED)
    except _core.WaymarkCoreError as error:  # diagnostics say so line by line
        print(error, file=sys.stderr)
        sys.exit(EXIT_FAILED)
    except BrokenPipeError:  # waymark list | head
        _drop(sys.stdout, sys.stderr)
        sys.exit(0)
    except OSError as error:  # a full disk, mostly
        _drop(sys.stdout)
        print(f"error: {error.filename or 'output'}: {error.strerror or error}", file=sys.stderr)
        sys.exit(EXIT_USAGE)


def _drop(*streams: TextIO) -> None:
    """Drop what is still to be written: Python would try again at its end, and complain."""
    for stream in streams:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"waymark {_core.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and leave."
        ),
    ] = False,
) -> None:
    """Networks whose P4 switches tell the senders what happened to their packets."""
