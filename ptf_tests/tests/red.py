"""RED: a queue drops early, at random. On Tofino without an average, when packets leave."""

from ptf_tests.hop import Cause, HopTest
from ptf_tests.packets import Datagram
from ptf_tests.ports import A, B, C, Host

ARRIVALS = 960
BURST = 16
"""The most that BMv2 reads from an interface at once."""


class RedIsOffWithoutAWeight(HopTest):
    not_on_tofino = "there is no average, so there is no weight"

    def runTest(self):
        self.session.insert("red", {"port": B.port}, "drop_all")
        self.check_forwarded(Datagram())
        self.check_drops(Cause.RED, 0, B)


class RedAdmitsAllBelowItsRange(HopTest):
    def runTest(self):
        self.red(B, 1, "drop_all")
        for number in range(20):
            self.check_forwarded(Datagram(number=number))
        self.check_drops(Cause.RED, 0, B)


class RedDropsAllAboveItsRange(HopTest):
    def runTest(self):
        self.red(C, 2, "drop_all")
        datagrams = [Datagram(to=C, number=number) for number in range(12)]
        self.fill(datagrams)
        for datagram in datagrams[:3]:  # one in service, and none or one before two waiting packets
            self.check(C, datagram.forwarded())
        self.check_silence(C)
        self.check_drops(Cause.RED, 9, C)
        self.check_drops(Cause.QUEUE_FULL, 0, C)


class RedDropsAsOftenAsItsTableSays(HopTest):
    def runTest(self):
        self.red(B, 0, "drop_some", probability=0)
        check_shares(self, B, 0)


class RedSeesWhatAFullQueueRefuses(HopTest):
    """RED sees each arrival before the queue limit, so it drops its share of all arrivals."""

    not_on_tofino = "RED drops in egress, which packets refused by a full queue do not reach"

    def runTest(self):
        self.limited(16)
        already = [Datagram(to=C)] * 17
        self.red(C, 1, "drop_some", probability=0)
        self.fill(already)
        check_shares(self, C, 1, len(already))


def check_shares(hop: HopTest, host: Host, least: int, arrived: int = 0) -> None:
    """Checks that RED drops a quarter, half and three quarters of all arrivals.

    Args:
        hop: the test.
        host: to which all go.
        least: how many frames wait there at least.
        arrived: packets that were sent before.
    """
    frame = Datagram(to=host).sent()
    early = 0
    for sixteenths in (0, 4, 8, 12):
        hop.red(host, least, "drop_some", again=True, probability=sixteenths << 12)
        for _ in range(ARRIVALS // BURST):
            for _ in range(BURST):
                hop.send(frame)
            arrived += BURST
            hop.check_count("received", A.port, arrived)
        total = hop.drops(Cause.RED, host)
        dropped, early = total - early, total
        p = sixteenths / 16
        deviation = (p * (1 - p) * ARRIVALS) ** 0.5
        hop.assertLessEqual(abs(dropped - p * ARRIVALS), 5 * deviation, f"p = {p}")
