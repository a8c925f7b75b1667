"""L4S: two queues at a port, coupled by DualPI2 (RFC 9332)."""

from ptf_tests.hop import HopTest
from ptf_tests.packets import CAPABLE, EXPERIENCED, NOT_CAPABLE, UNUSED, Datagram
from ptf_tests.ports import C

CLASSIC, LOW_LATENCY = 0, 1
"""The queues of a port, by priority."""

L4S = UNUSED
"""ECT(1), which CI does not use."""

SERVICE_US = 100_000
"""A frame on the line to C."""


class L4sTest(HopTest):
    """A port to C with DualPI2."""

    def dual_pi2(self, **settings: int) -> None:
        """p stays 0, and no packet waits too long, but for these settings."""
        quiet = {"target": 0, "interval_log2": 0, "alpha": 0, "beta": 0, "coupling": 2}
        quiet["step"] = 2**32 - 1
        self.session.insert("dual_pi2", {"port": C.port}, "control_queueing", **quiet | settings)

    def check_counts(self, counter: str, classic: int, low_latency: int) -> None:
        """The packets of each queue of the port to C."""
        self.check_count(counter, 8 * C.port + CLASSIC, classic)
        self.check_count(counter, 8 * C.port + LOW_LATENCY, low_latency)


class L4sPacketsHaveAQueueOfTheirOwn(L4sTest):
    """ECT(1) and CE leave before the others, each kind in its order."""

    def runTest(self):
        self.dual_pi2()
        fields = (CAPABLE, NOT_CAPABLE, L4S, CAPABLE, EXPERIENCED, L4S)
        datagrams = [Datagram(to=C, ecn=ecn, number=number) for number, ecn in enumerate(fields)]
        self.fill(datagrams)
        for number in (0, 2, 4, 5, 1, 3):
            self.check(C, datagrams[number].forwarded())
        self.check_counts("dual_pi2_marked", 0, 0)


class L4sMarksBeyondTheStep(L4sTest):
    """The step is half a service time: L4S packets that waited are marked, if two wait behind."""

    def runTest(self):
        self.dual_pi2(step=SERVICE_US // 2)
        fields = (L4S, L4S, CAPABLE, L4S, NOT_CAPABLE)
        datagrams = [Datagram(to=C, ecn=ecn, number=number) for number, ecn in enumerate(fields)]
        self.fill(datagrams)
        self.check(C, datagrams[0].forwarded())
        self.check(C, datagrams[1].forwarded(ecn=EXPERIENCED))
        self.check(C, datagrams[3].forwarded(ecn=EXPERIENCED))
        self.check(C, datagrams[2].forwarded())
        self.check(C, datagrams[4].forwarded())
        self.check_counts("dual_pi2_marked", 0, 2)


class L4sDropsInOverload(L4sTest):
    """With p at 1, packets of both queues are dropped, until fewer than two wait behind one."""

    def runTest(self):
        self.dual_pi2(beta=2**16 - 1)
        fields = (CAPABLE, L4S, CAPABLE, NOT_CAPABLE, L4S, CAPABLE, NOT_CAPABLE)
        datagrams = [Datagram(to=C, ecn=ecn, number=number) for number, ecn in enumerate(fields)]
        self.fill(datagrams)
        # 0 waited for nothing. p is 1 from the next on: 1 and 4 are dropped, then 2 and 3.
        for number in (0, 5, 6):
            self.check(C, datagrams[number].forwarded())
        self.check_silence(C)
        self.check_counts("dual_pi2_dropped", 2, 2)


class L4sIsOffWithoutAnEntry(L4sTest):
    """Two queues, and nothing else."""

    def runTest(self):
        datagrams = [Datagram(to=C, ecn=L4S, number=number) for number in range(5)]
        self.fill(datagrams)
        for datagram in datagrams:
            self.check(C, datagram.forwarded())
        self.check_counts("dual_pi2_marked", 0, 0)
