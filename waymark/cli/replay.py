"""``waymark replay``: runs for comparison with another simulator's traces."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from waymark.cli.base import app, write
from waymark.help_text import examples
from waymark.replay import replay


@app.command(
    "replay",
    epilog=examples(
        "waymark replay tests/replay/fack_onedrop.toml --out events.csv",
    ),
)
def replay_description(
    file: Annotated[
        Path, typer.Argument(metavar="F.toml", help="Topology, flows and losses; see tests/replay.")
    ],
    out_file: Annotated[
        Path | None,
        typer.Option("--out", metavar="F.csv", help="Output file. Default: standard output."),
    ] = None,
) -> None:
    """Run flows over drop-tail queues, and write events as CSV.

    The events are all those at one link.
    """
    rows = replay(file)
    if out_file is None:
        sys.stdout.write(rows)
        return
    write(out_file, rows)
    print(out_file)
