"""Two hosts in network namespaces with a veth pair between them, for tests of Linux's own TCP."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import capture
import pytest
from conftest import ROOT

from waymark import WaymarkError, kernel

INTERFACE = "e0"
ADDRESSES = {"a": "10.99.0.1", "b": "10.99.0.2"}
PORT = 5000

RECEIVE = """
import hashlib, socket, sys
listener = socket.create_server(("0.0.0.0", int(sys.argv[1])))
print("ready", flush=True)
stream, _ = listener.accept()
octets = hashlib.sha256()
while data := stream.recv(65536):
    octets.update(data)
print(octets.hexdigest(), flush=True)
"""

SEND = """
import random, socket, sys
stream = socket.create_connection((sys.argv[1], int(sys.argv[2])))
if sys.argv[4:]:
    stream.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, bytes.fromhex(sys.argv[4]))
draw = random.Random(1)
for step in sys.argv[3].split(","):
    stream.sendall(draw.randbytes(int(step)))
    print("sent", flush=True)
    sys.stdin.readline()
"""


def needed(*programs: str) -> None:
    """Skip a test, and say why, where this machine cannot run such programs."""
    if os.geteuid() != 0:
        pytest.skip("BPF programs and namespaces need root")
    try:
        kernel.loader()
    except WaymarkError as error:
        pytest.skip(str(error))
    if not kernel.BTF.exists():
        pytest.skip(f"this kernel has no BTF: no file {kernel.BTF}")
    missing = [program for program in ("ip", *programs) if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not on PATH: {', '.join(missing)}")


def digest(*steps: int) -> str:
    """Of what `SEND` sends in these steps."""
    import random

    draw, octets = random.Random(1), hashlib.sha256()
    for step in steps:
        octets.update(draw.randbytes(step))
    return octets.hexdigest()


class Pair:
    """Hosts ``a`` and ``b``."""

    def __init__(self) -> None:
        self._namespaces = {host: f"wmk{os.getpid()}-{host}" for host in ADDRESSES}
        self._children: list[subprocess.Popen[str]] = []
        for host, namespace in self._namespaces.items():
            made = subprocess.run(["ip", "netns", "add", namespace], capture_output=True, text=True)
            if made.returncode:
                pytest.skip(f"no network namespaces here: {made.stderr.strip()}")
            self.run(host, "ip", "link", "set", "lo", "up")
        a, b = self._namespaces.values()
        ends = f"{INTERFACE} netns {a} type veth peer name {INTERFACE} netns {b}"
        subprocess.run(["ip", "link", "add", "name", *ends.split()], check=True)
        for host, address in ADDRESSES.items():
            self.run(host, "ip", "addr", "add", f"{address}/24", "dev", INTERFACE)
            self.run(host, "ip", "link", "set", INTERFACE, "up")

    def close(self) -> None:
        """Take both down, with all that runs there."""
        for child in self._children:
            child.kill()
            child.communicate()
        for namespace in self._namespaces.values():
            listed = subprocess.run(
                ["ip", "netns", "pids", namespace], capture_output=True, text=True
            )
            for pid in listed.stdout.split():
                os.kill(int(pid), signal.SIGKILL)
            subprocess.run(["ip", "netns", "del", namespace], capture_output=True)

    def words(self, host: str, command: Sequence[str]) -> list[str]:
        """What runs a command at a host."""
        return ["ip", "netns", "exec", self._namespaces[host], *command]

    def try_to(self, host: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command at a host."""
        return subprocess.run(
            self.words(host, command), capture_output=True, text=True, timeout=60, cwd=ROOT
        )

    def run(self, host: str, *command: str) -> str:
        """Run a command at a host; it has to succeed."""
        ran = self.try_to(host, *command)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def start(self, host: str, *command: str) -> subprocess.Popen[str]:
        """Start a command at a host."""
        child = subprocess.Popen(
            self.words(host, command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self._children.append(child)
        return child

    def waymark(self, host: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run ``waymark kernel`` at a host."""
        return self.try_to(host, sys.executable, "-m", "waymark", "kernel", *arguments)

    def attach(
        self, *hosts: str, marks: str = "aqt,drai", control: str | None = None, xdp: bool = False
    ) -> None:
        """Attach the programs at hosts."""
        chosen = (*(("--control", control) if control else ()), *(("--xdp",) if xdp else ()))
        for host in hosts:
            done = self.waymark(host, "attach", INTERFACE, "--marks", marks, *chosen)
            assert done.returncode == 0, done.stderr

    def offloads(self, state: str) -> None:
        """Turn segmentation by the interface on or off, at both ends."""
        for host in ADDRESSES:
            self.run(host, "ethtool", "-K", INTERFACE, "tso", state, "gso", state, "tx", state)

    def transfer(self, *steps: int, options: str = "") -> Transfer:
        """Begin to send this many octets from a to b, step by step."""
        return Transfer(self, steps, options)

    @contextmanager
    def captured(self, host: str, file: Path) -> Generator[list[capture.Packet]]:
        """The IPv4 packets that a host's interface carries in the meantime."""
        running = self.start(host, sys.executable, "-c", capture.PROGRAM, INTERFACE, str(file))
        assert running.stdout is not None
        assert running.stdout.readline() == "capturing\n"
        packets: list[capture.Packet] = []
        yield packets
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=30)
        packets += capture.read(file)


class Transfer:
    """Octets under way from a to b; one more step leaves at each `step`."""

    def __init__(self, pair: Pair, steps: Sequence[int], options: str) -> None:
        self._steps = steps
        self._receiver = pair.start("b", sys.executable, "-c", RECEIVE, str(PORT))
        self._expect(self._receiver, "ready")
        sizes = ",".join(map(str, steps))
        words = (sys.executable, "-c", SEND, ADDRESSES["b"], str(PORT), sizes)
        self._sender = pair.start("a", *words, *([options] if options else []))
        self._expect(self._sender, "sent")

    def step(self) -> None:
        """Send the next."""
        self._continue()
        self._expect(self._sender, "sent")

    def is_right(self) -> bool:
        """Whether every octet arrived, after the last step."""
        self._continue()
        arrived, _ = self._receiver.communicate(timeout=30)
        return arrived.strip() == digest(*self._steps)

    def _continue(self) -> None:
        assert self._sender.stdin is not None
        self._sender.stdin.write("\n")
        self._sender.stdin.flush()

    @staticmethod
    def _expect(child: subprocess.Popen[str], word: str) -> None:
        assert child.stdout is not None
        if child.stdout.readline().strip() != word:
            child.kill()
            raise AssertionError(child.communicate())
