"""Measures the latency of stamped frames, from the kernel's arrival times."""

from __future__ import annotations

import mmap
import socket
import struct
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from ptf_tests.generator import PACKET_VERSION, SOL_PACKET, STAMP, TPACKET_V2

PACKET_RX_RING, PACKET_STATISTICS = 5, 6
ETH_P_ALL = 3
TP_STATUS_USER = 1
FRAME_OFFSET = 66
"""Octets before a frame in its slot: `struct tpacket2_hdr`, an address, and padding."""

SLOT_OCTETS = 256
SLOTS = 1 << 16
"""A fifth of a second at 300,000 frames/s."""
BLOCK_OCTETS = 1 << 16


class Receiver:
    """Receives stamped frames on an interface."""

    def __init__(self, interface: str) -> None:
        """Maps the ring.

        Raises:
            OSError: not root, or no such interface.
        """
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._socket.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V2)
        octets = SLOT_OCTETS * SLOTS
        ring = struct.pack("4I", BLOCK_OCTETS, octets // BLOCK_OCTETS, SLOT_OCTETS, SLOTS)
        self._socket.setsockopt(SOL_PACKET, PACKET_RX_RING, ring)
        self._ring = mmap.mmap(self._socket.fileno(), octets)
        self._slots = np.frombuffer(self._ring, np.uint8).reshape(SLOTS, SLOT_OCTETS)
        words = np.frombuffer(self._ring, np.uint32).reshape(SLOTS, SLOT_OCTETS // 4)
        self._status, self._times = words[:, 0], words[:, 4:6]  # tp_status; tp_sec, tp_nsec
        self._next = 0
        self._socket.bind((interface, ETH_P_ALL))

    def __enter__(self) -> Receiver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def take(self) -> NDArray[np.int64]:
        """The latencies in ns of the frames that have arrived since the last call."""
        taken: list[NDArray[np.int64]] = []
        while True:
            came = self._status[self._next :] & TP_STATUS_USER != 0
            end = self._next + (len(came) if came.all() else int(came.argmin()))
            if end == self._next:
                return np.concatenate(taken) if taken else np.empty(0, np.int64)
            slots = slice(self._next, end)
            times = self._times[slots].astype(np.int64)
            stamp = slice(FRAME_OFFSET + STAMP.start, FRAME_OFFSET + STAMP.stop)
            stamps = np.ascontiguousarray(self._slots[slots, stamp]).view(np.int64)[:, 0]
            taken.append(times[:, 0] * 1_000_000_000 + times[:, 1] - stamps)
            self._status[slots] = 0
            self._next = end % SLOTS

    def overflowed(self) -> int:
        """Frames that found this ring full since the last call."""
        _, drops = struct.unpack("2I", self._socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        return drops
