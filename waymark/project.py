"""Where the project's files are: P4 programs, experiments, topologies."""

import os
from pathlib import Path

from waymark.errors import WaymarkError

PACKAGE = Path(__file__).resolve().parent
"""This package. In a wheel, it contains the folders that are next to it in a checkout."""


def root() -> Path:
    """The folder with ``p4src/`` and ``experiments/``: ``$WAYMARK_HOME``, else a checkout that
    contains the working directory, else the checkout or the wheel of this package.

    Raises:
        WaymarkError: none of these has them.
    """
    home = os.environ.get("WAYMARK_HOME")
    if home is not None:
        if _is_checkout(Path(home)):
            return Path(home)
        raise WaymarkError(f"WAYMARK_HOME={home} has no p4src/ and experiments/")
    here = Path.cwd()
    for folder in (here, *here.parents, PACKAGE.parent, PACKAGE):
        if _is_checkout(folder):
            return folder
    raise WaymarkError(
        f"{here} is not in a Waymark checkout (a folder with p4src/ and experiments/): change into "
        "one, or set WAYMARK_HOME"
    )


def python_path() -> tuple[Path, str]:
    """The path where Python finds the modules of the root's folders, and the prefix of their names.

    A checkout has ``experiments.chan.fig3_6``, a wheel ``waymark.experiments.chan.fig3_6``.
    """
    folder = root()
    return (folder.parent, "waymark.") if folder == PACKAGE else (folder, "")


def program_path(program: str) -> Path:
    """The file of a P4 program named as topologies name it: relative to ``p4src/``, or absolute."""
    return root() / "p4src" / program


def _is_checkout(folder: Path) -> bool:
    return (folder / "p4src").is_dir() and (folder / "experiments").is_dir()
