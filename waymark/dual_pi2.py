"""DualPI2 (RFC 9332), the queue management of L4S, as the parameters of table ``dual_pi2``.

The probability p has 32 fractional bits. It is updated every 2^14 µs, 2.4 % more than RFC 9332's
16 ms.
"""

from dataclasses import dataclass

INTERVAL_LOG2 = 14
"""An update every 2^14 µs = 16.4 ms."""

MAX_US = 2**32 - 1
MAX_GAIN = 2**16 - 1
MAX_COUPLING = 2**8 - 1

SCALE = 2**32 / 1e6
"""Units of p per (1/s · µs)."""


@dataclass(frozen=True)
class DualPi2:
    """DualPI2 at one port. The defaults are those of RFC 9332, section A.1, and Linux's step.

    Attributes:
        target_s: the queueing time of the Classic queue, seconds.
        step_s: L4S packets that waited longer are marked, seconds.
        coupling: k: a Classic packet is marked with p², an L4S packet with k·p.
        alpha_hz: increase of p per update and second of queueing above the target.
        beta_hz: increase of p per update and second by which the queueing time grew.
    """

    target_s: float = 0.015
    step_s: float = 0.001
    coupling: int = 2
    alpha_hz: float = 0.16
    beta_hz: float = 3.2


WEIGHTS = (1, 9)
"""How the two queues share the line while both have packets: 10 % for Classic (RFC 9332, A.1)."""


def parameters(settings: DualPi2) -> dict[str, int]:
    """The parameters of ``control_queueing``: µs, and gains per µs in 2^-32."""
    return {
        "target": round(settings.target_s * 1e6),
        "interval_log2": INTERVAL_LOG2,
        "alpha": round(settings.alpha_hz * SCALE),
        "beta": round(settings.beta_hz * SCALE),
        "coupling": settings.coupling,
        "step": round(settings.step_s * 1e6),
    }
