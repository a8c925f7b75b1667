"""A result in a file: JSON and arrays of numbers in an ``.npz`` archive. Reading it runs no code.

The entry ``result`` holds the JSON text, with the fields of :class:`waymark.Result` under their
names. All arrays of one type are one entry, named for the type: hundreds of entries would take as
long as a short run. In the text, an array is its start and its end in that entry.
"""

import json
import math
import types
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from waymark.errors import WaymarkError
from waymark.result import Result

_FORMAT = 4
"""Changes whenever older files can no longer be read."""

_TEXT = "result"


def write(result: Result, file: IO[bytes]) -> None:
    """Write a result.

    Raises:
        OSError: the file cannot be written.
    """
    columns = _Columns()
    text = json.dumps({"format": _FORMAT, "result": _plain(result, columns)}, separators=(",", ":"))
    entries: dict[str, Any] = columns.joined()
    entries[_TEXT] = np.frombuffer(text.encode(), np.uint8)
    np.savez(file, **entries)


def read(path: Path) -> Result:
    """Read a result that :func:`write` wrote. Untrusted files are safe to read.

    Raises:
        FileNotFoundError: the file does not exist.
        WaymarkError: it cannot be read, or contains no result.
    """
    try:
        if path.exists() and not path.is_file():
            raise ValueError("no regular file")
        with zipfile.ZipFile(path) as archive:
            arrays = _Arrays(archive)
            document = json.loads(arrays.read(_TEXT, np.uint8).tobytes())
            if not isinstance(document, dict) or document.get("format") != _FORMAT:
                raise ValueError("another format")
            return _value(Result, document.get("result"), arrays)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise WaymarkError(f"{path}: {error.strerror or error}") from error
    # For a damaged file, zipfile and numpy raise almost any exception.
    except Exception as error:
        raise WaymarkError(f"{path}: not a result: {error or type(error).__name__}") from error


class _Columns:
    """The arrays of a result, by type."""

    def __init__(self) -> None:
        self._arrays: dict[str, list[NDArray[Any]]] = {}
        self._lengths: dict[str, int] = {}

    def add(self, array: NDArray[Any]) -> list[int]:
        """Start and end of the array among the arrays of its type."""
        name = _name(array.dtype)
        start = self._lengths.get(name, 0)
        self._arrays.setdefault(name, []).append(array)
        self._lengths[name] = start + len(array)
        return [start, start + len(array)]

    def joined(self) -> dict[str, NDArray[Any]]:
        """All arrays of each type, concatenated."""
        return {name: np.concatenate(arrays) for name, arrays in self._arrays.items()}


def _plain(value: Any, columns: _Columns) -> Any:
    """A value in JSON's types, with its arrays moved to the entries."""
    if isinstance(value, np.ndarray):
        return columns.add(cast("NDArray[Any]", value))
    match value:
        case Mapping():
            items = cast("Mapping[str, Any]", value).items()
            return {key: _plain(each, columns) for key, each in items}
        case tuple() | list():
            return [_plain(each, columns) for each in cast("Sequence[Any]", value)]
        case float() if not math.isfinite(value):
            return str(value)  # JSON has no NaN and no infinity
        case _ if is_dataclass(value):
            return {f.name: _plain(getattr(value, f.name), columns) for f in fields(value)}
        case _:
            return value


_hints = cache(get_type_hints)


@cache
def _parts(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """The origin of a declared type, and its arguments."""
    return get_origin(kind), get_args(kind)


@cache
def _name(dtype: Any) -> str:
    return np.dtype(dtype).name


def _value(kind: Any, found: Any, arrays: "_Arrays") -> Any:
    """The value of a declared type that :func:`_plain` converted to ``found``."""
    origin, of = _parts(kind)
    if origin in (Union, types.UnionType):
        [some] = [each for each in of if each is not type(None)]
        return None if found is None else _value(some, found, arrays)
    if origin is np.ndarray:
        _, [dtype] = _parts(of[1])
        [start, end] = (_expect(int, each) for each in _expect(list, found))
        return arrays.slice(dtype, start, end)
    if origin in (tuple, Sequence):
        return tuple(_value(of[0], each, arrays) for each in _expect(list, found))
    if origin is Mapping:
        items = _expect(dict, found).items()
        return {of[0](key): _value(of[1], each, arrays) for key, each in items}
    if is_dataclass(kind):
        hints, given = _hints(kind), _expect(dict, found)
        if hints.keys() != given.keys():
            raise ValueError(f"{getattr(kind, '__name__', kind)} has other fields")
        make: Any = kind
        return make(**{name: _value(hints[name], given[name], arrays) for name in hints})
    if kind is float and (type(found) is int or found in ("nan", "inf", "-inf")):
        return float(found)
    return _expect(kind, found)


def _expect(kind: Any, found: Any) -> Any:
    if type(found) is not kind:
        raise ValueError(f"expected {kind.__name__}, found {type(found).__name__}")
    return found


class _Arrays:
    """The arrays of an archive, which together take at most as much memory as the file's length."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
            raise ValueError("an entry is compressed")
        length = Path(str(archive.filename)).stat().st_size
        if sum(entry.file_size for entry in entries) > length:
            raise ValueError("its entries overlap")
        self._archive = archive
        self._read: dict[str, NDArray[Any]] = {}

    def slice(self, dtype: Any, start: int, end: int) -> NDArray[Any]:
        """One of the arrays of a type."""
        name = _name(dtype)
        array = self.read(name, dtype)
        if not 0 <= start <= end <= len(array):
            raise ValueError(f"array {name} has no elements {start} to {end}")
        return array[start:end]

    def read(self, name: str, dtype: Any) -> NDArray[Any]:
        """An entire entry, which has one dimension; the same name returns the same array."""
        if name not in self._read:
            with self._archive.open(f"{name}.npy") as file:
                self._read[name] = np.lib.format.read_array(file, allow_pickle=False)
                file.read()  # to the end, where the checksum is compared
        array = self._read[name]
        if array.dtype != dtype or array.ndim != 1:
            raise ValueError(f"array {name} has {array.ndim} dimensions, of {array.dtype}")
        return array
