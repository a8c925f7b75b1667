"""``waymark controls``: the congestion controls."""

import textwrap
from dataclasses import asdict
from typing import Annotated

import typer

from waymark import controls
from waymark.cli.base import app, out
from waymark.cli.completing import control_names
from waymark.controls import Control
from waymark.help_text import examples
from waymark.json_option import AsJson, print_json

NAME_WIDTH = 18
"""Columns of the indent of a control's description."""


@app.command(
    "controls",
    epilog=examples(
        "waymark controls",
        "waymark controls '*vegas' --json",
    ),
)
def list_controls(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME...",
            autocompletion=control_names,
            help="Only these; patterns such as '*vegas'.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the congestion controls.

    For each: name, summary, source, the marks that it reads, and its settings with their defaults.

    AQT is accumulated queueing time, AVBW-S carries the least data rate adjustment index (DRAI) of
    the path, CI is congestion indication, CSIG congestion signaling, INT in-band network telemetry,
    TCP-INT a TCP option with the sum of the hops' latencies.
    """
    chosen = controls.select(tuple(patterns or ()))
    if as_json:
        print_json([asdict(control) for control in chosen])
        return
    for control in chosen:
        for line in _lines(control, out.width):
            print(line)


def _lines(control: Control, width: int) -> list[str]:
    needs = ", ".join((*control.marks, *filter(None, (control.needs,))))
    settings = ", ".join(f"{one.name}{one.default_text}" for one in control.settings)
    told = [
        f"{control.title}: {control.summary}",
        f"{control.source}{'; needs ' if needs else ''}{needs}",
        *([f"settings: {settings}"] if settings else []),
    ]
    indent = " " * NAME_WIDTH
    wrapped = [
        line
        for text in told
        for line in textwrap.wrap(
            text, max(width, 2 * NAME_WIDTH), initial_indent=indent, subsequent_indent=indent + "  "
        )
    ]
    wrapped[0] = f"{control.name:{NAME_WIDTH}}{wrapped[0].lstrip()}"
    return wrapped
