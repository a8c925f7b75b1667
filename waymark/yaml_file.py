"""YAML 1.2 with line numbers, and one line per error.

two_ports.yaml:9: switches.s1.ports.1.queue_limit: found 1; valid: 2 or more packets ...
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from waymark import files
from waymark.errors import WaymarkError
from waymark.ports import MAX_PORT

Place = tuple[str | int, ...]
"""Keys and list indexes from the top."""

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class Document:
    """A parsed YAML file; ``tree`` has the line of each key."""

    path: Path
    tree: Any

    def line(self, place: Place) -> int:
        """The line of the last key of ``place`` that exists, counted from 1."""
        node: Any = self.tree
        line = 0
        for key in place:
            try:
                position = node.lc.item if _is_list(node) else node.lc.key
                line = int(position(key)[0])
                node = node[key]
            except (AttributeError, KeyError, IndexError, TypeError):
                break
        return line + 1


@dataclass(frozen=True)
class Problem:
    """An error in a document."""

    place: Place
    message: str


def read(path: Path) -> Document:
    """Read a YAML file.

    Raises:
        WaymarkError: the file cannot be read, or is not YAML.
    """
    text = files.read_text(path)
    try:
        return Document(path, YAML(typ="rt").load(text))  # pyright: ignore
    except DuplicateKeyError as error:
        message = str(cast("Any", error).problem).splitlines()[0]
        raise WaymarkError(f"{path}:{_mark(error)}: {message}") from error
    except MarkedYAMLError as error:
        raise WaymarkError(f"{path}:{_mark(error)}: not YAML: {error.problem}") from error
    except YAMLError as error:
        raise WaymarkError(f"{path}: not YAML: {error}") from error
    except Exception as error:  # bugs of the parser: keys that are lists, deep nesting
        message = str(error) or type(error).__name__
        raise WaymarkError(f"{path}: unsupported YAML: {message}") from error


def _is_list(node: object) -> bool:
    return isinstance(node, list)


def _mark(error: Any) -> int:
    mark = error.problem_mark or error.context_mark
    return 1 if mark is None else int(mark.line) + 1


def validate(model: type[Model], document: Document) -> Model:
    """The document as ``model``.

    Raises:
        WaymarkError: the document does not match the model.
    """
    try:
        return model.model_validate(document.tree)
    except ValidationError as error:
        found = error.errors(include_url=False)
        raise refused(document, [_problem(model, one) for one in found]) from None


def refused(document: Document, problems: Iterable[Problem]) -> WaymarkError:
    """The error that lists all ``problems``, in the order of the lines."""
    located = sorted(((document.line(p.place), p) for p in problems), key=lambda pair: pair[0])
    return WaymarkError(
        "\n".join(
            f"{document.path}:{line}: {_path(p.place)}{p.message}"
            for line, p in dict.fromkeys(located)
        )
    )


def _path(place: Place) -> str:
    return ".".join(map(str, place)) + ": " if place else ""


def _problem(model: type[BaseModel], error: Any) -> Problem:
    kind: str = error["type"]
    is_key = error["loc"][-1:] == ("[key]",)
    place: Place = tuple(error["loc"][:-1] if is_key else error["loc"])
    owner, described = _describe(model, place)
    if kind == "extra_forbidden":
        return Problem(place, _unknown(str(place[-1]), list(_keys(owner))))
    if kind == "missing":
        return Problem(place, f"missing; valid: {described}")
    found = _short(error["input"])
    why = error["msg"].removeprefix("Value error, ")
    if is_key:
        return Problem(place, f"found the key {found}; valid: a port number, 1 to {MAX_PORT}")
    if kind == "model_type":
        return Problem(place, f"found {found}; valid: keys of {', '.join(_keys(owner))}")
    reason = f" ({why})" if kind == "value_error" else ""
    return Problem(place, f"found {found}{reason}; valid: {described or why}")


def _keys(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a model by their keys in a file."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _unknown(key: str, valid: Sequence[str]) -> str:
    near = difflib.get_close_matches(key, valid, n=1)
    meant = f", did you mean {near[0]}?" if near else ""
    return f"unknown key{meant}; valid: {', '.join(valid)}"


def _short(value: object) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return "nothing" if value is None else repr(value)


def _describe(model: type[BaseModel], place: Place) -> tuple[type[BaseModel], str]:
    """The innermost model on the way to ``place``, and the description of the last field there."""
    described, annotation = "", cast("Any", model)
    for key in place:
        inner = model_in(annotation)
        if inner is not None and annotation is inner:
            model = inner
            field = _keys(model).get(str(key))
            if field is None:
                break
            described, annotation = field.description or "", _plain(field.annotation)
        else:  # a key of a mapping, or an index of a list
            annotation = _plain(inner)
    inner = model_in(annotation)
    return (inner if inner is not None and annotation is inner else model), described


def _plain(annotation: Any) -> Any:
    """``X`` of ``X | None``; anything else unchanged."""
    if get_origin(annotation) in (Union, UnionType):
        return next((arm for arm in get_args(annotation) if arm is not type(None)), None)
    return annotation


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The model in an annotation: itself, or the items of a mapping or list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    arms = [model_in(arm) for arm in get_args(annotation)]
    return next((arm for arm in arms if arm is not None), None)
