"""AVBW-S, available bandwidth status (Lien and Chung): an IPv4 option of 4 octets.

Its type has the experiment number of RFC 4727: https://www.rfc-editor.org/rfc/rfc4727#section-3
"""

from scapy.fields import ByteEnumField, ByteField
from scapy.layers.inet import IPOption, _IPOption_HDR  # pyright: ignore[reportPrivateUsage]

INDICES = {
    1: "aggressive deceleration",
    2: "moderate deceleration",
    3: "stabilizing II",
    4: "stabilizing I",
    5: "moderate acceleration",
    6: "aggressive acceleration",
    0xFF: "no hop has spoken",
}


class AVBW(IPOption):
    """The path's data rate adjustment index, and the receiver's copy of it.

    ``drai``: the minimum of the hops' indices, 1 to 6; a sender writes 0xFF.
    ``mrai_echo``: the DRAI that arrived; 0xFF if no hop on that path wrote one.
    """

    name = "AVBW-S"
    copy_flag = 1  # copied into fragments
    optclass = 2
    option = 30
    fields_desc = [
        _IPOption_HDR,
        ByteField("length", 4),
        ByteEnumField("drai", 0xFF, INDICES),
        ByteEnumField("mrai_echo", 0xFF, INDICES),
    ]

    @classmethod
    def register_variant(cls) -> None:
        """Does not use Scapy's registry, which is by number only; AQT has the same number."""
