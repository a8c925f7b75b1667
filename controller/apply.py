"""Configure a switch: plan the changes, and write them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from controller import codec, diff, entries, pipeline
from controller.client import Client, Role, SwitchError, Target
from controller.config import Config
from controller.diff import Change
from controller.pipeline import Pipeline
from controller.replication import Held
from waymark.entry import Entry
from waymark.errors import WaymarkError


@dataclass(frozen=True)
class Wanted:
    """The desired state of one switch.

    Attributes:
        entries: all entries of its tables, every default action, all multicast groups and clone
            sessions, in canonical form.
    """

    target: Target
    pipeline: Pipeline
    entries: Sequence[Held]


@dataclass(frozen=True)
class Plan:
    """The changes that bring a switch to its desired state.

    Attributes:
        push: why its pipeline is pushed; None if the pipeline runs already.
        changes: of its entries, after the push.
    """

    push: str | None
    changes: Sequence[Change]

    @property
    def is_empty(self) -> bool:
        """Whether the switch is in its desired state."""
        return self.push is None and not self.changes

    def as_data(self) -> dict[str, Any]:
        """The plan as dictionaries, lists, numbers and text."""
        return {"push": self.push, "changes": [change.as_data() for change in self.changes]}


def wanted(config: Config, folder: Path) -> dict[str, Wanted]:
    """The desired state of each switch of ``config``.

    Args:
        config: the configuration.
        folder: the folder that its files' paths are relative to.

    Raises:
        WaymarkError: a file is missing, or a program lacks a table for a setting, or a table is
            too small for its entries.
    """
    result: dict[str, Wanted] = {}
    for name, switch in config.switches.items():
        try:
            its_pipeline = pipeline.load(switch, folder)
            target = Target.of(name, switch, config.election_id, folder)
            its_entries = entries.held_by(switch, its_pipeline.tables, its_pipeline.architecture)
            canonical = [codec.canonical(entry, its_pipeline.schema) for entry in its_entries]
            _refuse_doubles(canonical)
            _refuse_overflow(canonical, its_pipeline)
            named = {diff.key(entry) for entry in canonical}
            unnamed = [one for one in its_pipeline.defaults if diff.key(one) not in named]
        except WaymarkError as error:
            raise WaymarkError(f"{name}: {error}") from error
        result[name] = Wanted(target, its_pipeline, [*canonical, *unnamed])
    return result


def _refuse_doubles(entries: Sequence[Held]) -> None:
    """Raise a :class:`WaymarkError` if two entries have the same key."""
    seen: dict[diff.Key, Held] = {}
    for entry in entries:
        other = seen.setdefault(diff.key(entry), entry)
        if other is not entry:
            raise WaymarkError(
                f"two entries have the same match and priority: {diff.describe(other)}, and "
                f"{diff.describe(entry)}"
            )


def _refuse_overflow(entries: Sequence[Held], of: Pipeline) -> None:
    """Raise a :class:`WaymarkError` if a table has more entries than its size in P4Info."""
    counts = Counter(entry.table for entry in entries if isinstance(entry, Entry))
    messages = [
        f"the configuration has {counts[table.alias]} entries for table {table.alias}; valid: at "
        f"most {table.size}"
        for table in of.schema.tables
        if 0 < table.size < counts[table.alias]
    ]
    if messages:
        raise WaymarkError("; ".join(messages))


async def plan(client: Client, wanted: Wanted) -> Plan:
    """Compare the switch's state with its desired state; writes nothing."""
    cookie = await client.cookie()
    if cookie == wanted.pipeline.cookie:
        return Plan(None, diff.changes(wanted.entries, await client.held(wanted.pipeline)))
    running = "runs none" if cookie is None else f"runs another one, cookie {cookie:#x}"
    return Plan(
        f"{wanted.pipeline.name} ({running})",
        diff.changes(wanted.entries, wanted.pipeline.defaults),
    )


async def converge(client: Client, wanted: Wanted) -> Plan:
    """Make the changes of `plan`, and return them.

    After a push the tables are read, because a switch may keep entries that fit the new program.

    Raises:
        SwitchError: the switch refused, or this controller is not primary.
    """
    todo = await plan(client, wanted)
    changes = todo.changes
    if todo.push is not None:
        await client.push(wanted.pipeline)
        changes = diff.changes(wanted.entries, await client.held(wanted.pipeline))
    await client.write(changes, wanted.pipeline)
    return Plan(todo.push, changes)


async def apply(client: Client, wanted: Wanted) -> Plan:
    """Become primary, and `converge`.

    Raises:
        SwitchError: as `converge`; or another controller is primary.
    """
    if await client.arbitrate() is not Role.PRIMARY:
        raise SwitchError(
            f"{wanted.target.name} ({wanted.target.address}) already has a primary controller, "
            f"with election id {client.primary_id}. If it is `waymark controller watch`, edit the "
            "file that it follows: it then writes the changes. If it is "
            "another controller, stop it first. Changes written with a larger --election-id last "
            "only until it is primary again"
        )
    return await converge(client, wanted)
