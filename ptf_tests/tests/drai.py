"""DRAI: a packet carries the index of its path's most loaded hop."""

import time

from scapy.layers.l2 import Ether

from hosts.layers import AQT, AVBW
from ptf_tests.hop import ONLY_LISTS_OF_HOSTS, HopTest, Mark
from ptf_tests.packets import EOL, NOP, Datagram, unknown
from ptf_tests.ports import B, C

SILENT = 0xFF


def drai_of(frame: bytes) -> int:
    """The DRAI in a frame."""
    (option,) = (option for option in Ether(frame)["IP"].options if isinstance(option, AVBW))
    return option.drai


class DraiBecomesTheLeastOfPacketAndHop(HopTest):
    def runTest(self):
        self.feedback(B, drai=1)
        self.session.insert(
            "drai", {"port": B.port, "queue_depth": self.depths(0, 0)}, "set_index", index=3
        )
        for before, after in ((SILENT, 3), (6, 3), (4, 3), (3, 3), (2, 2), (1, 1)):
            sent = Datagram(options=[AVBW(drai=before, mrai_echo=5)])
            self.check_forwarded(sent, options=[AVBW(drai=after, mrai_echo=5)])
        self.check_marks(Mark.DRAI, 6, B)


def check_lists(hop: HopTest, lists: list[tuple[list, list]]) -> None:
    """Checks the DRAI between the options of each pair."""
    hop.feedback(B, drai=1)
    depths = {"port": B.port, "queue_depth": hop.depths(0, 0)}
    hop.session.insert("drai", depths, "set_index", index=2)
    for ahead, behind in lists:
        sent = Datagram(options=[*ahead, AVBW(drai=SILENT), *behind])
        after = [*ahead, AVBW(drai=2), *behind]
        hop.check_forwarded(sent, str(sent.options), options=after)


class DraiIsFoundInTheListsOfHosts(HopTest):
    def runTest(self):
        check_lists(self, [([], []), ([AQT(aqt=7)], []), ([], [AQT(aqt=7)])])


class DraiIsFoundInAnyOrder(HopTest):
    not_on_tofino = ONLY_LISTS_OF_HOSTS

    def runTest(self):
        lists = [
            ([NOP], [NOP, unknown(2)]),
            ([unknown(7)], [EOL, b"\xde\x04\xff\x01"]),
            ([unknown(13), NOP], [unknown(22)]),
        ]
        check_lists(self, lists)


class DraiStaysWhereNoRangeFits(HopTest):
    def runTest(self):
        self.feedback(B, drai=1)
        sent = Datagram(options=[AVBW(drai=SILENT)])
        self.check_forwarded(sent, "no entry")
        self.session.insert(
            "drai", {"port": B.port, "queue_depth": self.depths(1, 99)}, "set_index", index=1
        )
        self.session.insert(
            "drai", {"port": C.port, "queue_depth": self.depths(0, 99)}, "set_index", index=1
        )
        self.check_forwarded(sent, "an empty queue, and another port's entry")
        self.check_marks(Mark.DRAI, 0, B)


class DraiFollowsTheQueueThroughEachRange(HopTest):
    """Of eleven waiting packets, the first leaves ten behind, the last none."""

    RANGES = ((0, 0, 6), (1, 2, 5), (3, 4, 4), (5, 6, 3), (7, 8, 2), (9, 99, 1))

    def runTest(self):
        self.feedback(C, drai=1)
        for least, most, index in self.RANGES:
            depths = {"port": C.port, "queue_depth": self.depths(least, most)}
            self.session.insert("drai", depths, "set_index", index=index)
        datagrams = [Datagram(to=C, options=[AVBW()], number=number) for number in range(12)]
        self.fill(datagrams)
        indices = [6, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]
        for datagram, index in zip(datagrams, indices, strict=True):
            self.check(C, datagram.forwarded(options=[AVBW(drai=index)]), f"{datagram.number}")
        self.check_marks(Mark.DRAI, 12, C)


class DraiFollowsTheOctetsOfTheLastWindow(HopTest):
    """0 after an idle window, its packets' octets after a full one, and 0 again after a pause."""

    WINDOW_LOG2 = 18

    def runTest(self):
        window_s = 2**self.WINDOW_LOG2 * self.architecture.window_us / 1e6
        self.feedback(B, drai=1, window_log2=self.WINDOW_LOG2)
        for octets, index in (((0, 0), 6), ((1, self.architecture.max_octets), 3)):
            loads = {"port": B.port, "window_octets": octets}
            self.session.insert("drai", loads, "set_index", index=index)
        sent = Datagram(options=[AVBW()]).sent()
        indices = []
        started = time.monotonic()
        while (now := time.monotonic()) - started < 3 * window_s:
            self.send(sent)
            indices.append((now - started, drai_of(self.receive(B)[0])))
            time.sleep(0.01)
        self.assertEqual(indices[0][1], 6, "the window before was idle")
        # At least two windows have ended; none in between was idle.
        late = {index for at, index in indices if at > 2 * window_s}
        self.assertEqual(late, {3})
        time.sleep(2.5 * window_s)
        self.send(sent)
        self.assertEqual(drai_of(self.receive(B)[0]), 6, "the window before was idle again")
