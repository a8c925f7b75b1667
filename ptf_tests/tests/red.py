"""RED: a queue drops early, at random. With w = 0 the average is the occupancy itself."""

from ptf_tests.hop import Cause, HopTest
from ptf_tests.packets import Datagram
from ptf_tests.ports import A, B, C

ONE = 1 << 16
"""A packet, in the average's 16 fractional bits."""
MOST = (1 << 48) - 1


class RedIsOffWithoutAWeight(HopTest):
    def runTest(self):
        self.session.insert("red", {"port": B.port}, "drop_all")
        self.check_forwarded(Datagram())
        self.check_drops(Cause.RED, 0, B)


class RedAdmitsAllBelowItsRange(HopTest):
    def runTest(self):
        self.session.insert("red_weight", {"port": B.port}, "average_occupancy", w=9)
        self.session.insert("red", {"port": B.port, "average": (1, MOST)}, "drop_all")
        for number in range(20):
            self.check_forwarded(Datagram(number=number))
        self.check_drops(Cause.RED, 0, B)


class RedDropsAllAboveItsRange(HopTest):
    def runTest(self):
        self.session.insert("red_weight", {"port": C.port}, "average_occupancy", w=0)
        self.session.insert("red", {"port": C.port, "average": (2 * ONE, MOST)}, "drop_all")
        datagrams = [Datagram(to=C, number=number) for number in range(12)]
        self.fill(datagrams)
        for datagram in datagrams[:3]:  # one in service, and none or one before two waiting packets
            self.check(C, datagram.forwarded())
        self.check_silence(C)
        self.check_drops(Cause.RED, 9, C)
        self.check_drops(Cause.QUEUE_FULL, 0, C)


class RedDropsAsOftenAsItsTableSays(HopTest):
    """RED sees each arrival before the queue limit, so it drops its share of all arrivals."""

    ARRIVALS = 960
    BURST = 16  # the most that BMv2 reads from an interface at once

    def runTest(self):
        self.limit_queue(C, 16)
        self.session.insert("red_weight", {"port": C.port}, "average_occupancy", w=0)
        self.fill([Datagram(to=C)] * 17)
        waiting = {"port": C.port, "average": (ONE, MOST)}
        self.session.insert("red", waiting, "drop_some", probability=0)
        frame = Datagram(to=C).sent()
        arrived, early = 17, 0
        for sixteenths in (0, 4, 8, 12):
            self.session.modify("red", waiting, "drop_some", probability=sixteenths << 12)
            for _ in range(self.ARRIVALS // self.BURST):
                for _ in range(self.BURST):
                    self.send(frame)
                arrived += self.BURST
                self.check_count("received", A.port, arrived)
            total = self.session.packets("drops", 8 * C.port + Cause.RED)
            dropped, early = total - early, total
            p = sixteenths / 16
            deviation = (p * (1 - p) * self.ARRIVALS) ** 0.5
            self.assertLessEqual(abs(dropped - p * self.ARRIVALS), 5 * deviation, f"p = {p}")
