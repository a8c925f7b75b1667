"""Tests of the compiler and the switch against p4c's test programs.

A corpus is a folder laid out as p4c's ``testdata``: programs in ``p4_16_samples``, some with a
packet script next to them, and programs to be refused in ``p4_16_errors``, with p4c's messages for
each in ``p4_16_errors_outputs``. It is not part of this project; the command line names it.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Literal

from waymark import _core, isolated, p4c, program
from waymark.errors import WaymarkError

LEFT_OUT = {"extern-funcs-bmv2": "its extern is a C++ module that is linked into BMv2"}
"""Programs that no other target can run, by name, and why."""

ARCHITECTURES = ("v1model.p4", "psa.p4")
"""Files of the architectures whose programs are compiled."""

LIMIT_S = 60.0
"""Time limit for a program, in seconds; nearly all take hundredths of a second."""

_ERROR = re.compile(r"^(?:(.*)\((\d+)\):)?\s?(?:\[--Werror=[^]]*\] )?(?:error:|syntax error)", re.M)
"""An error message of p4c: file and line, if it has a position, and the text."""

_SAMPLES = "p4_16_samples"
_ERRORS = "p4_16_errors"


class End(StrEnum):
    """How a program ended."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Verdict:
    """The result of a program.

    Attributes:
        name: the program's file without its ending.
        end: how it ended.
        reason: why, unless it passed.
    """

    name: str
    end: End
    reason: str = ""


@dataclass(frozen=True)
class Options:
    """How programs are compiled.

    Attributes:
        include: where ``#include`` looks besides the including file's folder.
        define: macros, as ``NAME`` or ``NAME=VALUE``.
        via: ``"p4c"``: compile with p4c, run its device configuration.
    """

    include: Sequence[Path] = ()
    define: Sequence[str] = ()
    via: Literal["p4c"] | None = None


Verdicts = Iterator[Verdict]


def run_scripts(
    folder: Path,
    match: str = "*",
    jobs: int | None = None,
    options: Options | None = None,
    *,
    strict: bool = False,
) -> Verdicts:
    """Run every v1model and PSA program of a corpus that has a packet script.

    ``strict`` compares the packets of all ports, and not only of the ports that a script names.

    Raises:
        WaymarkError: there is no such program, or p4c is requested and missing.
    """
    options = options or Options()
    if options.via:
        p4c.require()
    samples = _samples(folder, match, ARCHITECTURES)
    programs = [p for p in samples if p.with_suffix(".stf").is_file()]
    return _judge(partial(_script, options=options, strict=strict), programs, folder, jobs)


def compile_samples(
    folder: Path,
    match: str = "*",
    jobs: int | None = None,
    options: Options | None = None,
    architectures: Sequence[str] = ARCHITECTURES,
) -> Verdicts:
    """Compile every program of a corpus for these architectures; a refused program does not pass.

    Raises:
        WaymarkError: no such program there.
    """
    programs = _samples(folder, match, architectures)
    return _judge(partial(_compiles, options=options or Options()), programs, folder, jobs)


def compile_errors(
    folder: Path, match: str = "*", jobs: int | None = None, options: Options | None = None
) -> Verdicts:
    """Compile every program of a corpus that p4c refuses; it passes if it is refused at p4c's line.

    p4c's error lines are those of its errors: ``NAME(LINE): error:``, with or without the error's
    kind, and ``NAME(LINE): syntax error``. Lines of warnings, and lines that p4c shows in addition,
    such as declarations that an error refers to, do not count. A program passes if one of our
    errors is at such a line; additional lines of our error do not count. If p4c names no line of
    the program, any error passes.

    Raises:
        WaymarkError: no such program there.
    """
    errors = _folder(folder, _ERRORS)
    programs = [p for p in _programs(errors, match) if _ERROR.search(_said(p))]
    return _judge(partial(_refused, options=options or Options()), programs, folder, jobs)


def has_errors(folder: Path) -> bool:
    """Whether a corpus has programs to be refused."""
    return _folder(folder, _ERRORS).name == _ERRORS


def has_samples(folder: Path) -> bool:
    """Whether a corpus has programs to be accepted."""
    return folder.name != _ERRORS


def show(verdicts: Verdicts, what: str = "") -> bool:
    """Print a line for each program that did not pass, then the counts; whether none failed."""
    counts: Counter[End] = Counter()
    for verdict in verdicts:
        counts[verdict.end] += 1
        if verdict.end is not End.PASSED:
            print(f"{verdict.name}: {verdict.end}: {verdict.reason}", flush=True)
    print(f"{what}{', '.join(f'{counts[end]} {end}' for end in End)}")
    return counts[End.FAILED] == 0


def _judge(
    job: Callable[[Path], Verdict], programs: Sequence[Path], folder: Path, jobs: int | None
) -> Verdicts:
    if not programs:
        raise WaymarkError(f"{folder}: found no program of the corpus")
    return _verdicts(job, programs, jobs)


def _verdicts(
    job: Callable[[Path], Verdict], programs: Sequence[Path], jobs: int | None
) -> Verdicts:
    for path, verdict in isolated.each(job, programs, jobs=jobs, limit_s=LIMIT_S):
        if isinstance(verdict, isolated.Lost):
            yield Verdict(path.stem, End.FAILED, verdict.reason)
        else:
            yield verdict


def _script(path: Path, options: Options, strict: bool) -> Verdict:
    if path.stem in LEFT_OUT:
        return Verdict(path.stem, End.SKIPPED, LEFT_OUT[path.stem])
    script = path.with_suffix(".stf").read_text(encoding="utf-8", errors="replace")
    try:
        found = _core.run_stf(_compile(path, options), script, strict=strict)
    except (_core.WaymarkCoreError, WaymarkError) as error:
        return Verdict(path.stem, End.FAILED, _gist(str(error)))
    if found["passed"]:
        return Verdict(path.stem, End.PASSED)
    more = len(found["failures"]) - 1
    reason = _gist(found["failures"][0]) + (f" (and {more} more)" if more else "")
    return Verdict(path.stem, End.FAILED, reason)


def _compiles(path: Path, options: Options) -> Verdict:
    if path.stem in LEFT_OUT:
        return Verdict(path.stem, End.SKIPPED, LEFT_OUT[path.stem])
    try:
        _compile(path, options)
    except (_core.WaymarkCoreError, WaymarkError) as error:
        return Verdict(path.stem, End.FAILED, _gist(str(error)))
    return Verdict(path.stem, End.PASSED)


def _refused(path: Path, options: Options) -> Verdict:
    lines = {int(line) for file, line in _ERROR.findall(_said(path)) if file == path.name}
    try:
        _compile(path, options)
    except _core.CompileError as error:
        ours = {line for file, line in error.places if Path(file) == path}
        if not lines or lines & ours:
            return Verdict(path.stem, End.PASSED)
        reason = f"rejected at {_lines(ours)}, by p4c at {_lines(lines)}: {_gist(str(error))}"
        return Verdict(path.stem, End.FAILED, reason)
    return Verdict(path.stem, End.FAILED, f"accepted; p4c rejects it at {_lines(lines)}")


def _compile(path: Path, options: Options) -> _core.Program:
    if options.via:
        return p4c.compile_file(path, options.include, options.define)
    return program.compile_file(path, options.include, options.define)


def _lines(lines: set[int]) -> str:
    return f"line {', '.join(map(str, sorted(lines)))}" if lines else "no line of the program"


def _gist(text: str) -> str:
    """The first line of the first error, without the frame of a diagnostic."""
    lines = [line.strip(" │╭╰─┤├·") for line in text.splitlines()]
    errors = (line for line in lines if "] Error: " in line)
    return next(errors, next(filter(None, lines), "no reason given"))


def _folder(folder: Path, name: str) -> Path:
    """The corpus' folder of this name: below ``folder``, or itself."""
    if not folder.is_dir():
        raise WaymarkError(f"{folder}: no such folder")
    below = (folder / "testdata" / name, folder / name)
    return next((path for path in below if path.is_dir()), folder)


def _programs(folder: Path, match: str) -> list[Path]:
    files = (path for path in sorted(folder.rglob("*.p4")) if path.is_file())  # no dangling links
    return [p for p in files if fnmatch(p.stem, match) or fnmatch(p.name, match)]


def _samples(folder: Path, match: str, architectures: Sequence[str]) -> list[Path]:
    programs = _programs(_folder(folder, _SAMPLES), match)
    names = [architecture.encode() for architecture in architectures]
    return [p for p in programs if any(name in p.read_bytes() for name in names)]


def _said(path: Path) -> str:
    """p4c's standard error for a program."""
    said = path.parent.with_name(f"{path.parent.name}_outputs") / f"{path.name}-stderr"
    return said.read_text(encoding="utf-8", errors="replace") if said.is_file() else ""
