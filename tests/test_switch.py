"""The command ``waymark switch``: its options, and frames on real interfaces, which need root."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.test_p4runtime import CPU_PORT, PROGRAM, probe, start
from waymark import _core, program, switch
from waymark.errors import WaymarkError

pytest.importorskip("finsy")

from finsy.proto import p4r

from tests.p4runtime_client import INSERT, MODIFY, Client, octets

needs_interfaces = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("ip") is None,
    reason="needs root and ip(8) for interfaces",
)
ETH_P_ALL = 3


# -- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["1", "@veth0", "a@veth0", "511@veth0", "1@", "1@a/b"])
def test_a_port_without_an_interface_is_refused(text: str) -> None:
    with pytest.raises(WaymarkError, match="expected"):
        switch.parse_interface(text)


def test_rates_have_the_units_of_tc() -> None:
    assert switch.parse_rate("1=10mbit") == (1, 10_000_000)
    assert switch.parse_rate("2=1.5gbit") == (2, 1_500_000_000)
    assert switch.parse_rate("3=64000") == (3, 64_000)
    for text in ("1", "1=", "1=fast", "1=10mb", "1=-1mbit", "1=0", "1=nan", "1=infbit"):
        with pytest.raises(WaymarkError, match="kbit, mbit, gbit"):
            switch.parse_rate(text)


def test_options_that_contradict_each_other_are_refused(cli: Cli) -> None:
    for arguments, message in (
        (["--port-rate", "1=1mbit"], "no such port"),
        (["--grpc-server-key", "x"], "needs both"),
        (["--grpc-server-cacert", "x"], "needs --grpc-server-cert"),
        (["--grpc-server-addr", "nowhere"], "like 127.0.0.1:9559"),
        (["--p4", "none.p4"], "no such file"),
    ):
        finished = cli("switch", *arguments)
        assert finished.code != 0
        assert message in finished.err


def test_an_address_in_use_is_told(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        finished = cli("switch", "--grpc-server-addr", address)
    assert finished.code == 1
    assert f"cannot listen on {address}" in finished.err


def test_the_program_of_the_command_line_runs_at_once() -> None:
    process, address = start("--p4", PROGRAM)
    client = Client(address)
    try:
        client.arbitrate()
        config = client.get_pipeline().config
        compiled = program.compile_file(PROGRAM)
        assert config.p4_device_config.decode() == compiled.source
        assert not config.HasField("cookie")
        client.set_pipeline(compiled.source, compiled.p4info(), action="VERIFY")
        assert config.p4info == client.p4info
    finally:
        client.close()
        process.terminate()
        assert process.wait(10) == 0


@pytest.mark.parametrize("main", sorted(Path("p4src/v1model").glob("*.p4")))
def test_preprocessed_source_is_the_same_program(main: Path) -> None:
    compiled = program.compile_file(main)
    again = _core.compile("again.p4", text=compiled.source)
    assert again.tables == compiled.tables
    assert again.p4info() == compiled.p4info()
    assert again.source == compiled.source


@needs_interfaces
def test_lacking_root_is_said_at_once() -> None:
    command = [sys.executable, "-m", "waymark", "switch", "-i", "1@lo"]
    try:
        finished = subprocess.run(command, user=65534, capture_output=True, text=True, check=False)
    except PermissionError:
        pytest.skip("this Python cannot be run without root")
    if "need root" not in finished.stderr and "ModuleNotFoundError" in finished.stderr:
        pytest.skip("this checkout cannot be read without root")
    assert finished.returncode == 2
    assert "need root" in finished.stderr


# -- interfaces ---------------------------------------------------------------------------------


def ip(*arguments: str) -> str:
    return subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True).stdout


class Wire:
    """A veth pair: one end is the switch's, frames are sent and received at the other."""

    def __init__(self, number: int) -> None:
        self.name = f"wm{os.getpid() % 100_000}s{number}"
        self.far = f"wm{os.getpid() % 100_000}h{number}"
        ip("link", "add", self.name, "type", "veth", "peer", "name", self.far)
        self.disable_ipv6(self.far).write_text("1")
        for name in (self.name, self.far):
            ip("link", "set", name, "up")
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.bind((self.far, ETH_P_ALL))
        self.socket.settimeout(5)

    @staticmethod
    def disable_ipv6(name: str) -> Path:
        return Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6")

    def receive(self) -> bytes:
        """The next frame of a test's; hosts say things of their own."""
        while True:
            frame, address = self.socket.recvfrom(65_535)
            if address[2] != socket.PACKET_OUTGOING and frame[6:12] == probe()[6:12]:
                return frame

    def nothing(self, wait_s: float = 0.3) -> bool:
        """Whether nothing of a test's comes."""
        self.socket.settimeout(wait_s)
        try:
            self.receive()
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(5)
        return False

    def close(self) -> None:
        self.socket.close()
        ip("link", "del", self.name)


@pytest.fixture
def wires() -> Iterator[list[Wire]]:
    made: list[Wire] = []
    try:
        for number in (1, 2):
            made.append(Wire(number))
        time.sleep(0.2)  # the far ends' first words
        yield made
    finally:
        for wire in made:
            wire.close()


@pytest.fixture
def running(wires: list[Wire]) -> Iterator[Callable[..., Client]]:
    """Starts a switch on the wires whose route goes to port 2, and is its controller."""
    processes: list[subprocess.Popen[str]] = []
    clients: list[Client] = []

    def run(*options: object) -> Client:
        ports = [f"-i{number}@{wire.name}" for number, wire in enumerate(wires, 1)]
        process, address = start("--p4", PROGRAM, *ports, *options)
        processes.append(process)
        client = Client(address)
        clients.append(client)
        client.arbitrate()
        client.p4info = client.get_pipeline("P4INFO_AND_COOKIE").config.p4info
        default = client.entry("route", client.action("forward", port=2))
        default.is_default_action = True
        client.write((MODIFY, default))
        return client

    yield run
    for client in clients:
        client.close()
    for process in processes:
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


@needs_interfaces
def test_frames_cross_the_switch_octet_for_octet(
    wires: list[Wire], running: Callable[..., Client]
) -> None:
    client = running()
    for size in (0, 1, 500, 1446):
        frame = probe(7) + bytes(range(256)) * 6
        frame = frame[: 22 + 46 + size]
        wires[0].socket.send(frame)
        assert wires[1].receive() == frame
    wires[0].socket.send(probe(kind=0x9999))
    assert wires[1].nothing(), "what the program drops does not arrive"
    client.packet_out(1, probe(9))
    assert wires[0].receive() == probe(9)
    assert wires[1].nothing(), "what the switch sends does not come in again"


@needs_interfaces
def test_tags_are_where_they_were_on_the_wire(
    wires: list[Wire], running: Callable[..., Client], tmp_path: Path
) -> None:
    client = running("--pcap", tmp_path)
    values = p4r.ValueSetEntry(value_set_id=client.p4info.value_sets[0].preamble.id)
    values.members.add().match.add(field_id=1).exact.value = b"\x81\x00"
    client.write((MODIFY, values))
    tagged = probe(kind=0x8100)[:14] + octets(0x2123, 2) + octets(0x0800, 2) + bytes(60)
    wires[0].socket.send(tagged)
    wires[1].receive()
    time.sleep(0.1)
    assert pcap(tmp_path / f"{wires[0].name}_in.pcap") == [tagged]
    assert pcap(tmp_path / f"{wires[1].name}_out.pcap") == [tagged]


def pcap(path: Path) -> list[bytes]:
    data = path.read_bytes()
    assert data[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d"), "nanoseconds"
    frames: list[bytes] = []
    order = "<" if data[0] == 0x4D else ">"
    at = 24
    while at < len(data):
        _, _, held, _ = struct.unpack_from(order + "IIII", data, at)
        frames.append(data[at + 16 : at + 16 + held])
        at += 16 + held
    return frames


@needs_interfaces
def test_a_rate_makes_packets_wait_their_turn(
    wires: list[Wire], running: Callable[..., Client]
) -> None:
    running("--port-rate", "2=1mbit")
    count, size = 21, 1000
    frame = probe() + bytes(size - len(probe()))
    began = time.monotonic()
    for _ in range(count):
        wires[0].socket.send(frame)
    arrivals = []
    for _ in range(count):
        wires[1].receive()
        arrivals.append(time.monotonic() - began)
    # The last begins to leave when those before it have left: 20 times 8 ms.
    assert 0.155 < arrivals[-1] < 0.4


@needs_interfaces
def test_packets_beyond_the_queue_are_dropped(
    wires: list[Wire], running: Callable[..., Client]
) -> None:
    running("--port-rate", "2=100kbit", "--queue-packets", 3)
    for _ in range(20):
        wires[0].socket.send(probe())
    for _ in range(4):
        wires[1].receive()
    assert wires[1].nothing()


@needs_interfaces
def test_packet_in_tells_the_port(wires: list[Wire], running: Callable[..., Client]) -> None:
    client = running()
    punt = client.entry("route", client.action("to_controller"), address=(5, 32))
    client.write((INSERT, punt))
    wires[1].socket.send(probe(5))
    packet = client.receive("packet")
    assert packet.payload == probe(5)
    assert packet.metadata[0].value == octets(2)
    assert wires[0].nothing()
    assert CPU_PORT not in (1, 2)


@needs_interfaces
def test_interfaces_are_left_as_they_were(wires: list[Wire]) -> None:
    def state() -> list[str]:
        names = [wire.name for wire in wires]
        found = [Wire.disable_ipv6(name).read_text() for name in names]
        found += [name for name in names if "promiscuity 1" in ip("-d", "link", "show", name)]
        if shutil.which("ethtool"):
            for name in names:
                shown = subprocess.run(
                    ["ethtool", "-k", name], check=True, capture_output=True, text=True
                )
                found.append(shown.stdout)
        return found

    before = state()
    process, _ = start(*(f"-i{number}@{wire.name}" for number, wire in enumerate(wires, 1)))
    during = state()
    assert during != before
    assert wires[0].name in during, "the switch sees frames to any address"
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
    assert state() == before


@needs_interfaces
def test_an_unknown_interface_is_told_with_those_there_are(cli: Cli, wires: list[Wire]) -> None:
    finished = cli("switch", "-i1@nowhere0", "--grpc-server-addr", "127.0.0.1:0")
    assert finished.code == 1
    assert "no interface `nowhere0`" in finished.err
    assert wires[0].name in finished.err
    ip("link", "set", wires[0].name, "down")
    finished = cli("switch", f"-i1@{wires[0].name}", "--grpc-server-addr", "127.0.0.1:0")
    assert f"ip link set {wires[0].name} up" in finished.err
    both = [f"-i1@{wires[1].name}", f"-i2@{wires[1].name}"]
    finished = cli("switch", *both, "--grpc-server-addr", "127.0.0.1:0")
    assert "given twice" in finished.err


@needs_interfaces
def test_an_interface_that_goes_down_and_up_again_works_on(
    wires: list[Wire], running: Callable[..., Client]
) -> None:
    running()
    ip("link", "set", wires[1].name, "down")
    wires[0].socket.send(probe(1))
    time.sleep(0.1)
    ip("link", "set", wires[1].name, "up")
    time.sleep(0.2)
    wires[0].socket.send(probe(2))
    arrived = wires[1].receive()
    while arrived != probe(2):
        arrived = wires[1].receive()
