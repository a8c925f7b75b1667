"""Vegas and RoVegas in steady state: one greedy flow over a bottleneck (Chan 2004, §3.4).

Rates are in packets per second: u_f of data forward, u_b of ACKs back. τ is the round-trip time
without queues, l_f and l_b the mean numbers of packets queued in front of the links.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Path:
    """The network of figure 3.2.

    Attributes:
        forward_pps: u_f.
        backward_pps: u_b.
        fixed_rtt_s: τ.
    """

    forward_pps: float
    backward_pps: float
    fixed_rtt_s: float

    @property
    def asymmetry(self) -> float:
        """k = u_f / u_b; above 1 the reverse path is the bottleneck."""
        return self.forward_pps / self.backward_pps


def queue_bounds(alpha: float, beta: float) -> tuple[float, float]:
    """Between which the bottleneck's queue lies, forward (3.12) or back (3.16)."""
    return alpha, beta


def vegas_throughput_pps(path: Path) -> float:
    """The bottleneck's rate: u_f (3.13), or u_b = u_f/k where the reverse path is slower (3.17)."""
    return min(path.forward_pps, path.backward_pps)


def rovegas_throughput_bounds_pps(path: Path) -> tuple[float, float]:
    """RoVegas gets more than Vegas and at most 3 times that, or all of the link (3.21).

    Its window grows only while it exceeds what is in flight by 2 at most, so that growth ends where
    an ACK stands for 3 packets.
    """
    vegas = vegas_throughput_pps(path)
    if path.asymmetry <= 1:
        return vegas, vegas
    return vegas, min(3 * vegas, path.forward_pps)
