"""The controller and a switch, embedded or BMv2, each killed in turn. No interfaces, no root."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import ROOT

from controller import apply as applying
from controller import config, diff
from controller.client import connected

EXAMPLE = ROOT / "controller" / "examples" / "two_ports.yaml"
DEADLINE_S = 30


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for ``condition``, or fail saying ``what``."""
    ends = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < ends, f"not within {DEADLINE_S} s: {what}"
        time.sleep(0.1)


class Lab:
    """A switch's port, a configuration for it, and the processes that were started."""

    def __init__(self, folder: Path, bmv2_json: Path | None = None) -> None:
        self.port = free_port()
        self.is_bmv2 = bmv2_json is not None
        self.file = folder / "two_ports.yaml"
        text = EXAMPLE.read_text().replace(":9559", f":{self.port}")
        if bmv2_json is not None:
            target = f"    target: bmv2\n    device_config: {bmv2_json}\n    device_id: 1\n"
            text = text.replace("    device_id: 1\n", target)
        self.file.write_text(text)
        self.running: list[subprocess.Popen[str]] = []
        self._last = ""

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        """``waymark`` with arguments, in the background."""
        return self._run(sys.executable, "-m", "waymark", *arguments)

    def _run(self, *command: object) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*map(str, command)],
            cwd=ROOT,
            env=os.environ | {"WAYMARK_HOME": str(ROOT)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.running.append(process)
        return process

    def switch(self, *arguments: object) -> subprocess.Popen[str]:
        """A switch without interfaces; serves when this returns."""
        address = f"127.0.0.1:{self.port}"
        if self.is_bmv2:
            served = ("--", "--grpc-server-addr", address, "--cpu-port", 510)
            process = self._run("simple_switch_grpc", "--no-p4", "--device-id", 1, *served)
        else:
            process = self.start("switch", "--grpc-server-addr", address, *arguments)
        until(lambda: self._listens() or process.poll() is not None, "the switch listens")
        assert process.poll() is None, process.stdout and process.stdout.read()
        return process

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def watch(self, *arguments: object) -> tuple[subprocess.Popen[str], int]:
        """A watching controller, and the port of its metrics."""
        metrics = free_port()
        options = ("--metrics", metrics, "--interval", 0.2, *arguments)
        return self.start("controller", "watch", self.file, *options), metrics

    def apply(self) -> subprocess.CompletedProcess[str]:
        """``waymark controller apply``."""
        process = self.start("controller", "apply", self.file)
        self._last, _ = process.communicate(timeout=DEADLINE_S)
        return subprocess.CompletedProcess(process.args, process.returncode, self._last)

    def last(self) -> str:
        """What the last ``apply`` output."""
        return self._last

    def drift(self) -> None:
        """Delete an entry as the primary controller's own doing, behind its back."""

        async def delete() -> None:
            wanted = applying.wanted(config.load(self.file), self.file.parent)["s1"]
            entry = next(
                e for e in wanted.entries if diff.describe(e).startswith("port_queue port=1")
            )
            async with connected(wanted.target) as client:
                await client.write([diff.Change(diff.Kind.DELETE, entry)], wanted.pipeline)

        asyncio.run(delete())

    def plan(self) -> applying.Plan:
        """What the switch lacks, read past all running controllers."""

        async def read() -> applying.Plan:
            wanted = applying.wanted(config.load(self.file), self.file.parent)["s1"]
            async with connected(wanted.target) as client:
                return await applying.plan(client, wanted)

        return asyncio.run(read())

    def converged(self) -> bool:
        """Whether the switch holds its configuration."""
        try:
            return self.plan().is_empty
        except config.WaymarkError:
            return False


def is_primary(metrics: int) -> bool:
    """Whether the controller with these metrics writes to the switch."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{metrics}/metrics", timeout=5) as shown:
            return b'waymark_switch_primary{switch="s1"} 1.0' in shown.read()
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="session")
def bmv2_json(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """waymark.p4 as p4c compiles it for BMv2, where both are."""
    for command in ("p4c-bm2-ss", "simple_switch_grpc"):
        if shutil.which(command) is None:
            pytest.skip(f"{command} is not here")
    made = tmp_path_factory.mktemp("bmv2") / "waymark.json"
    source = ROOT / "p4src" / "v1model" / "waymark.p4"
    subprocess.run(["p4c-bm2-ss", "--p4v", "16", "-o", made, source], check=True)
    return made


@pytest.fixture(params=["embedded", "bmv2"])
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lab]:
    """A lab whose processes are gone at the end."""
    is_bmv2 = request.param == "bmv2"
    lab = Lab(tmp_path, request.getfixturevalue("bmv2_json") if is_bmv2 else None)
    yield lab
    for process in lab.running:
        process.kill()
        process.communicate()


def test_apply_twice_changes_once(lab: Lab) -> None:
    lab.switch()
    first, second = lab.apply(), lab.apply()
    assert first.returncode == 0, first.stdout
    assert "~ pipeline v1model/waymark.p4 (runs none)" in first.stdout
    assert "+ port_queue port=2: drop_tail(max_waiting=19)" in first.stdout
    assert (second.returncode, second.stdout) == (0, "s1: nothing to do\n")
    assert lab.converged()


def test_a_switch_that_was_started_with_the_program_needs_no_push(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    switch = lab.switch("--p4", ROOT / "p4src" / "v1model" / "waymark.p4")
    try:
        planned = lab.plan()
        assert planned.push is None
        assert planned.changes
        assert "pipeline" not in lab.apply().stdout
        assert lab.converged()
    finally:
        switch.terminate()
        switch.communicate()


def test_a_switch_that_was_started_with_another_program_is_said_to_run_it(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    switch = lab.switch("--p4", ROOT / "p4src" / "v1model" / "plain.p4")
    try:
        assert "v1model/waymark.p4 (runs another one, cookie 0x" in str(lab.plan().push)
    finally:
        switch.terminate()
        switch.communicate()


def test_a_changed_file_changes_only_that(lab: Lab) -> None:
    lab.switch()
    lab.apply()
    text = lab.file.read_text()
    lab.file.write_text(text.replace("queue_limit: 50", "queue_limit: 40"))
    assert lab.apply().stdout == (
        "s1: 1 entry changed\n"
        "  ~ port_queue port=1: drop_tail(max_waiting=39), was drop_tail(max_waiting=49)\n"
    )


def test_watch_survives_a_switch_that_is_killed(lab: Lab) -> None:
    switch = lab.switch()
    _, metrics = lab.watch()
    until(lambda: is_primary(metrics) and lab.converged(), "watch converges")
    switch.kill()
    switch.wait()
    until(lambda: not is_primary(metrics), "watch sees that the switch is gone")
    lab.switch()
    until(lambda: is_primary(metrics) and lab.converged(), "watch converges again")


def test_a_controller_that_is_killed_leaves_the_switch_as_it_was(lab: Lab) -> None:
    lab.switch()
    controller, metrics = lab.watch()
    until(lambda: is_primary(metrics) and lab.converged(), "watch converges")
    controller.kill()
    controller.wait()
    assert lab.converged()
    _, metrics = lab.watch()
    until(lambda: is_primary(metrics), "another controller takes over")
    assert lab.apply().returncode == 1  # it is primary, and says so


def test_a_second_controller_takes_mastership_and_gives_it_back(lab: Lab) -> None:
    lab.switch()
    _, first = lab.watch()
    until(lambda: is_primary(first), "the first is primary")
    other, second = lab.watch("--election-id", 20)
    until(lambda: is_primary(second) and not is_primary(first), "the second is primary")
    other.kill()
    until(lambda: is_primary(first), "the first is primary again")
    assert lab.converged()


def test_an_interrupt_ends_watch_cleanly(lab: Lab) -> None:
    lab.switch()
    controller, metrics = lab.watch()
    until(lambda: is_primary(metrics), "watch is primary")
    controller.send_signal(signal.SIGINT)
    out, _ = controller.communicate(timeout=DEADLINE_S)
    assert controller.returncode == 0
    assert out.splitlines()[-1].endswith(" s1: primary")
    assert "Traceback" not in out


def lines(process: subprocess.Popen[str]) -> Callable[[], str]:
    """What a process has output so far."""
    output: list[str] = []

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            output.append(line)

    threading.Thread(target=listen, daemon=True).start()
    return lambda: "".join(output)


def rewrite(file: Path, old: str, new: str) -> None:
    """Change a file as editors do: another one takes its place."""
    text = file.read_text()
    assert old in text
    draft = file.with_suffix(".new")
    draft.write_text(text.replace(old, new))
    draft.replace(file)


STAMP = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d "


def test_watch_follows_its_file(lab: Lab) -> None:
    lab.switch()
    process, metrics = lab.watch()
    output = lines(process)
    until(lambda: is_primary(metrics) and lab.converged(), "watch converges")
    rewrite(lab.file, "queue_limit: 50", "queue_limit: 40")
    until(
        lambda: "the file changed" in output() and lab.converged(), "the file's change is written"
    )
    change = r"~ port_queue port=1: drop_tail\(max_waiting=39\), was drop_tail\(max_waiting=49\)"
    read = rf"{STAMP}two_ports.yaml was read again: \n  s1: {change}\n"
    assert re.search(read, output(), re.MULTILINE), output()
    wrote = rf"{STAMP}s1: the file changed, 1 entry written\n  {change}\n"
    assert re.search(wrote, output(), re.MULTILINE), output()
    assert lab.apply().returncode == 1
    assert "edit the file that it follows" in lab.last()
    rewrite(lab.file, "queue_limit: 40", "queue_limit: 1")
    until(lambda: "two_ports.yaml is invalid" in output(), "an error in the file is reported")
    assert "queue_limit: found 1; valid:" in output()
    assert is_primary(metrics)
    rewrite(lab.file, "queue_limit: 1\n", "queue_limit: 40\n")
    until(lambda: "read again: nothing changed" in output(), "the file is as it was")
    process.send_signal(signal.SIGHUP)
    until(lambda: output().count("read again: nothing changed") == 2, "SIGHUP has the file read")


def test_watch_follows_switches_that_come_and_go(lab: Lab) -> None:
    lab.switch()
    process, metrics = lab.watch()
    output = lines(process)
    until(lambda: is_primary(metrics) and lab.converged(), "watch converges")
    rewrite(lab.file, "\n  s1:", "\n  other:")
    until(lambda: "other: primary" in output(), "the switch is kept under its other name")
    assert "\n  s1 was removed\n  other was added\n" in output()
    until(lambda: not is_primary(metrics), "the metrics are of the switch that is")
    rewrite(lab.file, "switches:", "election_id: 12\nswitches:")
    until(lambda: output().count("other: primary") == 2, "it is primary by the other election id")
    assert "other: the connection settings changed" in output()


def test_a_drift_that_watch_repairs_is_logged_with_the_time(lab: Lab) -> None:
    lab.switch()
    process, metrics = lab.watch()
    output = lines(process)
    until(lambda: is_primary(metrics) and lab.converged(), "watch converges")
    assert re.search(
        rf"{STAMP}s1: connected, the pipeline and \d+ entries written$", output(), re.M
    )
    lab.drift()
    until(lambda: "drift repaired" in output(), "what another changed is put back")
    repaired = rf"{STAMP}s1: drift repaired, 1 entry written\n  \+ port_queue port=1: drop_tail"
    assert re.search(repaired, output(), re.MULTILINE), output()
    other = lab.file.with_name("other.yaml")
    other.write_text(lab.file.read_text().replace("queue_limit: 50", "queue_limit: 30"))
    done = lab.start("controller", "apply", other, "--election-id", 20)
    assert done.wait(DEADLINE_S) == 0
    until(lambda: "became primary, 1 entry written" in output(), "what another wrote is undone")


def issue(folder: Path) -> None:
    """An authority, and a certificate of it for 127.0.0.1: ca.pem, its.pem, its.key."""

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1")
    (folder / "san").write_text("subjectAltName=IP:127.0.0.1")
    openssl("req", "-x509", *new_key, "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", "-new", *new_key[:-2], "-subj", "/CN=s", "-keyout", "its.key", "-out", "its.csr")
    signing = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "1")
    openssl("x509", "-req", "-in", "its.csr", *signing, "-extfile", "san", "-out", "its.pem")


@pytest.mark.parametrize("lab", ["embedded"], indirect=True)
@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not here")
def test_certificates_of_both_sides(lab: Lab, tmp_path: Path) -> None:
    issue(tmp_path)
    text = lab.file.read_text()
    files = {"cert": "its.pem", "key": "its.key", "cacert": "ca.pem"}
    lab.switch(*(a for k, v in files.items() for a in (f"--grpc-server-{k}", tmp_path / v)))
    for tls, code in (
        ("", 1),
        ("    tls: {ca: ca.pem}\n", 1),
        ("    tls: {ca: ca.pem, certificate: its.pem, key: its.key}\n", 0),
    ):
        lab.file.write_text(text.replace("    device_id: 1\n", f"    device_id: 1\n{tls}"))
        assert lab.apply().returncode == code, tls
