"""Where the project's files are: P4 programs, experiments, topologies."""

import os
from pathlib import Path

from waymark.errors import WaymarkError


def root() -> Path:
    """The checkout to work in: ``$WAYMARK_HOME``, else around the working directory, else around
    this package.

    Raises:
        WaymarkError: none of these has ``p4src/`` and ``experiments/``.
    """
    home = os.environ.get("WAYMARK_HOME")
    if home is not None:
        if _is_checkout(Path(home)):
            return Path(home)
        raise WaymarkError(f"WAYMARK_HOME={home} has no p4src/ and experiments/")
    here = Path.cwd()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[1]):
        if _is_checkout(folder):
            return folder
    raise WaymarkError(
        "no Waymark checkout here: change into one, or set WAYMARK_HOME (it has p4src/ and "
        "experiments/)"
    )


def program_path(program: str) -> Path:
    """The file of a P4 program named as topologies name it: relative to ``p4src/``, or absolute."""
    return root() / "p4src" / program


def _is_checkout(folder: Path) -> bool:
    return (folder / "p4src").is_dir() and (folder / "experiments").is_dir()
