"""P4 programs: their paths, and compiling each once per process."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

from waymark import _core, files, project
from waymark.architecture import ARCHITECTURES
from waymark.errors import WaymarkError


def compile_file(
    path: Path,
    include_dirs: Sequence[Path] = (),
    defines: Sequence[str] = (),
    *,
    color: bool = False,
    target_rules: bool = True,
) -> _core.Program:
    """Compile a P4_16 program.

    Args:
        path: the main file.
        include_dirs: where ``#include`` looks besides the including file's folder; then it looks in
            ``p4src/``.
        defines: macros, as ``NAME`` or ``NAME=VALUE``.
        color: whether diagnostics are coloured with terminal escapes.
        target_rules: whether code that Tofino's hardware cannot run is an error.

    Raises:
        WaymarkError: there is no such file, or it cannot be read.
        _core.CompileError: the program has errors; the message shows each with its line.
    """
    files.require_file(path)
    macros = {name: value or "1" for name, _, value in (d.partition("=") for d in defines)}
    try:
        return _core.compile(
            str(path),
            include_dirs=[str(d) for d in (*include_dirs, project.program_path("."))],
            defines=macros,
            color=color,
            target_rules=target_rules,
        )
    except OSError as error:
        raise WaymarkError(f"{path}: {error}") from error


INCLUDE = re.compile(r'^#include "(.+)"', re.MULTILINE)


def sources(folder: Path, mains: Iterable[str]) -> dict[str, str]:
    """The texts of programs and of what they include, by their paths.

    Args:
        folder: paths are relative to it where they are below it.
        mains: the programs' main files, relative to ``folder`` or absolute. Files that cannot be
            read are omitted.
    """
    wanted = [folder / main for main in mains]
    texts: dict[str, str] = {}
    while wanted:
        path = wanted.pop().resolve()
        name = (path.relative_to(folder) if path.is_relative_to(folder) else path).as_posix()
        if name in texts or not path.is_file():
            continue
        texts[name] = path.read_text(encoding="utf-8", errors="replace")
        wanted += [path.parent / included for included in INCLUDE.findall(texts[name])]
    return dict(sorted(texts.items()))


def for_architecture(name: str, architecture: str) -> str:
    """The program of the same name in ``p4src/`` for another architecture.

    Raises:
        WaymarkError: there is none; the message lists the existing ones.
    """
    path = PurePosixPath(name)
    there = project.program_path(".") / architecture
    mains = sorted(main.name for main in there.glob("*.p4"))
    if path.parent.as_posix() not in ARCHITECTURES or path.name not in mains:
        raise WaymarkError(
            f"{name}: no such program in p4src/{architecture}/; valid: {', '.join(mains) or 'none'}"
        )
    return f"{architecture}/{path.name}"


@cache
def of_project(name: str) -> _core.Program:
    """A program named as topologies name it; compiled once in this process.

    Raises:
        WaymarkError: no such program; the message lists the existing ones.
    """
    path = project.program_path(name)
    if not files.is_file(path):
        folder = project.program_path(".")
        mains = sorted(p.relative_to(folder).as_posix() for p in folder.glob("v1model/*.p4"))
        raise WaymarkError(f"no P4 program {path} (in p4src/: {', '.join(mains)})")
    return compile_file(path)
