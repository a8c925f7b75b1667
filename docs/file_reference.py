"""The page "Files": every key of configuration, topology and scenario files, from their models.

``docs/site_hooks.py`` adds it to the site.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from controller.config import Config
from waymark.scenario_file import ScenarioFile
from waymark.topology_file import TopologyFile

Schema = Mapping[str, Any]

FILES: tuple[tuple[str, str, str, type[BaseModel]], ...] = (
    (
        "Configuration of the controller",
        "`waymark controller plan`, `apply` and `watch` read it; "
        "[the controller](controller/README.md) has an example.",
        "waymark controller schema",
        Config,
    ),
    (
        "Topology",
        "`waymark up` and `waymark compare` read it; "
        "[topologies](topologies/README.md) has examples.",
        "waymark schema topology",
        TopologyFile,
    ),
    (
        "Scenario",
        "`waymark run FILE.yaml` reads it; "
        "[your own experiments](docs/own-experiments.md) has an example.",
        "waymark schema scenario",
        ScenarioFile,
    ),
)
"""Title, introduction, the command that prints the schema, and model of each kind of file."""


def page() -> str:
    """The page, in Markdown; links are relative to the repository's root."""
    parts = [
        "# Files\n\nAll keys of the YAML files that Waymark reads. Unknown keys are refused. "
        "Quantities have [one grammar](docs/command-line.md#quantities). The commands below print "
        "a JSON Schema, with which an editor checks and completes a file.\n"
    ]
    for title, text, command, model in FILES:
        schema = model.model_json_schema()
        parts.append(f"## {title}\n{text}\n\n```console\n{command} > schema.json\n```\n")
        parts.append(_table(schema, title))
        for name in _in_order(schema):
            its = schema["$defs"][name]
            heading = re.split(r"[.:;]", its["description"])[0].replace("`", "")
            parts.append(f"### {heading} {{#{_anchor(title, name)}}}\n{_table(its, title)}")
    return "\n".join(parts)


def _in_order(schema: Schema) -> list[str]:
    """The names of all objects, those first that are nearest to the file's top."""
    names: list[str] = []
    near: list[object] = [schema["properties"]]
    while near:
        found = dict.fromkeys(name for each in near for name in _references(each))
        new = [name for name in found if name not in names]
        names += new
        near = [schema["$defs"][name]["properties"] for name in new]
    return names


def _table(schema: Schema, title: str) -> str:
    required = schema.get("required", ())
    rows = ["| key | value | default |", "| --- | --- | --- |"]
    for key, field in schema["properties"].items():
        default = "required" if key in required else _default(field.get("default"))
        links = ", ".join(
            f"[keys](#{_anchor(title, name)})" for name in dict.fromkeys(_references(field))
        )
        value = field.get("description", "") + (f" ({links})" if links else "")
        rows.append(f"| `{key}` | {value.replace('|', chr(92) + '|')} | {default} |")
    return "\n".join(rows) + "\n"


def _references(field: object) -> Iterator[str]:
    """The names of the objects that a field contains."""
    if isinstance(field, Mapping):
        for key, value in field.items():
            if key == "$ref":
                yield str(value).rpartition("/")[2]
            else:
                yield from _references(value)
    elif isinstance(field, list):
        for value in field:
            yield from _references(value)


def _default(value: object) -> str:
    return "" if value in (None, "", [], {}) else f"`{value}`"


def _anchor(title: str, name: str) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
    return f"{title.split()[0].lower()}-{words}"
