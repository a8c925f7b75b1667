"""Measures how fast a forwarder empties its receive rings when it has all CPUs.

A generator, with its packets' cost in the kernel, takes a CPU. Here, the forwarder is stopped while
its rings are filled, and is alone when it continues. A socket at each far end takes every 16th
packet, with its time of arrival.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import struct
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from ptf_tests.generator import SLOTS, Generator
from ptf_tests.targets import CannotRunError

PACKETS = 7 * SLOTS
"""Packets that wait in a ring; it holds 2048."""
MARK_AT, MARK = 56, 0xA5
"""Octet of every 16th frame, and its value there."""
MARKED = 16
WAIT_S = 1.0

ETH_P_ALL = 3
SO_ATTACH_FILTER, SO_RCVBUFFORCE, SO_TIMESTAMPNS = 26, 33, 35
ROOM_OCTETS = 4 << 20
# Classic BPF: load the octet, accept the frame if it is the mark, otherwise drop it.
_FILTER = struct.pack(
    "=HBBI HBBI HBBI HBBI",
    *(0x30, 0, 0, MARK_AT),
    *(0x15, 0, 1, MARK),
    *(0x06, 0, 0, 0xFFFF),
    *(0x06, 0, 0, 0),
)


class Arrivals:
    """The times at which marked frames arrive at an interface."""

    def __init__(self, interface: str) -> None:
        """Opens the socket.

        Raises:
            OSError: not root, or no such interface.
        """
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        code = ctypes.create_string_buffer(_FILTER)
        program = struct.pack("HxxxxxxP", len(_FILTER) // 8, ctypes.addressof(code))
        self._socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM_OCTETS)
        self._socket.bind((interface, ETH_P_ALL))
        self._socket.setblocking(False)

    def close(self) -> None:
        """Closes the socket."""
        self._socket.close()

    def take(self) -> list[int]:
        """The times of those that arrived since the last call, ns."""
        times: list[int] = []
        while True:
            try:
                _, control, _, _ = self._socket.recvmsg(64, 64)
            except BlockingIOError:
                return times
            seconds, nanoseconds = struct.unpack("qq", control[0][2])
            times.append(seconds * 1_000_000_000 + nanoseconds)


def drained_per_s(process: int, ways: Sequence[tuple[str, bytes, str]], times: int) -> list[float]:
    """Packets/s of a process that forwards, each time its rings were full.

    Args:
        process: its number.
        ways: where frames come in, the frame, and where they go out: interfaces' far ends.
        times: how often.

    Raises:
        CannotRunError: packets were lost.
    """
    rates: list[float] = []
    with ExitStack() as stack:
        generators = [
            stack.enter_context(Generator(source, frame, marks=(MARK_AT, MARK, MARKED)))
            for source, frame, _ in ways
        ]
        arrivals = [Arrivals(sink) for _, _, sink in ways]
        for one in arrivals:
            stack.callback(one.close)
        for _ in range(times):
            _stop(process)
            try:
                for generator in generators:
                    generator.send(PACKETS)
            finally:
                os.kill(process, signal.SIGCONT)
            rates.append(_rate(arrivals))
    return rates


def _stop(process: int) -> None:
    os.kill(process, signal.SIGSTOP)
    tasks = list(Path(f"/proc/{process}/task").iterdir())
    while any(_state(task) not in "Tt" for task in tasks):
        time.sleep(0.001)


def _state(task: Path) -> str:
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "T"  # it has ended


def _rate(arrivals: Sequence[Arrivals]) -> float:
    expected = len(arrivals) * PACKETS // MARKED
    came: list[int] = []
    deadline = time.monotonic() + WAIT_S
    while len(came) < expected and time.monotonic() < deadline:
        time.sleep(0.01)  # the forwarder has the CPUs
        came += [at for one in arrivals for at in one.take()]
    if len(came) < expected:
        raise CannotRunError(f"{len(came)} of {expected} marked packets arrived")
    return MARKED * (expected - len(arrivals)) * 1e9 / (max(came) - min(came))
