"""The switch's ports, and the hosts that tests play behind them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Host:
    """A neighbour of the switch, played by a test."""

    port: int
    ipv4: str
    mac: str
    router_mac: str
    """The switch's address on the host's port."""

    @property
    def switch_end(self) -> str:
        """The switch's interface."""
        return f"switch{self.port}"

    @property
    def test_end(self) -> str:
        """ptf's interface."""
        return f"ptf{self.port}"


A = Host(1, "10.0.1.10", "00:00:00:00:01:0a", "02:00:00:00:00:01")
"""The source of packets."""

B = Host(2, "10.0.2.20", "00:00:00:00:02:14", "02:00:00:00:00:02")
"""Behind a line without a rate: its queue is empty."""

C = Host(3, "10.0.3.30", "00:00:00:00:03:1e", "02:00:00:00:00:03")
"""Behind a line so slow that a test can hold its queue."""

HOSTS = (A, B, C)

LIMITED = {
    1: Host(4, "10.0.4.40", "00:00:00:00:04:28", "02:00:00:00:00:04"),
    4: Host(5, "10.0.5.50", "00:00:00:00:05:32", "02:00:00:00:00:05"),
}
"""Behind lines like C's, by how many packets may wait, if the traffic manager limits queues."""

FRAME_OCTETS = 100
"""Length of every frame to a slow line."""

SERVICE_S = 0.1
"""Serialisation time of a frame on a slow line."""
