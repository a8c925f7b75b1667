"""The packet generator of a program for Tofino: ``waymark switch --generator``."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import ROOT, Cli
from p4runtime_client import Client
from p4runtime_server import start
from test_switch import Wire, ip, needs_interfaces, wires

from waymark import program

__all__ = ["wires"]

PROGRAMS = ROOT / "crates/stf/tests/programs/tna"
"""Packets of the generator leave through port 2, behind the pipe, the application, the cause, the
number of the packet in its batch, and the port."""

APPS = """\
[[app]]
number = 1
trigger = "periodic"
period = "200 ms"
packet = "aa bb cc dd"
packets = 2
packet_gap = "1 ms"

[[app]]
number = 2
trigger = "port_down"
packet = "11 22 33 44"

[[app]]
number = 3
trigger = "recirculated"
pattern = "10 34"
packet = "55 66 77 88"
"""

ASKED = f"""
[[app]]
number = 4
trigger = "deparser"
pattern = "70 71"
packet = "{bytes(range(32)).hex()}"
"""


def seen(wire: Wire, packet: str) -> list[int]:
    """What was in front of the next packet that ends so: pipe, application, cause, number, port."""
    end = bytes.fromhex(packet)
    while True:
        frame, address = wire.socket.recvfrom(65_535)
        if address[2] != socket.PACKET_OUTGOING and frame.find(end) in (10, 26):  # or a context
            parts = ((0, 1), (1, 2), (2, 6), (6, 8), (8, 10))
            return [int.from_bytes(frame[first:last], "big") for first, last in parts]


@pytest.fixture
def run(wires: list[Wire], tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Starts a switch for an architecture with these applications; returns its address."""
    processes: list[subprocess.Popen[str]] = []
    file = tmp_path / "apps.toml"
    file.write_text(APPS)

    def begin(*options: object) -> str:
        ports = [f"-i{number}@{wire.name}" for number, wire in enumerate(wires, 1)]
        process, address = start("--generator", file, *ports, *options)
        processes.append(process)
        return address

    yield begin
    for process in processes:
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


@needs_interfaces
@pytest.mark.parametrize(("arch", "port"), [("tna", 68), ("t2na", 6)])
def test_each_trigger_begins_a_burst(
    wires: list[Wire], run: Callable[..., str], arch: str, port: int
) -> None:
    run("--p4", PROGRAMS / f"{arch}_generator.p4")
    timers = [seen(wires[1], "aa bb cc dd") for _ in range(4)]
    assert timers == [[0, 1, 0, number, port] for number in (0, 1, 0, 1)]
    wires[0].socket.send(
        b"\x20" + bytes(59)
    )  # recirculates; does not begin with the pattern of application 3
    wires[0].socket.send(b"\x10\x34" + bytes(58))
    cause = 0 if arch == "t2na" else 0x340000
    assert seen(wires[1], "55 66 77 88") == [0, 3, cause, 0, port]
    ip("link", "set", wires[0].name, "down")
    assert seen(wires[1], "11 22 33 44") == [0, 2, 1, 0, port]


@needs_interfaces
def test_a_deparser_asks_for_a_part_of_the_packet(
    wires: list[Wire], run: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "apps.toml").write_text(ASKED)
    run("--p4", PROGRAMS / "t2na_generator.p4")
    context = bytes(range(0x70, 0x80))
    ask = b"\xd5" + (1).to_bytes(2, "big") + (4).to_bytes(2, "big") + context
    wires[0].socket.send(ask + bytes(39))
    assert seen(wires[1], (context + b"\x10\x11\x12\x13").hex()) == [0, 4, 0, 0, 6]


@needs_interfaces
def test_a_program_of_a_controller_gets_them(wires: list[Wire], run: Callable[..., str]) -> None:
    client = Client(run())
    client.arbitrate()
    made = program.compile_file(PROGRAMS / "tna_generator.p4")
    client.set_pipeline(made.source, made.p4info())
    assert seen(wires[1], "aa bb cc dd") == [0, 1, 0, 0, 68]
    client.close()


def test_a_program_without_a_generator_is_refused(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "apps.toml"
    file.write_text(APPS)
    finished = cli("switch", "--p4", ROOT / "p4src/v1model/plain.p4", "--generator", file)
    assert finished.code == 1
    assert "expected a program for tna.p4 or t2na.p4, found one for v1model" in finished.err


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("number = 2", "number = 9", "an application from 0 to 7, found pipe 0, application 9"),
        ('"10 34"', '"10 3"', r"app\[2\]: pattern: expected octets in hexadecimal.*found '10 3'"),
        ("periodic", "peridic", r"app\[0\]: trigger: expected once, .*found 'peridic'"),
        ("packets = 2", "packets = 0", "expected 1 to 65536 packets per batch, found 0"),
        ("200 ms", "0.5 ms", r"expected a period .* that a burst \(1 ms\) fits into"),
        ("200 ms", "soon", r"app\[0\]: period: expected .*found 'soon'"),
        ("number = 3", "number = 2", r"app\[2\]: application 2 of pipe 0 occurs twice"),
        ("10 34", "12 34 56 78 9a", "expected a pattern of 4 octets"),
        ("recirculated", "deparser", "a deparser of Tofino 1 cannot ask for packets"),
        ("packets = 2", "count = 2", r"app\[0\]: no key `count`.*valid: pipe, number,"),
        ('packet = "11 22 33 44"', "", r"app\[1\]: `packet` is missing"),
        ("[[app]]", "[[application]]", r"expected tables \[\[app\]\], found application"),
        ("[[app]]", "[[app]", "apps.toml: .*line 1"),
    ],
)
def test_errors_say_where(cli: Cli, tmp_path: Path, old: str, new: str, expected: str) -> None:
    file = tmp_path / "apps.toml"
    file.write_text(APPS.replace(old, new))
    finished = cli("switch", "--p4", PROGRAMS / "tna_generator.p4", "--generator", file)
    assert finished.code in (1, 2)
    assert re.search(expected, finished.err), finished.err


def test_a_file_that_is_not_there_is_named(cli: Cli, tmp_path: Path) -> None:
    finished = cli("switch", "--generator", tmp_path / "apps.toml")
    assert (finished.code, "apps.toml: No such file" in finished.err) == (2, True)
