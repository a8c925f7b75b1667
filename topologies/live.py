"""Run a scenario on this machine's interfaces in real time, like :func:`waymark.run`."""

import json
import signal
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Any

from topologies import runners, state, system
from topologies.state import Process, State
from waymark import trace
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


def check(scenario: Scenario) -> None:
    """Raise a :class:`WaymarkError` unless hosts on interfaces can run the scenario."""
    where = f"scenario {scenario.name} runs in virtual time only"
    if scenario.associations or scenario.changes or scenario.clocks:
        raise WaymarkError(f"{where}: associations, changes of links, clocks")
    for flow in scenario.flows:
        _options(flow, where)


def run(scenario: Scenario, name: str, runner: str, target: str) -> Live:
    """Bring a scenario's network up, run it in real time, and always take it down.

    Args:
        scenario: what to run; its seed decides the random draws of sources and links.
        name: of the network, while it is up.
        runner: ``"netns"`` or ``"mininet"``.
        target: ``"embedded"`` or ``"bmv2"``.

    Raises:
        WaymarkError: not root, the scenario runs in virtual time only, or a part fails.
    """
    system.need("ip")
    check(scenario)
    started = time.monotonic()
    with _up(scenario, name, runner, target) as network:
        hosts = _Hosts(network)
        try:
            traces, sent, arrived = _measure(scenario, hosts)
        finally:
            hosts.end()
        commands = tuple(hosts.commands)
    return Live(traces, sent, arrived, commands, time.monotonic() - started)


@contextmanager
def _up(scenario: Scenario, name: str, runner: str, target: str) -> Generator[State]:
    """The network during the block; signals that end the process wait until it is down."""
    about = Path(f"{name}.yaml")
    with _signals(_interrupt, signal.SIGTERM, signal.SIGHUP):
        network = None
        try:
            network = runners.up(
                scenario.topology, about, name, runner, target, bare=True, seed=scenario.seed
            )
            yield network
        finally:
            if network is not None:
                with _signals(signal.SIG_IGN, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
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


def _restore_sigint() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


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

    def _printed(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")


class _Hosts:
    """The processes at the hosts of a network."""

    def __init__(self, network: State) -> None:
        self.network = network
        self.commands: list[str] = []
        self._waiting: list[_Host] = []

    def start(self, node: str, *arguments: str, begins: bool = False) -> _Host:
        """Start ``waymark host ARGUMENTS`` at a node; with ``begins``, wait for :meth:`begin`."""
        shown = (*arguments, "--at", node)
        self.commands.append(" ".join(("waymark host", *(_quoted(word) for word in shown))))
        more = ("--json", "--real-time", *(("--begin", "-") if begins else ()))
        log = self.network.folder / f"host{len(self.commands)}.log"
        words = runners.host_command(self.network, node, (*arguments, *more))
        with log.open("wb") as out:
            child = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
                # Sinks end by SIGINT, which a shell's background jobs ignore.
                preexec_fn=_restore_sigint,
            )
        self.network.processes.append(Process.of(f"{arguments[0]} at {node}", child.pid))
        self.network.save()
        host = _Host(f"{arguments[0]} at {node}", child, log)
        if begins:
            self._waiting.append(host)
        return host

    def begin(self) -> None:
        """Let all begin together, once all are ready."""
        for host in self._waiting:
            host.wait_for("ready")
        begin_s = time.monotonic() + AHEAD_S
        for host in self._waiting:
            pipe: IO[str] | None = host.child.stdin
            assert pipe is not None
            pipe.write(f"{begin_s!r}\n")
            pipe.close()

    def end(self) -> None:
        """End the processes that still run."""
        state.end([process for process in self.network.processes if " at " in process.name])


def _measure(
    scenario: Scenario, hosts: _Hosts
) -> tuple[tuple["pa.Table", ...], tuple[Sent, ...], tuple[Arrived, ...]]:
    address = derive(scenario.topology).ipv4
    seconds = ("--seconds", f"{scenario.end_s:g}")
    files = [hosts.network.folder / f"flow{index}.parquet" for index in range(len(scenario.flows))]
    receivers: list[_Host] = []
    sinks: list[_Host] = []
    traffic = [*scenario.flows, *scenario.sources]
    for port, one in enumerate(traffic, FIRST_PORT):
        listening = ("--port", str(port))
        if isinstance(one, Flow):
            receivers.append(hosts.start(one.target, "recv", *listening, *_options(one)))
        else:
            sinks.append(hosts.start(one.target, "sink", *listening))
    for host in (*receivers, *sinks):
        host.wait_for("listening")
    senders: list[_Host] = []
    sources: list[_Host] = []
    for port, one in enumerate(traffic, FIRST_PORT):
        to = f"{address[one.target]}:{port}"
        if isinstance(one, Flow):
            more = ("--control", str(one.algorithm), *seconds, "--trace", str(files[len(senders)]))
            options = (*_options(one), *more)
            senders.append(hosts.start(one.source, "send", to, *options, begins=True))
        else:
            stop_s = scenario.end_s if one.stop_s is None else min(one.stop_s, scenario.end_s)
            options = _of_source(one, stop_s, scenario.seed, len(sources))
            sources.append(hosts.start(one.source, "cross", to, *options, begins=True))
    hosts.begin()
    for host in (*senders, *sources, *receivers):
        host.finish(scenario.end_s + END_S)
    for host in sinks:
        host.child.send_signal(signal.SIGINT)
        host.finish(END_S)
    return (
        tuple(trace.read(file) for file in files),
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
        if setting not in (*OPTIONS, "pacing") and wanted[setting] != value:
            raise WaymarkError(f"{where}: its profile has {setting} {wanted[setting]!r}")
    options = [
        word for setting, option in OPTIONS.items() for word in (option, f"{wanted[setting]:g}")
    ]
    return [*options, *(() if flow.profile.pacing else ("--no-pacing",))]


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
