"""Packet trimming: what a full queue refuses is cut, and sent by a separate queue."""

from ptf_tests.hop import Cause, HopTest
from ptf_tests.packets import Datagram
from ptf_tests.ports import C

TRIMMABLE, TRIMMED = 10, 11
"""Differentiated services codepoints."""

OCTETS = 80
"""What is left of a packet."""


def of_class(dscp: int) -> tuple[tuple[str, int], ...]:
    """The fields of an IPv4 header with this codepoint."""
    return (("tos", dscp << 2),)


class TrimTest(HopTest):
    """A slow port to C that trims."""

    def trimming(self, max_waiting: int) -> None:
        """The number of trimmed packets that can wait."""
        self.session.insert(
            "trimming",
            {"port": C.port, "dscp": TRIMMABLE},
            "cut",
            octets=OCTETS,
            dscp=TRIMMED,
            max_waiting=max_waiting,
        )
        self.session.insert(
            "trimming", {"port": C.port, "dscp": TRIMMED}, "send_first", max_waiting=max_waiting
        )

    def cut(self, datagram: Datagram) -> bytes:
        """The packet as C receives it when it was cut."""
        return datagram.forwarded(ip=of_class(TRIMMED))[:OCTETS]


class TrimmedPacketsLeaveFirst(TrimTest):
    """One packet is in service, two wait, three are cut, and one finds both queues full."""

    def runTest(self):
        self.limited(2)
        self.trimming(3)
        datagrams = [Datagram(to=C, ip=of_class(TRIMMABLE), number=number) for number in range(7)]
        self.fill(datagrams)
        self.check(C, datagrams[0].forwarded())
        for datagram in datagrams[3:6]:
            self.check(C, self.cut(datagram))
        for datagram in datagrams[1:3]:
            self.check(C, datagram.forwarded())
        self.check_silence(C)
        self.check_count("trimmed", C.port, 3)
        self.check_drops(Cause.QUEUE_FULL, 1, C)
        self.check_forwarded(datagrams[6], "the queue is empty again")


class TrimmedByAnEarlierHopIsSentFirst(TrimTest):
    """It overtakes others, and is not cut again."""

    def runTest(self):
        self.limited(9)
        self.trimming(9)
        classes = (TRIMMABLE, TRIMMABLE, 0, TRIMMED)
        datagrams = [
            Datagram(to=C, ip=of_class(dscp), number=number) for number, dscp in enumerate(classes)
        ]
        self.fill(datagrams)
        for number in (0, 3, 1, 2):
            self.check(C, datagrams[number].forwarded())
        self.check_count("trimmed", C.port, 0)


class OtherClassesAreDropped(TrimTest):
    """Only packets of the class that may be trimmed are."""

    def runTest(self):
        self.limited(0)
        self.trimming(9)
        self.check_dropped(Datagram(to=C).sent())
        self.check_drops(Cause.QUEUE_FULL, 1, C)
        self.check_count("trimmed", C.port, 0)
