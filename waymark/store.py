"""Finished runs, kept in files: what is there need not be run again."""

import hashlib
import json
import pickle
import tempfile
from functools import cache
from pathlib import Path

from waymark import _core, program
from waymark.result import Result
from waymark.scenario import Scenario, to_core

_CODE = ("run.py", "result.py")
"""Beside the core, what a result depends on that its scenario does not tell."""


class Store:
    """A folder of results, each under a key of all that it depends on.

    A result is written under another name and renamed, so that a file is whole or not there.
    Nothing is ever out of date: another parameter, program or version of the code is another key.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: str) -> Result | None:
        """The result under this key, if it is there and can be read."""
        try:
            found = pickle.loads(self._path(key).read_bytes())
        except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError):
            return None
        return found if isinstance(found, Result) else None

    def put(self, key: str, result: Result) -> None:
        """Keep a result.

        Raises:
            OSError: it cannot be written.
        """
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            pickle.dump(result, file)
        Path(file.name).replace(path)

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key[2:]}.pickle"


def key_of(scenario: Scenario) -> str:
    """The hash of a run's parameters, of the P4 programs it runs and of the code that runs it.

    Raises:
        WaymarkError: a P4 program that is missing.
        _core.CompileError: a P4 program with errors.
    """
    programs = {name: program.of_project(name) for name in scenario.programs}
    parameters = to_core(scenario, {name: p.tables for name, p in programs.items()})
    del parameters["name"]  # for messages only: two experiments may share a run
    parts = {
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
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _core_path() -> Path:
    return Path(str(getattr(_core, "__file__")))  # noqa: B009, the stub has no __file__
