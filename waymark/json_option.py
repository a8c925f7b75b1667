"""``--json``: the result of a command as data, on standard output."""

import json
import math
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def print_json(result: Any) -> None:
    """Print a result of dictionaries, lists, numbers and text.

    JSON has no NaN and no infinity: they are null.
    """
    print(json.dumps(_finite(result), indent=2, ensure_ascii=False))


def _finite(value: Any) -> Any:
    match value:
        case dict():
            return {key: _finite(one) for key, one in value.items()}
        case list() | tuple():
            return [_finite(one) for one in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value
