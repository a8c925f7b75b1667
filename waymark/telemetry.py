"""In-band network telemetry (INT 2.1): the requested records, as numbers of the header."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

from waymark.errors import WaymarkError

Instruction = Literal["node", "ports", "latency", "queue", "arrival", "departure", "sent", "rate"]
"""What ``int.p4`` can record: its number, the ports, the time in the switch, the octets behind the
packet in the queue, the times of arrival and departure; as domain-specific instructions, the octets
that the port has sent and the rate of its line."""

INSTRUCTIONS: tuple[Instruction, ...] = get_args(Instruction)

HPCC: tuple[Instruction, ...] = ("queue", "departure", "sent", "rate")
"""The records that HPCC and PowerTCP read."""

DOMAIN = 0x5741
"""The domain whose instructions ``sent`` and ``rate`` are."""

MAX_HOPS = 255

_BITS: dict[Instruction, tuple[int, int]] = {
    "node": (15, 1),
    "ports": (14, 1),
    "latency": (13, 1),
    "queue": (12, 1),
    "arrival": (11, 2),
    "departure": (10, 2),
}
"""The bit in the instruction bitmap, and the words of a record (INT 2.1, §5.7)."""

_DOMAIN_BITS: dict[Instruction, tuple[int, int]] = {"sent": (15, 1), "rate": (14, 1)}


@dataclass(frozen=True)
class Request:
    """A source's request to the hops.

    Attributes:
        instructions: of :data:`INSTRUCTIONS`.
        hops: maximum number of recording hops, 1 to 255.

    Raises:
        WaymarkError: there is no instruction or an unknown one, or the number of hops is invalid.
    """

    instructions: tuple[Instruction, ...] = HPCC
    hops: int = 8

    def __post_init__(self) -> None:
        unknown = [one for one in self.instructions if one not in INSTRUCTIONS]
        if unknown or not self.instructions:
            found = repr(unknown[0]) if unknown else "none"
            raise WaymarkError(
                f"INT: instructions: found {found}; valid: one or more of {', '.join(INSTRUCTIONS)}"
            )
        if not 1 <= self.hops <= MAX_HOPS:
            raise WaymarkError(f"INT: hops: found {self.hops}; valid: 1 to {MAX_HOPS}")

    def parameters(self) -> dict[str, int | str]:
        """The parameters of the action ``start`` of the table ``int_source``."""
        domain_instructions = _bitmap(self.instructions, _DOMAIN_BITS)
        return {
            "hops": self.hops,
            "words": sum({**_BITS, **_DOMAIN_BITS}[one][1] for one in set(self.instructions)),
            "instructions": _bitmap(self.instructions, _BITS),
            "domain": DOMAIN if domain_instructions else 0,
            "domain_instructions": domain_instructions,
        }


def _bitmap(instructions: Collection[Instruction], bits: dict[Instruction, tuple[int, int]]) -> int:
    return sum(1 << bit for name, (bit, _) in bits.items() if name in instructions)
