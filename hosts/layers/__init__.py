"""Scapy layers of what Waymark's hops write: ``IP(options=[AQT(), AVBW()])``, and telemetry
(INT 2.1) as ``IP(tos=DSCP << 2) / UDP() / INTShim() / INTMD()``.

Importing this package binds them, so that Scapy dissects captured packets. Scapy also parses
options after EOL, which are padding for hops and hosts.
"""

from hosts.layers.aqt import AQT
from hosts.layers.avbw import AVBW
from hosts.layers.binding import bind_options
from hosts.layers.telemetry import INTMD, INTShim, bind_telemetry

__all__ = ["AQT", "AVBW", "INTMD", "INTShim"]

bind_options(AQT, AVBW)
bind_telemetry()
