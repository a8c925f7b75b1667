"""Finished runs, kept in files: what is there need not be run again."""

import hashlib
import json
import os
import threading
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

from waymark import _core, program, result_file
from waymark.errors import WaymarkError, os_errors
from waymark.result import Result
from waymark.scenario import Scenario, halves_to_core

KEPT = ".runs"
"""The folder of finished runs, in the folder of results."""

_CODE = ("running.py", "result.py", "sctp.py", "switch_result.py", "trace.py")
"""Beside the core, what a result depends on that its scenario does not tell."""


class Store:
    """A folder of results, each under a key of all that it depends on.

    A result is written under another name and renamed, so that a file is whole or not there.
    Nothing is ever out of date: another parameter, program or version of the code is another key.
    Files are data and run no code (:mod:`waymark.result_file`): a folder may come from anybody.

    Attributes:
        folder: where the files are; it is made when the first result is kept.

    Args:
        folder: as above.
        notice: is called with a sentence about each file that cannot be read.
        afresh: results that were there before count as missing, and are replaced.
    """

    def __init__(
        self, folder: Path, notice: Callable[[str], None] = warnings.warn, *, afresh: bool = False
    ) -> None:
        self.folder = folder
        self._notice = notice
        # Keys of the results that this store was given; None: all that are there count.
        self._made: set[str] | None = set() if afresh else None

    def get(self, key: str) -> Result | None:
        """The result under this key, if it is there and can be read."""
        if self._made is not None and key not in self._made:
            return None
        try:
            return result_file.read(self._path(key))
        except FileNotFoundError:
            return None
        except WaymarkError as error:
            self._notice(f"{error}; the run is made again")
            return None

    def octets(self, key: str) -> int:
        """How long the file of a result is, about what it takes in memory; 0: there is none."""
        try:
            return self._path(key).stat().st_size
        except FileNotFoundError:
            return 0

    def put(self, key: str, result: Result, drafts: Path | None = None) -> None:
        """Keep a result.

        Args:
            key: what it depends on.
            result: as it is.
            drafts: a folder for the file until it is whole, in the same file system. None: that
                of the result.

        Raises:
            WaymarkError: it cannot be written.
        """
        path = self._path(key)
        name = f"{path.name}.{os.getpid()}-{threading.get_native_id()}"
        partial = (drafts or path.parent) / name
        with os_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with partial.open("wb") as file:
                    result_file.write(result, file)
                partial.replace(path)
            finally:
                partial.unlink(missing_ok=True)
        self.made(key)

    def made(self, key: str) -> None:
        """Somebody has put this result there."""
        if self._made is not None:
            self._made.add(key)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key[2:]}.npz"


def key_of(scenario: Scenario) -> str:
    """The hash of a run's parameters, of the P4 programs it runs and of the code that runs it.

    Raises:
        WaymarkError: a P4 program that is missing.
        _core.CompileError: a P4 program with errors.
    """
    programs = {name: program.of_project(name) for name in scenario.programs}
    tables = {name: p.tables for name, p in programs.items()}
    network, parameters = halves_to_core(scenario, tables)
    del parameters["name"]  # for messages only: two experiments may share a run
    parts = {
        "network": network,
        "parameters": parameters,
        "programs": {name: p.sha256 for name, p in programs.items()},
        "code": code_sha256(),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@cache
def code_sha256() -> str:
    """Of the compiled core and of the modules that make results of its records."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in (_core_path(), *(here / name for name in _CODE)):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _core_path() -> Path:
    return Path(str(getattr(_core, "__file__")))  # noqa: B009, the stub has no __file__
