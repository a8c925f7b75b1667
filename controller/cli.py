"""``waymark controller plan|apply|watch CONFIG.yaml``: the arguments.

The commands are in ``commands``, which imports gRPC and is loaded when a command runs.
"""

from pathlib import Path
from typing import Annotated

import typer

from controller.defaults import INTERVAL_S, METRICS_PORT
from waymark.help_text import examples
from waymark.json_option import AsJson
from waymark.quantity_options import time_option

app = typer.Typer(
    help="Configure P4Runtime switches, and keep them configured.",
    epilog=examples("waymark controller plan controller/examples/two_ports.yaml"),
    no_args_is_help=True,
    rich_markup_mode=None,
)

JSON_SCHEMA = "https://json-schema.org/draft/2020-12/schema"

ConfigFile = Annotated[
    Path, typer.Argument(metavar="CONFIG.yaml", help="The configuration of the switches.")
]
ElectionId = Annotated[
    int | None,
    typer.Option(
        "--election-id",
        min=1,
        help="Override the election id of the file. The controller with the largest one can write.",
    ),
]


@app.command(
    "plan",
    epilog=examples(
        "waymark controller plan controller/examples/two_ports.yaml",
    ),
)
def plan(file: ConfigFile, as_json: AsJson = False) -> None:
    """Show what apply would change: + insert, ~ modify, - delete. Writes nothing."""
    from controller import commands

    raise typer.Exit(commands.plan(file, as_json=as_json))


@app.command(
    "apply",
    epilog=examples(
        "waymark controller apply controller/examples/two_ports.yaml",
    ),
)
def apply(file: ConfigFile, election_id: ElectionId = None, as_json: AsJson = False) -> None:
    """Write the differences from the file to the switches. A second run changes nothing."""
    from controller import commands

    raise typer.Exit(commands.apply(file, election_id, as_json=as_json))


@app.command(
    "watch",
    epilog=examples(
        "waymark controller watch switches.yaml --metrics 9464 --interval 500ms",
    ),
)
def watch(
    file: ConfigFile,
    election_id: ElectionId = None,
    metrics: Annotated[
        str, typer.Option(metavar="[HOST:]PORT", help="Address of the Prometheus exporter.")
    ] = f"127.0.0.1:{METRICS_PORT}",
    interval: Annotated[
        float, time_option(least_s=0.05, help="Time between readings of the switches.")
    ] = INTERVAL_S,
) -> None:
    """Continuously reconcile switches, also across restarts.

    Counters are shown, and exported for Prometheus. Ctrl-C stops it.
    """
    from controller import commands

    commands.watch(file, election_id, metrics, interval)


@app.command("schema", epilog=examples("waymark controller schema > controller.schema.json"))
def schema() -> None:
    """Print the JSON Schema of configuration files.

    Editors check and complete files with it. The first line of a file names it:

    # yaml-language-server: $schema=controller.schema.json
    """
    from controller.config import Config
    from waymark.json_option import print_json

    print_json({"$schema": JSON_SCHEMA} | Config.model_json_schema())
