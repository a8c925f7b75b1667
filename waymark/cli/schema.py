"""``waymark schema``: JSON Schemas of the project's files, for editors."""

import json
from enum import StrEnum
from typing import Annotated

import typer

from waymark.cli.base import app
from waymark.help_text import examples


class FileKind(StrEnum):
    """The files that ``waymark schema`` knows."""

    SCENARIO = "scenario"
    TOPOLOGY = "topology"


@app.command(
    "schema",
    epilog=examples(
        "waymark schema scenario > scenario.schema.json",
        "waymark schema topology > topology.schema.json",
    ),
)
def print_schema(
    kind: Annotated[FileKind, typer.Argument(help="The kind of file.")],
) -> None:
    """Print the JSON Schema of scenario or topology files.

    Editors check and complete files with it. The first line of a file names it:

    # yaml-language-server: $schema=scenario.schema.json
    """
    from waymark.scenario_file import ScenarioFile
    from waymark.topology_file import TopologyFile

    model = ScenarioFile if kind == FileKind.SCENARIO else TopologyFile
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | model.model_json_schema()
    print(json.dumps(schema, indent=2, ensure_ascii=False))
