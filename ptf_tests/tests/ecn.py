"""ECN: a mark means that the packet met a queue longer than the port's threshold."""

from ptf_tests.hop import HopTest
from ptf_tests.packets import CAPABLE, EXPERIENCED, NOT_CAPABLE, UNUSED, Datagram
from ptf_tests.ports import B, C


class EcnMarksWhatMetALongQueue(HopTest):
    """Marks capable packets, of either kind, behind more than two waiting packets."""

    def runTest(self):
        self.session.insert("ecn_threshold", {"port": C.port}, "mark_above", threshold=2)
        fields = (CAPABLE, CAPABLE, UNUSED, CAPABLE, CAPABLE, UNUSED, NOT_CAPABLE, CAPABLE)
        datagrams = [Datagram(to=C, ecn=ecn, number=number) for number, ecn in enumerate(fields)]
        self.fill(datagrams)
        # The first is in service, and 0, 1, 2 wait as the next three come.
        for datagram in datagrams[:4]:
            self.check(C, datagram.forwarded())
        for datagram in datagrams[4:6]:
            self.check(C, datagram.forwarded(ecn=EXPERIENCED))
        self.check(C, datagrams[6].forwarded())
        self.check(C, datagrams[7].forwarded(ecn=EXPERIENCED))
        self.check_silence(C)
        self.check_count("ecn_marks", C.port, 3)


class EcnMarksNothingWithoutAThreshold(HopTest):
    def runTest(self):
        datagrams = [Datagram(to=C, ecn=CAPABLE, number=number) for number in range(6)]
        self.fill(datagrams)
        for datagram in datagrams:
            self.check(C, datagram.forwarded())
        self.check_count("ecn_marks", C.port, 0)


class EcnLeavesAnEmptyQueueAlone(HopTest):
    def runTest(self):
        self.session.insert("ecn_threshold", {"port": B.port}, "mark_above", threshold=0)
        for ecn in (NOT_CAPABLE, UNUSED, CAPABLE, EXPERIENCED):
            self.check_forwarded(Datagram(ecn=ecn))
        self.check_count("ecn_marks", B.port, 0)
