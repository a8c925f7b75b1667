"""A packet generator that is faster than any switch: the kernel sends one frame from a ring."""

from __future__ import annotations

import mmap
import socket
import struct
import time
from types import TracebackType

import numpy as np

# linux/if_packet.h; Python's socket module has none of them.
SOL_PACKET = 263
PACKET_VERSION, PACKET_TX_RING, PACKET_QDISC_BYPASS = 10, 13, 20
TPACKET_V2 = 1
TP_STATUS_SEND_REQUEST = 1
HEADER_OCTETS = 32
"""Offset of a frame's octets: TPACKET2_HDRLEN without the address, which sending omits."""

SLOT_OCTETS = 2048
SLOTS = 256
"""Frames per round: few enough for a short round, enough to amortise the system call."""
BLOCK_OCTETS = 4096

STAMP = slice(48, 56)
"""Octets of a stamped frame: nanoseconds since the epoch, in this machine's order."""

PAUSE_S = 1e-4
"""Pause when the generator is ahead of its rate."""


class Generator:
    """Sends copies of a frame through an interface."""

    def __init__(
        self,
        interface: str,
        frame: bytes,
        stamped: bool = False,
        marks: tuple[int, int, int] | None = None,
    ) -> None:
        """Fills the ring. If `stamped`, octets `STAMP` of each frame are when it was sent.

        `marks` names an octet, and its value in every nth frame.

        Raises:
            OSError: not root, or no such interface.
        """
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)  # 0: receive nothing
        self._socket.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V2)
        self._socket.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
        octets = SLOT_OCTETS * SLOTS
        ring = struct.pack("4I", BLOCK_OCTETS, octets // BLOCK_OCTETS, SLOT_OCTETS, SLOTS)
        self._socket.setsockopt(SOL_PACKET, PACKET_TX_RING, ring)
        self._socket.bind((interface, 0))
        self._ring = mmap.mmap(self._socket.fileno(), octets)
        slots = np.frombuffer(self._ring, np.uint8).reshape(SLOTS, SLOT_OCTETS)
        slots[:, HEADER_OCTETS : HEADER_OCTETS + len(frame)] = np.frombuffer(frame, np.uint8)
        if marks is not None:
            octet, value, every = marks
            slots[every - 1 :: every, HEADER_OCTETS + octet] = value
        words = np.frombuffer(self._ring, np.uint32).reshape(SLOTS, SLOT_OCTETS // 4)
        words[:, 1] = len(frame)  # tp_len
        self._status = words[:, 0]  # tp_status
        at = HEADER_OCTETS + STAMP.start
        stamps = np.frombuffer(self._ring, np.uint64).reshape(SLOTS, SLOT_OCTETS // 8)[:, at // 8]
        self._stamps = stamps if stamped else None
        self._next = 0

    def __enter__(self) -> Generator:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def run(self, rate: float, seconds: float, back: Generator | None = None) -> float:
        """Sends packets at up to the given rate in packets/s. Returns the time that it took, s.

        With `back`, as many are sent by that generator too.
        """
        started = time.monotonic()
        sent = 0
        while (took := time.monotonic() - started) < seconds:
            due = min(rate * took - sent, SLOTS - self._next)
            if due < 1:
                time.sleep(PAUSE_S)
                continue
            if self._stamps is not None:
                self._stamps[self._next : self._next + int(due)] = time.time_ns()
            for generator in (self, back) if back else (self,):
                generator.send(int(due))
            sent += int(due)
        return took

    def send(self, packets: int) -> None:
        """Sends packets as fast as the kernel does."""
        while packets > 0:
            end = min(self._next + packets, SLOTS)
            self._status[self._next : end] = TP_STATUS_SEND_REQUEST
            self._socket.send(b"")  # returns when all have been sent
            packets -= end - self._next
            self._next = end % SLOTS
