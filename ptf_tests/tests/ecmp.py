"""ECMP: the packets of a flow leave by one next hop, different flows by different ones."""

from ptf_tests.hop import ARRIVAL_S, HopTest
from ptf_tests.packets import Datagram
from ptf_tests.ports import B, C

FLOWS = 64
"""Enough: all choose the same one of two next hops with a probability of 2^-63."""

UDP = (("proto", 17),)
FRAGMENT = (("proto", 17), ("flags", 0), ("frag", 3))


class EcmpTest(HopTest):
    """Two next hops for a network."""

    def setUp(self) -> None:
        super().setUp()
        choices = [{"port": host.port, "next_hop": host.ipv4} for host in (B, C)]
        match = {"dst_addr": "10.9.0.0/16"}
        self.session.insert_choices(self.session.routes, match, "via", choices)

    def chosen(self, datagram: Datagram) -> int:
        """The port by which a packet leaves, otherwise forwarded as usual."""
        self.send(datagram.sent())
        found = self.dataplane.poll(device_number=0, timeout=ARRIVAL_S)
        if isinstance(found, self.dataplane.PollFailure):
            self.fail(f"no packet arrived within {ARRIVAL_S} s")
        host = {B.port: B, C.port: C}[found.port]
        self.assertEqual(bytes(found.packet).hex(), datagram.but(to=host).forwarded().hex())
        return found.port


class EcmpSpreadsFlowsByPort(EcmpTest):
    """The first two octets of the payload are the source port."""

    def runTest(self):
        flows = [Datagram(dst="10.9.1.1", ip=UDP, number=number) for number in range(FLOWS)]
        ports = [self.chosen(flow) for flow in flows]
        self.assertEqual(set(ports), {B.port, C.port})
        self.assertEqual([self.chosen(flow) for flow in flows], ports)


class EcmpSpreadsFlowsByAddress(EcmpTest):
    def runTest(self):
        flows = [Datagram(dst=f"10.9.1.{number}") for number in range(FLOWS)]
        self.assertEqual({self.chosen(flow) for flow in flows}, {B.port, C.port})


class EcmpKeepsFragmentsTogether(EcmpTest):
    """What follows the header of a later fragment is data, and no ports."""

    def runTest(self):
        pieces = [Datagram(dst="10.9.1.1", ip=FRAGMENT, number=n) for n in range(FLOWS)]
        self.assertEqual(len({self.chosen(piece) for piece in pieces}), 1)
