"""Packets to and from the controller."""

import queue

from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

from ptf_tests.hop import Cause, HopTest
from ptf_tests.packets import Datagram
from ptf_tests.ports import A, B, C

REQUEST = Ether(src=A.mac, dst="ff:ff:ff:ff:ff:ff") / ARP(psrc=A.ipv4, pdst="10.0.1.1")
ARP_FRAME = bytes(REQUEST / Raw(bytes(18)))
TAGGED_ARP_FRAME = bytes(
    Ether(src=A.mac, dst="ff:ff:ff:ff:ff:ff") / Dot1Q(vlan=7) / REQUEST[ARP] / Raw(bytes(18))
)


class PuntedFrameReachesTheControllerWithItsPort(HopTest):
    def runTest(self):
        self.session.insert("punt", {"ether_type": 0x0806}, "send_to_cpu")
        for host, frame in ((A, ARP_FRAME), (C, ARP_FRAME), (A, TAGGED_ARP_FRAME)):
            self.send(frame, host)
            packet = self.session.packet_in()
            self.assertEqual(packet.payload.hex(), frame.hex())
            self.assertEqual(packet["ingress_port"], host.port)
        self.check_drops(Cause.NO_ROUTE, 0)


class UnpuntedFrameIsDropped(HopTest):
    def runTest(self):
        self.check_dropped(ARP_FRAME)
        with self.assertRaises(queue.Empty):
            self.session.packet_in(timeout_s=0.1)
        self.check_drops(Cause.NO_ROUTE, 1)


class PacketOutLeavesAsItIsByThePortItNames(HopTest):
    def runTest(self):
        for frame in (Datagram(ttl=1, dst="192.0.2.1").sent(), ARP_FRAME):
            for host in (B, A):
                self.session.packet_out(frame, host.port)
                self.check(host, frame)
        self.check_silence(C, 0)
        self.check_count("sent", B.port, 2)
