"""A network namespace with one veth pair per port. It ends with the last of its processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ptf_tests.ports import HOSTS, LIMITED

# When this process ends, by any signal, `unshare` and all of its children are killed.
_UNSHARE = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"),
)
# /sys shows the interfaces of the namespace that mounted it. `--mount-proc` keeps mounts private.
_MOUNT_SYS = ("mount", "-t", "sysfs", "sysfs", "/sys")


def missing() -> str:
    """The reason why this process cannot create a namespace; empty if it can."""
    if os.geteuid() != 0:
        return "a network namespace needs root"
    needed = ("ip", "mount", "setpriv", "unshare")
    absent = [program for program in needed if shutil.which(program) is None]
    if absent:
        return f"not on PATH: {', '.join(absent)}"
    tried = subprocess.run([*_UNSHARE, *_MOUNT_SYS], capture_output=True, text=True, check=False)
    return tried.stderr.strip() if tried.returncode != 0 else ""


def enter(module: str, arguments: list[str]) -> int:
    """Runs a module with arguments inside a new namespace. Returns its exit code."""
    return subprocess.call([*_UNSHARE, sys.executable, "-m", module, *arguments])


def set_up() -> None:
    """Creates the interfaces, up and silent. To be called in the namespace only.

    Raises:
        subprocess.CalledProcessError: `mount` or `ip` failed.
    """
    subprocess.run(_MOUNT_SYS, check=True)
    for setting in ("all", "default"):
        Path(f"/proc/sys/net/ipv6/conf/{setting}/disable_ipv6").write_text("1")
    _ip("link", "set", "lo", "up")
    for host in (*HOSTS, *LIMITED.values()):
        ends = (host.switch_end, host.test_end)
        _ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
        for end in ends:
            _ip("link", "set", end, "up", "arp", "off")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)
