"""``waymark controller plan|apply|watch CONFIG.yaml``: the arguments.

What they do is in ``commands``, which brings gRPC and is loaded when one is run.
"""

from pathlib import Path
from typing import Annotated

import typer

from controller.defaults import INTERVAL_S, METRICS_PORT
from waymark.json_option import AsJson
from waymark.quantity_options import time_option

app = typer.Typer(
    help="Bring P4Runtime switches to what a configuration says, and keep them there.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

ConfigFile = Annotated[
    Path, typer.Argument(metavar="CONFIG.yaml", help="What the switches are to hold.")
]
ElectionId = Annotated[
    int | None,
    typer.Option(
        "--election-id", min=1, help="Instead of the configuration's: the largest writes."
    ),
]


@app.command("plan")
def plan(file: ConfigFile, as_json: AsJson = False) -> None:
    """Show what apply would change: + inserted, ~ modified, - deleted. Writes nothing."""
    from controller import commands

    raise typer.Exit(commands.plan(file, as_json=as_json))


@app.command("apply")
def apply(file: ConfigFile, election_id: ElectionId = None, as_json: AsJson = False) -> None:
    """Change what differs, and nothing else. A second time there is nothing to do."""
    from controller import commands

    raise typer.Exit(commands.apply(file, election_id, as_json=as_json))


@app.command("watch")
def watch(
    file: ConfigFile,
    election_id: ElectionId = None,
    metrics: Annotated[
        str, typer.Option(metavar="[HOST:]PORT", help="Where Prometheus finds the counters.")
    ] = f"127.0.0.1:{METRICS_PORT}",
    interval: Annotated[
        float, time_option(least_s=0.05, help="Time between two readings.")
    ] = INTERVAL_S,
) -> None:
    """Keep switches so, whoever restarts; show and serve their counters. Ctrl-C ends it."""
    from controller import commands

    commands.watch(file, election_id, metrics, interval)
