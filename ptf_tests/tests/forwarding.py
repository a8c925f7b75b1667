"""IPv4 forwarding: routes, TTL, MAC addresses, checksum, options, 802.1Q, causes of drops."""

from hosts.layers import AQT, AVBW
from ptf_tests.hop import Cause, HopTest
from ptf_tests.packets import EOL, NOP, Datagram, unknown
from ptf_tests.ports import A, B, C


class ForwardingRewritesMacsTtlAndChecksum(HopTest):
    def runTest(self):
        self.check_forwarded(Datagram())
        self.check_forwarded(Datagram(to=C))
        self.check_silence(A, 0)
        self.check_count("received", A.port, 2)
        self.check_count("sent", B.port, 1)


class ForwardingKeepsTheTag(HopTest):
    def runTest(self):
        self.check_forwarded(Datagram(vlan=0x123))
        self.check_forwarded(Datagram(vlan=7, options=[AQT(aqt=7), AVBW()]))


class ForwardingKeepsEcn(HopTest):
    def runTest(self):
        for ecn in range(4):
            self.check_forwarded(Datagram(ecn=ecn))


class ForwardingKeepsOptionsInAnyOrder(HopTest):
    """No port marks here, so no octet changes, and the checksum covers all of them."""

    def runTest(self):
        for options in (
            [NOP],
            [NOP] * 40,
            [AQT(aqt=1, aqt_echo=2), AVBW(drai=3, mrai_echo=4)],
            [AVBW(drai=3, mrai_echo=4), AQT(aqt=1, aqt_echo=2)],
            [unknown(40)],
            [unknown(7), NOP, AVBW(), unknown(5), AQT(), NOP],
            [AQT(), EOL, b"\x5e\xde\x04"],
            [EOL, b"\xff\xff\xff"],
        ):
            self.check_forwarded(Datagram(options=options), str(options))


class ForwardingTakesTheLongestPrefix(HopTest):
    def runTest(self):
        self.session.insert(
            self.session.routes, {"dst_addr": "10.9.0.0/16"}, "via", port=C.port, next_hop=C.ipv4
        )
        self.session.insert(
            self.session.routes, {"dst_addr": "10.9.9.0/24"}, "via", port=B.port, next_hop=B.ipv4
        )
        self.check_forwarded(Datagram(to=C, dst="10.9.1.1"))
        self.check_forwarded(Datagram(to=B, dst="10.9.9.1"))


class TtlThatEndsHereIsDropped(HopTest):
    def runTest(self):
        self.check_forwarded(Datagram(ttl=2))
        self.check_dropped(Datagram(ttl=1).sent(), "TTL 1")
        self.check_dropped(Datagram(ttl=0).sent(), "TTL 0")
        self.check_drops(Cause.TTL, 2)


class NoRouteIsDropped(HopTest):
    def runTest(self):
        self.session.insert(
            self.session.routes,
            {"dst_addr": "10.8.0.0/16"},
            "via",
            port=B.port,
            next_hop="10.0.2.99",
        )
        self.check_dropped(Datagram(dst="192.0.2.1").sent(), "no route")
        self.check_dropped(Datagram(dst="10.8.0.1").sent(), "no neighbour")
        self.check_dropped(bytes(12) + b"\x86\xdd" + bytes(60), "IPv6")
        self.check_drops(Cause.NO_ROUTE, 3)


class BadChecksumIsDropped(HopTest):
    def runTest(self):
        good = Datagram(options=[unknown(7), NOP])
        for octet in (14 + 8, 14 + 10, 14 + 20 + 5):  # TTL, the checksum itself, an option
            frame = bytearray(good.sent())
            frame[octet] ^= 0x10
            self.check_dropped(bytes(frame), f"octet {octet}")
        self.check_forwarded(good)
        self.check_drops(Cause.CHECKSUM, 3)


class MalformedHeaderIsDropped(HopTest):
    def runTest(self):
        self.check_dropped(Datagram(ip=(("version", 6),)).sent(), "version 6")
        self.check_dropped(Datagram(ip=(("ihl", 4),)).sent(), "IHL 4")
        self.check_dropped(Datagram().sent()[: 14 + 19], "a truncated fixed part")
        self.check_dropped(Datagram(options=[NOP] * 40).sent()[: 14 + 59], "the options cut short")
        self.check_drops(Cause.MALFORMED, 4)


class EveryDropIsCountedOnce(HopTest):
    def runTest(self):
        self.check_dropped(Datagram(ttl=1, dst="192.0.2.1").sent())
        for cause in Cause:
            self.check_drops(cause, int(cause is Cause.TTL))
        self.check_count("received", A.port, 2)
        self.check_count("sent", B.port, 1)
