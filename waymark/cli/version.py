"""``waymark --version``, and the summary in ``waymark --help``."""

from typing import Annotated

import typer

from waymark import _core
from waymark.cli.base import app


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"waymark {_core.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """P4 switches that write congestion feedback into packets, and transports that read it."""
