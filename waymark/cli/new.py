"""``waymark new``: runnable skeletons to edit."""

import re
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from waymark.cli.base import app
from waymark.errors import WaymarkError, os_errors
from waymark.help_text import examples


class Kind(StrEnum):
    """The kinds of skeletons of ``waymark new``."""

    EXPERIMENT = "experiment"
    CONTROL = "control"
    SCENARIO = "scenario"
    TOPOLOGY = "topology"


_TEMPLATES = {
    Kind.EXPERIMENT: ("experiment.py", "my_figure", "waymark run ./{file} --scale quick"),
    Kind.CONTROL: ("control.py", "my_control", "waymark compare ./{file} vegas --seeds 1"),
    Kind.SCENARIO: ("scenario.yaml", "my_scenario", "waymark run ./{file}"),
    Kind.TOPOLOGY: ("topology.yaml", "my_network", "waymark compare vegas --topology ./{file}"),
}
"""The template, its placeholder for the user's name, and a command to try."""

_NAME = re.compile(r"[^\W\d][\w-]*")


@app.command(
    "new",
    epilog=examples(
        "waymark new experiment my_figure",
        "waymark run ./my_figure.py --scale quick",
    ),
)
def new(
    kind: Annotated[Kind, typer.Argument(help="The kind of file.")],
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the file: my_figure for ./my_figure.py.")
    ],
) -> None:
    """Write a template of an experiment, control or network.

    It is commented and runnable.
    """
    template, placeholder, command = _TEMPLATES[kind]
    suffix = Path(template).suffix
    path = Path(name)
    if path.suffix != suffix:
        path = path.with_name(path.name + suffix)
    if not _NAME.fullmatch(path.stem):
        raise WaymarkError(
            f"{name}: expected a name of letters, digits, _ and - that begins with a letter"
        )
    text = files("waymark").joinpath("templates", "new", template).read_text(encoding="utf-8")
    text = text.replace(placeholder, path.stem).replace(_camel(placeholder), _camel(path.stem))
    with os_errors(path):
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            raise WaymarkError(f"{path}: exists already; choose another name") from None
    shown = path.as_posix()
    print(path)
    print(f"try: {command.format(file=shown)}".replace(" .//", " /"))


def _camel(name: str) -> str:
    """``my_control`` as a class's name: ``MyControl``."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[_-]+", name))
