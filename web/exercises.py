"""Write the exercises that the page of the live lab offers, as JSON.

They are those with packet scripts, which the page grades by the same code as
``waymark exercise check``. The other checks of an exercise run a scenario, on the command line.

    python web/exercises.py FOLDER
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from waymark import exercise
from waymark.exercise import Exercise


def texts(folder: Path) -> dict[str, str]:
    """The files of a folder, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.*"))}


def written(one: Exercise) -> dict[str, Any]:
    """An exercise as the page reads it."""
    read = (one.folder / "hints.md").read_text(encoding="utf-8")
    skeleton = texts(one.folder / "skeleton")
    return {
        "id": one.about.id,
        "number": one.number,
        "title": one.about.title,
        "minutes": one.about.minutes,
        "text": (one.folder / "README.md").read_text(encoding="utf-8").partition("\n")[2],
        "hints": re.findall(r"^\d+\. (.*(?:\n(?!\d+\. ).+)*)", read, re.MULTILINE),
        "files": {name: skeleton[name] for name in one.about.files},
        "given": texts(one.folder / "given"),
        "checks": [
            {"name": check.name, "program": check.program, "scripts": check.script}
            for check in one.about.checks
        ],
    }


def main() -> None:
    """Write ``exercises.json`` and a file for each exercise."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    index: list[dict[str, Any]] = []
    for one in exercise.all_exercises():
        if not any(check.script for check in one.about.checks):
            continue
        file = f"exercise-{one.number}.json"
        data = json.dumps(written(one), ensure_ascii=False)
        (folder / file).write_text(data, encoding="utf-8")
        index.append({"number": one.number, "title": one.about.title, "file": file})
    (folder / "exercises.json").write_text(json.dumps(index), encoding="utf-8")


if __name__ == "__main__":
    main()
