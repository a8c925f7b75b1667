"""A machine within the machine, whose every change shows.

Its processes, interfaces, mounts and ``/run`` are its own (unshare(1)). What tests leave there can
be told from what others do, names need not differ, and its end takes all with it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import ROOT

NEEDED = ("setpriv", "unshare", "nsenter", "ip", "ethtool", "ping", "ps", "pgrep", "sysctl", "find")

# Namespaces of others are not to live longer because they are seen here. The folder of `ip netns`
# stays once that was used.
BOOT = """\
set -e
sed -n 's|^[^ ]* \\(/run/netns[^ ]*\\) .*|\\1|p' /proc/mounts | xargs -r -n1 umount -l || true
mount -t tmpfs tmpfs /run
ip link set lo up
ip netns add first
ip netns del first
echo up
exec sleep infinity
"""

NO_MATTER = ("<defunct>", "nf_conntrack_count")
"""Lines of what has ended but has not been reaped, and of what changes without the test."""

WATCHED = {
    "namespace": ("ip", "netns", "list"),
    "link": ("ip", "-o", "link"),
    "qdisc": ("tc", "qdisc"),
    "process": ("ps", "-eo", "args="),
    "file": ("find", "/run"),
    "mount": ("cat", "/proc/mounts"),
    "sysctl": ("sysctl", "-a", "-r", r"^net\.|^kernel\.pty\.max|^fs\.file-max"),
}
"""What a machine is, a line each."""

Result = subprocess.CompletedProcess[str]


class Machine:
    """A machine that runs until `stop`."""

    def __init__(self) -> None:
        own = ("--mount", "--net", "--pid", "--fork", "--mount-proc", "--kill-child")
        self._outer = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", *own, "sh", "-c", BOOT],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._outer.stdout is not None
        if self._outer.stdout.readline() != "up\n":
            pytest.skip(f"no namespaces here: {self._outer.communicate()[1].strip()}")
        children = Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children")
        self._init = int(children.read_text())
        self._before = self.snapshot()

    def stop(self) -> None:
        """End it, and all that runs in it."""
        os.kill(self._init, signal.SIGKILL)
        self._outer.communicate()

    def words(self, command: Sequence[str]) -> list[str]:
        """What runs ``command`` in it, in this checkout."""
        enter = ("nsenter", f"--target={self._init}", "--mount", "--net", "--pid")
        return [*enter, "env", "-C", str(ROOT), *command]

    def run(self, *command: str, timeout: float = 120) -> Result:
        """Run a command to its end."""
        return subprocess.run(
            self.words(command), capture_output=True, text=True, timeout=timeout, check=False
        )

    def waymark(self, *arguments: str, timeout: float = 120) -> Result:
        """Run ``waymark`` with arguments."""
        return self.run(*self.waymark_words(*arguments), timeout=timeout)

    @staticmethod
    def waymark_words(*arguments: str) -> list[str]:
        """What runs ``waymark`` with arguments."""
        return [sys.executable, "-m", "waymark", *arguments]

    @contextmanager
    def running(self, *command: str) -> Iterator[Running]:
        """A command that runs meanwhile."""
        running = Running(self, command)
        try:
            yield running
        finally:
            running.kill(signal.SIGKILL)

    def kill(self, pid: int, number: int = signal.SIGKILL) -> None:
        """Send a signal to a process of the machine."""
        self.run("kill", f"-{int(number)}", str(pid))

    def path(self, path: str) -> Path:
        """A file of the machine, from outside."""
        return Path(f"/proc/{self._init}/root{path}")

    def snapshot(self) -> set[str]:
        """All that is watched, a line each."""
        return {
            f"{what}: {line}"
            for what, command in WATCHED.items()
            if shutil.which(command[0]) is not None
            for line in self.run(*command).stdout.splitlines()
            if line != " ".join(command) and not any(sign in line for sign in NO_MATTER)
        }

    def changes(self, within_s: float = 5.0) -> list[str]:
        """How the machine differs from what it was at first: nothing, as soon as it does not."""
        deadline = time.monotonic() + within_s
        while True:
            now = self.snapshot()
            changes = [f"+ {line}" for line in sorted(now - self._before)]
            changes += [f"- {line}" for line in sorted(self._before - now)]
            if not changes or time.monotonic() > deadline:
                return changes
            time.sleep(0.1)


class Running:
    """A process of a machine that was started and not waited for."""

    def __init__(self, machine: Machine, command: Sequence[str]) -> None:
        self._machine = machine
        shell = ("sh", "-c", 'echo $$; exec "$@"', "sh", *command)
        self._process = subprocess.Popen(
            machine.words(shell), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self._told = ""
        self.pid = int(self.line())
        self._told = ""

    def line(self) -> str:
        """The next line that it prints; nothing at its end."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        self._told += line
        return line

    def until(self, text: str) -> str:
        """What it printed so far, once ``text`` is in it."""
        while text not in self._told:
            assert self.line(), f"{text!r} was not said: {self._told}"
        return self._told

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send it a signal."""
        if self._process.poll() is None:
            self._machine.kill(self.pid, number)

    def wait(self, timeout: float = 30) -> tuple[int, str]:
        """Its exit code, and all that it printed."""
        rest, _ = self._process.communicate(timeout=timeout)
        return self._process.returncode, self._told + rest


@contextmanager
def machine() -> Iterator[Machine]:
    """A machine; the test is skipped where there can be none."""
    if os.geteuid() != 0:
        pytest.skip("namespaces need root")
    missing = [program for program in NEEDED if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not on PATH: {', '.join(missing)}")
    made = Machine()
    try:
        yield made
    finally:
        made.stop()
