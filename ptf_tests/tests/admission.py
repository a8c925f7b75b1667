"""Drop-tail: a full queue refuses packets."""

from ptf_tests.hop import Cause, HopTest
from ptf_tests.packets import Datagram
from ptf_tests.ports import A, B, C


class QueueOfNoneRefusesAll(HopTest):
    not_on_tofino = "a queue of the traffic manager holds one packet or more"

    def runTest(self):
        self.limited(0)
        for _ in range(3):
            self.check_dropped(Datagram(to=C).sent())
        self.check_drops(Cause.QUEUE_FULL, 3, C)
        self.check_drops(Cause.QUEUE_FULL, 0, A)


class FullQueueRefusesTheNewest(HopTest):
    """One packet is in service and four wait; the others are refused and counted at that port."""

    def runTest(self):
        slow = self.limited(4)
        datagrams = [Datagram(to=slow, number=number) for number in range(8)]
        self.fill(datagrams)
        for datagram in datagrams[:5]:
            self.check(slow, datagram.forwarded())
        self.check_silence(slow)
        self.check_drops(Cause.QUEUE_FULL, 3, slow)
        self.check_count("sent", slow.port, 5)
        self.check_forwarded(datagrams[7], "the queue is empty again")


class FullQueueOfOnePortConcernsNoOther(HopTest):
    def runTest(self):
        slow = self.limited(1)
        self.fill([Datagram(to=slow, number=number) for number in range(3)])
        self.check_forwarded(Datagram(to=B))
        self.check_drops(Cause.QUEUE_FULL, 1, slow)
        self.check_drops(Cause.QUEUE_FULL, 0, B)
