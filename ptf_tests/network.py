"""A network namespace with a pair of interfaces a port. It ends with the last of its processes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ptf_tests.ports import HOSTS

_UNSHARE = ("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
# /sys shows interfaces of where it was mounted. `--mount-proc` keeps such a mount to ourselves.
_MOUNT_SYS = ("mount", "-t", "sysfs", "sysfs", "/sys")


def missing() -> str:
    """Why this process can make no namespace; empty when it can."""
    if os.geteuid() != 0:
        return "it makes a network namespace, which takes root"
    absent = [program for program in ("ip", "mount", "unshare") if shutil.which(program) is None]
    if absent:
        return f"not on PATH: {', '.join(absent)}"
    tried = subprocess.run([*_UNSHARE, *_MOUNT_SYS], capture_output=True, text=True, check=False)
    return tried.stderr.strip() if tried.returncode != 0 else ""


def enter(module: str, arguments: list[str]) -> int:
    """Runs a module with arguments inside a new namespace; its exit code.

    Its processes have a namespace of their own too, and end with it, however it ends.
    """
    return subprocess.call([*_UNSHARE, sys.executable, "-m", module, *arguments])


def set_up() -> None:
    """Makes the interfaces, up and silent. In the namespace only.

    Raises:
        subprocess.CalledProcessError: `mount` or `ip` says why.
    """
    subprocess.run(_MOUNT_SYS, check=True)
    for setting in ("all", "default"):
        Path(f"/proc/sys/net/ipv6/conf/{setting}/disable_ipv6").write_text("1")
    _ip("link", "set", "lo", "up")
    for host in HOSTS:
        ends = (host.switch_end, host.test_end)
        _ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
        for end in ends:
            _ip("link", "set", end, "up", "arp", "off")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)
