"""JSON text that every parser reads (RFC 8259)."""

import json
import math
from collections.abc import Sequence
from typing import Any, cast


def dumps(value: Any, indent: int | None = None) -> str:
    """The JSON text of dictionaries, lists, tuples, numbers and text.

    JSON has no NaN and no infinity: they become null.
    """
    return json.dumps(_finite(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in cast("Sequence[Any]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value
