"""Writes the packet scripts (*.stf) into this file's folder: `python p4src/tests/make_scripts.py`.

A script's name starts with its program. Each case lists the input and the expected output; nothing
here computes what a hop would do. All forwarded packets go from host A at port 1 to host B at
port 2, through an empty queue.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from frames import (
    AQT_MAX_US,
    EOL,
    INT_DSCP,
    NOP,
    Frame,
    Int,
    aqt,
    avbw,
    crc16,
    csig,
    mac,
    padded,
    tcp,
    tcp_int,
    transport,
    unknown,
)

A_TO_B = Frame(
    src="10.0.1.10",
    dst="10.0.2.20",
    src_mac="00:00:00:00:01:0a",
    dst_mac="02:00:00:00:00:01",
)
"""The packet as A sends it to the switch."""

AT_B = A_TO_B.changed(src_mac="02:00:00:00:00:02", dst_mac="00:00:00:00:02:14", ttl=63)
"""The same packet as the switch sends it to B."""

CPU_PORT = 510
MALFORMED, CHECKSUM, TTL, NO_ROUTE, QUEUE_FULL, RED = 1, 2, 3, 4, 5, 6
AQT, DRAI, CI = 0, 1, 2


class Script:
    """The lines of one STF file."""

    def __init__(self, title: str) -> None:
        self.lines = [f"# {title}"]

    def say(self, comment: str) -> None:
        self.lines += ["", f"# {comment}"]

    def add(self, entry: str) -> None:
        if not self.lines[-1].startswith(("#", "add")) or len(self.lines) == 1:
            self.lines.append("")
        self.lines.append(f"add {entry}")

    def routes(self) -> None:
        self.add("ipv4_route dst_addr:0x0a000214/32 direct(port:2)")
        self.add(
            "neighbour port:2 next_hop:0x0a000214 "
            "rewrite(src_addr:0x020000000002, dst_addr:0x000000000214)"
        )

    def feedback(self, *, aqt: int = 0, drai: int = 0, ci: int = 0) -> None:
        """Windows of 2^40 µs: twelve days, so that no script reaches the second."""
        self.add(
            f"port_feedback port:2 set_feedback(aqt:{aqt}, drai:{drai}, ci:{ci}, window_log2:40)"
        )

    def packet(self, port: int, parts: list[bytes]) -> None:
        self.lines.append(f"packet {port} {_hex(parts)}")

    def expect(self, port: int, parts: list[bytes]) -> None:
        self.lines.append(f"expect {port} {_hex(parts)}$")

    def forwarded(
        self, what: str, sent: Frame, received: Frame, ports: tuple[int, int] = (1, 2)
    ) -> None:
        self.say(what)
        self.packet(ports[0], sent.parts())
        self.expect(ports[1], received.parts())

    def options(self, what: str, sent: bytes, received: bytes | None = None) -> None:
        """A packet with these options is forwarded, with those options."""
        received = sent if received is None else received
        self.forwarded(what, A_TO_B.changed(options=sent), AT_B.changed(options=received))

    def dropped(self, what: str, parts: list[bytes], port: int = 1) -> None:
        self.say(what)
        self.packet(port, parts)

    def counter(self, name: str, index: int, packets: int) -> None:
        if not self.lines[-1].startswith("check_counter"):
            self.lines.append("wait")
        self.lines.append(f"check_counter {name}({index}) packets == {packets}")

    def drops(self, cause: int, packets: int, port: int = 1) -> None:
        self.counter("drops", 8 * port + cause, packets)

    def marks(self, kind: int, packets: int, port: int = 2) -> None:
        self.counter("marks", 4 * port + kind, packets)

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def _hex(parts: list[bytes]) -> str:
    return " ".join(part.hex() for part in parts if part)


def forwarding() -> Script:
    script = Script("IPv4 forwarding: routes, next hops, MAC addresses, TTL, checksum, VLAN.")
    script.routes()
    script.add("ipv4_route dst_addr:0x0a090000/16 via(port:3, next_hop:0x0a000303)")
    script.add("ipv4_route dst_addr:0x0a090900/24 via(port:2, next_hop:0x0a000214)")
    script.add("ipv4_route dst_addr:0x0a080000/16 via(port:4, next_hop:0x0a000404)")
    script.add(
        "neighbour port:3 next_hop:0x0a000303 "
        "rewrite(src_addr:0x020000000003, dst_addr:0x020000000100)"
    )
    script.forwarded("To a neighbour: both MAC addresses, TTL and checksum change.", A_TO_B, AT_B)
    script.forwarded("The tag stays.", A_TO_B.changed(vlan=0x6123), AT_B.changed(vlan=0x6123))
    script.forwarded("The ECN field stays.", A_TO_B.changed(ecn=2), AT_B.changed(ecn=2))
    script.forwarded("TTL 2 is enough.", A_TO_B.changed(ttl=2), AT_B.changed(ttl=1))
    script.forwarded(
        "Through a router: the next hop's address, not the destination's.",
        A_TO_B.changed(dst="10.9.1.1"),
        AT_B.changed(dst="10.9.1.1", src_mac="02:00:00:00:00:03", dst_mac="02:00:00:00:01:00"),
        ports=(1, 3),
    )
    script.forwarded(
        "The longest prefix wins.", A_TO_B.changed(dst="10.9.9.9"), AT_B.changed(dst="10.9.9.9")
    )

    script.dropped("No route.", A_TO_B.changed(dst="192.0.2.1").parts())
    script.dropped("A route, but no such neighbour.", A_TO_B.changed(dst="10.8.0.1").parts())
    script.dropped("TTL 1.", A_TO_B.changed(ttl=1).parts())
    script.dropped("TTL 0.", A_TO_B.changed(ttl=0).parts())
    script.dropped("A bad checksum.", A_TO_B.changed(checksum_error=0x0100).parts())
    script.dropped(
        "A bad checksum over options.",
        A_TO_B.changed(options=padded(unknown(7)), checksum_error=1).parts(),
    )
    script.dropped("Version 6.", A_TO_B.changed(version=6).parts())
    script.dropped("IHL 4.", A_TO_B.changed(ihl=4).parts())
    script.dropped("Ethernet alone, claiming IPv4.", A_TO_B.parts()[:1])
    script.dropped("A truncated fixed part.", [b"".join(A_TO_B.parts())[: 14 + 19]])
    script.dropped(
        "Options truncated by an octet.",
        [b"".join(A_TO_B.changed(options=NOP * 40, payload=b"").parts())[:-1]],
    )
    script.dropped("Ethernet cut short.", [b"".join(A_TO_B.parts())[:13]])
    script.dropped(
        "Neither IPv4 nor punted.",
        [mac("02:00:00:00:00:01") + mac("00:00:00:00:01:0a") + b"\x86\xdd" + bytes(40)],
    )

    script.say("A cause for every drop.")
    script.drops(MALFORMED, 6)
    script.drops(CHECKSUM, 2)
    script.drops(TTL, 2)
    script.drops(NO_ROUTE, 3)
    script.counter("received", 1, 19)
    script.counter("sent", 2, 5)
    script.counter("sent", 3, 1)
    return script


def _arp(port_octets: bytes = b"") -> list[bytes]:
    ethernet = mac("ff:ff:ff:ff:ff:ff") + mac("00:00:00:00:01:0a") + b"\x08\x06"
    request = bytes.fromhex("0001080006040001") + mac("00:00:00:00:01:0a") + bytes([10, 0, 1, 10])
    return [port_octets, ethernet, request + bytes(6) + bytes([10, 0, 1, 1])]


def arp() -> Script:
    script = Script(
        "ARP is dropped until a CPU port is set, then goes there with its ingress port."
    )
    script.dropped("No CPU port.", _arp())
    script.drops(NO_ROUTE, 1)

    script.say("ARP to the CPU port: 9 bits of ingress port, 7 of padding.")
    script.add("punt ether_type:0x0806 send_to_cpu()")
    script.packet(1, _arp())
    script.expect(CPU_PORT, _arp(b"\x00\x80"))
    script.packet(259, _arp())
    script.expect(CPU_PORT, _arp(b"\x81\x80"))

    script.say("With a tag.")
    ethernet, request = _arp()[1:]
    tagged = ethernet[:12] + b"\x81\x00\x00\x07" + b"\x08\x06"
    script.packet(1, [tagged, request])
    script.expect(CPU_PORT, [b"\x00\x80", tagged, request])
    script.drops(NO_ROUTE, 1)
    return script


def packet_out() -> Script:
    script = Script("A packet of the controller leaves unchanged by the port that it names.")
    to_port_2 = b"\x01\x00"
    script.say("IPv4 needs no route and loses no TTL.")
    unrouted = A_TO_B.changed(dst="192.0.2.1", ttl=1).parts()
    script.packet(CPU_PORT, [to_port_2, *unrouted])
    script.expect(2, unrouted)

    script.say("Any other frame.")
    script.packet(CPU_PORT, [to_port_2, *_arp()])
    script.expect(2, _arp())

    script.dropped("The header cut short.", [b"\x01"], port=CPU_PORT)
    script.drops(MALFORMED, 1, port=CPU_PORT)
    script.counter("sent", 2, 2)
    return script


def admission() -> Script:
    script = Script("A full queue refuses packets, and counts them at its port.")
    script.routes()
    script.forwarded("No limit is set.", A_TO_B, AT_B)
    script.say("None may wait.")
    script.add("port_queue port:2 drop_tail(max_waiting:0)")
    script.packet(1, A_TO_B.parts())
    script.packet(1, A_TO_B.parts())
    script.drops(QUEUE_FULL, 2, port=2)
    script.counter("sent", 2, 1)
    return script


def _through_port_3(script: Script) -> tuple[Frame, Frame]:
    """Routes a further network by port 3; a packet for it, and what comes out there."""
    script.add("ipv4_route dst_addr:0x0a030000/16 via(port:3, next_hop:0x0a000303)")
    script.add(
        "neighbour port:3 next_hop:0x0a000303 "
        "rewrite(src_addr:0x020000000003, dst_addr:0x020000000100)"
    )
    by_port_3 = A_TO_B.changed(dst="10.3.0.1")
    at_port_3 = by_port_3.changed(src_mac="02:00:00:00:00:03", dst_mac="02:00:00:00:01:00", ttl=63)
    return by_port_3, at_port_3


def red() -> Script:
    script = Script(
        "RED looks up the average, 0 for an empty queue. If no range matches, it admits."
    )
    script.routes()
    script.say("The same destination's network, by port 3.")
    by_port_3, at_port_3 = _through_port_3(script)

    script.say("Without red_weight there is no RED, regardless of the entries of red.")
    script.add("red 1 port:3 average:0->0 drop_all()")
    script.forwarded("Admitted.", by_port_3, at_port_3, ports=(1, 3))

    script.say("With it, an average of 0 is dropped at port 3, and at no other.")
    script.add("red_weight port:2 average_occupancy(w:9)")
    script.add("red_weight port:3 average_occupancy(w:9)")
    for _ in range(3):
        script.packet(1, by_port_3.parts())
    script.forwarded("At port 2 no range matches.", A_TO_B, AT_B)

    script.say("The smallest average above 0.")
    script.add("red 1 port:2 average:1->0xffffffffffff drop_all()")
    script.forwarded("An empty queue's average is 0.", A_TO_B, AT_B)
    script.say("A probability of 0.")
    script.add("red 1 port:2 average:0->0 drop_some(probability:0)")
    for _ in range(8):
        script.packet(1, A_TO_B.parts())
        script.expect(2, AT_B.parts())

    script.say("Drops count at the port that refused.")
    script.drops(RED, 3, port=3)
    script.drops(RED, 0, port=2)
    script.drops(QUEUE_FULL, 0, port=3)
    script.counter("sent", 2, 10)
    script.counter("sent", 3, 1)
    return script


def ci_unmarked() -> Script:
    script = Script("A packet that finds an empty queue was not waiting at a refusal: no mark.")
    script.routes()
    script.feedback(ci=1)
    for ecn, what in enumerate(("Not capable", "0b01", "Capable", "Marked before")):
        script.forwarded(f"{what}.", A_TO_B.changed(ecn=ecn), AT_B.changed(ecn=ecn))
    script.marks(CI, 0)
    return script


def ecn_unmarked() -> Script:
    script = Script(
        "A packet that finds an empty queue is not marked, regardless of the threshold."
    )
    script.routes()
    script.add("ecn_threshold port:2 mark_above(threshold:0)")
    for ecn, what in enumerate(("Not capable", "0b01", "0b10", "Marked before")):
        script.forwarded(f"{what}.", A_TO_B.changed(ecn=ecn), AT_B.changed(ecn=ecn))
    script.counter("ecn_marks", 2, 0)
    return script


def l4s_unmarked() -> Script:
    script = Script(
        "A packet of either queue that leaves no packets behind is neither marked nor dropped."
    )
    script.routes()
    script.add(
        "dual_pi2 port:2 control_queueing(target:0, interval_log2:14, alpha:65535, beta:65535, "
        "coupling:2, step:0)"
    )
    for ecn, what in enumerate(("Not capable", "L4S", "Classic", "Marked before")):
        script.forwarded(f"{what}.", A_TO_B.changed(ecn=ecn), AT_B.changed(ecn=ecn))
    for queue in (0, 1):
        script.counter("dual_pi2_marked", 8 * 2 + queue, 0)
        script.counter("dual_pi2_dropped", 8 * 2 + queue, 0)
    return script


def trimming() -> Script:
    script = Script("A full queue cuts packets that may be cut, and sends them by another queue.")
    trimmable, trimmed = 10, 11
    long = A_TO_B.changed(dscp=trimmable, payload=bytes(range(100)))
    at_b = AT_B.changed(dscp=trimmed, payload=bytes(range(100)))
    script.routes()
    script.add(f"trimming port:2 dscp:{trimmable} cut(octets:80, dscp:{trimmed}, max_waiting:9)")
    script.add(f"trimming port:2 dscp:{trimmed} send_first(max_waiting:9)")
    script.forwarded("A queue with room.", long, at_b.changed(dscp=trimmable))

    script.say("None may wait.")
    script.add("port_queue port:2 drop_tail(max_waiting:0)")
    script.say("Cut to 80 octets: the lengths say how long it was, the checksum is right.")
    script.packet(1, long.parts())
    script.expect(2, [b"".join(at_b.parts())[:80]])
    script.say("Options are among the octets that are kept.")
    script.packet(1, long.changed(options=padded(unknown(40))).parts())
    script.expect(2, [b"".join(at_b.changed(options=padded(unknown(40))).parts())[:80]])
    script.forwarded(
        "A shorter packet keeps its octets.",
        A_TO_B.changed(dscp=trimmable),
        AT_B.changed(dscp=trimmed),
    )
    script.forwarded("Cut by an earlier hop: sent as it is.", long.changed(dscp=trimmed), at_b)
    script.dropped("Another class.", long.changed(dscp=0).parts())
    script.dropped("The TTL counts first.", long.changed(ttl=1).parts())

    script.counter("trimmed", 2, 3)
    script.drops(QUEUE_FULL, 1, port=2)
    script.drops(TTL, 1)
    script.counter("sent", 2, 5)
    return script


def _octets_of(mark: bytes) -> Iterator[tuple[str, bytes, bytes]]:
    """(what, before, after) for a mark at the start, at odd offsets and at the end of each IHL."""
    for octets in range(max(4, len(mark)), 44, 4):
        ihl = 5 + octets // 4
        room = octets - len(mark)
        for offset in sorted({0, min(1, room), room // 2 | 1 if room > 1 else 0, room}):
            yield f"IHL {ihl}, at {offset}", NOP * offset, NOP * (room - offset)


def aqt_options() -> Script:
    script = Script("AQT is found at any position; an empty queue adds 0 to it.")
    script.routes()
    script.feedback(aqt=1)
    found = 0
    for what, before, after in _octets_of(aqt(0)):
        script.options(what, before + aqt(0x001234) + after)
        found += 1
    behind = {
        "After an unknown option": padded(unknown(5) + aqt(7)),
        "After an unknown option of 2 octets": padded(unknown(2) + aqt(7)),
        "After an unknown option of 32 octets": unknown(32) + aqt(7),
        "After unknown options and NOPs": padded(NOP + unknown(3) + NOP + unknown(9) + aqt(7)),
        "Before an unknown option": padded(aqt(7) + unknown(31)),
        "Before EOL and junk": aqt(7) + EOL + b"\x5e\xde\x04",
        "Before EOL and another AQT": padded(NOP + aqt(7) + EOL + aqt(9), pad=EOL),
    }
    for what, options in behind.items():
        script.options(what, options)
    found += len(behind)

    hidden = {
        "No options at all": b"",
        "NOPs only, 40 of them": NOP * 40,
        "After EOL there is padding, even if it looks like an option": EOL + aqt(7) + EOL * 3,
        "Inside another option": padded(b"\x88\x0a" + aqt(7)),
        "An unknown option of 40 octets": unknown(40),
    }
    for what, options in hidden.items():
        script.options(f"Not AQT. {what}", options)

    script.say("Every AQT was found, and nothing else.")
    script.marks(AQT, found)
    script.counter("malformed_options", 1, 0)
    return script


def aqt_saturated() -> Script:
    script = Script("A saturated AQT does not change.")
    script.routes()
    script.feedback(aqt=1)
    script.options("Alone.", aqt(AQT_MAX_US))
    script.options("At an odd offset.", padded(NOP + aqt(AQT_MAX_US, 0)))
    script.options("Behind AVBW-S.", avbw(0xFF) + aqt(AQT_MAX_US))
    script.marks(AQT, 3)
    return script


def aqt_off() -> Script:
    script = Script("A port marks nothing until marks are enabled.")
    script.routes()
    script.options("AQT passes.", aqt(7))
    script.marks(AQT, 0)
    return script


MALFORMED_LISTS = {
    "Length 0": b"\x88\x00" + NOP * 2,
    "Length 1": b"\x88\x01" + NOP * 2,
    "Length 1 of AQT": b"\x5e\x01" + NOP * 6,
    "No room for the length octet": NOP * 3 + b"\x88",
    "AQT's type in the last octet": NOP * 7 + b"\x5e",
    "Past the header by one octet": NOP + unknown(4)[:3],
    "Past the header by far, after a good AQT": aqt(7) + b"\x88\xff\x01\x01",
    "AQT past the header": aqt(7)[:4],
    "AQT of 7 octets": b"\x5e\x07\x00\x00\x07\x00\x00" + NOP,
    "AQT of 9 octets": b"\x5e\x09" + bytes(7) + NOP * 3,
    "AVBW-S of 3 octets": b"\xde\x03\xff" + NOP,
    "AVBW-S of 5 octets": b"\xde\x05\xff\x05\x05" + NOP * 3,
    "AVBW-S past the header": NOP + avbw(0xFF)[:3],
    "AQT twice": aqt(7) + aqt(9),
    "AQT twice, AVBW-S between": aqt(7) + avbw(0xFF) + aqt(9),
    "AVBW-S twice": avbw(0xFF) + avbw(0xFF),
    "AVBW-S twice, AQT between": avbw(0xFF) + aqt(7) + NOP * 3 + avbw(0xFF) + NOP,
    "Good marks, then length 0 in 40 octets": padded(aqt(7) + avbw(0xFF) + b"\x88\x00", 40),
    "An unknown option of 41 octets": b"\x88\x29" + bytes(range(38)),
}


def malformed_options() -> Script:
    script = Script("A malformed list gets no mark; it is forwarded octet for octet and counted.")
    script.routes()
    script.feedback(aqt=1, drai=1)
    script.add("drai 1 port:2 set_index(index:1)")
    for what, options in MALFORMED_LISTS.items():
        script.options(what, options)
    script.counter("malformed_options", 1, len(MALFORMED_LISTS))
    script.marks(AQT, 0)
    script.marks(DRAI, 0)

    script.dropped(
        "If the packet is dropped for another cause, only that drop is counted.",
        A_TO_B.changed(options=MALFORMED_LISTS["Length 0"], ttl=1).parts(),
    )
    script.counter("malformed_options", 1, len(MALFORMED_LISTS))
    script.drops(TTL, 1)
    return script


def drai_minimum() -> Script:
    script = Script("DRAI becomes the minimum of its value and the hop's index.")
    script.routes()
    script.feedback(drai=1)
    script.add("drai 1 port:2 set_index(index:3)")
    for before, after in ((0xFF, 3), (6, 3), (4, 3), (3, 3), (2, 2), (1, 1), (0, 0), (7, 3)):
        script.options(f"{before:#04x} becomes {after}.", avbw(before), avbw(after))
    script.options("No hop changes the echo.", avbw(0xFF, 0xFF), avbw(3, 0xFF))
    script.marks(DRAI, 9)
    return script


def drai_options() -> Script:
    script = Script("AVBW-S is found at any position, and the checksum is updated.")
    script.routes()
    script.feedback(drai=1)
    script.add("drai 1 port:2 set_index(index:2)")
    found = 0
    for what, before, after in _octets_of(avbw(0)):
        script.options(what, before + avbw(0xFF) + after, before + avbw(2) + after)
        found += 1
    script.options(
        "After an unknown option of 7 octets, before EOL and junk.",
        unknown(7) + avbw(6) + EOL + b"\xde\x04\xff\x01",
        unknown(7) + avbw(2) + EOL + b"\xde\x04\xff\x01",
    )
    script.options("Not AVBW-S: behind EOL.", EOL + avbw(6) + EOL * 3)
    script.marks(DRAI, found + 1)
    return script


def drai_ranges() -> Script:
    script = Script(
        "The index depends on depth and octets. If no range matches, the field is unchanged."
    )
    script.routes()
    script.feedback(drai=1)
    script.options("No entry.", avbw(0xFF))
    script.say("Ranges that exclude an empty queue and an idle port, and another port's range.")
    script.add("drai 1 port:2 queue_depth:1->100 set_index(index:1)")
    script.add("drai 1 port:2 window_octets:1->0xffffffff set_index(index:2)")
    script.add("drai 1 port:3 set_index(index:3)")
    script.options("Left alone.", avbw(0xFF))
    script.say("Ranges that fit.")
    script.add("drai 1 port:2 queue_depth:0->0 window_octets:0->1000 set_index(index:5)")
    script.options("An empty queue.", avbw(0xFF), avbw(5))
    script.marks(DRAI, 1)
    return script


def both_marks() -> Script:
    script = Script("AQT and AVBW-S in one packet, in either order.")
    script.routes()
    script.feedback(aqt=1, drai=1)
    script.add("drai 1 port:2 set_index(index:4)")
    lists: dict[str, Callable[[bytes], bytes]] = {
        "AQT first": lambda index: aqt(7) + index,
        "AVBW-S first": lambda index: index + aqt(7),
        "AQT first, apart": lambda index: NOP + aqt(7) + unknown(3) + index,
        "AVBW-S first, apart": lambda index: unknown(3) + index + NOP + aqt(7),
        "AQT first, in 40 octets": lambda index: (
            unknown(9) + aqt(7) + unknown(11) + index + unknown(8)
        ),
        "AVBW-S first, in 40 octets": lambda index: (
            unknown(11) + index + unknown(9) + aqt(7) + unknown(8)
        ),
        "AVBW-S first, at both ends": lambda index: index + unknown(28) + aqt(7),
        "AQT first, at both ends": lambda index: aqt(7) + unknown(28) + index,
        "AVBW-S first, then EOL and junk": lambda index: index + aqt(7) + EOL + b"\x5e\x08\x5e",
    }
    for what, build in lists.items():
        script.options(what, build(avbw(0xFF)), build(avbw(4)))
    script.forwarded(
        "Behind a tag.",
        A_TO_B.changed(vlan=5, options=avbw(0xFF) + aqt(7)),
        AT_B.changed(vlan=5, options=avbw(4) + aqt(7)),
    )
    script.marks(AQT, len(lists) + 1)
    script.marks(DRAI, len(lists) + 1)
    script.counter("malformed_options", 1, 0)
    return script


OWN_BANDS = {0: 20, 1: 12, 2: 9}
"""What the bands of a script say of an idle port, by signal."""


def csig_compared() -> Script:
    script = Script(
        "A CSIG tag keeps the worse of its band and the hop's, with that hop's locator."
    )
    script.routes()
    script.add(CSIG_PORT.format(strip=0))
    script.add("csig_band 1 signal:0 value:4096->4096 set_band(band:20)")
    script.add("csig_band 1 signal:1 value:65536->65536 set_band(band:12)")
    script.add("csig_band 1 signal:2 value:0->0 set_band(band:9)")
    written = dict.fromkeys(OWN_BANDS, 0)
    for signal, own in OWN_BANDS.items():
        for band in (0, own - 1, own, own + 1, 31):
            worse = own > band if signal == 2 else own < band
            written[signal] += worse
            before = csig(signal, band, 99, reserved=band & 1)
            after = csig(signal, own, 5, reserved=band & 1) if worse else before
            script.forwarded(
                f"Signal {signal}: {band} {f'becomes {own}' if worse else 'stays'}.",
                A_TO_B.changed(csig=before),
                AT_B.changed(csig=after),
            )
    script.forwarded(
        "Behind a VLAN tag, and in front of options.",
        A_TO_B.changed(vlan=5, csig=csig(2, 0), options=padded(unknown(7))),
        AT_B.changed(vlan=5, csig=csig(2, 9, 5), options=padded(unknown(7))),
    )
    for signal in range(3, 8):
        tag = csig(signal, 3, 1)
        script.forwarded(
            f"Signal {signal} is not known.", A_TO_B.changed(csig=tag), AT_B.changed(csig=tag)
        )
    script.forwarded("No tag.", A_TO_B, AT_B)
    for signal, count in written.items():
        script.counter("csig_tags", 8 * 2 + signal, count + (signal == 2))
    script.counter("csig_tags", 8 * 2 + 3, 5)

    script.say("A value without a range.")
    script.add(
        "csig_port port:3 write(locator:6, interval_log2:40, capacity:7, per_octet:9, strip:0)"
    )
    script.add("ipv4_route dst_addr:0x0a00031e/32 direct(port:3)")
    script.add(
        "neighbour port:3 next_hop:0x0a00031e "
        "rewrite(src_addr:0x020000000003, dst_addr:0x00000000031e)"
    )
    to_c = A_TO_B.changed(dst="10.0.3.30", csig=csig(0, 30))
    at_c = to_c.changed(src_mac="02:00:00:00:00:03", dst_mac="00:00:00:00:03:1e", ttl=63)
    script.forwarded("It changes no tag.", to_c, at_c, (1, 3))
    script.counter("csig_tags", 8 * 3, 0)

    script.dropped("Cut short in the tag.", [b"".join(A_TO_B.changed(csig=0).parts())[:15]])
    script.drops(MALFORMED, 1)
    script.dropped(
        "A second tag.",
        [b"".join(A_TO_B.changed(csig=0).parts()).replace(b"\x08\x00E", b"\x88\xb5E")],
    )
    script.drops(NO_ROUTE, 1)
    return script


def csig_edges() -> Script:
    script = Script(
        "Tags are inserted where packets come into a domain, and removed where they leave it."
    )
    script.routes()
    script.forwarded(
        "Nothing is set: the tag stays.",
        A_TO_B.changed(csig=csig(2, 3, 4)),
        AT_B.changed(csig=csig(2, 3, 4)),
    )
    script.add("csig_insertion port:1 insert(signal:2)")
    script.add("csig_insertion port:4 insert(signal:1)")
    script.forwarded("A delay starts at 0.", A_TO_B, AT_B.changed(csig=csig(2, 0)))
    script.forwarded("A share starts at 31.", A_TO_B, AT_B.changed(csig=csig(1, 31)), (4, 2))
    script.forwarded(
        "Behind the VLAN tag.", A_TO_B.changed(vlan=7), AT_B.changed(vlan=7, csig=csig(2, 0))
    )
    script.forwarded(
        "A tag that is there stays.",
        A_TO_B.changed(csig=csig(1, 3, 4)),
        AT_B.changed(csig=csig(1, 3, 4)),
    )
    script.counter("csig_tags", 8 * 2 + 4, 3)
    script.counter("csig_tags", 8 * 2 + 5, 0)
    script.say("The end of the domain.")
    script.add(CSIG_PORT.format(strip=1))
    script.forwarded("Removed.", A_TO_B.changed(csig=csig(1, 3, 4)), AT_B)
    script.forwarded(
        "From behind the VLAN tag.",
        A_TO_B.changed(vlan=7, csig=csig(7, 3, 4)),
        AT_B.changed(vlan=7),
    )
    script.forwarded("Inserted and removed.", A_TO_B, AT_B)
    script.forwarded("No tag.", A_TO_B, AT_B, (3, 2))
    script.counter("csig_tags", 8 * 2 + 5, 3)
    return script


CSIG_PORT = (
    "csig_port port:2 write(locator:5, interval_log2:40, capacity:4096, "
    f"per_octet:{2**36}, strip:{{strip}})"
)
"""Intervals of twelve days, so that the last full one was idle."""


def tcp_int_options() -> Script:
    script = Script(
        "TCP-INT is found at any position of TCP's options; what cannot be read stays as it is."
    )
    script.routes()

    def segment(what: str, payload: bytes, **fields: object) -> None:
        fields = {"protocol": 6, "payload": payload} | fields
        script.forwarded(what, A_TO_B.changed(**fields), AT_B.changed(**fields))

    segment("The port is not set.", tcp(tcp_int(3, 62, 7)))
    script.counter("tcp_int_marks", 4, 0)
    script.add(
        "tcp_int_port port:2 "
        "write(interval_log2:40, per_octet:1, octets_per_us:65536, link_speed:1)"
    )
    # An idle port adds nothing: what comes out is what came in, its checksum too.
    found = 0
    for octets in range(0, 29):
        before = unknown(octets) if octets > 1 else NOP * octets
        segment(f"Behind {octets} octets.", tcp(padded(before + tcp_int(3, 62, 7))))
        found += 1
    others = {
        "Before EOL and another.": padded(tcp_int(0, 0, 0) + EOL + tcp_int(1, 1, 1), pad=EOL),
        "Between timestamps and SACK.": b"\x01\x01\x08\x0a"
        + bytes(8)
        + tcp_int(0x85, 61, 0xFFFFFF)
        + b"\x01\x01\x05\x0a"
        + bytes(range(8)),
    }
    for what, options in others.items():
        segment(what, tcp(options))
        found += 1
    segment("With a VLAN tag.", tcp(tcp_int(0, 0, 0)), vlan=5)
    segment("With IPv4 options.", tcp(tcp_int(0, 0, 0)), options=padded(unknown(7)))
    segment("A wrong checksum stays wrong.", tcp(tcp_int(0, 0, 0), checksum_error=0x1111))
    found += 3
    script.counter("tcp_int_marks", 4, found)
    script.counter("tcp_int_marks", 5, 0)
    script.counter("malformed_options", 1, 0)

    absent = {
        "No options.": tcp(),
        "Other options.": tcp(padded(unknown(9))),
        "Behind EOL.": tcp(padded(EOL + tcp_int(0, 0, 0), pad=EOL)),
        "Inside another option.": tcp(padded(b"\x88\x0e" + tcp_int(0, 0, 0))),
    }
    for what, payload in absent.items():
        segment(f"Not TCP-INT. {what}", payload)
    segment("Not TCP-INT. A fragment's octets.", tcp(tcp_int(0, 0, 0)), protocol=17)
    malformed = {
        "Length 0": tcp(b"\x88\x00" + NOP * 2),
        "Length 1": tcp(tcp_int(0, 0, 0) + b"\x88\x01" + NOP * 2),
        "No room for the length": tcp(NOP * 3 + b"\x88"),
        "Past the header": tcp(b"\x88\x09" + bytes(2)),
        "TCP-INT past the header": tcp(tcp_int(0, 0, 0)[:8]),
        "Of 11 octets": tcp(b"\x72\x0b" + bytes(9) + NOP),
        "Of 13 octets": tcp(b"\x72\x0d" + bytes(11) + NOP * 3),
        "Twice": tcp(tcp_int(0, 0, 0) + tcp_int(0, 0, 0)),
        "Data offset 4": tcp(data_offset=4),
        "Data offset 0": tcp(data_offset=0),
        "A header past the packet": tcp(tcp_int(0, 0, 0), b"", data_offset=9),
        "A packet of 19 octets": tcp(b"", b"")[:19],
        "An empty packet": b"",
    }
    for what, payload in malformed.items():
        segment(f"Malformed. {what}.", payload)
    script.counter("malformed_options", 1, len(malformed))

    sent, received = (
        b"".join(frame.changed(protocol=6, payload=tcp(tcp_int(0, 0, 0), bytes(40))).parts())
        for frame in (A_TO_B, AT_B)
    )
    for octets in (14 + 20, 14 + 20 + 10, 14 + 20 + 31):
        script.say(f"The frame ends early, after {octets} octets.")
        script.packet(1, [sent[:octets]])
        script.expect(2, [received[:octets]])
    script.counter("malformed_options", 1, len(malformed) + 3)
    script.counter("tcp_int_marks", 4, found)
    script.drops(MALFORMED, 0)
    return script


def ports() -> Script:
    script = Script("Packets with ports, without, and cut short in them.")
    script.routes()
    for protocol in (6, 17, 132):
        script.forwarded(
            f"Ports of protocol {protocol}.",
            A_TO_B.changed(protocol=protocol),
            AT_B.changed(protocol=protocol),
        )
    whole = A_TO_B.changed(protocol=6, payload=b"")
    script.forwarded("TCP without ports.", whole, AT_B.changed(protocol=6, payload=b""))
    cut = b"".join(A_TO_B.changed(protocol=6, payload=bytes(8)).parts())[:-6]
    script.dropped("The total length covers ports, and the frame ends in them.", [cut])
    script.forwarded(
        "An options list in front of the ports.",
        A_TO_B.changed(protocol=6, options=padded(unknown(7))),
        AT_B.changed(protocol=6, options=padded(unknown(7))),
    )
    script.drops(MALFORMED, 1)
    return script


TCP, UDP = 6, 17
WRITTEN, STARTED, REMOVED, EXHAUSTED, TOO_LONG, UNSUPPORTED, MALFORMED_STACK = range(7)
NODE, RATE_KBPS, MTU = 0x00070009, 0x00989680, 200
EARLIER = bytes.fromhex("00000001 00001234")
"""The record of another hop: its number and its queue."""
OWN = NODE.to_bytes(4) + bytes(4)
"""The record of this hop: nothing is left in its queue."""
PAYLOAD = b"\xca\xfe\xf0\x0d\x77"
HPCC = Int(hop_words=5, instructions=0x1400, domain=0x5741, domain_instructions=0xC000)


def _telemetry(frame: Frame, protocol: int, stack: bytes, **fields: object) -> Frame:
    """A packet with a stack in front of its payload, and that packet's DSCP."""
    payload = transport(protocol, frame.src, frame.dst, stack + PAYLOAD)
    dscp = INT_DSCP if stack else 0
    return frame.changed(**{"protocol": protocol, "dscp": dscp, "payload": payload, **fields})


def _events(script: Script, port: int = 2, **counts: int) -> None:
    names = ("written", "started", "removed", "exhausted", "too_long", "unsupported", "malformed")
    for event, name in enumerate(names):
        script.counter("int_events", 8 * port + event, counts.get(name, 0))


def _transit(script: Script) -> None:
    script.routes()
    script.add(f"int_port port:2 write_records(node:{NODE}, rate_kbps:{RATE_KBPS}, mtu:{MTU})")


def int_transit() -> Script:
    script = Script("A hop pushes its record in front of those before it.")
    script.routes()
    before = Int(EARLIER, remaining=7)
    after = before.changed(records=OWN + EARLIER, remaining=6)
    script.forwarded(
        "Without an entry the stack passes.",
        _telemetry(A_TO_B, TCP, before.octets()),
        _telemetry(AT_B, TCP, before.octets()),
    )
    script.add(f"int_port port:2 write_records(node:{NODE}, rate_kbps:{RATE_KBPS}, mtu:{MTU})")
    for protocol in (TCP, UDP):
        script.forwarded(
            f"The second hop of the specification's example, protocol {protocol}.",
            _telemetry(A_TO_B, protocol, before.octets()),
            _telemetry(AT_B, protocol, after.octets()),
        )
        script.forwarded(
            f"The first and only one, protocol {protocol}.",
            _telemetry(A_TO_B, protocol, Int(remaining=1, dscp=9).octets()),
            _telemetry(AT_B, protocol, Int(OWN, remaining=0, dscp=9).octets()),
        )
    options = padded(b"\x05\x0a" + bytes(range(8)))

    def with_options(frame: Frame, stack: Int) -> Frame:
        octets = stack.octets() + PAYLOAD
        payload = transport(TCP, frame.src, frame.dst, octets, options)
        return frame.changed(protocol=TCP, dscp=INT_DSCP, payload=payload)

    script.forwarded("Behind TCP options.", with_options(A_TO_B, before), with_options(AT_B, after))
    script.forwarded(
        "Behind a tag and IPv4 options.",
        _telemetry(A_TO_B, TCP, before.octets(), vlan=5, options=padded(unknown(7))),
        _telemetry(AT_B, TCP, after.octets(), vlan=5, options=padded(unknown(7))),
    )
    script.forwarded(
        "A wrong checksum stays as wrong.",
        _damaged(_telemetry(A_TO_B, TCP, before.octets())),
        _damaged(_telemetry(AT_B, TCP, after.octets())),
    )
    script.forwarded(
        "UDP without a checksum has none.",
        _unchecked(_telemetry(A_TO_B, UDP, before.octets())),
        _unchecked(_telemetry(AT_B, UDP, after.octets())),
    )
    others = Int(hop_words=6, instructions=0x4000 | 0x0380 | 1)
    script.forwarded(
        "Ports, and all ones for what this hop does not know and for the checksum complement.",
        _telemetry(A_TO_B, TCP, others.octets()),
        _telemetry(
            AT_B,
            TCP,
            others.changed(records=b"\x00\x01\x00\x02" + b"\xff" * 20, remaining=7).octets(),
        ),
    )
    _events(script, written=9)
    return script


def int_hpcc() -> Script:
    script = Script("The record of HPCC: queue, time of departure, octets sent, rate.")
    _transit(script)
    flags = 0x0000
    for packets in (1, 2):
        sent = _unchecked(_telemetry(A_TO_B, UDP, HPCC.changed(domain_flags=flags).octets()))
        flags_after = crc16(flags.to_bytes(2) + NODE.to_bytes(4) + b"\x00\x02")
        # 20 of IPv4, 8 of UDP, 16 and 20 of telemetry, 5 of payload.
        record = bytes(12) + (69 * packets).to_bytes(4) + RATE_KBPS.to_bytes(4)
        after = HPCC.changed(records=record, remaining=7, domain_flags=flags_after)
        received = _unchecked(_telemetry(AT_B, UDP, after.octets()))
        script.say(f"The times differ. The port has sent {packets} of these.")
        script.packet(1, sent.parts())
        octets = "".join(part.hex() for part in received.parts())
        at = 2 * (14 + 20 + 8 + 16 + 4)
        script.lines.append(f"expect 2 {octets[:at]}{'*' * 16}{octets[at + 16 :]}$")
        flags = flags_after
    script.say("Each further instruction of the specification that depends on times.")
    timed = Int(hop_words=5, instructions=0x2C00)
    after = timed.changed(records=bytes(20), remaining=7)
    script.packet(1, _unchecked(_telemetry(A_TO_B, UDP, timed.octets())).parts())
    received = _unchecked(_telemetry(AT_B, UDP, after.octets()))
    octets = "".join(part.hex() for part in received.parts())
    at = 2 * (14 + 20 + 8 + 16)
    script.lines.append(f"expect 2 {octets[:at]}{'*' * 40}{octets[at + 40 :]}$")
    _events(script, written=3)
    return script


def int_limits() -> Script:
    script = Script("A record is written whole or not at all, and the header says why not.")
    _transit(script)
    for protocol in (TCP, UDP):
        for flags in (0, 2):
            script.forwarded(
                f"No hop may write any more (E), protocol {protocol}, flags {flags}.",
                _telemetry(A_TO_B, protocol, Int(EARLIER, remaining=0, flags=flags).octets()),
                _telemetry(AT_B, protocol, Int(EARLIER, remaining=0, flags=2).octets()),
            )
        long = EARLIER * 18
        for flags in (0, 1):
            script.forwarded(
                f"The record does not fit into the link's MTU (M), protocol {protocol}, {flags}.",
                _telemetry(A_TO_B, protocol, Int(long, flags=flags).octets()),
                _telemetry(AT_B, protocol, Int(long, flags=1).octets()),
            )
    unsupported = {
        "Version 1": Int(EARLIER, version=1),
        "A reserved instruction": Int(EARLIER, hop_words=3, instructions=0x9040),
        "A domain that this hop does not know": HPCC.changed(domain=1),
        "An instruction of the domain that it does not have": HPCC.changed(
            hop_words=6, domain_instructions=0xE000
        ),
        "Records longer than the instructions ask for": Int(EARLIER, hop_words=3),
        "Records shorter": Int(EARLIER, hop_words=1),
        "No instruction": Int(hop_words=0, instructions=0),
    }
    for what, stack in unsupported.items():
        script.forwarded(
            f"{what}.",
            _telemetry(A_TO_B, TCP, stack.octets()),
            _telemetry(AT_B, TCP, stack.octets()),
        )
    script.say("The length field ends, on a link that takes long packets.")
    script.add("ipv4_route dst_addr:0x0a030000/16 via(port:3, next_hop:0x0a000303)")
    script.add(
        "neighbour port:3 next_hop:0x0a000303 "
        "rewrite(src_addr:0x020000000003, dst_addr:0x020000000100)"
    )
    script.add(f"int_port port:3 write_records(node:{NODE}, rate_kbps:{RATE_KBPS}, mtu:9000)")
    by_port_3 = A_TO_B.changed(dst="10.3.0.1")
    at_port_3 = by_port_3.changed(src_mac="02:00:00:00:00:03", dst_mac="02:00:00:00:01:00", ttl=63)
    for earlier in (125, 126):
        full = Int(EARLIER * earlier)
        after = full if earlier == 126 else full.changed(records=OWN + full.records, remaining=7)
        script.forwarded(
            f"{earlier} records before.",
            _telemetry(by_port_3, UDP, full.octets()),
            _telemetry(at_port_3, UDP, after.octets()),
            ports=(1, 3),
        )
    _events(script, exhausted=4, too_long=4, unsupported=len(unsupported))
    _events(script, port=3, written=1, unsupported=1)
    return script


def int_malformed() -> Script:
    script = Script("What is no whole stack is payload: forwarded octet for octet, and counted.")
    _transit(script)
    whole = Int(EARLIER)
    stacks = {
        "Type 0": whole.changed(kind=0),
        "Type 4": whole.changed(kind=4),
        "Length 2": whole.changed(words=2),
        "A length beyond the packet": whole.changed(words=7),
        "The longest length": whole.changed(words=255),
    }
    for what, stack in stacks.items():
        for protocol in (TCP, UDP):
            script.forwarded(
                f"{what}, protocol {protocol}.",
                _telemetry(A_TO_B, protocol, stack.octets()),
                _telemetry(AT_B, protocol, stack.octets()),
            )
    count = 2 * len(stacks)

    def marked(what: str, **fields: object) -> None:
        nonlocal count
        count += 1
        script.forwarded(
            what,
            A_TO_B.changed(dscp=INT_DSCP, **fields),
            AT_B.changed(dscp=INT_DSCP, **fields),
        )

    marked("Another protocol.")
    marked("TCP cut short.", protocol=TCP, payload=bytes(19))
    marked("UDP cut short.", protocol=UDP, payload=bytes(7))
    marked("No payload.", protocol=TCP, payload=transport(TCP, A_TO_B.src, A_TO_B.dst, b""))
    marked("15 octets.", protocol=UDP, payload=transport(UDP, A_TO_B.src, A_TO_B.dst, bytes(15)))
    tcp = transport(TCP, A_TO_B.src, A_TO_B.dst, whole.octets())
    marked("A TCP header of 4 words.", protocol=TCP, payload=tcp[:12] + b"\x40" + tcp[13:])
    marked("A TCP header beyond the packet.", protocol=TCP, payload=tcp[:12] + b"\xf0" + tcp[13:30])
    udp = transport(UDP, A_TO_B.src, A_TO_B.dst, whole.octets())
    marked("A UDP length that differs.", protocol=UDP, payload=udp[:4] + b"\x00\x28" + udp[6:])
    count += 1
    cut = [b"".join(_telemetry(A_TO_B, TCP, whole.octets()).parts())[:-1]]
    script.say("A frame that ends before its datagram.")
    script.packet(1, cut)
    script.expect(2, [b"".join(_telemetry(AT_B, TCP, whole.octets()).parts())[:-1]])

    others = {"For the sink alone": 2, "For hops that report elsewhere": 3}
    for what, kind in others.items():
        script.forwarded(
            f"{what}: another's business.",
            _telemetry(A_TO_B, TCP, whole.changed(kind=kind).octets()),
            _telemetry(AT_B, TCP, whole.changed(kind=kind).octets()),
        )
    script.forwarded(
        "Another DSCP.",
        _telemetry(A_TO_B, TCP, whole.octets(), dscp=3),
        _telemetry(AT_B, TCP, whole.octets(), dscp=3),
    )
    _events(script, malformed=count)
    return script


def int_source() -> Script:
    script = Script("A source opens a stack in packets that its table chooses.")
    _transit(script)
    script.forwarded("None is chosen.", _telemetry(A_TO_B, TCP, b""), _telemetry(AT_B, TCP, b""))
    start = "start(hops:3, words:2, instructions:0x9000, domain:0, domain_instructions:0)"
    script.add(f"int_source 1 port:1 protocol:6&&&0xff dst_port:80->80 {start}")
    script.add(f"int_source 1 port:1 protocol:17&&&0xff dst_port:1024->65535 {start}")
    script.add(f"int_source 1 port:3 {start}")
    for protocol in (TCP, UDP):
        opened = Int(OWN, remaining=2, dscp=9)
        script.forwarded(
            f"Protocol {protocol}: this hop's record is the first.",
            _telemetry(A_TO_B, protocol, b"", dscp=9),
            _telemetry(AT_B, protocol, opened.octets()),
        )
    script.forwarded(
        "A packet with telemetry gets no second.",
        _telemetry(A_TO_B, TCP, Int(EARLIER).octets()),
        _telemetry(AT_B, TCP, Int(OWN + EARLIER, remaining=7).octets()),
    )
    script.forwarded("A protocol without a place for it.", A_TO_B.changed(), AT_B.changed())
    room = MTU - 20 - 20
    for octets, stack in ((room - 23, Int(remaining=3, flags=1)), (room - 15, None)):
        payload = bytes(octets)
        sent = A_TO_B.changed(protocol=TCP, payload=transport(TCP, A_TO_B.src, A_TO_B.dst, payload))
        before = b"" if stack is None else stack.octets()
        received = AT_B.changed(
            protocol=TCP,
            dscp=INT_DSCP if before else 0,
            payload=transport(TCP, A_TO_B.src, A_TO_B.dst, before + payload),
        )
        what = "no header" if stack is None else "a header alone (M)"
        script.forwarded(f"The link's MTU has room for {what}.", sent, received)
    script.add(f"int_port port:3 write_records(node:{NODE}, rate_kbps:{RATE_KBPS}, mtu:15)")
    by_port_3, at_port_3 = _through_port_3(script)
    script.forwarded(
        "An MTU shorter than the header.",
        _telemetry(by_port_3, UDP, b""),
        _telemetry(at_port_3, UDP, b""),
        ports=(1, 3),
    )
    _events(script, port=3)
    _events(script, written=3, started=3, too_long=1)
    return script


def int_sink() -> Script:
    script = Script("A sink takes the whole stack out, and restores DSCP, lengths and checksum.")
    script.routes()
    script.add("int_port port:2 remove_stack()")
    for protocol in (TCP, UDP):
        for hops in (0, 1, 5, 64):
            stack = Int(EARLIER * hops, dscp=9, remaining=3, flags=1)
            script.forwarded(
                f"{hops} records, protocol {protocol}.",
                _telemetry(A_TO_B, protocol, stack.octets()),
                _telemetry(AT_B, protocol, b"", dscp=9),
            )
    script.forwarded(
        "Of any version and instructions.",
        _telemetry(A_TO_B, UDP, HPCC.changed(version=1, domain_flags=0xBEEF).octets()),
        _telemetry(AT_B, UDP, b"", dscp=0),
    )
    script.forwarded(
        "UDP without a checksum has none.",
        _unchecked(_telemetry(A_TO_B, UDP, Int(EARLIER).octets())),
        _unchecked(_telemetry(AT_B, UDP, b"", dscp=0)),
    )
    script.forwarded(
        "Records of more than 512 octets stay.",
        _telemetry(A_TO_B, UDP, Int(EARLIER * 65).octets()),
        _telemetry(AT_B, UDP, Int(EARLIER * 65).octets()),
    )
    script.forwarded(
        "A stack that is returned stays.",
        _telemetry(A_TO_B, TCP, Int(EARLIER, kind=2).octets()),
        _telemetry(AT_B, TCP, Int(EARLIER, kind=2).octets()),
    )
    for next_type in (1, 2, 3):
        stack = Int(EARLIER, next_type=next_type, dscp=0x2A)
        script.forwarded(
            f"A shim that has no DSCP stays: next protocol type {next_type}.",
            _telemetry(A_TO_B, UDP, stack.octets()),
            _telemetry(AT_B, UDP, stack.octets()),
        )
    _events(script, removed=10, unsupported=4)
    return script


def _damaged(frame: Frame) -> Frame:
    """With another last octet than the checksum covers."""
    return frame.changed(payload=frame.payload[:-1] + b"\x78")


def _unchecked(frame: Frame) -> Frame:
    """A UDP checksum of 0."""
    return frame.changed(payload=frame.payload[:6] + b"\x00\x00" + frame.payload[8:])


EVERY = (
    "plain",
    "aqt",
    "drai",
    "ci",
    "red",
    "ecn",
    "l4s",
    "trim",
    "csig",
    "tcp_int",
    "int",
    "fabric",
    "waymark",
)
SCRIPTS: list[tuple[tuple[str, ...], str, Callable[[], Script]]] = [
    (EVERY, "forwarding", forwarding),
    (EVERY, "arp", arp),
    (EVERY, "packet_out", packet_out),
    (EVERY, "admission", admission),
    (("aqt", "fabric", "waymark"), "aqt_options", aqt_options),
    (("aqt", "fabric", "waymark"), "aqt_saturated", aqt_saturated),
    (("aqt", "fabric", "waymark"), "aqt_off", aqt_off),
    (("waymark",), "malformed_options", malformed_options),
    (("drai", "fabric", "waymark"), "drai_minimum", drai_minimum),
    (("drai", "waymark"), "drai_options", drai_options),
    (("drai", "waymark"), "drai_ranges", drai_ranges),
    (("ci", "fabric", "waymark"), "ci_unmarked", ci_unmarked),
    (("red", "waymark"), "red", red),
    (("ecn", "trim", "fabric"), "ecn_unmarked", ecn_unmarked),
    (("l4s",), "l4s_unmarked", l4s_unmarked),
    (("trim",), "trimming", trimming),
    (("csig",), "csig_compared", csig_compared),
    (("csig",), "csig_edges", csig_edges),
    (("tcp_int",), "tcp_int_options", tcp_int_options),
    (("int",), "transit", int_transit),
    (("int",), "hpcc", int_hpcc),
    (("int",), "limits", int_limits),
    (("int",), "malformed", int_malformed),
    (("int",), "source", int_source),
    (("int",), "sink", int_sink),
    (("fabric", "waymark"), "both_marks", both_marks),
    (("fabric",), "ports", ports),
]


def texts() -> dict[Path, str]:
    """Each script's path and contents."""
    return {
        Path(__file__).with_name(f"{program}-{name}.stf"): _for(program, script().text())
        for programs, name, script in SCRIPTS
        for program in programs
    }


def _for(program: str, text: str) -> str:
    """A script with the program's names: fabric.p4 has another table of routes, and two counters
    whose names end in marks."""
    if program != "fabric":
        return text
    return text.replace("ipv4_route", "ecmp_route").replace(" marks(", " counters.marks(")


def main() -> None:
    """Writes every script; with --check, lists those that are not current."""
    if sys.argv[1:] == ["--check"]:
        found = {path: path.read_text() for path in Path(__file__).parent.glob("*.stf")}
        stale = sorted({path.name for path, _ in texts().items() ^ found.items()})
        sys.exit(f"run {Path(__file__).name}: {', '.join(stale)}" if stale else 0)
    for path, text in texts().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
