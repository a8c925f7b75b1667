# pyright: basic
"""Send a burst through the switch of two_ports.yaml, and print the marks of its packets.

Usage: ``python see_the_marks.py H1 H2 [PACKETS]``, where H1 and H2 are the interfaces of the hosts
on ports 1 and 2. Needs root and Scapy.
"""

import sys
import time

from scapy.interfaces import get_if_list
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw
from scapy.sendrecv import AsyncSniffer, sendp

from hosts.layers import AQT, AVBW

CAPABLE, MARKED = 0b10, 0b11  # values of the ECN field: CI
SENDER, RECEIVER = "10.0.1.1", "10.0.2.1"


def frame(number: int) -> Packet:
    """A packet of 1000 octets from the host on port 1 to the one on port 2."""
    ethernet = Ether(src="02:00:00:00:01:01", dst="02:00:00:00:00:01")
    ip = IP(src=SENDER, dst=RECEIVER, tos=CAPABLE, id=number, options=[AQT(), AVBW()])
    return ethernet / ip / UDP(sport=5000, dport=5000) / Raw(bytes(1000 - 32 - 8))


def main() -> None:
    """Send, wait, and print one line per packet."""
    match sys.argv[1:]:
        case [into, out_of]:
            packets = 30
        case [into, out_of, number] if number.isdecimal():
            packets = int(number)
        case _:
            sys.exit("usage: see_the_marks.py H1 H2 [PACKETS]")
    for name in (into, out_of):
        if name not in get_if_list():
            sys.exit(f"no interface {name}; valid: {', '.join(get_if_list())}")
    sniffer = AsyncSniffer(iface=out_of, lfilter=lambda p: IP in p and p[IP].dst == RECEIVER)
    sniffer.start()
    time.sleep(0.5)
    sendp([frame(number) for number in range(1, packets + 1)], iface=into, verbose=False)
    time.sleep(1)
    received = sniffer.stop() or []
    print(f"{packets} sent, {len(received)} received")
    print("packet  AQT/µs  DRAI  CI")
    for packet in received:
        marked = "marked" if packet[IP].tos & 0b11 == MARKED else ""
        print(f"{packet[IP].id:6}{packet[AQT].aqt:8}{packet[AVBW].drai:6}  {marked}".rstrip())


if __name__ == "__main__":
    main()
