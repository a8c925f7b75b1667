"""Write the exercises for the page of the live lab, as JSON.

The page grades packet scripts and AQT by the code of ``waymark exercise check``. It runs the same
scenarios, and compares their tables with the same claims. A control in Python is one in JavaScript
there; an exercise has its files in a folder ``page``.

    python web/exercises.py FOLDER
"""

import json
import re
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from presets import slider

from waymark import exercise, files, json_text, program, scenario_file, yaml_file
from waymark.exercise import Check, Exercise
from waymark.fields import RedSettings
from waymark.scenario import Scenario, to_core
from waymark.scenario_file import ScenarioFile

BUFFERS = (4, 6, 8, 10, 15, 20, 30, 50, 100)
"""Of the scenarios of exercise 7, in packets."""
RUNS: Mapping[str, Mapping[str, tuple[str, str] | None]] = {
    "7_fairness": {"compete.yaml": ("r1", "r2")},
    "8_diagnose": {"network.yaml": None},
}
"""Scenarios that a student looks at to answer questions, with the link whose buffer to change."""


def texts(folder: Path) -> dict[str, str]:
    """The files of a folder, by name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.*"))}


def on_page(one: Exercise, part: str) -> dict[str, str]:
    """The files of the skeleton, the solution or what is given, with controls in JavaScript."""
    written = texts(one.folder / part) | texts(one.folder / "page" / part)
    return {name: text for name, text in written.items() if not name.endswith(".py")}


def control_of(file: ScenarioFile) -> str | None:
    """The file in JavaScript with the control of a scenario's flow."""
    python = [str(flow.control) for flow in file.flows if str(flow.control).endswith(".py")]
    return Path(python[0]).with_suffix(".js").name if python else None


class Folder:
    """An exercise with its solution, in a folder that is deleted at the end."""

    def __init__(self, one: Exercise, folder: Path) -> None:
        one.assemble(one.folder / "solution", folder)
        self.one = one
        self.folder = folder

    def scenario(self, name: str, *, aqt: bool = False) -> dict[str, Any]:
        """A scenario as the simulator reads it, and the measures of its table."""
        path = self.folder / name
        experiment = scenario_file.load(path)
        [scenario] = experiment.scenarios("full", 1).values()
        file = yaml_file.validate(ScenarioFile, yaml_file.read(path))
        names = [flow.name for flow in file.flows]
        return {
            "scenario": self.core(replace(scenario, check_aqt=aqt)),
            "measures": [
                {
                    "row": one.name,
                    "quantity": one.quantity,
                    "unit": scenario_file.UNITS[one.quantity],
                    "of": one.of,
                    "flow": names.index(one.of) if one.of in names else None,
                    "from_s": one.start or 0.0,
                    "to_s": scenario.end_s if one.stop is None else one.stop,
                }
                for one in file.measures
            ],
            "control": control_of(file),
        }

    def core(self, scenario: Scenario) -> dict[str, Any]:
        """The scenario; its programs are named by the exercise instead of the folder."""
        tables = {name: program.of_project(name).tables for name in scenario.programs}
        text = json.dumps(to_core(scenario, tables))
        return json.loads(text.replace(f"{self.folder}/", f"{self.one.about.id}/"))

    def check(self, check: Check) -> dict[str, Any]:
        """A check as the page reads it."""
        if check.script:
            return {
                "kind": "script",
                "name": check.name,
                "program": check.program,
                "scripts": check.script,
            }
        if check.answers is not None:
            questions = {key: one.model_dump() for key, one in check.questions.items()}
            return {"kind": "answers", "name": check.name, "questions": questions}
        assert check.scenario is not None
        claims = [claim.model_dump() for claim in check.claims]
        written = self.scenario(check.scenario, aqt=check.aqt)
        if check.only:
            written["red"] = self.red_only(check)
        return {"kind": "scenario", "name": check.name, "claims": claims, **written}

    def red_only(self, check: Check) -> dict[str, Any]:
        """Of a scenario in which students change RED's settings: the text that they may not change,
        before and after the settings, and the limits of these."""
        assert check.scenario is not None
        text = files.read_text(self.one.folder / "skeleton" / check.scenario)
        before, _, rest = text.partition("red: {")
        after = rest.partition("}")[2]
        properties = RedSettings.model_json_schema()["properties"]
        return {"file": check.scenario, "before": before, "after": after, "settings": properties}

    def run(self, name: str, ends: tuple[str, str] | None) -> dict[str, Any]:
        """A scenario to look at, with a slider for the buffer of a link."""
        written = {"name": name, **self.scenario(name), "slider": None}
        if ends is not None:
            [scenario] = scenario_file.load(self.folder / name).scenarios("full", 1).values()
            written["slider"] = slider(
                scenario,
                (f"buffer of {'-'.join(ends)}", "packets", 1.0),
                list(BUFFERS),
                lambda topology, packets: topology.with_link(*ends, queue_packets=round(packets)),
            )
        return written


def written(one: Exercise) -> dict[str, Any]:
    """An exercise as the page reads it."""
    read = (one.folder / "hints.md").read_text(encoding="utf-8")
    skeleton = on_page(one, "skeleton")
    with tempfile.TemporaryDirectory() as name:
        folder = Folder(one, Path(name).resolve())
        checks = [folder.check(check) for check in one.about.checks]
        runs = [folder.run(file, ends) for file, ends in RUNS.get(one.about.id, {}).items()]
    return {
        "id": one.about.id,
        "number": one.number,
        "title": one.about.title,
        "minutes": one.about.minutes,
        "text": (one.folder / "README.md").read_text(encoding="utf-8").partition("\n")[2],
        "hints": re.findall(r"^\d+\. (.*(?:\n(?!\d+\. ).+)*)", read, re.MULTILINE),
        "files": {
            name: skeleton[name]
            for name in (on_page_name(file, skeleton) for file in one.about.files)
        },
        "given": on_page(one, "given"),
        "checks": checks,
        "runs": runs,
    }


def on_page_name(file: str, skeleton: Mapping[str, str]) -> str:
    """A student's file on the page: a control is one in JavaScript."""
    return file if file in skeleton else str(Path(file).with_suffix(".js"))


def main() -> None:
    """Write ``exercises.json`` and a file for each exercise."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    index: list[dict[str, Any]] = []
    for one in exercise.all_exercises():
        file = f"exercise-{one.number}.json"
        data = json_text.dumps(written(one))
        (folder / file).write_text(data, encoding="utf-8")
        index.append({"number": one.number, "title": one.about.title, "file": file})
    (folder / "exercises.json").write_text(json_text.dumps(index), encoding="utf-8")


if __name__ == "__main__":
    main()
