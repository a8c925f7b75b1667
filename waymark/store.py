"""Finished runs, stored in files, so that they need not be repeated."""

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
"""Modules that a result depends on, besides the core and its scenario."""


class Store:
    """A folder of results. The key of each result covers everything that it depends on.

    A result is written under another name and renamed, so that a file is complete or absent.
    Results are never stale: another parameter, program or version of the code gives another key.
        Files are data and run no code (:mod:`waymark.result_file`), so untrusted folders are safe.

    Attributes:
        folder: the folder of the files, which is created with the first result.

    Args:
        folder: as above.
        notice: called with a sentence about each file that cannot be read.
        afresh: existing results count as missing, and are replaced.
    """

    def __init__(
        self, folder: Path, notice: Callable[[str], None] = warnings.warn, *, afresh: bool = False
    ) -> None:
        self.folder = folder
        self._notice = notice
        # Keys of the results that were put into this store; None: all existing results count.
        self._made: set[str] | None = set() if afresh else None

    def get(self, key: str) -> Result | None:
        """The result under this key, if it exists and can be read."""
        if self._made is not None and key not in self._made:
            return None
        try:
            return result_file.read(self._path(key))
        except FileNotFoundError:
            return None
        except WaymarkError as error:
            self._notice(f"{error}; the run is repeated")
            return None

    def octets(self, key: str) -> int:
        """The length of a result's file, about the memory that it takes; 0: there is none."""
        try:
            return self._path(key).stat().st_size
        except FileNotFoundError:
            return 0

    def put(self, key: str, result: Result, drafts: Path | None = None) -> None:
        """Store a result.

        Args:
            key: of everything that it depends on.
            result: the result.
            drafts: a folder for the file until it is complete, in the same file system. None: the
                result's folder.

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
        """Record that another process has stored this result."""
        if self._made is not None:
            self._made.add(key)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key[2:]}.npz"


def key_of(scenario: Scenario) -> str:
    """The hash of a run's parameters, of its P4 programs and of the code that runs it.

    Raises:
        WaymarkError: a P4 program is missing.
        _core.CompileError: a P4 program has errors.
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
    """The hash of the compiled core, and of the modules that convert its records to results."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in (_core_path(), *(here / name for name in _CODE)):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _core_path() -> Path:
    return Path(str(getattr(_core, "__file__")))  # noqa: B009, the stub has no __file__
