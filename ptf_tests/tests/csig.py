"""CSIG: a tag keeps the worst hop's value of its signal, and that hop's locator."""

from scapy.layers.l2 import Ether

from hosts.layers.csig import CSIG, TPID
from ptf_tests.hop import HopTest
from ptf_tests.packets import Datagram
from ptf_tests.ports import FRAME_OCTETS, SERVICE_S, A, B, C, Host
from waymark.csig import AVAILABLE, AVAILABLE_SHARE, DELAY

LOCATOR = 5
INSERTED, REMOVED = 4, 5
"""Slots of `csig_tags` behind those of the signals."""

IDLE_OCTETS = 2**12
"""What a port sends in an interval."""


def tagged(frame: bytes, signal: int, band: int, locator: int = 0) -> bytes:
    """A frame with a CSIG tag."""
    ethernet = Ether(frame[:14])
    ethernet.type = TPID
    return bytes(ethernet) + bytes(CSIG(signal=signal, band=band, locator=locator)) + frame[14:]


class CsigTest(HopTest):
    """A hop with its own bands."""

    def port(self, host: Host, strip: int = 0) -> None:
        """The port updates tags. Intervals are twelve days long, so that the last one was idle."""
        self.session.insert(
            "csig_port", {"port": host.port}, "write",
            locator=LOCATOR, interval_log2=40, capacity=IDLE_OCTETS,
            per_octet=2**48 // IDLE_OCTETS, strip=strip,
        )  # fmt: skip

    def band(self, signal: int, low: int, high: int, band: int) -> None:
        """The band of some values of a signal."""
        match = {"signal": signal, "value": (low, high)}
        self.session.insert("csig_band", match, "set_band", band=band)

    def check_tag(self, sent: tuple[int, ...], left: tuple[int, ...], what: str = "") -> None:
        """A tag with these fields leaves with those."""
        datagram = Datagram(to=B)
        self.send(tagged(datagram.sent(), *sent))
        self.check(B, tagged(datagram.forwarded(), *left), what)


class CsigKeepsTheWorse(CsigTest):
    """The least bandwidth and the greatest delay, whichever hop has it."""

    def runTest(self):
        self.port(B)
        self.band(AVAILABLE, IDLE_OCTETS, IDLE_OCTETS, 20)
        self.band(AVAILABLE_SHARE, 2**16, 2**16, 12)
        self.band(DELAY, 0, 2**31, 9)
        for signal, own in ((AVAILABLE, 20), (AVAILABLE_SHARE, 12)):
            self.check_tag((signal, 31), (signal, own, LOCATOR))
            self.check_tag((signal, own, 7), (signal, own, 7), "as bad")
            self.check_tag((signal, own - 1, 7), (signal, own - 1, 7), "worse before")
            self.check_count("csig_tags", 8 * B.port + signal, 1)
        self.check_tag((DELAY, 0), (DELAY, 9, LOCATOR))
        self.check_tag((DELAY, 10, 7), (DELAY, 10, 7))
        self.check_count("csig_tags", 8 * B.port + DELAY, 1)


class CsigTellsTheWaitingTime(CsigTest):
    """Frames leave C's line one after the other: each has waited a service time more."""

    def runTest(self):
        self.port(C)
        service_us = int(SERVICE_S * 1e6)
        self.band(DELAY, 0, service_us // 2, 0)
        for waited in range(1, 4):
            low = waited * service_us - service_us // 2 + 1
            self.band(DELAY, low, low + service_us - 1, 8 * waited)
        frames = [Datagram(to=C, number=n, octets=FRAME_OCTETS - 4) for n in range(4)]
        self.needs_held_queue()
        self.addCleanup(self.drain, C)
        for frame in frames:
            self.send(tagged(frame.sent(), DELAY, 0))
        self.check(C, tagged(frames[0].forwarded(), DELAY, 0))
        for waited, frame in enumerate(frames[1:], 1):
            self.check(C, tagged(frame.forwarded(), DELAY, 8 * waited, LOCATOR))


class CsigAtTheEdges(CsigTest):
    """Packets from A get a tag, and lose it on their way to B."""

    def runTest(self):
        self.session.insert("csig_insertion", {"port": A.port}, "insert", signal=AVAILABLE_SHARE)
        datagram = Datagram(to=B)
        self.send(datagram.sent())
        self.check(B, tagged(datagram.forwarded(), AVAILABLE_SHARE, 31))
        self.port(B, strip=1)
        self.check_forwarded(datagram, "inserted and removed")
        self.send(tagged(datagram.sent(), DELAY, 3))
        self.check(B, datagram.forwarded(), "removed")
        self.check_count("csig_tags", 8 * B.port + INSERTED, 2)
        self.check_count("csig_tags", 8 * B.port + REMOVED, 2)
