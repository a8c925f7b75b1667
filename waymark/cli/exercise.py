"""``waymark exercise``: the exercises, a copy to work on, and the grader."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from waymark import exercise
from waymark.cli.base import EXIT_FAILED, app
from waymark.help_text import examples
from waymark.json_option import AsJson, print_json

exercise_app = typer.Typer(
    help="Graded exercises in P4 and congestion control.",
    epilog=examples("waymark exercise list", "waymark exercise start 1", "waymark exercise check"),
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(exercise_app, name="exercise")


@exercise_app.command("list", epilog=examples("waymark exercise list"))
def list_exercises(as_json: AsJson = False) -> None:
    """List the exercises: number, time, and subject."""
    found = exercise.all_exercises()
    if as_json:
        keys = {"id", "title", "learns", "minutes", "files"}
        print_json([one.about.model_dump(mode="json", include=keys) for one in found])
        return
    for one in found:
        print(f"{one.number}  {one.about.title} ({one.about.minutes} minutes)")
        print(f"   {one.about.learns}")


@exercise_app.command(
    "start", epilog=examples("waymark exercise start 1", "waymark exercise start aqt my_folder")
)
def start(
    name: Annotated[str, typer.Argument(metavar="N", help="Number or name of an exercise.")],
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR", help="The folder to create. Default: the name of the exercise."
        ),
    ] = None,
) -> None:
    """Write a copy of an exercise to work on: text, skeleton and hints."""
    found = exercise.find(name)
    where = folder or Path(found.about.id)
    found.start(where)
    edited = ", ".join((where / file).as_posix() for file in found.about.files)
    print(f"{found.about.title} ({found.about.minutes} minutes)")
    print(f"read:   {(where / 'README.md').as_posix()}")
    print(f"edit:   {edited}")
    print(f"grade:  waymark exercise check {where.as_posix()}")


@exercise_app.command(
    "check", epilog=examples("waymark exercise check", "waymark exercise check 1_forward --json")
)
def check(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder that `start` wrote.")
    ] = Path(),
    as_json: AsJson = False,
) -> None:
    """Grade your copy of an exercise.

    Expected and actual results are shown. The exit code is 1 if a check fails.
    """
    from waymark import grader

    found = exercise.of_student(folder)
    outcomes = grader.grade(found, folder)
    passed = sum(outcome.passed for outcome in outcomes)
    if as_json:
        checks = [asdict(outcome) for outcome in outcomes]
        print_json(
            {"exercise": found.about.id, "passed": passed == len(outcomes), "checks": checks}
        )
    else:
        for outcome in outcomes:
            print(f"{'PASS' if outcome.passed else 'FAIL'}  {outcome.name}")
            for line in outcome.lines:
                print(f"      {line}".rstrip())
        print(f"{found.about.title}: {passed} of {len(outcomes)} checks passed")
        if passed == len(outcomes):
            print("Done. Answer the questions at the end of README.md.")
    if passed < len(outcomes):
        sys.stdout.flush()
        raise typer.Exit(EXIT_FAILED)
