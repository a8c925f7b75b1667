"""``waymark switch --senders``: threads that send for the one that forwards."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from p4runtime_client import MODIFY, Client
from test_p4runtime import PROGRAM, probe, start
from test_switch import Wire, needs_interfaces, wires

from waymark.switch import SENDING_THREAD

__all__ = ["wires"]

FRAMES = 1_900
"""They fit into a receive ring, which has 2048."""
SO_RCVBUFFORCE = 33


@needs_interfaces
@pytest.mark.parametrize("senders", [1, 2])
def test_frames_keep_their_order(wires: list[Wire], senders: int) -> None:
    ports = [f"-i{number}@{wire.name}" for number, wire in enumerate(wires, 1)]
    process, address = start("--p4", PROGRAM, *ports, "--senders", senders)
    client = Client(address)
    try:
        client.arbitrate()
        client.p4info = client.get_pipeline("P4INFO_AND_COOKIE").config.p4info
        default = client.entry("route", client.action("forward", port=2))
        default.is_default_action = True
        client.write((MODIFY, default))
        before = sending_ns(process.pid)
        assert len(before) == senders
        wires[1].socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
        with stopped(process):
            for number in range(FRAMES):
                wires[0].socket.send(numbered(number))
        for number in range(FRAMES):
            assert wires[1].receive() == numbered(number)
        assert sum(sending_ns(process.pid)) > sum(before), "one of them has sent"
    finally:
        client.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


def numbered(number: int) -> bytes:
    return probe(7) + number.to_bytes(4, "big") + bytes(40)


@contextmanager
def stopped(process: subprocess.Popen[str]) -> Iterator[None]:
    """Lets a process do nothing, so that frames pile up and are worth another thread."""
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def sending_ns(process: int) -> list[int]:
    """The CPU times of the threads that send."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    senders = [task for task in tasks if (task / "comm").read_text().strip() == SENDING_THREAD]
    return [int((task / "schedstat").read_text().split()[0]) for task in senders]
