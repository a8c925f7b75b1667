"""Drop-tail: a full queue refuses packets."""

from ptf_tests.hop import Cause, HopTest
from ptf_tests.packets import Datagram
from ptf_tests.ports import A, B, C


class QueueOfNoneRefusesAll(HopTest):
    def runTest(self):
        self.limit_queue(C, 0)
        for _ in range(3):
            self.check_dropped(Datagram(to=C).sent())
        self.check_drops(Cause.QUEUE_FULL, 3, C)
        self.check_drops(Cause.QUEUE_FULL, 0, A)


class FullQueueRefusesTheNewest(HopTest):
    """One packet is in service and four wait; the others are refused and counted at that port."""

    def runTest(self):
        self.limit_queue(C, 4)
        datagrams = [Datagram(to=C, number=number) for number in range(8)]
        self.fill(datagrams)
        for datagram in datagrams[:5]:
            self.check(C, datagram.forwarded())
        self.check_silence(C)
        self.check_drops(Cause.QUEUE_FULL, 3, C)
        self.check_count("sent", C.port, 5)
        self.check_forwarded(datagrams[7], "the queue is empty again")


class FullQueueOfOnePortConcernsNoOther(HopTest):
    def runTest(self):
        self.limit_queue(C, 1)
        self.fill([Datagram(to=C, number=number) for number in range(3)])
        self.check_forwarded(Datagram(to=B))
        self.check_drops(Cause.QUEUE_FULL, 1, C)
        self.check_drops(Cause.QUEUE_FULL, 0, B)
