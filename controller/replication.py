"""A switch's state besides table entries: default actions, multicast groups, clone sessions.

P4Runtime 1.4: 9.1.2 (default entries), 9.5 (packet replication engine). A default action always
exists: initially it is the program's own. Groups and sessions are inserted and deleted.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from waymark.entry import Entry


@dataclass(frozen=True)
class DefaultAction:
    """The action for packets that no entry of a table matches."""

    table: str
    action: str
    params: Mapping[str, int | str] = field(default_factory=dict[str, int | str])


@dataclass(frozen=True)
class MulticastGroup:
    """Replicas of packets with ``mcast_grp`` = ``group_id``.

    Attributes:
        replicas: port and instance (``egress_rid``) of each, in ascending order.
    """

    group_id: int
    replicas: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class CloneSession:
    """The clones that ``clone`` makes.

    Attributes:
        replicas: as for a multicast group.
        octets: to which clones are truncated; 0: not truncated.
    """

    session_id: int
    replicas: tuple[tuple[int, int], ...]
    octets: int = 0


Held = Entry | DefaultAction | MulticastGroup | CloneSession
"""Any state that is written to a switch."""
