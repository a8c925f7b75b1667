"""What a switch holds besides table entries: default actions, multicast groups, clone sessions.

P4Runtime 1.4: 9.1.2 (default entries), 9.5 (packet replication engine). A default action always is:
one that nobody set is the program's own. Groups and sessions come and go.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from waymark.entry import Entry


@dataclass(frozen=True)
class DefaultAction:
    """What happens to packets that no entry of a table matches."""

    table: str
    action: str
    params: Mapping[str, int | str] = field(default_factory=dict[str, int | str])


@dataclass(frozen=True)
class MulticastGroup:
    """Copies of packets with ``mcast_grp`` = ``group_id``.

    Attributes:
        replicas: of each copy its port and instance (``egress_rid``), in ascending order.
    """

    group_id: int
    replicas: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class CloneSession:
    """Copies that ``clone`` makes.

    Attributes:
        replicas: as those of a multicast group.
        octets: to which copies are cut; 0: none is.
    """

    session_id: int
    replicas: tuple[tuple[int, int], ...]
    octets: int = 0


Held = Entry | DefaultAction | MulticastGroup | CloneSession
"""Anything that is written to a switch."""
