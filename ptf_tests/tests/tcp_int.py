"""TCP-INT: a TCP option with the worst hop's utilisation or queue, and the sum of latencies."""

from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from hosts.layers.tcp_int import KIND, TCPINT, of
from ptf_tests.hop import HopTest
from ptf_tests.ports import FRAME_OCTETS, SERVICE_S, A, B, C, Host

SERVICE_US = int(SERVICE_S * 1e6)
UNIT_OCTETS = 2**13
"""Of a queue's length."""

TTL, SPEED = 64, 5


def segment(to: Host, option: TCPINT, padding: int = 0) -> bytes:
    """A segment from A with a TCP-INT option behind this many NOPs."""
    nops = [("NOP", None)] * padding
    tcp = TCP(sport=8080, dport=5001, seq=7, options=[*nops, (KIND, bytes(option)[2:])])
    frame = Ether(src=A.mac, dst=A.router_mac) / IP(src=A.ipv4, dst=to.ipv4, ttl=TTL, flags="DF")
    room = FRAME_OCTETS - len(frame / tcp)
    return bytes(frame / tcp / Raw(bytes(range(room))))


class TcpIntTest(HopTest):
    """A port that writes TCP-INT, with an interval in which nothing was sent."""

    def port(self, host: Host, octets_per_us: int) -> None:
        """The rate, in units of 2^-16 octets per µs, counts for the queue's length only."""
        self.session.insert(
            "tcp_int_port", {"port": host.port}, "write",
            interval_log2=40, per_octet=1, octets_per_us=octets_per_us, link_speed=SPEED,
        )  # fmt: skip

    def queue(self, frames: list[bytes]) -> list[float]:
        """Sends frames to C's slow line. Returns how long each should wait, in µs."""
        self.needs_held_queue()
        self.addCleanup(self.drain, C)
        times = [self.send(frame) for frame in frames]
        return [
            number * SERVICE_US - (sent_s - times[0]) * 1e6 for number, sent_s in enumerate(times)
        ]

    def option(self, host: Host) -> TCPINT:
        """The option of the next packet that a host receives, whose checksum is right."""
        frame, _ = self.receive(host)
        packet = Ether(frame)
        checksum = packet[TCP].chksum
        del packet[TCP].chksum
        self.assertEqual(Ether(bytes(packet))[TCP].chksum, checksum)
        option = of(packet[TCP])
        assert option is not None
        return option


class TcpIntAddsLatencies(TcpIntTest):
    """Each frame waits for those before it, with an option at an even or an odd octet."""

    def runTest(self):
        self.port(C, 0)
        before = TCPINT(value=3, hop=60, latency=1000)
        for waits_us in self.queue([segment(C, before, padding) for padding in range(4)]):
            option = self.option(C)
            waited_us = (option.latency - 1000) * 256 / 1000
            self.assertAlmostEqual(waited_us, max(0, waits_us), delta=SERVICE_US / 4)
            self.assertEqual((option.value, option.hop, option.link_speed), (3, 60, 0))
        self.check_count("tcp_int_marks", 2 * C.port, 4)


class TcpIntSaturates(TcpIntTest):
    """A sum that no longer fits is the greatest."""

    def runTest(self):
        self.port(C, 0)
        self.queue([segment(C, TCPINT(latency=latency)) for latency in (0xFFFFFF, 0xFFFFF0)])
        for _ in range(2):
            self.assertEqual(self.option(C).latency, 0xFFFFFF)


class TcpIntWritesTheWorstQueue(TcpIntTest):
    """A longer queue than the packet carries is written, with this hop and its link."""

    def runTest(self):
        # A unit of the queue is an eighth of a service time.
        self.port(C, (UNIT_OCTETS << 16) * 8 // SERVICE_US)
        values = (0x20, 0x20, 0xBF, 0x81)
        frames = [segment(C, TCPINT(value=value, hop=60, tag_frequency=9)) for value in values]
        waits_us = self.queue(frames)
        idle, one, worse, three = (self.option(C) for _ in values)
        self.assertEqual((idle.value, idle.hop), (0x20, 60), "no packet was in front")
        self.assertEqual((worse.value, worse.hop), (0xBF, 60), "an earlier hop's is worse")
        for number, option in ((1, one), (3, three)):
            self.assertAlmostEqual(option.value - 0x80, waits_us[number] * 8 / SERVICE_US, delta=2)
            self.assertEqual((option.hop, option.link_speed), (TTL - 1, SPEED))
            self.assertEqual(option.tag_frequency, 9)
        self.check_count("tcp_int_marks", 2 * C.port + 1, 2)


class TcpIntIsOffWithoutAnEntry(TcpIntTest):
    """Nothing is changed."""

    def runTest(self):
        sent = TCPINT(value=1, hop=2, latency=3, value_echo=4, hop_echo=5, latency_echo=6)
        self.send(segment(B, sent))
        self.assertEqual(bytes(self.option(B)), bytes(sent))
