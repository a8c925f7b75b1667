"""AQT: a packet carries the time it spent in queues."""

from scapy.layers.l2 import Ether

from hosts.layers import AQT, AVBW
from ptf_tests.hop import ONLY_LISTS_OF_HOSTS, HopTest, Mark
from ptf_tests.packets import EOL, NOP, Datagram, unknown
from ptf_tests.ports import SERVICE_S, B, C

SATURATED = 0xFFFFFF
US = 1e6
CLOCKS_US = 200
"""Maximum drift between the clocks of switch and test during a test."""


def aqt_of(frame: bytes) -> int:
    """The AQT in a frame, µs."""
    (option,) = (option for option in Ether(frame)["IP"].options if isinstance(option, AQT))
    return option.aqt


def with_aqt(options: list, aqt_us: int) -> list:
    """The same options with another AQT."""
    return [
        AQT(aqt=aqt_us, aqt_echo=option.aqt_echo) if isinstance(option, AQT) else option
        for option in options
    ]


def check_lists(hop: HopTest, lists: list[list]) -> None:
    """Checks the AQT, 1000 before, and that no other octet changes but the checksum."""
    hop.feedback(B, aqt=1)
    for options in lists:
        datagram = Datagram(options=options)
        sent_s = hop.send(datagram.sent())
        frame, received_s = hop.receive(B)
        waited_us = aqt_of(frame) - 1000
        hop.assertGreaterEqual(waited_us, 0)
        hop.assertLessEqual(waited_us, (received_s - sent_s) * US + CLOCKS_US)
        expected = datagram.forwarded(options=with_aqt(options, 1000 + waited_us))
        hop.assertEqual(frame.hex(), expected.hex(), str(options))
    hop.check_marks(Mark.AQT, len(lists), B)


class AqtOfAnEmptyQueueIsNoMoreThanTheWayTook(HopTest):
    """In the lists that hosts send."""

    def runTest(self):
        lists = [
            [AQT(aqt=1000, aqt_echo=77)],
            [AVBW(drai=3), AQT(aqt=1000, aqt_echo=77)],
            [AQT(aqt=1000, aqt_echo=77), AVBW(drai=3)],
        ]
        check_lists(self, lists)


class AqtIsFoundAtAnyPosition(HopTest):
    not_on_tofino = ONLY_LISTS_OF_HOSTS

    def runTest(self):
        lists = [
            [NOP, AQT(aqt=1000, aqt_echo=77), NOP, unknown(3)],
            [unknown(5), AQT(aqt=1000, aqt_echo=77)],
            [unknown(11), AVBW(drai=3), unknown(9), AQT(aqt=1000, aqt_echo=77), unknown(8)],
            [AQT(aqt=1000, aqt_echo=77), EOL, b"\x5e\x08\x07"],
        ]
        check_lists(self, lists)


class AqtGrowsByTheTimeInAHeldQueue(HopTest):
    """The k-th waiting packet waits for k services, minus the elapsed part of the first."""

    def runTest(self):
        self.feedback(C, aqt=1)
        datagrams = [
            Datagram(to=C, options=[AQT(aqt=1000 * number, aqt_echo=9)], number=number)
            for number in range(5)
        ]
        sent_s = self.fill(datagrams)
        for number, datagram in enumerate(datagrams):
            frame, received_s = self.receive(C)
            aqt_us = aqt_of(frame)
            self.assertEqual(
                frame.hex(), datagram.forwarded(options=[AQT(aqt=aqt_us, aqt_echo=9)]).hex()
            )
            waited_us = aqt_us - 1000 * number
            least_us = (number - 1) * SERVICE_S * US
            self.assertGreaterEqual(waited_us, self.at_least_us(least_us), f"packet {number}")
            self.assertLessEqual(waited_us, (received_s - sent_s[number]) * US + CLOCKS_US)
        self.check_marks(Mark.AQT, 5, C)


class AqtSaturates(HopTest):
    """A sum beyond 24 bits saturates, and never wraps."""

    def runTest(self):
        self.feedback(C, aqt=1)
        options = [AQT(aqt=SATURATED - 1000, aqt_echo=5)]
        datagrams = [Datagram(to=C, options=options, number=number) for number in range(3)]
        self.fill(datagrams)
        self.receive(C)
        for datagram in datagrams[1:]:
            self.check(C, datagram.forwarded(options=[AQT(aqt=SATURATED, aqt_echo=5)]))


class SaturatedAqtStays(HopTest):
    def runTest(self):
        self.feedback(B, aqt=1)
        self.check_forwarded(Datagram(options=[AQT(aqt=SATURATED, aqt_echo=5)]))


class AqtStaysWhereThePortDoesNotMark(HopTest):
    def runTest(self):
        self.feedback(C, aqt=1)
        self.check_forwarded(Datagram(to=B, options=[AQT(aqt=7, aqt_echo=5)]))
        self.check_marks(Mark.AQT, 0, B)
