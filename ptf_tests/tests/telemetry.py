"""In-band network telemetry: sources open stacks, hops push records, sinks remove them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet, Raw

from hosts.layers import INTMD, INTShim
from hosts.layers.telemetry import DSCP
from ptf_tests.hop import HopTest
from ptf_tests.packets import Datagram
from ptf_tests.ports import FRAME_OCTETS, SERVICE_S, A, B, C

NODE, RATE_KBPS = 7, 8
WRITTEN, STARTED, REMOVED = range(3)
"""Slots of `int_events`."""

ETHERNET_OCTETS = 14
RECORD_OCTETS = 20


@dataclass(frozen=True)
class UdpDatagram(Datagram):
    """UDP from A, with a stack in front of its payload if there is one."""

    stack: INTMD | None = None

    def _frame(self, ethernet: Ether) -> bytes:
        dscp = 0 if self.stack is None else DSCP
        header = IP(
            src=A.ipv4, dst=self.to.ipv4, id=0x1C46, flags="DF", ttl=self.ttl, tos=dscp << 2
        )
        packet: Packet = ethernet / header / UDP(sport=1000 + self.number, dport=4791)
        if self.stack is not None:
            packet = packet / INTShim() / self.stack
        return bytes(packet / Raw(b"\xca" * (self.octets - len(packet))))


class TelemetryTest(HopTest):
    """What the tables of `int.p4` say, and what packets have recorded."""

    def recording(self, port: int) -> None:
        """A port pushes records."""
        self.session.insert(
            "int_port", {"port": port}, "write_records", node=NODE, rate_kbps=RATE_KBPS, mtu=1500
        )

    def dissected(self, frame: bytes) -> tuple[Packet, INTMD]:
        """A packet with a stack, whose lengths and checksums are right."""
        packet = Ether(frame)[IP]
        self.assertEqual(packet.len, len(frame) - ETHERNET_OCTETS)
        rebuilt = packet.copy()
        for layer in (rebuilt, rebuilt[UDP]):
            del layer.len, layer.chksum
        self.assertEqual(bytes(rebuilt).hex(), bytes(packet).hex())
        return packet, packet[INTMD]


class RecordsTellQueueAndLink(TelemetryTest):
    """The first packet leaves nothing behind; of the three that wait each leaves those after it."""

    def runTest(self):
        self.limited(9)
        self.recording(C.port)
        self.fill([UdpDatagram(to=C, number=number, stack=INTMD()) for number in range(4)])
        records: list[dict[str, int]] = []
        for _ in range(4):
            _, header = self.dissected(self.receive(C)[0])
            self.assertEqual((header.remaining, header.hop_words), (7, RECORD_OCTETS // 4))
            records += header.hops()
        octets = FRAME_OCTETS - ETHERNET_OCTETS
        self.assertEqual([one["queue"] for one in records], [0, 2 * octets, octets, 0])
        sent = [octets + RECORD_OCTETS] * 4
        self.assertEqual(
            [one["sent"] for one in records], [sum(sent[: i + 1]) for i in range(len(sent))]
        )
        self.assertEqual({one["rate"] for one in records}, {RATE_KBPS})
        times = [one["departure"] for one in records]
        for earlier, later in pairwise(times):
            self.assertGreater(later - earlier, 0.9e9 * SERVICE_S)
        self.check_count("int_events", 8 * C.port + WRITTEN, 4)


class SourcesOpenStacks(TelemetryTest):
    """In what comes by a port for these destination ports, and in nothing else."""

    def runTest(self):
        self.recording(B.port)
        for first, last in ((1, 4790), (4791, 4791)):
            self.session.insert(
                "int_source",
                {"port": A.port, "protocol": 17, "dst_port": (first, last)},
                "start",
                hops=3 if last == 4791 else 1,
                words=2,
                instructions=0x9000,
                domain=0,
                domain_instructions=0,
            )
        self.send(UdpDatagram().sent())
        packet, header = self.dissected(self.receive(B)[0])
        self.assertEqual(packet.tos >> 2, DSCP)
        self.assertEqual((header.remaining, header.hops()), (2, [{"node": NODE, "queue": 0}]))
        self.check_forwarded(Datagram(), "another protocol")
        for event in (STARTED, WRITTEN):
            self.check_count("int_events", 8 * B.port + event, 1)


class SinksRestoreThePacket(TelemetryTest):
    """The packet leaves as it was before telemetry."""

    def runTest(self):
        self.session.insert("int_port", {"port": B.port}, "remove_stack")
        stack = INTMD(stack=bytes(range(40)), remaining=1)
        octets = FRAME_OCTETS + 16 + 40
        self.send(UdpDatagram(stack=stack, octets=octets).sent())
        self.check(B, UdpDatagram().forwarded())
        self.check_count("int_events", 8 * B.port + REMOVED, 1)
