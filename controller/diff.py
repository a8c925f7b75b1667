"""What has to change for a switch to hold what is wanted; on entries alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from waymark.entry import Entry, Value


class Kind(Enum):
    """How an entry changes; the value is its sign in a plan."""

    DELETE = "-"
    MODIFY = "~"
    INSERT = "+"


@dataclass(frozen=True)
class Change:
    """One write.

    Attributes:
        entry: as it is to be; of a deletion, as it is.
        before: of a modification, the entry that is there.
    """

    kind: Kind
    entry: Entry
    before: Entry | None = None

    def __str__(self) -> str:
        text = f"{self.kind.value} {describe(self.entry)}"
        return text if self.before is None else f"{text}, was {_action(self.before)}"


Key = tuple[str, frozenset[tuple[str, Value]], int]


def key(entry: Entry) -> Key:
    """What tells an entry from the others of a switch (P4Runtime 1.4, 9.1: match and priority)."""
    return entry.table, frozenset(entry.match.items()), entry.priority


def changes(wanted: Iterable[Entry], held: Iterable[Entry]) -> list[Change]:
    """The fewest writes that lead from ``held`` to ``wanted``, both in canonical form.

    Deletions come first, so that a table that is full has room.
    """
    to_be = {key(entry): entry for entry in wanted}
    there = {key(entry): entry for entry in held}
    deleted = [Change(Kind.DELETE, entry) for k, entry in there.items() if k not in to_be]
    modified = [
        Change(Kind.MODIFY, entry, there[k])
        for k, entry in to_be.items()
        if k in there and (entry.action, entry.params) != (there[k].action, there[k].params)
    ]
    inserted = [Change(Kind.INSERT, entry) for k, entry in to_be.items() if k not in there]
    return [*deleted, *modified, *inserted]


def describe(entry: Entry) -> str:
    """``port_queue port=1: drop_tail(max_waiting=49)``."""
    match = " ".join(f"{name}={_value(value)}" for name, value in entry.match.items())
    return f"{entry.table} {match or 'any'}: {_action(entry)}"


def _action(entry: Entry) -> str:
    return f"{entry.action}({_params(entry.params)})"


def _params(params: Mapping[str, int | str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in params.items())


def _value(value: Value) -> str:
    if not isinstance(value, tuple):
        return str(value)
    low, high = value
    # The largest number of a wide field is where a range has no end.
    is_open = high >= 2**16 and high & (high + 1) == 0
    return f"{low}…" if is_open else f"{low}…{high}"
