"""AQT, accumulated queueing time (Chan 2004, ch. 3): an IPv4 option of 8 octets.

Its type has the experiment number of RFC 4727: https://www.rfc-editor.org/rfc/rfc4727#section-3
"""

from scapy.fields import ByteField, ThreeBytesField
from scapy.layers.inet import IPOption, _IPOption_HDR  # pyright: ignore[reportPrivateUsage]


class AQT(IPOption):
    """The sum of the hops' queueing times, and that of the acknowledged packet.

    ``aqt``: µs; each hop adds to it; it saturates at 0xFFFFFF. A sender writes 0.
    ``aqt_echo``: µs, the receiver's copy of the AQT that arrived; no hop changes it.
    """

    name = "AQT"
    copy_flag = 0  # not copied into fragments
    optclass = 2
    option = 30
    fields_desc = [
        _IPOption_HDR,
        ByteField("length", 8),
        ThreeBytesField("aqt", 0),
        ThreeBytesField("aqt_echo", 0),
    ]

    @classmethod
    def register_variant(cls) -> None:
        """Does not use Scapy's registry, which is by number only; AVBW-S has the same number."""
