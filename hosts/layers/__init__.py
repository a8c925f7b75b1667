"""Scapy layers of the options of Waymark's hops: ``IP(options=[AQT(), AVBW()])``.

Importing this package binds them, so that Scapy dissects captured packets. Scapy also parses
options after EOL, which are padding for hops and hosts.
"""

from hosts.layers.aqt import AQT
from hosts.layers.avbw import AVBW
from hosts.layers.binding import bind_options

__all__ = ["AQT", "AVBW"]

bind_options(AQT, AVBW)
