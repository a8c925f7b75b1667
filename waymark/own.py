"""Experiments and congestion controls in the user's own files, outside the checkout."""

import hashlib
import importlib
import re
import sys
import traceback
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from waymark import experiment as experiments
from waymark import files, project
from waymark.congestion import CongestionControl
from waymark.errors import WaymarkError, suggestion
from waymark.experiment import Experiment, Scale

_HOME = Path(__file__).resolve().parents[1]
"""The checkout, or the folder in which this package is installed."""

_modules: set[str] = set()
"""The files of modules that were loaded by name."""

SCENARIOS = (".yaml", ".yml")
"""The endings of scenario files."""

_MODULE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")

_ID = re.compile(r"\w[\w.+-]*(/\w[\w.+-]*)*")


class _Finder(MetaPathFinder):
    """Imports registered files by names that no other module has."""

    def __init__(self) -> None:
        self.paths: dict[str, str] = {}

    def find_spec(
        self, fullname: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a registered file."""
        path = self.paths.get(fullname)
        return None if path is None else spec_from_file_location(fullname, path)


_finder = _Finder()


def registered() -> Mapping[str, str]:
    """The files that :func:`load` has loaded, by module name; for :func:`register` elsewhere."""
    return dict(_finder.paths)


def register(paths: Mapping[str, str]) -> None:
    """Make files importable by these names, and modules in their folders by their own names.

    Workers call it, so that a control defined in such a file is found when it is unpickled.
    """
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)
    for name, path in paths.items():
        _finder.paths[name] = path
        folder = str(Path(path).parent)
        if folder not in sys.path:
            sys.path.insert(0, folder)


def is_own(argument: str) -> bool:
    """Whether an argument names a file or a module instead of an experiment of the project."""
    return argument.endswith((".py", *SCENARIOS)) or (
        _MODULE.fullmatch(argument) is not None and argument not in experiments.PAPERS
    )


def load_experiment(argument: str) -> Experiment:
    """The ``EXPERIMENT`` of a file (``./my_figure.py``) or of a module (``pkg.mod``), or the
    experiment that a scenario file (``./scenario.yaml``) describes.

    Raises:
        WaymarkError: there is no such file or module, its import fails, or it has no usable
            ``EXPERIMENT``; the message has file and line if they are known.
    """
    if argument.endswith(SCENARIOS):
        from waymark import scenario_file  # which needs what is here

        with located():  # of the controls that it names
            return scenario_file.load(Path(argument))
    if argument.endswith(".py"):
        of_project = experiments.at_path(Path(argument))
        if of_project is not None:
            return of_project
    module = load(argument)
    where = str(_shown(module.__file__)) if module.__file__ else argument
    found: Any = getattr(module, "EXPERIMENT", None)
    if found is None:
        raise WaymarkError(
            f"{where}: no EXPERIMENT; expected EXPERIMENT = waymark.Experiment(...) at the top "
            "level (waymark new experiment NAME writes one)"
        )
    if not isinstance(found, Experiment):
        raise WaymarkError(f"{where}: EXPERIMENT is {found!r}; expected a waymark.Experiment")
    _check(found, where)
    return found


def load_control(argument: str) -> type[CongestionControl]:
    """The congestion control of ``FILE.py`` or ``FILE.py:Class``.

    Raises:
        WaymarkError: as :func:`load_experiment`; or there is no such class, or there are several
            and none is named.
    """
    file, _, name = argument.partition(":")
    module = load(file)
    of_file = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type)
        and issubclass(value, CongestionControl)
        and value.__module__ == module.__name__
    }
    if not of_file:
        raise WaymarkError(f"{file}: no class derived from waymark.CongestionControl")
    if name:
        if name not in of_file:
            raise WaymarkError(f"{file}: no control {name!r}; {suggestion(name, list(of_file))}")
        return of_file[name]
    if len(of_file) > 1:
        raise WaymarkError(f"{file}: several controls; select one: {file}:{next(iter(of_file))}")
    return next(iter(of_file.values()))


def load(argument: str) -> ModuleType:
    """Import a file, or a module that is found from the working directory or Python's path.

    A file's folder comes first on Python's path, as with ``python FILE``.

    Raises:
        WaymarkError: it does not exist, or its import fails.
    """
    home = str(project.python_path()[0])
    if home not in sys.path:
        sys.path.append(home)  # for `from experiments... import`, behind everything else
    if argument.endswith(".py"):
        files.require_file(Path(argument))
        path = Path(argument).resolve()
        digest = hashlib.sha256(str(path).encode()).hexdigest()[:12]
        stem = re.sub(r"\W", "_", path.stem)
        name = f"waymark_file_{digest}_{stem}"
        register({name: str(path)})
    else:
        name = argument
        here = str(Path.cwd())
        if here not in sys.path:
            sys.path.insert(0, here)
        _require_module(name)
    with located(argument):
        return importlib.import_module(name)


def _require_module(name: str) -> None:
    with located(name):
        try:
            found = find_spec(name)
        except ModuleNotFoundError as error:  # of a parent
            if error.name is None or not name.startswith(error.name):
                raise
            found = None
    if found is not None and found.origin is not None:
        _modules.add(found.origin)
    else:
        raise WaymarkError(
            f"no experiment and no module {name!r} (looked in {Path.cwd()} and on Python's path); "
            f"a file needs its ending: ./{name}.py; the project's: waymark list"
        )


@contextmanager
def located(importing: str | None = None) -> Generator[None]:
    """Raise failures in a user's file as a :class:`WaymarkError` with file, line and source line.

    Other exceptions are unchanged, unless a file or module is being imported.

    Args:
        importing: the file or module that is being imported, if any.
    """
    try:
        yield
    except SyntaxError as error:
        file = error.filename or importing
        if file is None or not (importing or _is_own(file)):
            raise
        raise WaymarkError(_syntax(error, file)) from error
    except (Exception, SystemExit) as error:
        message = _message(error)
        frames = [f for f in traceback.extract_tb(error.__traceback__) if _is_own(f.filename)]
        if frames:
            last = frames[-1]
            within = "" if last.name == "<module>" else f"in {last.name}: "
            source = f"\n    {last.line}" if last.line else ""
            place = f"{_shown(last.filename)}:{last.lineno}"
            raise WaymarkError(f"{place}: {within}{message}{source}") from error
        if importing is None:
            raise
        raise WaymarkError(f"{importing}: cannot be imported: {message}") from error


def _message(error: BaseException) -> str:
    if isinstance(error, WaymarkError):
        return str(error)
    if isinstance(error, SystemExit):
        return (
            'the file ends the process; put the code of a script under if __name__ == "__main__":'
        )
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _syntax(error: SyntaxError, file: str) -> str:
    place = f"{_shown(file)}:{error.lineno or 1}: {type(error).__name__}: "
    if not error.text:
        return f"{place}{error.msg}"
    line = error.text.rstrip()
    indent = len(line) - len(line.lstrip())
    caret = " " * max(0, (error.offset or 1) - 1 - indent) + "^"
    return f"{place}{error.msg}\n    {line.strip()}\n    {caret}"


def _is_own(filename: str) -> bool:
    """Whether code belongs to the user: not to the project, and not to installed packages."""
    path = Path(filename).resolve()
    if str(path) in _modules or str(path) in _finder.paths.values():
        return True
    others = (_HOME, Path(sys.prefix).resolve(), Path(traceback.__file__).resolve().parent)
    return path.suffix == ".py" and not any(path.is_relative_to(folder) for folder in others)


def _shown(filename: str) -> Path:
    """A path as the user would write it: relative to the working directory if it is below."""
    path, here = Path(filename).resolve(), Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _check(experiment: Experiment, where: str) -> None:
    """Refuse errors that would appear later without a place in the user's file."""
    if not _ID.fullmatch(str(experiment.id)):
        raise WaymarkError(
            f"{where}: EXPERIMENT.id: found {experiment.id!r}; expected letters, digits and .+-_ "
            'in parts that "/" separates, such as "me/queue.1"'
        )
    if experiments.is_of_project(experiment.id):
        raise WaymarkError(
            f"{where}: EXPERIMENT.id: {experiment.id} is an experiment of the project, whose "
            "results this would overwrite; choose another id"
        )
    for scale in ("quick", "full"):
        seeds: Any = dict(experiment.seeds).get(scale)
        if not isinstance(seeds, int) or seeds < 1:
            raise WaymarkError(
                f"{where}: EXPERIMENT.seeds: found {seeds!r} for {scale!r}; expected a number of "
                'seeds per scale, such as {"quick": 1, "full": 10}'
            )
    unknown = [scale for scale in experiment.seeds if scale not in get_args(Scale)]
    if unknown:
        raise WaymarkError(f"{where}: EXPERIMENT.seeds: {suggestion(unknown[0], get_args(Scale))}")
    calls: dict[str, Callable[..., Any]] = {
        name: getattr(experiment, name) for name in ("scenarios", "rows", "draw")
    }
    for name, function in calls.items():
        if not callable(function):
            raise WaymarkError(
                f"{where}: EXPERIMENT.{name}: found {function!r}; expected a function"
            )
