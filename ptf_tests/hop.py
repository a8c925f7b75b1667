"""The base of all tests: a freshly started program with a route to each host."""

from __future__ import annotations

import time
import unittest
from enum import IntEnum
from pathlib import Path
from typing import Any

import ptf
from ptf.base_tests import BaseTest
from ptf.testutils import test_params_get

from ptf_tests.packets import Datagram
from ptf_tests.ports import FRAME_OCTETS, LIMITED, SERVICE_S, A, C, Host
from ptf_tests.session import Session
from ptf_tests.targets import hosts_of
from waymark import architecture
from waymark.architecture import ETHERNET_OCTETS

ARRIVAL_S = 3.0
"""Timeout for a packet through an empty queue, on a busy machine."""

ONLY_LISTS_OF_HOSTS = "the parser marks only AQT, AVBW-S, or both in either order"
"""Why a test of other option lists cannot hold on Tofino."""

MANY = 9999
"""More frames than wait in any test."""


class Cause(IntEnum):
    """Why a packet was dropped: its slot in `drops`."""

    MALFORMED = 1
    CHECKSUM = 2
    TTL = 3
    NO_ROUTE = 4
    QUEUE_FULL = 5
    RED = 6


class Mark(IntEnum):
    """A kind of mark: its slot in `marks`."""

    AQT = 0
    DRAI = 1
    CI = 2


class HopTest(BaseTest):
    """A switch with a freshly loaded program. A test class is named for its one property."""

    not_on_tofino = ""
    """The reason why the property cannot hold for the programs for Tofino; empty if it holds."""

    def setUp(self) -> None:
        """Becomes primary, pushes the program, and adds the routes."""
        super().setUp()
        self.dataplane = ptf.dataplane_instance
        self.dataplane.flush()
        params = test_params_get()
        self.architecture = architecture.of(params["architecture"])
        if self.on_tofino and self.not_on_tofino:
            raise unittest.SkipTest(self.not_on_tofino)
        self.held_missing: str = params["held_missing"]
        self.session = Session(
            params["address"],
            params["device_id"],
            Path(params["p4info"]),
            Path(params["device_config"]),
        )
        self.addCleanup(self.session.close)
        self.session.push()
        for host in hosts_of(self.architecture):
            self.session.insert(
                self.session.routes, {"dst_addr": f"{host.ipv4}/32"}, "direct", port=host.port
            )
            self.session.insert(
                "neighbour",
                {"port": host.port, "next_hop": host.ipv4},
                "rewrite",
                src_addr=host.router_mac,
                dst_addr=host.mac,
            )

    # ---- settings ----

    @property
    def on_tofino(self) -> bool:
        """Whether the program is one for Tofino, whose traffic manager limits queues."""
        return self.architecture.limits_queues

    def needs_held_queue(self) -> None:
        """Skips the test if the target cannot slow its line to C."""
        if self.held_missing:
            raise unittest.SkipTest(self.held_missing)

    def limited(self, max_waiting: int) -> Host:
        """A host behind a slow line: this many packets can wait, without the one in service."""
        if self.on_tofino:
            return LIMITED[max_waiting]
        self.session.insert("port_queue", {"port": C.port}, "drop_tail", max_waiting=max_waiting)
        return C

    def depths(self, least: int, most: int) -> tuple[int, int]:
        """From `least` to `most` waiting frames, as a range of `queue_depth`."""
        each = self.architecture.depth_of(FRAME_OCTETS - ETHERNET_OCTETS)
        return least * each, (most + 1) * each - 1

    def red(
        self, host: Host, least: int, action: str, *, again: bool = False, **params: int
    ) -> None:
        """Drops early where `least` or more frames wait. On v1model, RED's average is this number.

        Args:
            host: whose port has RED.
            least: of this many frames on.
            action: of table `red`.
            again: change the action.
            **params: its parameters.
        """
        if self.on_tofino:
            match = {"port": host.port, "queue_depth": self.depths(least, MANY)}
        else:
            match = {"port": host.port, "average": (least << 16, MANY << 16)}
        if again:
            self.session.modify("red", match, action, **params)
            return
        if not self.on_tofino:
            self.session.insert("red_weight", {"port": host.port}, "average_occupancy", w=0)
        self.session.insert("red", match, action, **params)

    def feedback(
        self, host: Host, *, aqt: int = 0, drai: int = 0, ci: int = 0, window_log2: int = 40
    ) -> None:
        """Sets the marks that the port writes; windows are 2^window_log2 µs."""
        self.session.insert(
            "port_feedback", {"port": host.port}, "set_feedback",
            aqt=aqt, drai=drai, ci=ci, window_log2=window_log2,
        )  # fmt: skip

    def at_least_us(self, waited_us: float) -> float:
        """The least AQT of a packet that waited so long: Tofino errs by up to 1 µs and 0.03 %."""
        return waited_us * 0.9997 - 1 if self.on_tofino else waited_us

    # ---- packets ----

    def send(self, frame: bytes, host: Host = A) -> float:
        """Sends a packet from a host. Returns the time, in s."""
        started_s = time.time()
        self.dataplane.send(0, host.port, frame)
        return started_s

    def receive(self, host: Host, timeout_s: float = ARRIVAL_S) -> tuple[bytes, float]:
        """The next frame that a host receives, and its time, in s."""
        found = self.dataplane.poll(port_number=host.port, timeout=timeout_s)
        if isinstance(found, self.dataplane.PollFailure):
            self.fail(f"no packet arrived at port {host.port} within {timeout_s} s")
        return bytes(found.packet), found.time

    def check(self, host: Host, expected: bytes, what: str = "") -> None:
        """Checks that the next frame that a host receives is this one."""
        found, _ = self.receive(host)
        self.assertEqual(found.hex(), expected.hex(), what)

    def check_silence(self, host: Host, seconds: float = 0.1) -> None:
        """Checks that a host receives nothing more."""
        found = self.dataplane.poll(port_number=host.port, timeout=seconds)
        if isinstance(found, self.dataplane.PollSuccess):
            self.fail(f"port {host.port} sent {bytes(found.packet).hex()}")

    def check_forwarded(self, datagram: Datagram, what: str = "", **fields: Any) -> None:
        """Checks that a packet arrives as expected, except for some fields."""
        self.send(datagram.sent())
        self.check(datagram.to, datagram.forwarded(**fields), what)

    def check_dropped(self, frame: bytes, what: str = "", host: Host = A) -> None:
        """Checks that a frame is dropped: the packet sent after it arrives first."""
        fence = Datagram(number=0xFFFF)
        self.send(frame, host)
        self.send(fence.sent())
        self.check(fence.to, fence.forwarded(), what)
        for host in (A, C):
            self.check_silence(host, 0)

    def fill(self, datagrams: list[Datagram]) -> list[float]:
        """Sends packets to a slow line, which is busy with the first. Returns their times, in s."""
        self.needs_held_queue()
        slow = datagrams[0].to
        assert slow in (C, *LIMITED.values())
        for datagram in datagrams:
            assert datagram.to is slow
            assert len(datagram.sent()) == FRAME_OCTETS
        self.addCleanup(self.drain, slow)
        frames = [datagram.sent() for datagram in datagrams]
        left_before = self.session.packets("sent", slow.port)
        times = [self.send(frames[0])]
        self.check_count(
            "sent", slow.port, left_before + 1
        )  # the packet is in service and no longer waits
        times += [self.send(frame) for frame in frames[1:]]
        self.assertLess(
            time.time() - times[0], SERVICE_S, "this machine was too slow to fill a queue"
        )
        return times

    def drain(self, host: Host) -> None:
        """Waits until a host receives nothing more."""
        while not isinstance(
            self.dataplane.poll(port_number=host.port, timeout=3 * SERVICE_S),
            self.dataplane.PollFailure,
        ):
            pass

    # ---- counters ----

    def check_count(self, counter: str, index: int, packets: int) -> None:
        """Checks a counter's cell, which may lag slightly behind the packets."""
        deadline = time.monotonic() + ARRIVAL_S
        while (found := self.session.packets(counter, index)) < packets:
            if time.monotonic() > deadline:
                break
            time.sleep(0.002)
        self.assertEqual(found, packets, f"{counter}[{index}]")

    def drops(self, cause: Cause, host: Host = A) -> int:
        """The drops for a cause at a host's port."""
        return self.session.packets(*self._drops(cause, host))

    def check_drops(self, cause: Cause, packets: int, host: Host = A) -> None:
        """Checks the drops for a cause at a host's port."""
        self.check_count(*self._drops(cause, host), packets)

    def _drops(self, cause: Cause, host: Host) -> tuple[str, int]:
        in_egress = self.on_tofino and cause in (Cause.QUEUE_FULL, Cause.RED)
        return "queue_drops" if in_egress else "drops", 8 * host.port + cause

    def check_marks(self, mark: Mark, packets: int, host: Host) -> None:
        """Checks the marks that a port wrote."""
        if self.on_tofino:
            self.check_count(f"{mark.name.lower()}_marks", host.port, packets)
        else:
            self.check_count("marks", 4 * host.port + mark, packets)
