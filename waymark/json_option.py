"""``--json``: the result of a command as data, on standard output."""

from typing import Annotated, Any

import typer

from waymark import json_text

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def print_json(result: Any) -> None:
    """Print a result of dictionaries, lists, numbers and text."""
    print(json_text.dumps(result, indent=2))
