"""Compiling the P4 program that a command was given."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from waymark import _core, p4c, program
from waymark.cli.base import EXIT_FAILED, err, is_coloured

Include = Annotated[
    list[Path] | None, typer.Option("-I", metavar="DIR", help="Also search DIR for includes.")
]
Define = Annotated[list[str] | None, typer.Option("-D", metavar="X[=V]", help="Define a macro.")]

TargetRules = Annotated[
    bool,
    typer.Option(
        "--target-rules/--no-target-rules",
        help="Reject a program for Tofino that its hardware cannot run.",
    ),
]


def compile_file(
    file: Path,
    include: list[Path] | None,
    define: list[str] | None,
    *,
    via_p4c: bool = False,
    target_rules: bool = True,
) -> _core.Program:
    """Compile, and print the warnings; with errors, print them and exit."""
    folders, macros = include or (), define or ()
    try:
        if via_p4c:
            compiled = p4c.compile_file(file, folders, macros)
        else:
            compiled = program.compile_file(
                file, folders, macros, color=is_coloured(err), target_rules=target_rules
            )
    except _core.CompileError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(EXIT_FAILED) from error
    for warning in compiled.warnings:
        print(warning, file=sys.stderr)
    return compiled
