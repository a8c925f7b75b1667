"""docs/tour.md's tour of the controller, as it is written, in a separate network namespace."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from tour import commands, make_commands

NAMESPACE = f"wm-tour-{os.getpid()}"


@pytest.fixture
def namespace() -> Iterator[str]:
    """A network namespace with loopback, gone at the end with all that is in it."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and ip")
    added = subprocess.run(["ip", "netns", "add", NAMESPACE], capture_output=True, text=True)
    if added.returncode:
        pytest.skip(f"no network namespaces here: {added.stderr.strip()}")
    subprocess.run(["ip", "-n", NAMESPACE, "link", "set", "lo", "up"], check=True)
    yield NAMESPACE
    subprocess.run(["ip", "netns", "del", NAMESPACE], check=True)


def tour() -> str:
    """The section's commands: the switch is waited for, watch is interrupted."""
    script = commands("A controller")
    served = "until (: > /dev/tcp/127.0.0.1/9559) 2>/dev/null; do sleep 0.1; done"
    script = re.sub(r"^(waymark switch .*&)$", rf"\1\n{served}", script, flags=re.MULTILINE)
    script = script.replace("waymark controller watch", "timeout -s INT 5 waymark controller watch")
    assert "until" in script
    assert "timeout" in script
    return f"{script}\nkill $!\nwait $!\n"


def test_the_tour_of_the_controller(namespace: str, tmp_path: Path) -> None:
    make_commands(tmp_path)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(
        ["ip", "netns", "exec", namespace, "bash", "-c", tour()],
        cwd=ROOT,
        env=os.environ | {"PATH": path, "PYTHONPATH": str(ROOT), "WAYMARK_HOME": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    shown = done.stdout
    assert "the pipeline and 32 entries to change" in shown, shown
    assert "the pipeline and 32 entries changed" in shown
    assert "s1: nothing to do" in shown
    assert "s1: primary" in shown
    assert "Traceback" not in shown
    marks = re.findall(r"^ +(\d+) +(\d+) +([1-6])( +marked)?$", shown, re.MULTILINE)
    assert len(marks) >= 20
    waited_us = [int(aqt_us) for _, aqt_us, _, _ in marks]
    assert waited_us[0] == 0
    assert max(waited_us) > 40_000  # a queue of 19 packets of 1014 octets at 1.6 Mb/s: 96 ms
    assert max(waited_us) < 200_000
    assert marks[0][2] == "6"
    assert min(index for _, _, index, _ in marks) in "12"
