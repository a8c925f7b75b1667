"""Networks that break, and commands that are interrupted: their messages, and what is left."""

from __future__ import annotations

import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT, Cli
from machine import Machine, machine

from waymark import WaymarkError
from waymark.topology import Topology

NETWORK = """\
hosts: {a: {}, b: {}, c: {}, d: {}}
switches: {r1: {}, r2: {}}
links:
  - {ends: [a, r1], rate: 100 Mb/s, delay: 1 ms}
  - {ends: [b, r1], rate: 100 Mb/s, delay: 1 ms}
  - {ends: [r1, r2], rate: 100 Mb/s, delay: 1 ms}
  - {ends: [c, r2], rate: 100 Mb/s, delay: 1 ms}
  - {ends: [d, r1], rate: 100 Mb/s, delay: 1 ms}
"""

SMALL = """\
hosts: {a: {}, b: {}}
switches: {r1: {}}
links:
  - {ends: [a, r1], rate: 100 Mb/s, delay: 1 ms}
  - {ends: [b, r1], rate: 100 Mb/s, delay: 1 ms}
"""

FOLDER = "/run/waymark"


@pytest.fixture
def small_file(tmp_path: Path) -> str:
    file = tmp_path / "small.yaml"
    file.write_text(SMALL)
    return str(file)


@pytest.fixture
def large_file(tmp_path: Path) -> str:
    file = tmp_path / "large.yaml"
    file.write_text(NETWORK)
    return str(file)


@pytest.fixture(name="here")
def _here() -> Iterator[Machine]:
    """A machine that is as it was at the end."""
    with machine() as made:
        yield made
        assert made.changes() == []


def up(here: Machine, file: str, *options: str) -> None:
    done = here.waymark("up", file, *options)
    assert done.returncode == 0, done.stderr


def down(here: Machine) -> None:
    done = here.waymark("down")
    assert done.returncode == 0, done.stderr
    assert here.changes() == []


def amiss(here: Machine) -> list[str]:
    """What ``waymark status`` finds dead, which its exit code tells too."""
    status = here.waymark("status")
    found = [
        line.removeprefix("  DEAD      ")
        for line in status.stdout.splitlines()
        if line.startswith("  DEAD")
    ]
    assert status.returncode == (1 if found else 0)
    return found


def pid_of(here: Machine, title: str) -> int:
    """The process whose command line has ``title``."""
    return int(here.run("pgrep", "-f", "--", title).stdout.split()[0])


def reaches(here: Machine, host: str, address: str) -> bool:
    at = here.run("ip", "netns", "list").stdout
    namespace = next(
        line.split()[0] for line in at.splitlines() if line.split()[0].endswith(f"-{host}")
    )
    ping = ("ping", "-c", "1", "-W", "1", address)
    return here.run("ip", "netns", "exec", namespace, *ping).returncode == 0


@pytest.mark.parametrize("runner", ["netns", "mininet"])
@pytest.mark.parametrize(
    "gone", ["rm -rf /run/waymark", "echo '{' > /run/waymark/small/state.json"]
)
def test_a_network_whose_files_are_gone_is_found(
    here: Machine, small_file: str, runner: str, gone: str
) -> None:
    if runner == "mininet" and shutil.which("mn") is None:
        pytest.skip("mn is not on PATH")
    assert here.waymark("up", small_file, "--runner", runner).returncode == 0
    here.run("sh", "-c", gone)
    status = here.waymark("status")
    assert status.returncode == 1
    assert "DEAD      its files are missing: /run/waymark/small" in status.stdout
    assert "waymark down small, then up" in status.stdout
    again = here.waymark("up", small_file)
    assert "small is already up; take it down first: waymark down small" in again.stderr
    if runner == "netns":
        ping = here.waymark("exec", "a", "ping", "-c", "1", "10.0.0.2")
        assert " 1 received" in ping.stdout, ping.stdout + ping.stderr
    down = here.waymark("down")
    assert (down.returncode, down.stdout) == (0, "small is down\n"), down.stderr


def test_each_change_of_the_machine_shows(here: Machine) -> None:
    changes = {
        "namespace": ("ip netns add left", "ip netns del left"),
        "link": ("ip link add left type veth peer name over", "ip link del left"),
        "sysctl": ("sysctl -qw net.ipv4.ip_forward=1", "sysctl -qw net.ipv4.ip_forward=0"),
        "file": ("touch /run/left", "rm /run/left"),
        "mount": ("mount -t tmpfs left /mnt", "umount /mnt; rm -rf /run/mount"),
        "process": ("sh -c 'sleep 1000 >/dev/null 2>&1 & '", "pkill -x -f 'sleep 1000'"),
    }
    for what, (do, undo) in changes.items():
        here.run("sh", "-c", do)
        assert any(line.startswith(f"+ {what}: ") for line in here.changes(0)), what
        here.run("sh", "-c", undo)
        assert here.changes() == []


def test_a_failure_is_reported_and_the_rest_continues(here: Machine, large_file: str) -> None:
    up(here, large_file)
    assert amiss(here) == []
    assert reaches(here, "a", "10.0.0.3")
    here.run("ip", "-n", "wm-large", "link", "del", "r1-3")
    assert amiss(here) == ["link r1 - r2: no interface r1-3, r1-3w"]
    assert reaches(here, "a", "10.0.0.2")
    assert not reaches(here, "a", "10.0.0.3")
    here.run("ip", "netns", "del", "wm-large-d")
    here.kill(pid_of(here, "--device-id 2"))
    time.sleep(0.2)
    assert amiss(here) == [
        f"r2 has ended; see {FOLDER}/large/r2.log",
        "the namespace of d is gone",
        "link r1 - r2: no interface r1-3, r1-3w",
        "link d - r1: no interface dw",
    ]
    assert reaches(here, "a", "10.0.0.2")
    here.run("ip", "-n", "wm-large", "link", "set", "r1-2", "down")
    assert "link b - r1: r1-2, r1-2w down" in amiss(here)
    down(here)
    again = here.waymark("down")
    assert again.returncode == 2
    assert again.stderr == "error: no network is up; see: waymark up --help\n"


def test_traffic_continues_without_a_controller_and_another_one_reconciles(
    here: Machine, small_file: str
) -> None:
    up(here, small_file)
    control = ("exec", "r1", sys.executable, "-m", "waymark", "controller")
    file = f"{FOLDER}/small/controller.yaml"
    words = (sys.executable, "-m", "waymark", *control, "watch", file)
    with here.running(*words) as controller:
        controller.until("r1: primary")
        second = here.waymark(*control, "watch", file)
        assert second.returncode == 2
        assert "127.0.0.1:9464" in second.stderr
        assert "ddress already in use" in second.stderr
        with here.running(
            *here.waymark_words("exec", "a", "ping", "-i", "0.1", "10.0.0.2")
        ) as ping:
            ping.until("icmp_seq=3 ")
            controller.kill()
            controller.wait()
            ping.until("icmp_seq=15 ")
            ping.kill(signal.SIGINT)
            _, told = ping.wait()
        assert " 0% packet loss" in told
    assert here.waymark(*control, "plan", file).stdout == "r1: nothing to do\n"
    # A route is lost, as if another process had changed it.
    fewer = here.path(file).read_text().replace("10.0.0.2/32", "10.0.0.77/32")
    here.path(f"{FOLDER}/small/other.yaml").write_text(fewer)
    assert here.waymark(*control, "apply", f"{FOLDER}/small/other.yaml").returncode == 0
    assert not reaches(here, "a", "10.0.0.2")
    with here.running(*words) as controller:
        controller.until("r1: primary")
        assert reaches(here, "a", "10.0.0.2")
        controller.kill(signal.SIGTERM)
        assert controller.wait()[0] == 0
    down(here)


def test_a_transfer_whose_other_end_is_killed_says_so(here: Machine, small_file: str) -> None:
    up(here, small_file, "--bare")
    receive = here.waymark_words("host", "recv", "--at", "b", "--patience", "2")
    send = here.waymark_words(
        *("host", "send", "10.0.0.2", "--at", "a", "--patience", "2", "--interval", "0.2")
    )
    with here.running(*receive) as receiver, here.running(*send) as sender:
        sender.until("Mb/s")
        receiver.kill()
        code, told = sender.wait()
        assert code == 1
        assert "\nerror: 10.0.0.2 sends no acknowledgements for " in told
        assert told.endswith(" octets\n")
    with here.running(*receive) as receiver:
        receiver.until("listening")
        with here.running(*send) as sender:
            sender.until("Mb/s")
            sender.kill()
        code, told = receiver.wait()
        assert code == 1
        assert "\nerror: the sender sends nothing for " in told
    # The next client is served.
    with here.running(*receive) as receiver:
        receiver.until("listening")
        done = here.run(*send, "--octets", "100000")
        assert done.returncode == 0, done.stderr
        assert receiver.wait()[0] == 0
    down(here)


SENDER = ("host", "send", "10.9.0.2", "-i", "near", "--address", "10.9.0.1/24")

NO_ARP: tuple[str, ...] = ()
"""There is no ARP answer for the receiver's address."""

NO_SYN = ("--address", "10.9.0.1/32", "--gateway", "10.9.0.3", "--gateway-mac", "02:00:00:00:00:03")
"""Packets leave, and are not answered."""


@pytest.fixture
def cable(here: Machine) -> Iterator[Machine]:
    """A machine with a cable: ``near`` is for a sender, ``far`` is in the namespace ``peer``."""
    for command in (
        "ip netns add peer",
        "ip link add near type veth peer name far netns peer",
        "ip link set near up",
        "ip -n peer link set far up",
    ):
        done = here.run(*command.split())
        assert done.returncode == 0, done.stderr
    yield here
    assert here.run("ip", "link", "del", "near").returncode == 0
    assert here.run("ip", "netns", "del", "peer").returncode == 0


@pytest.mark.parametrize("silent", [NO_ARP, NO_SYN], ids=["arp", "syn"])
@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        (("--patience", "4"), "4 s (--patience)"),
        (("--seconds", "3", "--octets", "1000"), "3 s (--seconds)"),
    ],
    ids=["patience", "seconds"],
)
def test_a_sender_that_nobody_answers_says_so_and_gives_up(
    cable: Machine, silent: tuple[str, ...], limits: tuple[str, ...], limit: str
) -> None:
    words = cable.waymark_words(*SENDER, *silent, *limits)
    begun = time.monotonic()
    with cable.running(*words) as sender:
        hint = "is `waymark host recv` running there?"
        sender.until(f"no answer from 10.9.0.2 port 5001 yet: {hint} giving up after {limit}\n")
        noticed = time.monotonic()
        code, told = sender.wait()
    ended = time.monotonic()
    assert code == 1
    lasted = limit.split(" (")[0]
    assert told.endswith(f"\nerror: no answer from 10.9.0.2 port 5001 for {lasted}: {hint}\n")
    # What a busy machine needs to start the command comes on top.
    assert noticed - begun < 3 + 5
    assert ended - noticed < float(lasted.split()[0]) - 2 + 3


def test_a_sender_gives_up_at_once_where_patience_is_short(cable: Machine) -> None:
    done = cable.waymark(*SENDER, "--patience", "0.5")
    assert done.returncode == 1
    assert done.stdout == ""
    expected = "no answer from 10.9.0.2 port 5001 for 0.5 s: is `waymark host recv` running there?"
    assert done.stderr == f"error: {expected}\n"


def test_a_sender_that_is_refused_says_so(cable: Machine) -> None:
    address = ("ip", "-n", "peer", "addr", "add", "10.9.0.2/24", "dev", "far")
    assert cable.run(*address).returncode == 0
    done = cable.waymark(*SENDER, "--patience", "60", "--seconds", "60", timeout=30)
    assert done.returncode == 1
    refused = "10.9.0.2 port 5001: the connection was refused"
    assert done.stderr == f"error: {refused}: is `waymark host recv` running there?\n"


@pytest.mark.parametrize(
    ("number", "at"),
    [
        (signal.SIGINT, "state.json"),
        (signal.SIGTERM, "r1.log"),
        (signal.SIGINT, "controller.yaml"),
    ],
)
def test_up_that_is_interrupted_leaves_nothing(
    here: Machine, small_file: str, number: signal.Signals, at: str
) -> None:
    with here.running(*here.waymark_words("up", small_file)) as coming:
        wait_for(here.path(f"{FOLDER}/small/{at}"))
        coming.kill(number)
        coming.kill(number)  # again, impatiently
        code, told = coming.wait()
        assert told == "interrupted: small is not up; everything was removed\n"
        assert code in (130, -number)  # the second one may come when all is done


@pytest.mark.parametrize("at", ["state.json", "r1.log"])
def test_up_that_is_killed_is_reported_and_can_be_taken_down(
    here: Machine, small_file: str, at: str
) -> None:
    with here.running(*here.waymark_words("up", small_file)) as coming:
        wait_for(here.path(f"{FOLDER}/small/{at}"))
        if at == "state.json":  # later it may be up before `status` looks
            assert here.waymark("status").stdout == "small is coming up\n"
        coming.kill()
        coming.wait()
    partly = "small is partly up: `waymark up` was killed; waymark down small\n"
    status = here.waymark("status")
    assert (status.returncode, status.stdout) == (1, partly)
    assert "small is already up" in here.waymark("up", small_file).stderr
    down(here)


def test_so_it_is_under_mininet(here: Machine, small_file: str) -> None:
    if shutil.which("mn") is None:
        pytest.skip("mn is not on PATH")
    words = here.waymark_words("up", small_file, "--runner", "mininet")
    with here.running(*words) as coming:
        wait_for(here.path(f"{FOLDER}/small/r1.log"))
        coming.kill(signal.SIGTERM)
        assert coming.wait()[0] == 130
    assert here.changes() == []
    with here.running(*words) as coming:
        wait_for(here.path(f"{FOLDER}/small/wires.log"))
        coming.kill()
        coming.wait()
    down(here)
    up(here, small_file, "--runner", "mininet")
    here.kill(pid_of(here, "--device-id 1"))
    here.kill(pid_of(here, "topologies.mininet_net"))
    time.sleep(0.2)
    assert {told.partition(" ")[0] for told in amiss(here)} >= {"r1", "mininet"}
    down(here)


def test_down_ends_an_up_that_is_under_way(here: Machine, small_file: str) -> None:
    with here.running(*here.waymark_words("up", small_file)) as coming:
        wait_for(here.path(f"{FOLDER}/small/wires.json"))
        down(here)
        assert coming.wait()[0] == 130


def test_networks_stand_side_by_side(here: Machine, small_file: str, tmp_path: Path) -> None:
    up(here, small_file)
    other = tmp_path / "other.yaml"
    other.write_text(SMALL)
    up(here, str(other))
    for network in ("small", "other"):
        words = ("exec", "--network", network, "a", "ping", "-c", "1", "10.0.0.2")
        assert here.waymark(*words).returncode == 0
    which = here.waymark("exec", "a", "true")
    assert which.returncode == 2
    assert (
        which.stderr == "error: several networks are up (other, small); expected --network NAME\n"
    )
    which = here.waymark("down")
    assert which.stderr.endswith("(other, small); expected waymark down NAME, or --all\n")
    assert here.waymark("down", "small").stdout == "small is down\n"
    assert reaches(here, "a", "10.0.0.2")
    assert here.waymark("up", str(other), "--name", "other").returncode == 2
    down(here)


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.01)
    time.sleep(0.03)


@pytest.mark.parametrize("words", [("up", "FILE"), ("down",), ("status",), ("exec", "a", "true")])
def test_lack_of_root_is_reported_at_once(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...]
) -> None:
    from topologies import marks, state

    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr(state, "FOLDER", tmp_path)
    monkeypatch.setattr(marks, "found", list)
    one = state.State("one", "one.yaml", "netns", "embedded", hosts=["a"])
    one.save()
    file = ROOT / "topologies" / "bottleneck.yaml"
    told = cli(*(file if word == "FILE" else word for word in words))
    assert told.code == 2
    assert told.err == "error: namespaces and interfaces need root: run this with sudo\n"


@pytest.mark.parametrize(
    ("options", "program", "hint"),
    [
        (("--target", "bmv2"), "simple_switch_grpc", ""),
        (("--runner", "mininet"), "mn", " (Debian: apt-get install mininet)"),
        ((), "ethtool", " (Debian: apt-get install ethtool)"),
    ],
)
def test_a_program_that_is_not_there_is_reported(
    cli: Cli,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    options: tuple[str, ...],
    program: str,
    hint: str,
) -> None:
    from topologies import state

    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(state, "FOLDER", tmp_path / "run")
    monkeypatch.setattr("shutil.which", lambda name: None if name == program else f"/bin/{name}")
    told = cli("up", ROOT / "topologies" / "bottleneck.yaml", *options)
    assert told.code == 2
    assert told.err == f"error: {program} is not on PATH{hint}\n"
    assert not (tmp_path / "run").exists()


def test_what_no_runner_can_do_is_reported(cli: Cli) -> None:
    told = cli("up", ROOT / "topologies" / "bottleneck.yaml", "--runner", "docker")
    assert told.code == 2
    assert "'docker' is not one of 'netns', 'mininet'" in told.err


GOOD = """\
hosts:
  a: {}
  b: {}
switches:
  r1: {}
links:
  - {ends: [a, r1], rate: 1 Mb/s, delay: 1 ms}
  - {ends: [b, r1], rate: 1 Mb/s, delay: 1 ms}
"""


@pytest.mark.parametrize(
    ("of", "to", "told"),
    [
        ("  r1: {}", "  r1: {", "x.yaml:7: not YAML: "),
        ("  b: {}", "  a: {}", "x.yaml:3: found duplicate key"),
        ("switches:", "switch:", "x.yaml:4: switch: unknown key, did you mean switches?; valid: "),
        (
            "  a: {}",
            "  a: {ip: 10.0.0.1}",
            "x.yaml:2: hosts.a.ip: unknown key; valid: address, mac",
        ),
        ("  a: {}", "  a: {mac: 1}", "x.yaml:2: hosts.a.mac: found 1; valid: a MAC address"),
        (
            "1 Mb/s",
            "1 MB/s",
            "x.yaml:7: links.0.rate: found '1 MB/s' (not a rate); valid: bits per",
        ),
        (
            "1 Mb/s",
            "0 Mb/s",
            "x.yaml:7: links.0.rate: found '0 Mb/s' (less than 1 b/s); valid: bits",
        ),
        (
            "delay: 1 ms",
            "delay: soon",
            "x.yaml:7: links.0.delay: found 'soon' (not a time); valid:",
        ),
        (
            "delay: 1 ms",
            "delay: 1 ms, queue: 1",
            "x.yaml:7: links.0.queue: found 1; valid: 2 or more packets",
        ),
        (
            "delay: 1 ms",
            "delay: 1 ms, loss: 2",
            "x.yaml:7: links.0.loss: found 2; valid: a probability, 0 to 1",
        ),
        (", delay: 1 ms", "", "x.yaml:7: links.0.delay: missing; valid: a time with a unit"),
        ("[a, r1]", "[a, r9]", "x.yaml:7: links.0.ends: found 'r9', no such node; valid: a, b, r1"),
        ("[b, r1]", "[a, r1]", "x.yaml: two links a->r1"),
        ("  - {ends: [b, r1], rate: 1 Mb/s, delay: 1 ms}\n", "", "x.yaml: host b has no link"),
        (
            "  r1: {}",
            "  r1: {feedback: [red]}",
            "x.yaml:5: switches.r1.feedback.0: found 'red'; valid: a list of any of aqt",
        ),
    ],
)
def test_errors_in_a_topology_are_reported_with_their_place(
    tmp_path: Path, of: str, to: str, told: str
) -> None:
    file = tmp_path / "x.yaml"
    assert of in GOOD
    file.write_text(GOOD.replace(of, to, 1))
    with pytest.raises(WaymarkError) as caught:
        Topology.load(file)
    assert told in str(caught.value)
