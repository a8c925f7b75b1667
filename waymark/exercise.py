"""The exercises of ``exercises/``: their contents, and a student's copy.

An exercise is a folder. ``exercise.yaml`` has its title and its checks as data, which
:mod:`waymark.grader` runs; the student gets ``given/``, ``skeleton/``, the README and the hints.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from waymark import files, project, yaml_file
from waymark.errors import WaymarkError, os_errors, suggestion

DESCRIPTION = "exercise.yaml"
Answer = str | int | float | bool


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Claim(_Part):
    """A row of a scenario's table or a counter of a switch, and between which values it is."""

    row: str = Field(
        description="the name of a measure of the scenario, or what the counter counts"
    )
    switch: str | None = Field(None, description="a switch of the scenario")
    counter: str | None = Field(None, description="a counter of its program")
    cell: int = Field(0, description="the counter's index")
    at_least: float | None = Field(None, description="a number")
    at_most: float | None = Field(None, description="a number")
    why: str = Field(description="what another value means, for the student")


class Question(_Part):
    """A question whose answer is a value in the student's file."""

    text: str = Field(description="the question")
    value: Answer | None = Field(None, description="the answer, a word or a number")
    at_least: float | None = Field(None, description="a number, for answers that are measured")
    at_most: float | None = Field(None, description="a number")
    wrong: str = Field(description="where to look, for a wrong answer")


class Check(_Part):
    """One of: a packet script on a program, a scenario with claims, questions."""

    program: str | None = Field(None, description="the P4 program of a packet script")
    script: tuple[str, ...] = Field((), description="packet scripts, run in sequence")
    scenario: str | None = Field(None, description="a scenario file")
    only: tuple[str | int, ...] = Field(
        (),
        description="the part of the student's scenario that may differ from the skeleton's, "
        "as keys and indexes: [links, 5, red]",
    )
    claims: tuple[Claim, ...] = Field((), description="a list of claims on the scenario's table")
    aqt: bool = Field(False, description="true: every packet's AQT is compared with the truth")
    answers: str | None = Field(None, description="a file with the student's answers")
    questions: Mapping[str, Question] = Field({}, description="questions by the answer's key")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [bool(self.script), self.scenario is not None, self.answers is not None]
        if sum(kinds) != 1 or bool(self.script) != (self.program is not None):
            raise ValueError("valid: program and script, scenario, or answers")
        if self.only and self.scenario is None:
            raise ValueError("only: found without a scenario; valid: with a scenario")
        return self

    @property
    def name(self) -> str:
        """Its name in the grader's output: its last file."""
        return self.scenario or self.answers or self.script[-1]


class Description(_Part):
    """``exercise.yaml``."""

    id: str = Field(description="the name of the exercise's folder")
    title: str = Field(description="what the student does")
    learns: str = Field(description="what the student learns, in a sentence")
    minutes: Annotated[int, Field(ge=10, le=90)] = Field(description="10 to 90")
    files: tuple[str, ...] = Field(min_length=1, description="the files that the student edits")
    checks: tuple[Check, ...] = Field(min_length=1, description="a list of checks")


@dataclass(frozen=True)
class Exercise:
    """An exercise, and the folder that has it."""

    folder: Path
    about: Description

    @property
    def number(self) -> int:
        """Its place in the course, from 1."""
        return int(self.about.id.partition("_")[0])

    def start(self, folder: Path) -> None:
        """Write a student's copy to a new or empty folder.

        Raises:
            WaymarkError: the folder has files, or cannot be written.
        """
        with os_errors(folder):
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise WaymarkError(
                    f"{folder}: exists already and is not empty; choose another folder"
                )
            folder.mkdir(parents=True, exist_ok=True)
            for part in ("given", "skeleton"):
                if (self.folder / part).is_dir():
                    shutil.copytree(self.folder / part, folder, dirs_exist_ok=True)
            for name in ("README.md", "hints.md", DESCRIPTION):
                shutil.copy(self.folder / name, folder)

    def assemble(self, student: Path, folder: Path) -> None:
        """Copy the files to grade to ``folder``: the original given files, and the student's files.

        Raises:
            WaymarkError: a file of the student's is missing.
        """
        if (self.folder / "given").is_dir():
            shutil.copytree(self.folder / "given", folder, dirs_exist_ok=True)
        for name in self.about.files:
            if not files.is_file(student / name):
                raise WaymarkError(
                    f"{student / name}: no such file; `waymark exercise start {self.number}` in "
                    "another folder writes it again"
                )
            shutil.copy(student / name, folder / name)


def all_exercises() -> list[Exercise]:
    """The exercises, in the order of the course."""
    folders = (project.root() / "exercises").glob(f"*/{DESCRIPTION}")
    return sorted((_load(path.parent) for path in folders), key=lambda one: one.number)


def find(name: str) -> Exercise:
    """The exercise of that number or name: ``1``, ``forward`` or ``1_forward``.

    Raises:
        WaymarkError: there is none.
    """
    exercises = all_exercises()
    for one in exercises:
        if name in (str(one.number), one.about.id, one.about.id.partition("_")[2]):
            return one
    valid = [one.about.id for one in exercises]
    raise WaymarkError(f"no exercise {name!r}; {suggestion(name, valid)}")


def of_student(folder: Path) -> Exercise:
    """The exercise of which a folder has a student's copy.

    Raises:
        WaymarkError: it has none.
    """
    path = folder / DESCRIPTION
    if not files.is_file(path):
        started = sorted(each.parent.name for each in Path().glob(f"*/{DESCRIPTION}"))
        valid = ", ".join(started) or "none is here, `waymark exercise start 1` writes one"
        raise WaymarkError(
            f"{folder} has no {DESCRIPTION}: not the folder of an exercise; valid: {valid}"
        )
    tree: Any = yaml_file.read(path).tree
    is_mapping = isinstance(tree, Mapping)
    return find(str(cast("Mapping[str, Any]", tree).get("id") if is_mapping else None))


def _load(folder: Path) -> Exercise:
    return Exercise(folder, yaml_file.validate(Description, yaml_file.read(folder / DESCRIPTION)))
