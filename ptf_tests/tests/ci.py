"""CI: a mark means that the packet was waiting when another was refused."""

from ptf_tests.hop import Cause, HopTest, Mark
from ptf_tests.packets import CAPABLE, EXPERIENCED, NOT_CAPABLE, UNUSED, Datagram
from ptf_tests.ports import B


class CiMarksExactlyTheQueued(HopTest):
    """Marks the capable waiting packets, not the one in service or later ones."""

    def runTest(self):
        slow = self.limited(4)
        self.feedback(slow, ci=1)
        fields = (CAPABLE, CAPABLE, NOT_CAPABLE, UNUSED, CAPABLE, CAPABLE, CAPABLE)
        datagrams = [Datagram(to=slow, ecn=ecn, number=number) for number, ecn in enumerate(fields)]
        self.fill(datagrams)
        self.check(slow, datagrams[0].forwarded(), "in service")
        self.check(slow, datagrams[1].forwarded(ecn=EXPERIENCED))
        # Two have left, so there is room again.
        later = Datagram(to=slow, ecn=CAPABLE, number=100)
        self.send(later.sent())
        self.check(slow, datagrams[2].forwarded())
        self.check(slow, datagrams[3].forwarded())
        self.check(slow, datagrams[4].forwarded(ecn=EXPERIENCED))
        self.check(slow, later.forwarded(), "came after the refusal")
        self.check_silence(slow)
        self.check_drops(Cause.QUEUE_FULL, 2, slow)
        self.check_marks(Mark.CI, 2, slow)


class CiMarksNothingWithoutARefusal(HopTest):
    def runTest(self):
        slow = self.limited(4)
        self.feedback(slow, ci=1)
        datagrams = [Datagram(to=slow, ecn=CAPABLE, number=number) for number in range(5)]
        self.fill(datagrams)
        for datagram in datagrams:
            self.check(slow, datagram.forwarded())
        self.check_drops(Cause.QUEUE_FULL, 0, slow)
        self.check_marks(Mark.CI, 0, slow)


class CiMarksNothingWhereThePortDoesNotMark(HopTest):
    def runTest(self):
        slow = self.limited(1)
        datagrams = [Datagram(to=slow, ecn=CAPABLE, number=number) for number in range(3)]
        self.fill(datagrams)
        for datagram in datagrams[:2]:
            self.check(slow, datagram.forwarded())
        self.check_drops(Cause.QUEUE_FULL, 1, slow)


class CiLeavesAnEmptyQueueAlone(HopTest):
    def runTest(self):
        self.feedback(B, ci=1)
        for ecn in (NOT_CAPABLE, UNUSED, CAPABLE, EXPERIENCED):
            self.check_forwarded(Datagram(ecn=ecn))
        self.check_marks(Mark.CI, 0, B)
