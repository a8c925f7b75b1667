"""BMv2's `simple_switch` with pipes for interfaces: no root, nothing outside a folder."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import threading
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from random_frames import Received, Sent, number_of
from scapy.error import Scapy_Exception
from scapy.utils import RawPcapReader, RawPcapWriter

NEEDED = ("simple_switch", "simple_switch_CLI", "p4c-bm2-ss")
BETWEEN_US = 2_000
QUEUE_DEPTH = 100_000
"""Above all load; a queue of BMv2 holds 64 by itself."""
LIMIT_S = 60.0


def send_through_bmv2(
    main: Path,
    commands: Sequence[str],
    frames: Sequence[Sent],
    last: Collection[int],
    ports: Sequence[int],
    folder: Path,
) -> list[Received]:
    """What comes out of BMv2 for some frames.

    Args:
        main: a P4 program.
        commands: of `simple_switch_CLI`, run before the first frame.
        frames: in order.
        last: numbers of the frames after which there is nothing to wait for, one per way out.
        ports: which the switch has.
        folder: for all files.
    """
    compiled = folder / "bmv2.json"
    _checked(["p4c-bm2-ss", "--std", "p4-16", "-o", compiled, main])
    for port in ports:
        os.mkfifo(folder / f"port{port}_in.pcap")
    thrift = str(_free_port())
    command = [
        *("simple_switch", "--use-files", "0", "--thrift-port", thrift),
        *("--notifications-addr", "ipc://notifications.ipc"),
        *(f"-i{port}@port{port}" for port in ports),
        compiled,
    ]
    log = folder / "bmv2.log"
    with log.open("wb") as out:
        switch = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out)
    try:
        # The switch opens its ports one by one, and serves Thrift after them.
        writers = [_opened(folder / f"port{port}_in.pcap", switch, log) for port in ports]
        _wait_for_thrift(int(thrift), switch, log)
        settings = [*commands, f"set_queue_depth {QUEUE_DEPTH}"]
        told = _checked(["simple_switch_CLI", "--thrift-port", thrift], "\n".join(settings) + "\n")
        assert not re.search("error|invalid", told, re.IGNORECASE), told
        # A thread each: the switch takes the earliest frame of all ports, and pipes are short.
        for port, writer in zip(ports, writers, strict=True):
            mine = [(at, one.octets) for at, one in enumerate(frames) if one.port == port]
            threading.Thread(target=_write, args=(writer, mine), daemon=True).start()
        return _received(ports, folder, set(last))
    finally:
        switch.kill()
        switch.wait()


def _opened(pipe: Path, switch: subprocess.Popen[bytes], log: Path) -> RawPcapWriter:
    """Opened for writing once the switch has it open for reading, with the file's header sent."""
    ends = time.monotonic() + LIMIT_S
    while True:
        _require_running(switch, log, ends)
        try:
            descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError:  # no reader yet
            time.sleep(0.01)
    os.set_blocking(descriptor, True)
    writer = RawPcapWriter(os.fdopen(descriptor, "wb", 0), linktype=1)
    writer.write_header(None)
    return writer


def _write(writer: RawPcapWriter, frames: Sequence[tuple[int, bytes]]) -> None:
    for at, octets in frames:
        seconds, us = divmod((at + 1) * BETWEEN_US, 1_000_000)
        writer.write_packet(octets, sec=seconds, usec=us)
    writer.close()


def _received(ports: Sequence[int], folder: Path, last: set[int]) -> list[Received]:
    """All that came, once the last ones have."""
    ends = time.monotonic() + LIMIT_S
    while True:
        received = [
            Received(port, octets)
            for port in ports
            for octets in _read(folder / f"port{port}_out.pcap")
        ]
        missing = last - {number_of(one) for one in received}
        if not missing:
            return received
        assert time.monotonic() < ends, f"BMv2 has not sent its last frames: {sorted(missing)}"
        time.sleep(0.2)


def _read(capture: Path) -> list[bytes]:
    """The frames that are there as a whole."""
    try:
        with RawPcapReader(str(capture)) as reader:
            return [octets for octets, about in reader if len(octets) == about.caplen]
    except (Scapy_Exception, EOFError):  # not even its header
        return []


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def _wait_for_thrift(port: int, switch: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + LIMIT_S
    while True:
        _require_running(switch, log, ends)
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return


def _require_running(switch: subprocess.Popen[bytes], log: Path, ends: float) -> None:
    running = switch.poll() is None and time.monotonic() < ends
    assert running, f"simple_switch does not serve: {log.read_text()}"


def _checked(command: Sequence[str | Path], given: str = "") -> str:
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    told = done.stdout + done.stderr
    assert done.returncode == 0, f"{command[0]}: {told}"
    return told
