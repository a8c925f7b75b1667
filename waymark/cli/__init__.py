"""The command ``waymark``: one file per group of commands.

Every module of this folder registers its commands with ``@app.command`` of :mod:`waymark.cli.base`
when it is imported, so that a new command is a new file. A module imports what takes long
(matplotlib, numpy, gRPC) when its command runs.
"""

import os
import pkgutil
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from typer import Typer

__all__ = ["load", "main"]

MODULES = {
    "compile": "programs",
    "stf": "programs",
    "list": "lab",
    "run": "lab",
    "report": "lab",
    "controls": "controls",
    "plot": "plot",
    "switch": "switch",
    "host": "host",
    "kernel": "kernel",
    "exercise": "exercise",
    "lab": "live",
    "up": "network",
    "down": "network",
    "exec": "network",
    "status": "network",
    "controller": "controller",
}
"""Commands for which only their own module is imported, so that they start faster. For others, and
for ``--help``, all modules are imported."""

EXTRAS = {
    "jinja2": "plot",
    "matplotlib": "plot",
    "pyarrow": "plot",
    "finsy": "controller",
    "google": "controller",
    "grpc": "controller",
    "prometheus_client": "controller",
    "distributed": "cluster",
}
"""Optional packages, and the extra that installs each."""


def main() -> None:
    """Entry point of the ``waymark`` script."""
    try:
        from waymark import _core
    except ValueError as error:  # WAYMARK_JIT
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    from waymark.errors import WaymarkError

    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:  # a locale may lack α or →
        reconfigure(errors="replace")

    if sys.argv[1:] == ["--version"]:  # without the time that it takes to import the commands
        print(f"waymark {_core.__version__}")
        return
    app = load(_completed() or sys.argv[1:])
    from waymark.cli.base import EXIT_FAILED, EXIT_USAGE

    try:
        try:
            app(prog_name="waymark")
        finally:
            sys.stdout.flush()
    except WaymarkError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(EXIT_USAGE)
    except _core.SwitchError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(EXIT_FAILED)
    except _core.WaymarkCoreError as error:  # the diagnostics show it line by line
        print(error, file=sys.stderr)
        sys.exit(EXIT_FAILED)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        install = f"pip install 'waymark[{EXTRAS[package]}]'"
        print(f"error: this needs {package}, which is not installed: {install}", file=sys.stderr)
        sys.exit(EXIT_USAGE)
    except BrokenPipeError:  # waymark list | head
        _drop(sys.stdout, sys.stderr)
        sys.exit(0)
    except SystemExit as leaving:
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
        # click and rich end the process with 1 if the reader has gone.
        _drop(sys.stdout, sys.stderr)
        sys.exit(0)
    except OSError as error:  # a full disk, mostly
        _drop(sys.stdout)
        print(f"error: {error.filename or 'output'}: {error.strerror or error}", file=sys.stderr)
        sys.exit(EXIT_USAGE)


def load(arguments: Sequence[str] = ()) -> "Typer":
    """The app with the command of ``arguments``, or with all commands."""
    module = MODULES.get(arguments[0]) if arguments else None
    every = (each.name for each in pkgutil.iter_modules(__path__))
    for name in (module, "version") if module else every:
        import_module(f"{__name__}.{name}")
    from waymark.cli.base import app

    return app


def __getattr__(name: str) -> "Typer":
    """``app``, with all commands."""
    if name == "app":
        return load()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "app"})  # where typer's generator of documents looks for it


def _completed() -> list[str]:
    """The arguments of the command line that a shell asks to complete; the last is not finished."""
    if "_WAYMARK_COMPLETE" not in os.environ:
        return []
    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    words = line.split()[1:]
    return words if len(words) > 1 or line.endswith((" ", "\n")) else []


def _drop(*streams: TextIO) -> None:
    """Drop buffered output: Python would try to write it again at exit, and report an error."""
    for stream in streams:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
