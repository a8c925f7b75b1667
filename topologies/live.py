"""Run a scenario on this machine's interfaces in real time, like :func:`waymark.run`."""

import json
import math
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, Literal

from topologies import linux_flows, runners, state, system
from topologies.state import Process, State
from waymark import kernel, kernel_trace, trace
from waymark.addressing import derive
from waymark.errors import WaymarkError
from waymark.live import Arrived, Sent
from waymark.scenario import Scenario
from waymark.traffic import MODERN, Cbr, Flow, ModernProfile, Source

if TYPE_CHECKING:
    import pyarrow as pa

FIRST_PORT = 1024
"""The first port of flows and sources, as in virtual time; the others follow."""

AHEAD_S = 0.5
"""Time from the moment when all hosts are ready to their common start."""

START_S = 60.0
"""Timeout for a host to be ready."""

END_S = 10.0
"""Timeout for a host to end after the run."""

OPTIONS = {
    "packet_octets": "--mtu",
    "window": "--window",
    "initial_window": "--initial-window",
    "delayed_ack_s": "--delayed-ack",
}
"""Options of ``waymark host send`` and ``recv``, by the setting of a profile."""

SWITCHES = {"pacing": "--no-pacing", "ecn_option": "--no-ecn-option"}
"""Options that turn a setting of a profile off."""


@dataclass(frozen=True)
class Live:
    """A run on interfaces.

    Attributes:
        traces: each flow's sender at every change.
        sent, arrived: packets of each source.
        commands: the commands that ran in the network.
        wall_s: duration, including the time to bring the network up and down.
    """

    traces: tuple["pa.Table", ...]
    sent: tuple[Sent, ...]
    arrived: tuple[Arrived, ...]
    commands: tuple[str, ...]
    wall_s: float


Hosts = Literal["waymark", "kernel"]
"""The flows' TCP: that of ``waymark host``, or Linux's own with ``waymark kernel``."""


def check(scenario: Scenario, hosts: Hosts = "waymark") -> None:
    """Raise a :class:`WaymarkError` unless hosts on interfaces can run the scenario."""
    where = f"scenario {scenario.name} runs in virtual time only"
    if scenario.associations or scenario.changes or scenario.clocks:
        raise WaymarkError(f"{where}: associations, changes of links, clocks")
    for flow in scenario.flows:
        _options(flow, where)
    if hosts == "kernel":
        linux_flows.check(scenario)


def run(scenario: Scenario, name: str, runner: str, target: str, hosts: Hosts = "waymark") -> Live:
    """Bring a scenario's network up, run it in real time, and always take it down.

    Args:
        scenario: what to run; its seed decides the random draws of sources and links.
        name: of the network, while it is up.
        runner: ``"netns"`` or ``"mininet"``.
        target: ``"embedded"`` or ``"bmv2"``.
        hosts: the flows' TCP; the ends of cross traffic are in user space.

    Raises:
        WaymarkError: not root, the scenario runs in virtual time only, or a part fails.
    """
    system.need("ip")
    check(scenario, hosts)
    started = time.monotonic()
    with _up(scenario, name, runner, target, bare=hosts == "waymark") as network:
        running = HostProcesses(network)
        try:
            if hosts == "kernel":
                linux_flows.prepare(scenario, network)
                traces, sent, arrived = _measure(scenario, running, _InLinux(scenario, running))
            else:
                flows = _InUserSpace(scenario, running)
                traces, sent, arrived = _measure(scenario, running, flows)
        finally:
            running.end()
        commands = tuple(running.commands)
    return Live(traces, sent, arrived, commands, time.monotonic() - started)


@contextmanager
def _up(scenario: Scenario, name: str, runner: str, target: str, *, bare: bool) -> Generator[State]:
    """The network during the block; signals that end the process wait until it is down."""
    about = Path(f"{name}.yaml")
    with _signals(_interrupt, signal.SIGTERM, signal.SIGHUP):
        network = None
        try:
            network = runners.up(
                scenario.topology, about, name, runner, target, bare=bare, seed=scenario.seed
            )
            yield network
        finally:
            if network is not None:
                with _signals(signal.SIG_IGN, *system.ENDING):
                    runners.down(network)


@contextmanager
def _signals(handler: Any, *numbers: signal.Signals) -> Generator[None]:
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextmanager
def _deferred(*numbers: signal.Signals) -> Generator[None]:
    """Signals that arrive during the block take effect after it.

    Processes that the block starts have the signals' default actions: sinks end by SIGINT, which a
    shell's background jobs ignore.
    """
    arrived: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        arrived.append(number)

    with _signals(note, *numbers):
        yield
    for number in arrived:
        signal.raise_signal(number)


class _Host:
    """A process at a host of the network."""

    def __init__(self, what: str, child: "subprocess.Popen[str]", log: Path) -> None:
        self.what, self.child, self.log = what, child, log

    def wait_for(self, word: str) -> None:
        """Wait until it prints ``word``."""
        deadline = time.monotonic() + START_S
        while word not in self._printed():
            if self.child.poll() is not None or time.monotonic() > deadline:
                raise WaymarkError(f"{self.what} is not ready: {self._printed().strip()}")
            time.sleep(0.02)

    def finish(self, within_s: float) -> None:
        """Wait until it ends by itself, successfully."""
        try:
            code = self.child.wait(within_s)
        except subprocess.TimeoutExpired:
            raise WaymarkError(f"{self.what} has not ended: {self._printed().strip()}") from None
        if code != 0:
            raise WaymarkError(f"{self.what} has failed: {self._printed().strip()}")

    def last(self) -> dict[str, Any]:
        """The last line of JSON that it printed."""
        lines = [line for line in self._printed().splitlines() if line.startswith("{")]
        if not lines:
            raise WaymarkError(f"{self.what} printed no result: {self._printed().strip()}")
        return json.loads(lines[-1])

    def stop_and_read(self) -> list[dict[str, Any]]:
        """End it, and read the lines of JSON that it printed."""
        self.child.kill()
        self.child.wait()
        whole = self._printed().rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines() if line.startswith("{")]

    def _printed(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")


class HostProcesses:
    """The processes at the hosts of a network."""

    def __init__(self, network: State) -> None:
        self.network = network
        self.commands: list[str] = []
        self._waiting: list[_Host] = []

    def start(self, node: str, *arguments: str, begins: bool = False) -> _Host:
        """Start ``waymark host ARGUMENTS`` at a node; with ``begins``, wait for :meth:`begin`."""
        shown = ("waymark", "host", *arguments, "--at", node)
        more = ("--json", "--real-time", *(("--begin", "-") if begins else ()))
        words = runners.host_command(self.network, node, (*arguments, *more))
        return self.launch(f"{arguments[0]} at {node}", words, shown, begins=begins)

    def start_in_linux(self, node: str, *arguments: str, begins: bool = False) -> _Host:
        """Start an end of a flow in Linux's TCP, as :meth:`start` does."""
        command = ("-m", "topologies.linux_ends", *arguments)
        words = [*runners.prefix(self.network, node), sys.executable, *command]
        shown = ("waymark", "exec", node, "python", *command)
        return self.launch(f"{arguments[0]} at {node}", words, shown, begins=begins)

    def launch(
        self, what: str, words: Sequence[str], shown: Sequence[str], *, begins: bool = False
    ) -> _Host:
        """Start a command, which is recorded as ``shown``."""
        self.commands.append(" ".join(_quoted(word) for word in shown))
        log = self.network.folder / f"host{len(self.commands)}.log"
        # An interrupt between the two would leave a process that nobody ends.
        with log.open("wb") as out, _deferred(*system.ENDING):
            child = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
            self.network.processes.append(Process.of(what, child.pid))
            self.network.save()
        host = _Host(what, child, log)
        if begins:
            self._waiting.append(host)
        return host

    def begin(self) -> float:
        """Let all begin together when all are ready. Returns that time, by ``time.monotonic()``."""
        for host in self._waiting:
            host.wait_for("ready")
        begin_s = time.monotonic() + AHEAD_S
        for host in self._waiting:
            pipe: IO[str] | None = host.child.stdin
            assert pipe is not None
            pipe.write(f"{begin_s!r}\n")
            pipe.close()
        return begin_s

    def end(self) -> None:
        """End the processes that still run."""
        state.end([process for process in self.network.processes if " at " in process.name])


class _InUserSpace:
    """Flows between ``waymark host send`` and ``recv``."""

    def __init__(self, scenario: Scenario, hosts: HostProcesses) -> None:
        self._seconds, self._hosts = ("--seconds", f"{scenario.end_s:g}"), hosts
        self._files: list[Path] = []

    def receive(self, flow: Flow, port: int) -> _Host:
        """Start the receiver."""
        return self._hosts.start(flow.target, "recv", "--port", str(port), *_options(flow))

    def send(self, flow: Flow, to: str, port: int) -> _Host:
        """Start the sender."""
        file = self._hosts.network.folder / f"flow{len(self._files)}.parquet"
        self._files.append(file)
        more = ("--control", str(flow.algorithm), *self._seconds, "--trace", str(file))
        options = (*_options(flow), *more)
        return self._hosts.start(flow.source, "send", f"{to}:{port}", *options, begins=True)

    def traces(self, _begin_s: float) -> "tuple[pa.Table, ...]":
        """The senders' records."""
        return tuple(trace.read(file) for file in self._files)


class _InLinux:
    """Flows in Linux's own TCP, whose controls export their events."""

    def __init__(self, scenario: Scenario, hosts: HostProcesses) -> None:
        self._seconds, self._hosts = scenario.end_s, hosts
        self._ports: list[int] = []
        if scenario.flows:
            recorded_s = math.ceil(scenario.end_s + START_S)
            words = (kernel.loader(), "trace", str(recorded_s))
            self._recorder = hosts.launch("recorder at all hosts", words, words)
            self._recorder.wait_for(kernel.READY)

    def receive(self, flow: Flow, port: int) -> _Host:
        """Start the receiver."""
        return self._hosts.start_in_linux(flow.target, "recv", str(port))

    def send(self, flow: Flow, to: str, port: int) -> _Host:
        """Start the sender."""
        self._ports.append(port)
        words = ("send", to, str(port), f"{self._seconds:g}")
        return self._hosts.start_in_linux(flow.source, *words, begins=True)

    def traces(self, begin_s: float) -> "tuple[pa.Table, ...]":
        """The events that the controls exported."""
        if not self._ports:
            return ()
        events = self._recorder.stop_and_read()
        chosen = (kernel_trace.of_connection(events, one, self._seconds) for one in self._ports)
        return tuple(kernel_trace.as_trace(one, begin_s).table() for one in chosen)


def _measure(
    scenario: Scenario, hosts: HostProcesses, flows: _InUserSpace | _InLinux
) -> tuple[tuple["pa.Table", ...], tuple[Sent, ...], tuple[Arrived, ...]]:
    address = derive(scenario.topology).ipv4
    receivers: list[_Host] = []
    sinks: list[_Host] = []
    traffic = [*scenario.flows, *scenario.sources]
    for port, one in enumerate(traffic, FIRST_PORT):
        if isinstance(one, Flow):
            receivers.append(flows.receive(one, port))
        else:
            sinks.append(hosts.start(one.target, "sink", "--port", str(port)))
    for host in (*receivers, *sinks):
        host.wait_for("listening")
    senders: list[_Host] = []
    sources: list[_Host] = []
    for port, one in enumerate(traffic, FIRST_PORT):
        to = str(address[one.target])
        if isinstance(one, Flow):
            senders.append(flows.send(one, to, port))
        else:
            stop_s = scenario.end_s if one.stop_s is None else min(one.stop_s, scenario.end_s)
            options = _of_source(one, stop_s, scenario.seed, len(sources))
            words = ("cross", f"{to}:{port}", *options)
            sources.append(hosts.start(one.source, *words, begins=True))
    begin_s = hosts.begin()
    for host in (*senders, *sources, *receivers):
        host.finish(scenario.end_s + END_S)
    for host in sinks:
        host.child.send_signal(signal.SIGINT)
        host.finish(END_S)
    return (
        flows.traces(begin_s),
        tuple(Sent(**host.last()) for host in sources),
        tuple(Arrived(**host.last()) for host in sinks),
    )


def _options(flow: Flow, where: str = "") -> list[str]:
    """A flow's settings as options; ``where`` starts the error for settings without an option."""
    plain = Flow(flow.source, flow.target, flow.algorithm)
    for one in fields(flow):
        if one.name in ("profile", "trace"):
            continue
        if getattr(flow, one.name) != getattr(plain, one.name):
            raise WaymarkError(f"{where}: flow {flow.source}->{flow.target} sets {one.name}")
    if not isinstance(flow.algorithm, str):
        raise WaymarkError(
            f"{where}: flow {flow.source}->{flow.target} has a congestion control in Python, "
            "which runs in virtual time only"
        )
    if not isinstance(flow.profile, ModernProfile):
        raise WaymarkError(
            f"{where}: flow {flow.source}->{flow.target} has an ns-2 profile; hosts on "
            "interfaces have a ModernProfile"
        )
    wanted = asdict(flow.profile)
    for setting, value in asdict(MODERN).items():
        if setting not in {**OPTIONS, **SWITCHES} and wanted[setting] != value:
            raise WaymarkError(f"{where}: its profile has {setting} {wanted[setting]!r}")
    options = [
        word for setting, option in OPTIONS.items() for word in (option, f"{wanted[setting]:g}")
    ]
    return [*options, *(option for setting, option in SWITCHES.items() if not wanted[setting])]


def _of_source(source: Source, stop_s: float, seed: int, number: int) -> list[str]:
    """A source as options, with all digits of the settings that decide its random draws."""
    options = [
        *("--rate", f"{source.rate_bps!r} b/s", "--packet-octets", str(source.packet_octets)),
        *("--quiet", f"{source.start_s!r} s", "--seconds", f"{stop_s!r}"),
        *("--seed", str(seed), "--number", str(number)),
    ]
    if isinstance(source, Cbr):
        return options
    options += ["--on", f"{source.mean_on_s!r} s", "--off", f"{source.mean_off_s!r} s"]
    return [*options, *(("--shape", repr(source.shape)) if source.distribution == "pareto" else ())]


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word
