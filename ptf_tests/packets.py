"""Packets as host A sends them, and as the switch should forward them, built with Scapy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from scapy.layers.inet import IP, IPOption, IPOption_EOL, IPOption_NOP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw

from ptf_tests.ports import FRAME_OCTETS, A, B, Host

NOP = IPOption_NOP()
EOL = IPOption_EOL()
NOT_CAPABLE, UNUSED, CAPABLE, EXPERIENCED = range(4)
"""ECN fields as CI uses them."""


def unknown(octets: int) -> IPOption:
    """An option unknown to all hops, with the given number of octets."""
    return IPOption(copy_flag=1, optclass=0, option=29, value=bytes(range(0xA0, 0xA0 + octets - 2)))


@dataclass(frozen=True)
class Datagram:
    """IPv4 in an Ethernet frame."""

    source: Host = A
    to: Host = B
    dst: str | None = None
    """The destination, if it is not `to` itself."""
    options: Sequence[IPOption | bytes] = ()
    """Octets are used unchanged, for lists that no layer would build."""
    ttl: int = 64
    ecn: int = 0
    vlan: int | None = None
    number: int = 0
    """Part of the payload, to distinguish packets."""
    octets: int = FRAME_OCTETS
    """Of the frame, without its check sequence."""
    ip: tuple[tuple[str, Any], ...] = ()
    """Fields of the IP header that override the correct values."""

    def but(self, **fields: Any) -> Datagram:
        """A copy with some fields changed."""
        return replace(self, **fields)

    def sent(self) -> bytes:
        """The packet as its source sends it."""
        return self._frame(Ether(src=self.source.mac, dst=self.source.router_mac))

    def forwarded(self, **fields: Any) -> bytes:
        """The packet as `to` receives it: TTL − 1, the MAC addresses of that link, and `fields`."""
        frame = self.but(ttl=self.ttl - 1).but(**fields)
        return frame._frame(Ether(src=self.to.router_mac, dst=self.to.mac))

    def _frame(self, ethernet: Ether) -> bytes:
        link = ethernet if self.vlan is None else ethernet / Dot1Q(vlan=self.vlan, prio=3)
        options = [Raw(option) if isinstance(option, bytes) else option for option in self.options]
        fields: dict[str, Any] = {
            "src": self.source.ipv4,
            "dst": self.dst or self.to.ipv4,
            "id": 0x1C46,
            "flags": "DF",
            "ttl": self.ttl,
            "tos": self.ecn,
            "proto": 253,  # experiment: RFC 3692
            "options": options,
        }
        header = IP(**{**fields, **dict(self.ip)})
        room = self.octets - len(link) - len(header)
        return bytes(link / header / Raw(self.number.to_bytes(2, "big") + b"\xca" * (room - 2)))
