"""Grades a student's copy of an exercise, and reports expected and actual results.

The checks are data (:class:`waymark.exercise.Check`). Each runs in a separate process, with a time
limit, on a copy of the student's files with the original given files.
"""

import json
import os
import tempfile
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from numpy.typing import NDArray

from waymark import _core, files, isolated, program, yaml_file
from waymark.errors import WaymarkError
from waymark.exercise import Answer, Check, Claim, Exercise, Question

LIMIT_S = 10.0
"""Time limit of a check, in seconds."""

WIDTH = 72
"""Columns of the text about a check; with its indent, fewer than 80."""

MOST_FAILURES = 2
"""Maximum number of a script's packets that are shown; the others are counted."""

_BARS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Outcome:
    """The result of a check.

    Attributes:
        name: the check's file.
        passed: whether all results are as expected.
        lines: if it passed, the measured values; otherwise expected and actual results.
    """

    name: str
    passed: bool
    lines: tuple[str, ...]


def grade(exercise: Exercise, student: Path) -> list[Outcome]:
    """Run the checks of an exercise on a student's folder.

    Raises:
        WaymarkError: a file of the student's is missing.
    """
    checks = exercise.about.checks
    if any(check.scenario for check in checks):
        from waymark import scenario_file  # which takes long to import: once, before the processes

        del scenario_file
    with tempfile.TemporaryDirectory(prefix="exercise-") as name:
        folder = Path(name).resolve()
        exercise.assemble(student, folder)
        tasks = [(check, folder, exercise.folder / "skeleton") for check in checks]
        outcomes: list[Outcome] = []
        for (check, *_), got in isolated.each(_run, tasks, limit_s=LIMIT_S):
            outcome = _lost(check, got) if isinstance(got, isolated.Lost) else got
            first = next((one for one in outcomes if one.lines == outcome.lines), None)
            if first is not None and not outcome.passed:
                outcome = replace(outcome, lines=(f"as {first.name}",))
            outcomes.append(outcome)
        return outcomes


def _lost(check: Check, lost: isolated.Lost) -> Outcome:
    why = (
        f"{lost.reason}. Is there an endless loop in your code?"
        if "not done" in lost.reason
        else ""
    )
    return Outcome(check.name, False, tuple(_paragraph(why or lost.reason)))


def _run(task: tuple[Check, Path, Path]) -> Outcome:
    check, folder, skeleton = task
    os.chdir(folder)  # messages then name the files as the student does
    try:
        if check.script:
            passed, lines = _script(check)
        elif check.scenario is not None:
            passed, lines = _scenario(check, skeleton)
        else:
            passed, lines = _answers(check)
    except (WaymarkError, _core.WaymarkCoreError) as error:
        text = str(error).replace(f"{folder}/", "").removeprefix("scenario scenario: ")
        passed, lines = False, [line for part in text.splitlines() for line in _cut(part)]
    return Outcome(check.name, passed, tuple(lines))


# -- packet scripts -------------------------------------------------------------------------------


def _script(check: Check) -> tuple[bool, list[str]]:
    assert check.program is not None
    compiled = program.compile_file(Path(check.program))
    texts = [(name, files.read_text(Path(name))) for name in check.script]
    try:
        verdict = json.loads(_core.grade_scripts(compiled, texts))
    except _core.ScriptError as error:
        raise WaymarkError(f"{' and '.join(check.script)}: {error}") from error
    if verdict["passed"]:
        return True, [f"{verdict['packets']} packets in, {verdict['expected']} expectations met"]
    failures = verdict["failures"]
    lines = [line for failure in failures[:MOST_FAILURES] for line in _failure(failure)]
    more = len(failures) - MOST_FAILURES
    if more > 0:
        lines.append(f"… and {more} more.")
    lines.append(f"Trace: waymark stf {check.program} {' '.join(check.script)} --trace")
    if len(check.script) > 1:
        lines[-1] = f"Trace: cat {' '.join(check.script)} > all.stf, and"
        lines.append(f"  waymark stf {check.program} all.stf --trace")
    return False, lines


def _failure(failure: Mapping[str, Any]) -> Iterator[str]:
    """The tested property, the fields that differ, and both packets."""
    yield from _paragraph("{script}:{line}: {what}".format_map(failure))
    if failure["test"]:
        yield from _paragraph(f"The test: {failure['test']}", "  ")
    for one in failure["fields"]:
        shown = "{field}: expected {expected}, found {found}".format_map(one)
        yield from _paragraph(shown, "  ") if len(shown) < WIDTH else [f"  {one['field']} differs"]
    yield from _side_by_side(failure["packets"])


def _side_by_side(rows: Sequence[str]) -> Iterator[str]:
    """Packets in hexadecimal below each other, 24 octets per line."""
    label, digits = 11, 6 * 9
    for start in range(label, max(map(len, rows), default=0), digits):
        for row in rows:
            part = row[start : start + digits].rstrip()
            if part:
                yield row[:label] + part


# -- scenarios ------------------------------------------------------------------------------------


def _scenario(check: Check, skeleton: Path) -> tuple[bool, list[str]]:
    from waymark import scenario_file
    from waymark.running import run

    assert check.scenario is not None
    if check.only:
        changed = _changed_elsewhere(check.scenario, skeleton, check.only)
        if changed:
            return False, _paragraph(changed)
    experiment = scenario_file.load(Path(check.scenario))
    [(name, scenario)] = experiment.scenarios("full", 1).items()
    result = run(replace(scenario, check_aqt=check.aqt))
    rows = {row.quantity: row for row in experiment.rows({name: [result]})}
    lines: list[str] = []
    passed = True
    for claim in check.claims:
        if claim.switch is None or claim.counter is None:
            value, unit = rows[claim.row].waymark, f" {rows[claim.row].unit}"
        else:
            counter = result.switches[claim.switch].counters[claim.counter]
            value, unit = float(counter[claim.cell].packets), " packets"
        good = _holds(claim, value)
        passed &= good
        lines.append(f"{claim.row}: {value:.4g}{unit}")
        if not good:
            lines[-1] += f", expected {_range(claim)}{unit}"
            lines += _paragraph(claim.why, "  ")
    if check.aqt and result.aqt is not None:
        wrong = result.aqt.mismatches
        passed &= wrong == 0 and result.aqt.compared > 0
        lines.append(f"AQT of {result.aqt.compared} packets compared, {wrong} wrong")
        lines += [f"  {line}" for first in result.aqt.first[:2] for line in _cut(str(first))]
    if not passed:
        for link, queue in _measured_queues(scenario_file, check.scenario, result):
            lines += _plot(link, queue, result.end_s)
        lines.append(f"Plot: waymark run {check.scenario}")
    return passed, lines


def _changed_elsewhere(scenario: str, skeleton: Path, only: Sequence[str | int]) -> str | None:
    """A message about a student's changes in a scenario outside the part that may be changed."""
    from waymark import scenario_file

    mine, original = (
        yaml_file.validate(scenario_file.ScenarioFile, yaml_file.read(path)).model_dump()
        for path in (Path(scenario), skeleton / scenario)
    )
    *outer, last = only
    for tree in (mine, original):
        part: Any = tree
        for key in outer:
            if isinstance(key, int) and key >= len(part):
                part = {}  # an item that the student took away
                break
            part = part[key]
        part[last] = None
    changed = [key for key in original if mine[key] != original[key]]
    if not changed:
        return None
    where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in only)[1:]
    return (
        f"{scenario}: these parts differ from the skeleton's: {', '.join(changed)}. Restore them, "
        f"and change only {where} (indexes count from 0)."
    )


def _measured_queues(
    scenario_file: Any, path: str, result: Any
) -> Iterator[tuple[str, NDArray[Any]]]:
    """The queues of which the scenario's table has a row."""
    file = yaml_file.validate(scenario_file.ScenarioFile, yaml_file.read(Path(path)))
    for link in dict.fromkeys(one.of for one in file.measures if one.of in result.queues):
        yield link, result.queues[link].waiting


def _holds(limits: Claim | Question, value: float) -> bool:
    least, most = limits.at_least, limits.at_most
    return (least is None or value >= least) and (most is None or value <= most)


def _range(claim: Claim) -> str:
    if claim.at_least is None:
        return f"at most {claim.at_most:g}"
    if claim.at_most is None:
        return f"at least {claim.at_least:g}"
    if claim.at_least == claim.at_most:
        return f"{claim.at_least:g}"
    return f"{claim.at_least:g} to {claim.at_most:g}"


def _plot(link: str, waiting: NDArray[Any], end_s: float) -> list[str]:
    """A queue over time as bars: the longest in each of 60 parts."""
    parts = min(60, len(waiting))
    edges = [round(len(waiting) * part / parts) for part in range(parts + 1)]
    heights = [float(waiting[a:b].max()) for a, b in pairwise(edges)]
    top = max(heights) or 1.0
    bars = "".join(_BARS[min(8, round(8 * height / top))] for height in heights)
    return [
        f"Queue {link}, 0 to {end_s:g} s, up to {max(heights):.1f} packets:",
        f"  |{bars}|",
    ]


# -- answers --------------------------------------------------------------------------------------


def _answers(check: Check) -> tuple[bool, list[str]]:
    assert check.answers is not None
    tree: Any = yaml_file.read(Path(check.answers)).tree
    given = cast("Mapping[str, Answer | None]", tree if isinstance(tree, Mapping) else {})
    lines: list[str] = []
    passed = True
    for key, question in check.questions.items():
        answer = given.get(key)
        if answer is None:
            passed = False
            lines += _paragraph(f"{key}: no answer yet. {question.text}")
        elif _is_right(question, answer):
            lines.append(f"{key}: {answer} is right")
        else:
            passed = False
            lines += _paragraph(f"{key}: {answer} is not right. {question.wrong}")
    for key in given:
        if key not in check.questions:
            lines += _paragraph(f"{key}: no such question; valid: {', '.join(check.questions)}")
    return passed, lines


def _is_right(question: Question, answer: Answer) -> bool:
    if question.value is not None:
        return str(answer).strip().lower() == str(question.value).lower()
    is_number = isinstance(answer, int | float) and not isinstance(answer, bool)
    return is_number and _holds(question, float(answer))


# -- text -----------------------------------------------------------------------------------------


def _paragraph(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")


def _cut(line: str) -> list[str]:
    """A line of a message in several; of source text, with all its spaces."""
    if line[:1].strip():
        return _paragraph(line)
    return [line[at : at + WIDTH] for at in range(0, len(line), WIDTH)] or [""]
