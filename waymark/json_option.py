"""``--json``: the result of a command as data, on standard output."""

import json
import math
from collections.abc import Sequence
from typing import Annotated, Any, cast

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def print_json(result: Any) -> None:
    """Print a result of dictionaries, lists, numbers and text.

    JSON has no NaN and no infinity: they are null.
    """
    print(json.dumps(_finite(result), indent=2, ensure_ascii=False))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in cast("Sequence[Any]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value
