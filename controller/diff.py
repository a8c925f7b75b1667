"""The difference between a switch's state and its desired state."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from controller.replication import CloneSession, DefaultAction, Held, MulticastGroup
from waymark.entry import Entry, Value


class Kind(Enum):
    """How an entry changes; the value is its sign in a plan."""

    DELETE = "-"
    MODIFY = "~"
    INSERT = "+"


_KINDS: Mapping[type[Held], str] = {
    Entry: "entry",
    DefaultAction: "default action",
    MulticastGroup: "multicast group",
    CloneSession: "clone session",
}


@dataclass(frozen=True)
class Change:
    """One write.

    Attributes:
        entry: the new entry; for a deletion, the existing one.
        before: for a modification, the existing entry.
    """

    kind: Kind
    entry: Held
    before: Held | None = None

    def __str__(self) -> str:
        text = f"{self.kind.value} {describe(self.entry)}"
        return text if self.before is None else f"{text}, was {_content(self.before)}"

    def as_data(self) -> dict[str, Any]:
        """The change as dictionaries, lists, numbers and text."""
        before = None if self.before is None else asdict(self.before)
        return {
            "change": self.kind.name.lower(),
            "of": _KINDS[type(self.entry)],
            "entry": asdict(self.entry),
            "before": before,
        }


Key = tuple[type[Held], str | int, frozenset[tuple[str, Value]], int]


def key(entry: Held) -> Key:
    """The identity of an entry in a switch (P4Runtime 1.4, 9.1: match and priority)."""
    match entry:
        case Entry():
            return Entry, entry.table, frozenset(entry.match.items()), entry.priority
        case DefaultAction():
            return DefaultAction, entry.table, frozenset(), 0
        case MulticastGroup():
            return MulticastGroup, entry.group_id, frozenset(), 0
        case CloneSession():
            return CloneSession, entry.session_id, frozenset(), 0


def changes(wanted: Iterable[Held], held: Iterable[Held]) -> list[Change]:
    """The minimal writes from ``held`` to ``wanted``, both in canonical form.

    Deletions come first, so that a full table has room. A default action that is not in ``wanted``
    does not change.
    """
    desired = {key(entry): entry for entry in wanted}
    existing = {key(entry): entry for entry in held}
    deleted = [
        Change(Kind.DELETE, entry)
        for k, entry in existing.items()
        if k not in desired and not isinstance(entry, DefaultAction)
    ]
    modified = [
        Change(Kind.MODIFY, entry, existing[k])
        for k, entry in desired.items()
        if k in existing and entry != existing[k]
    ]
    inserted = [Change(Kind.INSERT, entry) for k, entry in desired.items() if k not in existing]
    return [*deleted, *modified, *inserted]


def describe(entry: Held) -> str:
    """``port_queue port=1: drop_tail(max_waiting=49)``."""
    match entry:
        case Entry():
            keys = " ".join(f"{name}={_value(value)}" for name, value in entry.match.items())
            return f"{entry.table} {keys or 'any'}: {_content(entry)}"
        case DefaultAction():
            return f"{entry.table} default: {_content(entry)}"
        case MulticastGroup():
            return f"multicast group {entry.group_id}: {_content(entry)}"
        case CloneSession():
            return f"clone session {entry.session_id}: {_content(entry)}"


def _content(entry: Held) -> str:
    match entry:
        case Entry() | DefaultAction():
            return f"{entry.action}({_params(entry.params)})"
        case MulticastGroup():
            return _replicas(entry.replicas)
        case CloneSession():
            cut = f", cut to {entry.octets} octets" if entry.octets else ""
            return _replicas(entry.replicas) + cut


def _params(params: Mapping[str, int | str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in params.items())


def _replicas(replicas: Iterable[tuple[int, int]]) -> str:
    """``ports 1, 2, 3 (instance 7)``."""
    each = (
        f"{port} (instance {instance})" if instance else f"{port}" for port, instance in replicas
    )
    return f"ports {', '.join(each) or 'none'}"


def _value(value: Value) -> str:
    if not isinstance(value, tuple):
        return str(value)
    low, high = value
    # The largest value of a wide field means an open range.
    is_open = high >= 2**16 and high & (high + 1) == 0
    return f"{low}…" if is_open else f"{low}…{high}"
