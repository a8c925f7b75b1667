"""``--json``: the result of a command as data, on standard output."""

import json
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def print_json(result: Any) -> None:
    """Print a result of dictionaries, lists, numbers and text."""
    print(json.dumps(result, indent=2, ensure_ascii=False))
