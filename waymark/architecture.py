"""How a program's architecture changes the settings of a hop; see ``p4src/README.md``."""

from dataclasses import dataclass
from pathlib import PurePath

from waymark.ports import CPU_PORT

ETHERNET_OCTETS = 14
BRIDGED_OCTETS = 9
"""Octets of the header that ingress adds to a packet for egress."""


@dataclass(frozen=True)
class Architecture:
    """The units in which the tables of one architecture are written.

    Attributes:
        name: as in ``p4src/`` and P4Info.
        cell_octets: of a cell of the packet buffer, in which depths are counted; None: depths are
            in packets.
        window_us: a DRAI window of ``window_log2`` 0.
        max_octets: the largest value of the key ``window_octets``.
        recirculating: ports without a line.
        cpu_port: the controller's; ``tests/test_ports.py`` compares it with the programs.
    """

    name: str
    cell_octets: int | None = None
    window_us: float = 1
    max_octets: int = 2**32 - 1
    recirculating: range = range(0)
    cpu_port: int = CPU_PORT

    @property
    def limits_queues(self) -> bool:
        """Whether the traffic manager limits queues instead of a table."""
        return self.cell_octets is not None

    def depth_of(self, packet_octets: int) -> int:
        """The amount that a waiting packet adds to a depth.

        Args:
            packet_octets: of its IP packet.
        """
        if self.cell_octets is None:
            return 1
        return -(-(packet_octets + ETHERNET_OCTETS + BRIDGED_OCTETS) // self.cell_octets)

    def octets_shift(self, most_octets: float) -> int:
        """The k for which 2^k octets are the unit of ``window_octets``: 0, 8 or 16, the smallest
        with which ``most_octets`` fits into the key."""
        fitting = (k for k in (0, 8) if most_octets < (self.max_octets + 1) << k)
        return next(fitting, 16)


V1MODEL = Architecture("v1model")
TNA = Architecture("tna", 80, 1.024, 2**16 - 1, range(68, 72), 320)
T2NA = Architecture("t2na", 176, 1.024, 2**16 - 1, range(6, 8), 0)

ARCHITECTURES = {each.name: each for each in (V1MODEL, TNA, T2NA)}


def of_program(program: str) -> Architecture:
    """The architecture of a program that a topology names, by its folder in ``p4src/``."""
    return of(PurePath(program).parent.name)


def of(name: str) -> Architecture:
    """The architecture of a program. If ``p4src/`` has no programs for it, depths are in
    packets."""
    return ARCHITECTURES.get(name, V1MODEL)
