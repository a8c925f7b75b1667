"""The command ``waymark switch``: its options, and frames on real interfaces, which need root."""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest
from conftest import Cli
from finsy.proto import p4r
from p4runtime_client import DELETE, INSERT, MODIFY, Client, octets
from test_p4runtime import CPU_PORT, PROGRAM, probe, start

from waymark import _core, program, real_time, switch
from waymark.errors import WaymarkError

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


def test_rates_of_ports_have_the_units_of_every_rate() -> None:
    assert switch.parse_rate("1=10 Mb/s") == switch.parse_rate("1=10Mbps") == (1, 10_000_000)
    assert switch.parse_rate("1=10mbit") == (1, 10_000_000)
    assert switch.parse_rate("2=1.5gbit") == (2, 1_500_000_000)
    assert switch.parse_rate("3=64000") == (3, 64_000)
    for text in ("1", "1=", "1=fast", "1=10mb", "1=-1mbit", "1=0", "1=nan", "1=infbit"):
        with pytest.raises(WaymarkError, match="kb/s, Mb/s, Gb/s"):
            switch.parse_rate(text)


def test_the_queue_of_a_port_has_a_number_of_packets() -> None:
    assert switch.parse_port_queue("2=49") == (2, 49)
    for text in ("2", "2=", "2=0", "2=-1", "2=1.5", "2=many", f"2={2**32}", "x=3"):
        with pytest.raises(WaymarkError, match=r"expected (PORT=PACKETS|a port)"):
            switch.parse_port_queue(text)


def test_options_that_contradict_each_other_are_refused(cli: Cli) -> None:
    for arguments, message in (
        (["--port-rate", "1=1mbit"], "no such port"),
        (["--port-queue", "1=3"], "a port without --port-rate has no queue"),
        (["--port-weights", "1=1,9"], "a port without --port-rate has no queue"),
        (["--port-weights", "1=0,0"], "with at most 8 weights from 0 to 255, not all 0"),
        (["--port-weights", "1=1,x"], "expected PORT=WEIGHT,WEIGHT"),
        (["--grpc-server-key", "x"], "needs both"),
        (["--grpc-server-cacert", "x"], "needs --grpc-server-cert"),
        (["--grpc-server-addr", "nowhere"], "like 127.0.0.1:9559"),
        (["--senders", "1", "--gso"], "only the forwarding thread sends"),
        (["--p4", "none.p4"], "no such file"),
    ):
        finished = cli("switch", *arguments)
        assert finished.code != 0
        assert message in finished.err


def test_the_port_for_deflected_packets_reaches_the_switch(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports: list[object] = []

    def run(*, deflection_port: int | None, **_options: object) -> None:
        ports.append(deflection_port)

    monkeypatch.setattr(_core, "run_switch", run)
    assert cli("switch").code == 0
    assert cli("switch", "--deflection-port", "20").code == 0
    assert cli("switch", "--deflection-port", "128").code != 0
    assert ports == [None, 20]


def test_an_address_in_use_is_reported(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        finished = cli("switch", "--grpc-server-addr", address)
    assert finished.code == 1
    assert f"cannot listen on {address}" in finished.err


@pytest.mark.parametrize("abstract", [False, True])
def test_a_service_manager_is_notified_once_clients_are_served(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, abstract: bool
) -> None:
    name = f"@waymark-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(name.replace("@", "\0"))
        manager.settimeout(0)
        monkeypatch.setenv("NOTIFY_SOCKET", name)

        def served(_options: object, ready: Callable[[str], None]) -> None:
            with pytest.raises(BlockingIOError):
                manager.recv(100)
            ready("127.0.0.1:9559")

        monkeypatch.setattr(switch, "run", served)
        assert cli("switch").code == 0
        assert manager.recv(100) == b"READY=1"


@pytest.mark.parametrize("address", ["127.0.0.1:9559", "[::1]:9559", "0.0.0.0:9559", "[::]:9559"])
@pytest.mark.parametrize("tls", [False, True])
def test_a_server_without_tls_beyond_loopback_is_warned_of(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, address: str, tls: bool
) -> None:
    def served(_options: object, ready: Callable[[str], None]) -> None:
        ready(address)

    monkeypatch.setattr(switch, "run", served)
    files = ["--grpc-server-cert", "cert.pem", "--grpc-server-key", "key.pem"] if tls else []
    finished = cli("switch", "--grpc-server-addr", address, *files)
    assert finished.code == 0
    is_open = not tls and address in ("0.0.0.0:9559", "[::]:9559")
    assert (
        f"warning: any client that reaches {address} can control this switch" in finished.err
    ) == is_open


def test_real_time_is_claimed_and_its_lack_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    claimed: list[tuple[int, int]] = []

    def claim(number: int, how: int, _parameters: object) -> None:
        claimed.append((number, how))

    monkeypatch.setattr("os.sched_setscheduler", claim)
    real_time.claim()
    assert claimed == [(0, os.SCHED_RR)]
    name = Path("/proc/self/comm").read_text().strip()
    real_time.claim(name)
    # Threads that tests before this one left have the name as well.
    assert (os.getpid(), os.SCHED_RR) in claimed
    assert capsys.readouterr().err == ""
    known = len(claimed)
    real_time.claim("no such thread")
    assert len(claimed) == known
    assert "no real-time scheduling (no thread no such thread)" in capsys.readouterr().err

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.sched_setscheduler", refuse)
    real_time.claim()
    assert "no real-time scheduling (Operation not permitted)" in capsys.readouterr().err


def test_no_target_rules_holds_for_programs_of_controllers_too() -> None:
    rules = PROGRAM.parents[2] / "crates" / "tofino-rules" / "tests"
    broken = program.compile_file(rules / "err" / "range-key.p4", [rules], target_rules=False)
    pipeline = broken.source, broken.p4info()
    for options, code in (
        ((), grpc.StatusCode.INVALID_ARGUMENT),
        (("--no-target-rules",), None),
    ):
        process, address = start(*options)
        client = Client(address)
        try:
            client.arbitrate()
            if code is None:
                client.set_pipeline(*pipeline)
                continue
            with pytest.raises(grpc.RpcError) as refused:
                client.set_pipeline(*pipeline)
            assert refused.value.code() == code
            assert "[range-key] Error: `hdr.v.a` is a range key" in refused.value.details()
            assert re.search(r"7\b.*/range-key\.p4", refused.value.details())
        finally:
            client.close()
            process.terminate()
            assert process.wait(10) == 0


def test_a_switch_that_may_not_execute_machine_code_says_so() -> None:
    code = (
        "import ctypes, sys; from waymark import cli\n"
        "if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0): sys.exit(77)  # PR_SET_MDWE\n"
        "cli.load()(sys.argv[1:])"
    )
    options = ("switch", "--grpc-server-addr", "127.0.0.1:0", "--p4", str(PROGRAM))
    command = [sys.executable, "-c", code, *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    process.terminate()
    if process.wait(10) == 77:
        pytest.skip("the kernel cannot forbid machine code")
    assert line.startswith("warning: the system forbids machine code"), line


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
def test_lack_of_root_is_reported_at_once() -> None:
    command = [sys.executable, "-m", "waymark", "switch", "-i", "1@lo"]
    try:
        finished = subprocess.run(command, user=65534, capture_output=True, text=True, check=False)
    except PermissionError:
        pytest.skip("this Python cannot be run without root")
    if "need root" not in finished.stderr and "ModuleNotFoundError" in finished.stderr:
        pytest.skip("this checkout cannot be read without root")
    assert finished.returncode == 1
    assert "need root (or the capabilities CAP_NET_RAW and CAP_NET_ADMIN)" in finished.stderr


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
        """The next frame of a test's; hosts send frames too."""
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
@pytest.mark.parametrize("options", [(), ("--gso",)])
def test_tags_are_where_they_were_on_the_wire(
    wires: list[Wire], running: Callable[..., Client], tmp_path: Path, options: tuple[str, ...]
) -> None:
    client = running("--pcap", tmp_path, *options)
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
def test_a_port_has_a_queue_of_its_own_length(
    wires: list[Wire], running: Callable[..., Client]
) -> None:
    running("--port-rate", "2=10kbit", "--port-queue", "2=2", "--queue-packets", 9)
    for _ in range(20):
        wires[0].socket.send(probe())
    for _ in range(3):
        wires[1].receive()
    assert wires[1].nothing()


@needs_interfaces
def test_packet_in_shows_the_port(wires: list[Wire], running: Callable[..., Client]) -> None:
    client = running()
    punt = client.entry("route", client.action("to_controller"), address=(5, 32))
    client.write((INSERT, punt))
    wires[1].socket.send(probe(5))
    packet = client.receive("packet")
    assert packet.payload == probe(5)
    assert packet.metadata[0].value == octets(2)
    assert wires[0].nothing()
    assert CPU_PORT not in (1, 2)


ETHTOOL_GETS = {"rx": 0x14, "tx": 0x16, "tso": 0x1E, "gso": 0x23, "gro": 0x2B, "flags": 0x25}
SIOCETHTOOL = 0x8946


def offloads(name: str) -> dict[str, int]:
    """What ethtool(8) shows of an interface, by its ioctls."""
    found: dict[str, int] = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for offload, command in ETHTOOL_GETS.items():
            value = ctypes.create_string_buffer(struct.pack("II", command, 0))
            request = struct.pack("16sP", name.encode(), ctypes.addressof(value))
            fcntl.ioctl(asked, SIOCETHTOOL, request)
            found[offload] = struct.unpack_from("II", value)[1]
    return found


def state(wires: list[Wire]) -> list[object]:
    """All that a switch changes of its interfaces."""
    names = [wire.name for wire in wires]
    found: list[object] = [Wire.disable_ipv6(name).read_text() for name in names]
    found += [name for name in names if "promiscuity 1" in ip("-d", "link", "show", name)]
    return found + [offloads(name) for name in names]


def ports_of(wires: list[Wire]) -> list[str]:
    return [f"-i{number}@{wire.name}" for number, wire in enumerate(wires, 1)]


def restorer_of(process: subprocess.Popen[str]) -> Path:
    """The process that puts interfaces back: the folder in /proc."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    (found,) = (Path("/proc", child) for child in children)
    return found


def gone(process: Path) -> bool:
    """Whether a process has ended, or only waits for its exit code to be read."""
    try:
        return process.joinpath("stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def until(condition: Callable[[], bool]) -> None:
    ends = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.01)


@needs_interfaces
def test_interfaces_are_left_as_they_were(wires: list[Wire]) -> None:
    before = state(wires)
    assert any(offloads(wires[0].name).values())
    process, _ = start(*ports_of(wires))
    during = state(wires)
    assert wires[0].name in during, "the switch sees frames to any address"
    assert not any(offloads(wires[0].name)[name] for name in ("rx", "tx", "tso", "gso", "gro"))
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
    assert state(wires) == before


@needs_interfaces
def test_interfaces_are_put_back_after_kill_9(wires: list[Wire]) -> None:
    before = state(wires)
    process, _ = start(*ports_of(wires))
    restorer = restorer_of(process)
    shown = restorer.joinpath("cmdline").read_bytes().rstrip(b"\0")
    assert shown == f"puts interfaces back when process {process.pid} ends".encode()
    assert state(wires) != before
    process.kill()
    process.wait()
    until(lambda: gone(restorer))
    assert state(wires) == before


@needs_interfaces
def test_a_switch_whose_restorer_is_killed_puts_interfaces_back_itself(wires: list[Wire]) -> None:
    before = state(wires)
    process, _ = start(*ports_of(wires))
    restorer = restorer_of(process)
    os.kill(int(restorer.name), signal.SIGTERM)
    time.sleep(0.1)
    assert not gone(restorer), "it ends with the switch, not before"
    os.kill(int(restorer.name), signal.SIGKILL)
    until(lambda: gone(restorer))
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 0
    assert state(wires) == before


@needs_interfaces
@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not here")
def test_a_namespace_needs_no_sys_of_its_own() -> None:
    command = """
        ip link add inside type veth peer name outside
        ip link set inside up
        ip link set outside up
        ip link set lo up
        test ! -e /sys/class/net/inside || exit 3
        exec "$@"
    """
    switch = (sys.executable, "-m", "waymark", "switch", "-i1@inside")
    address = ("--grpc-server-addr", "127.0.0.1:0")
    process = subprocess.Popen(
        ["unshare", "--net", "sh", "-ec", command, "sh", *switch, *address],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    told = process.stdout.readline()
    process.terminate()
    assert "1@inside" in told
    assert process.wait(10) == 0


@needs_interfaces
def test_members_are_chosen_while_the_link_that_they_watch_is_up(
    wires: list[Wire], running: Callable[..., Client]
) -> None:
    client = running()
    paths = client.id_of("action_profiles", "paths")
    group = p4r.ActionProfileGroup(action_profile_id=paths, group_id=2, max_size=8)
    for port in (1, 2):
        action = client.action("forward", port=port)
        client.write(
            (
                INSERT,
                p4r.ActionProfileMember(action_profile_id=paths, member_id=port, action=action),
            )
        )
        group.members.add(member_id=port, weight=1, watch_port=octets(port))
    spread = client.entry("spread", p4r.TableAction(action_profile_group_id=2), **{"class": 7})
    client.write((INSERT, group), (INSERT, spread))

    def arrive() -> list[int]:
        """How many of the packets of 32 flows arrive at each port."""
        for flow in range(32):
            client.packet_out(0, probe(1, flow=flow))
        counts = [0, 0]
        for at, wire in enumerate(wires):
            while not wire.nothing(0.2):
                counts[at] += 1
        return counts

    both = arrive()
    assert sum(both) == 32
    assert min(both) > 0
    ip("link", "set", wires[1].name, "down")
    until(lambda: arrive() == [32, 0])
    assert client.read(p4r.ActionProfileGroup()) == [group], "the group is as it was written"
    gone_member = p4r.ActionProfileMember(action_profile_id=paths, member_id=2)
    with pytest.raises(grpc.RpcError):
        client.write((DELETE, gone_member))
    ip("link", "set", wires[1].name, "up")
    until(lambda: arrive() == both)


@needs_interfaces
def test_an_unknown_interface_is_reported_with_those_that_exist(
    cli: Cli, wires: list[Wire]
) -> None:
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
