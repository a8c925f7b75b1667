"""All marks in one program."""

from hosts.layers import AQT, AVBW
from ptf_tests.hop import Cause, HopTest, Mark
from ptf_tests.packets import CAPABLE, EOL, EXPERIENCED, NOP, Datagram, unknown
from ptf_tests.ports import A, B, C

AQT_SATURATED = AQT(aqt=0xFFFFFF, aqt_echo=5)
"""An AQT that does not change during any wait, so that octets can be compared."""


class AllMarksInOnePacket(HopTest):
    def runTest(self):
        self.feedback(C, aqt=1, drai=1, ci=1)
        self.limit_queue(C, 1)
        self.session.insert("drai", {"port": C.port, "queue_depth": (0, 9)}, "set_index", index=1)
        options = [unknown(3), AVBW(drai=4, mrai_echo=6), AQT_SATURATED]
        datagrams = [
            Datagram(to=C, options=options, ecn=CAPABLE, number=number) for number in range(3)
        ]
        self.fill(datagrams)
        marked = [options[0], AVBW(drai=1, mrai_echo=6), AQT_SATURATED]
        self.check(C, datagrams[0].forwarded(options=marked))
        self.check(C, datagrams[1].forwarded(options=marked, ecn=EXPERIENCED))
        for mark, packets in ((Mark.AQT, 2), (Mark.DRAI, 2), (Mark.CI, 1)):
            self.check_marks(mark, packets, C)


class BothOptionsInEitherOrder(HopTest):
    def runTest(self):
        self.feedback(B, aqt=1, drai=1)
        self.session.insert("drai", {"port": B.port, "queue_depth": (0, 9)}, "set_index", index=4)
        for order in (
            lambda avbw: [AQT_SATURATED, avbw],
            lambda avbw: [avbw, AQT_SATURATED],
            lambda avbw: [NOP, AQT_SATURATED, unknown(3), avbw],
            lambda avbw: [avbw, unknown(28), AQT_SATURATED],
            lambda avbw: [unknown(9), AQT_SATURATED, unknown(11), avbw, unknown(8)],
            lambda avbw: [avbw, AQT_SATURATED, EOL, b"\x5e\x08\x5e"],
        ):
            datagram = Datagram(options=order(AVBW()))
            self.check_forwarded(datagram, options=order(AVBW(drai=4)))
            tagged = datagram.but(vlan=9)
            self.check_forwarded(tagged, options=order(AVBW(drai=4)))


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
        self.session.insert("drai", {"port": B.port, "queue_depth": (0, 9)}, "set_index", index=1)
        for what, octets in MALFORMED.items():
            self.check_forwarded(Datagram(options=[octets], ecn=CAPABLE), what)
        self.check_count("malformed_options", A.port, len(MALFORMED))
        for mark in Mark:
            self.check_marks(mark, 0, B)


class EarlyDropMarksNothing(HopTest):
    def runTest(self):
        self.feedback(C, ci=1)
        self.session.insert("red_weight", {"port": C.port}, "average_occupancy", w=0)
        above = {"port": C.port, "average": (2 << 16, (1 << 48) - 1)}
        self.session.insert("red", above, "drop_all")
        datagrams = [Datagram(to=C, ecn=CAPABLE, number=number) for number in range(6)]
        self.fill(datagrams)
        for datagram in datagrams[:3]:
            self.check(C, datagram.forwarded())
        self.check_silence(C)
        self.check_drops(Cause.RED, 3, C)
        self.check_marks(Mark.CI, 0, C)
