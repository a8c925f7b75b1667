"""Wireless links as in ns-2: losses by distance, and a simple MAC on a shared medium."""

from waymark import _core
from waymark.errors import WaymarkError
from waymark.topology import Medium


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
    """Probability that a packet arrives too weak to be received; each packet is independent.

    The mean power is Friis' at ``reference_m`` and falls by 10 · ``path_loss_exponent`` dB per
    decade from there. A normal draw of ``sigma_db`` is added. The packet is lost if the sum is
    below ``threshold_w``. A link with this ``loss`` is a wireless link of fixed length. The
    defaults are ns-2's (a WaveLAN at 914 MHz, antennas without gain).

    Raises:
        WaymarkError: a distance, deviation, power or frequency is not above 0.
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
    return _core.shadowing_loss(
        distance_m,
        path_loss_exponent=path_loss_exponent,
        sigma_db=sigma_db,
        reference_m=reference_m,
        transmit_w=transmit_w,
        frequency_hz=frequency_hz,
        threshold_w=threshold_w,
    )


def simple_medium(name: str, rate_bps: float) -> Medium:
    """A medium with the rules of ns-2.35's ``Mac/Simple``.

    Before each packet, a station waits for up to 39 times the time of 100 bits, without sensing the
    medium.
    """
    return Medium(name, slot_s=100 / rate_bps, slots=40, carrier_sense=False)
