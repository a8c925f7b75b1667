"""All marks in one program."""

from collections.abc import Callable

from hosts.layers import AQT, AVBW
from ptf_tests.hop import ONLY_LISTS_OF_HOSTS, Cause, HopTest, Mark
from ptf_tests.packets import CAPABLE, EOL, EXPERIENCED, NOP, Datagram, unknown
from ptf_tests.ports import A, B, C

AQT_SATURATED = AQT(aqt=0xFFFFFF, aqt_echo=5)
"""An AQT that does not change during any wait, so that octets can be compared."""


class AllMarksInOnePacket(HopTest):
    def runTest(self):
        slow = self.limited(1)
        self.feedback(slow, aqt=1, drai=1, ci=1)
        depths = {"port": slow.port, "queue_depth": self.depths(0, 9)}
        self.session.insert("drai", depths, "set_index", index=1)
        options = [AVBW(drai=4, mrai_echo=6), AQT_SATURATED]
        datagrams = [
            Datagram(to=slow, options=options, ecn=CAPABLE, number=number) for number in range(3)
        ]
        self.fill(datagrams)
        marked = [AVBW(drai=1, mrai_echo=6), AQT_SATURATED]
        self.check(slow, datagrams[0].forwarded(options=marked))
        self.check(slow, datagrams[1].forwarded(options=marked, ecn=EXPERIENCED))
        for mark, packets in ((Mark.AQT, 2), (Mark.DRAI, 2), (Mark.CI, 1)):
            self.check_marks(mark, packets, slow)


def check_orders(hop: HopTest, orders: list[Callable[[AVBW], list]]) -> None:
    """Checks that both options are marked in lists that contain an AVBW-S."""
    hop.feedback(B, aqt=1, drai=1)
    depths = {"port": B.port, "queue_depth": hop.depths(0, 9)}
    hop.session.insert("drai", depths, "set_index", index=4)
    for order in orders:
        datagram = Datagram(options=order(AVBW()))
        hop.check_forwarded(datagram, options=order(AVBW(drai=4)))
        tagged = datagram.but(vlan=9)
        hop.check_forwarded(tagged, options=order(AVBW(drai=4)))


class BothOptionsInEitherOrder(HopTest):
    def runTest(self):
        check_orders(self, [lambda avbw: [AQT_SATURATED, avbw], lambda avbw: [avbw, AQT_SATURATED]])


class BothOptionsAmongOthers(HopTest):
    not_on_tofino = ONLY_LISTS_OF_HOSTS

    def runTest(self):
        orders = [
            lambda avbw: [NOP, AQT_SATURATED, unknown(3), avbw],
            lambda avbw: [avbw, unknown(28), AQT_SATURATED],
            lambda avbw: [unknown(9), AQT_SATURATED, unknown(11), avbw, unknown(8)],
            lambda avbw: [avbw, AQT_SATURATED, EOL, b"\x5e\x08\x5e"],
        ]
        check_orders(self, orders)


MALFORMED = {
    "length 0": b"\x88\x00\x01\x01",
    "length 1": b"\x88\x01\x01\x01",
    "no room for a length": b"\x01\x01\x01\x88",
    "past the header": b"\x01\x88\x04\x01",
    "past the header, after good marks": bytes(AQT(aqt=7)) + bytes(AVBW()) + b"\x88\xff\x01\x01",
    "AQT of 7 octets": b"\x5e\x07\x00\x00\x07\x00\x00\x01",
    "AQT of 9 octets": b"\x5e\x09" + bytes(7) + b"\x01\x01\x01",
    "AQT past the header": b"\x5e\x08\x00\x00",
    "AVBW-S of 3 octets": b"\xde\x03\xff\x01",
    "AVBW-S of 5 octets": b"\xde\x05\xff\x05\x05\x01\x01\x01",
    "AQT twice": 2 * bytes(AQT(aqt=7)),
    "AVBW-S twice": 2 * bytes(AVBW()),
}


class MalformedOptionsAreForwardedUnmarkedAndCounted(HopTest):
    def runTest(self):
        self.feedback(B, aqt=1, drai=1, ci=1)
        depths = {"port": B.port, "queue_depth": self.depths(0, 9)}
        self.session.insert("drai", depths, "set_index", index=1)
        for what, octets in MALFORMED.items():
            self.check_forwarded(Datagram(options=[octets], ecn=CAPABLE), what)
        self.check_count("malformed_options", A.port, len(MALFORMED))
        for mark in Mark:
            self.check_marks(mark, 0, B)


class EarlyDropMarksNothing(HopTest):
    def runTest(self):
        self.feedback(C, ci=1)
        self.red(C, 2, "drop_all")
        datagrams = [Datagram(to=C, ecn=CAPABLE, number=number) for number in range(6)]
        self.fill(datagrams)
        for datagram in datagrams[:3]:
            self.check(C, datagram.forwarded())
        self.check_silence(C)
        self.check_drops(Cause.RED, 3, C)
        self.check_marks(Mark.CI, 0, C)
