"""Scapy layers of what Waymark's hops write: ``IP(options=[AQT(), AVBW()])``.

Importing this package binds them, so that captured packets dissect. Scapy reads on behind EOL: an
option that it finds there is padding, to hops and hosts alike.
"""

from hosts.layers.aqt import AQT
from hosts.layers.avbw import AVBW
from hosts.layers.binding import bind_options

__all__ = ["AQT", "AVBW"]

bind_options(AQT, AVBW)
