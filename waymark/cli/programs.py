"""``waymark compile`` and ``waymark stf``: P4 programs and packet scripts."""

import json
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from waymark import _core, corpus, files, program, stf
from waymark.cli.base import EXIT_FAILED, STANDARD, Jobs, app, write
from waymark.cli.compiling import Define, Include, TargetRules, compile_file
from waymark.errors import WaymarkError
from waymark.help_text import examples
from waymark.json_option import AsJson, print_json

MainFile = Annotated[
    Path | None,
    typer.Argument(metavar="F.p4", help="The main P4 file, or its BMv2 JSON from p4c (F.json)."),
]
Corpus = Annotated[
    Path | None,
    typer.Option("--corpus", metavar="DIR", help="Run the programs of p4c's testdata in DIR."),
]
Matching = Annotated[
    str,
    typer.Option("--match", metavar="GLOB", help="Only programs of the corpus with such names."),
]


class Via(StrEnum):
    """``--via``."""

    P4C = "p4c"


@app.command(
    "compile",
    epilog=examples(
        "waymark compile p4src/v1model/waymark.p4",
        "waymark compile my.p4 -I include --p4info my.p4info.txtpb --source my.p4i",
    ),
)
def compile_program(
    file: MainFile = None,
    include: Include = None,
    define: Define = None,
    dump: Annotated[bool, typer.Option("--dump", help="Print the typed program.")] = False,
    p4info: Annotated[
        Path | None,
        typer.Option(
            "--p4info", metavar="OUT", help="Write the P4Info, as text; -: standard output."
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--source",
            metavar="OUT",
            help="Write the preprocessed source, a device config; -: standard output.",
        ),
    ] = None,
    target_rules: TargetRules = True,
    corpus_dir: Corpus = None,
    match: Matching = "*",
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> None:
    """Compile a P4_16 program and show its errors.

    The switch runs programs for v1model.p4, psa.p4, tna.p4 and t2na.p4. Programs for other
    architectures are only checked, and their P4Info can be written.

    In a program for tna.p4 or t2na.p4, it is an error to use what Tofino's hardware cannot do.
    The switch of this project can run such programs: --no-target-rules.

    With --json, errors are printed as data on standard output: file and line of each, and all
    diagnostics as text.
    """
    if corpus_dir is not None:
        _no_files(file)
        options = _options(include, define, None)
        return _compile_corpus(corpus_dir, match, jobs, options, as_json=as_json)
    printed = [p4info, source].count(STANDARD) + dump + as_json
    if printed > 1:
        raise WaymarkError("--p4info -, --source -, --dump, --json: expected at most one of them")
    given = _given(file, "F.p4")
    compile_given = _compile_as_json if as_json else compile_file
    compiled = compile_given(given, include, define, target_rules=target_rules)
    if p4info is not None:
        write(p4info, compiled.p4info())
    if source is not None:
        write(source, compiled.source)
    if dump:
        print(compiled.dump())
    elif not printed:
        tables = len(compiled.tables)
        print(f"{file}: compiled, {tables} {'table' if tables == 1 else 'tables'}")
        if compiled.package and compiled.refusal:
            print(f"{file}: {compiled.refusal}", file=sys.stderr)
    return None


def _compile_as_json(
    file: Path, include: list[Path] | None, define: list[str] | None, *, target_rules: bool
) -> _core.Program:
    """Compile, and print tables and warnings, or errors, as JSON."""
    try:
        compiled = program.compile_file(
            file, include or (), define or (), target_rules=target_rules
        )
    except _core.CompileError as error:
        places = [{"file": place, "line": line} for place, line in error.places]
        print_json(
            {"program": str(file), "compiled": False, "errors": places, "diagnostics": str(error)}
        )
        raise typer.Exit(EXIT_FAILED) from error
    result = {"program": str(file), "compiled": True, "sha256": compiled.sha256}
    result |= {"package": compiled.package, "refusal": compiled.refusal}
    print_json(result | {"tables": compiled.tables, "warnings": compiled.warnings})
    return compiled


def _compile_corpus(
    folder: Path, match: str, jobs: int | None, options: corpus.Options, *, as_json: bool
) -> None:
    judged: dict[str, tuple[str, corpus.Verdicts]] = {}
    if corpus.has_samples(folder):
        verdicts = corpus.compile_samples(folder, match, jobs, options)
        judged["compiled"] = ("v1model and PSA programs compiled: ", verdicts)
    if corpus.has_errors(folder):
        verdicts = corpus.compile_errors(folder, match, jobs, options)
        judged["refused"] = ("programs that p4c rejects, rejected at the same line: ", verdicts)
    _show_corpus(judged, as_json=as_json)


def _show_corpus(judged: dict[str, tuple[str, corpus.Verdicts]], *, as_json: bool) -> None:
    """Show verdicts, below a heading; exit with 1 if one failed."""
    if as_json:
        listed = {asked: list(verdicts) for asked, (_, verdicts) in judged.items()}
        print_json({asked: [asdict(one) for one in several] for asked, several in listed.items()})
        good = all(one.end is not corpus.End.FAILED for each in listed.values() for one in each)
    else:
        good = True
        for what, verdicts in judged.values():
            good &= corpus.show(verdicts, what)
    if not good:
        raise typer.Exit(EXIT_FAILED)


@app.command(
    "stf",
    epilog=examples(
        "waymark stf p4src/v1model/waymark.p4 p4src/tests/waymark-aqt_options.stf",
        "waymark stf my.p4 my.stf --trace",
    ),
)
def run_stf(
    file: MainFile = None,
    script: Annotated[
        Path | None, typer.Argument(metavar="F.stf", help="The packet script.")
    ] = None,
    include: Include = None,
    define: Define = None,
    target_rules: TargetRules = True,
    corpus_dir: Corpus = None,
    match: Matching = "*",
    jobs: Jobs = None,
    via: Annotated[
        Via | None, typer.Option(help="Compile with p4c, and run its BMv2 JSON.")
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Fail on unexpected packets at all ports, not only those in the script.",
        ),
    ] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Print what each packet executes, with source lines.")
    ] = False,
    trace_json: Annotated[
        Path | None, typer.Option("--trace-json", metavar="FILE", help="Write the trace as JSON.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a packet script against a P4 program.

    The script has packets to send and packets to expect.
    """
    options = _options(include, define, via)
    if corpus_dir is not None:
        _no_files(file)
        if trace or trace_json:
            raise WaymarkError("--trace: expected one script, not --corpus")
        verdicts = corpus.run_scripts(corpus_dir, match, jobs, options, strict=strict)
        return _show_corpus({"scripts": ("", verdicts)}, as_json=as_json)
    if as_json and (trace or trace_json == STANDARD):
        raise WaymarkError(
            "--json and a trace cannot both go to standard output; use --trace-json FILE"
        )
    script = _given(script, "F.stf")
    files.require_file(script)
    compiled = compile_file(
        _given(file, "F.p4"), include, define, via_p4c=via is not None, target_rules=target_rules
    )
    traced = stf.run_traced(compiled, script, strict=strict) if trace or trace_json else None
    if traced is not None and trace:
        print(traced.text)
    if traced is not None and trace_json:
        write(trace_json, json.dumps(traced.steps, indent=1) + "\n")
    verdict = stf.run(compiled, script, strict=strict) if traced is None else traced.report
    if as_json:
        print_json({"program": str(file), "script": str(script), **verdict})
    else:
        for failure in verdict["failures"]:
            print(f"{script}: {failure}")
        counts = f"{verdict['packets']} packets in, {verdict['expected']} expectations"
        print(f"{script}: {'passed' if verdict['passed'] else 'FAILED'} ({counts})")
    if not verdict["passed"]:
        raise typer.Exit(EXIT_FAILED)
    return None


def _options(
    include: list[Path] | None, define: list[str] | None, via: Via | None
) -> corpus.Options:
    return corpus.Options(include or (), define or (), "p4c" if via else None)


def _given(file: Path | None, name: str) -> Path:
    if file is None:
        raise WaymarkError(f"no {name}: expected a file or --corpus DIR")
    return file


def _no_files(file: Path | None) -> None:
    if file is not None:
        raise WaymarkError(f"{file}: no program is expected with --corpus")
