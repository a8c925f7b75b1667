"""docs/tour.md's tour of a network on this machine, as it is written, on a terminal."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import termios
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from conftest import ROOT
from machine import machine
from tour import commands, make_commands

STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

PORT_2 = re.compile(r"\b2 +1\.6 Mb/s +\d+% +(\d+)/49\b")
"""Of r1, in what ``watch`` shows: the slow link, and packets that wait for it."""


def tour() -> str:
    """The section's commands: receivers and the first line of a sender are waited for."""
    script = commands("A network on this machine")
    listening = "until grep -qs listening received.txt; do sleep 0.1; done"
    script = re.sub(r"^(waymark host recv .*&)$", rf"\1\n{listening}", script, flags=re.MULTILINE)
    script = re.sub(
        r"^(waymark host send .*&)$",
        r"\1\nuntil [ -s sent.txt ]; do sleep 0.1; done",
        script,
        flags=re.MULTILINE,
    )
    script = script.replace("waymark plot", "wait $!; rm received.txt; waymark plot")
    assert script.count("until") == 3
    return f"{script}\nwait\n"


def on_a_terminal(words: list[str], timeout_s: float, seen: Callable[[str], None]) -> str:
    """What a command shows on a terminal of 100 columns; ``seen`` looks at it as it comes."""
    ours, its = pty.openpty()
    termios.tcsetwinsize(its, (50, 100))
    command = ["timeout", str(timeout_s), *words]
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its) as process:
        os.close(its)
        shown = b""
        with suppress(OSError):  # once all that held the other end have closed it
            while more := os.read(ours, 65536):
                shown += more
                seen(plain(shown))
    os.close(ours)
    assert process.returncode == 0, plain(shown)
    return plain(shown)


def plain(shown: bytes) -> str:
    return STYLES.sub("", shown.decode(errors="replace")).replace("\r", "")


def waiting(shown: str) -> int:
    """The longest queue of the slow link that was shown."""
    return max(map(int, PORT_2.findall(shown)), default=0)


def test_the_tour_of_a_network(tmp_path: Path) -> None:
    make_commands(tmp_path)
    (tmp_path / "topologies").symlink_to(ROOT / "topologies")
    settings = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "WAYMARK_HOME": str(ROOT),
        "TERM": "xterm",
    }
    environment = [f"{name}={value}" for name, value in settings.items()]
    with machine() as here:
        words = ["env", "-C", str(tmp_path), *environment, "bash", "-c", tour()]

        pressed: list[bool] = []

        def press_control_c(shown: str) -> None:
            if not pressed and waiting(shown) > 10:
                pressed.append(True)
                here.run("pkill", "-INT", "-f", "--", "-m waymark controller watch")

        shown = on_a_terminal(here.words(words), 240, press_control_c)
        assert here.changes() == []
    assert "Traceback" not in shown
    assert "bottleneck is up: topologies/bottleneck.yaml, runner netns, switches embedded" in shown
    lines = re.findall(r"^ +[\d.]+ s +([\d.]+) Mb/s .* AQT +([\d.]+) there", shown, re.MULTILINE)
    assert len(lines) >= 5, shown
    assert max(float(mbps) for mbps, _ in lines) > 1.3
    assert 0 < max(float(aqt_ms) for _, aqt_ms in lines) < 100  # a full queue takes 250
    assert "\nlive.png\n" in shown
    assert (tmp_path / "live.png").stat().st_size > 10_000
    assert "r1  primary" in shown
    assert waiting(shown) > 10
    assert "DEAD" not in shown
    assert shown.endswith("bottleneck is down\n"), shown
