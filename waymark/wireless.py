"""Losses of a wireless link by distance, as ns-2's shadowing model and its simple MAC have them."""

import math

from waymark.errors import WaymarkError

SPEED_OF_LIGHT = 3e8
"""Metres per second, as ns-2 counts."""


def shadowing_loss(
    path_loss_exponent: float,
    distance_m: float,
    *,
    sigma_db: float = 4.0,
    reference_m: float = 1.0,
    transmit_w: float = 0.28183815,
    frequency_hz: float = 914e6,
    threshold_w: float = 3.652e-10,
) -> float:
    """Probability that a packet arrives too weak to be received; each draws anew.

    The mean power is Friis' at ``reference_m``, from there on it falls by
    10 · ``path_loss_exponent`` dB a decade, and a normal draw of ``sigma_db`` is added; the packet
    is lost if the sum is below ``threshold_w``. A link's ``loss`` set to it is such a wireless link
    at a fixed distance. The defaults are ns-2's (a WaveLAN at 914 MHz, antennas without gain).

    Raises:
        WaymarkError: a distance, deviation, power or frequency that is not above 0.
    """
    positive = {
        "distance_m": distance_m,
        "sigma_db": sigma_db,
        "reference_m": reference_m,
        "transmit_w": transmit_w,
        "frequency_hz": frequency_hz,
        "threshold_w": threshold_w,
    }
    for name, value in positive.items():
        if not value > 0:
            raise WaymarkError(f"shadowing: {name} is {value:g}, expected above 0")
    wavelength_m = SPEED_OF_LIGHT / frequency_hz
    reference_w = transmit_w * (wavelength_m / (4 * math.pi * reference_m)) ** 2
    fall_db = 10 * path_loss_exponent * math.log10(max(distance_m / reference_m, 1.0))
    margin_db = 10 * math.log10(reference_w / threshold_w) - fall_db
    return 0.5 * math.erfc(margin_db / sigma_db / math.sqrt(2))
