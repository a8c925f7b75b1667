"""Keep switches configured: connect, converge, read counters, and reconnect."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from finsy.grpcutil import GRPCStatusCode

from controller import apply, counters
from controller.apply import Plan, Wanted
from controller.client import Client, Connect, Role, SwitchError, connected, over_grpc
from controller.config import SwitchConfig
from controller.counters import PortCounts
from controller.defaults import INTERVAL_S
from waymark.errors import WaymarkError

RETRY_S = (0.5, 1, 2, 5)
"""Waits before reconnecting; the last one repeats."""

PATIENCE_S = 60.0
"""The longest wait between attempts at a switch that refuses. Each refused pipeline costs it
a compilation."""


_BROKEN = {GRPCStatusCode.UNAVAILABLE, GRPCStatusCode.DEADLINE_EXCEEDED}
"""Errors that need a new connection; other errors are the switch's answer."""


class State(Enum):
    """The state of this controller's relation to a switch."""

    CONNECTING = "connecting"
    PRIMARY = "primary"
    BACKUP = "backup"
    REFUSED = "refused"


@dataclass(frozen=True)
class Snapshot:
    """The last known state of a switch.

    Attributes:
        message: the last error; empty if there is none.
        pushes: number of pipelines that this controller pushed.
        writes: number of entries that it wrote.
        read_at_s: when the counters were read, on the monotonic clock.
        ports: their counters, by number.
        sent_bps: sending rate since the previous reading, in bits per second, by port.
        lost: messages to controllers that the switch lost, by cause, and loops that it truncated.
    """

    name: str
    state: State = State.CONNECTING
    message: str = ""
    pushes: int = 0
    writes: int = 0
    connections: int = 0
    read_at_s: float = 0.0
    ports: Mapping[int, PortCounts] = field(default_factory=dict[int, PortCounts])
    sent_bps: Mapping[int, float] = field(default_factory=dict[int, float])
    lost: Mapping[str, int] = field(default_factory=dict[str, int])


class Cause(Enum):
    """Why something was written to a switch."""

    CONNECTED = "connected"
    PRIMARY = "became primary"
    FILE = "the file changed"
    DRIFT = "drift repaired"


class Watcher:
    """Keeps one switch configured; `snapshot` is its last known state.

    Args:
        switch: its configuration.
        wanted: its desired state.
        changed: called with each new snapshot.
        interval_s: time between two readings.
        connect: opens connections.
    """

    def __init__(
        self,
        switch: SwitchConfig,
        wanted: Wanted,
        changed: Callable[[Snapshot], None] = lambda _: None,
        *,
        interval_s: float = INTERVAL_S,
        connect: Connect = over_grpc,
    ) -> None:
        self.switch = switch
        self.snapshot = Snapshot(wanted.target.name)
        self.wanted = wanted
        self.changed = changed
        self.wrote: Callable[[str, Cause, Plan], None] = _ignore
        """Called with the switch's name, the cause, and the written changes."""
        self._cause = Cause.CONNECTED
        self._adopted = asyncio.Event()
        self._interval_s = interval_s
        self._connect = connect
        self._registers: bool | None = None
        self._refusals = 0
        self._again_s = 0.0
        """Time of the next attempt at a switch that refused, on the monotonic clock."""

    def adopt(self, switch: SwitchConfig, wanted: Wanted) -> None:
        """Switch to another configuration, over the same connection."""
        old = self.wanted
        same = wanted.entries == old.entries and wanted.pipeline.cookie == old.pipeline.cookie
        self._cause = self._cause if same else Cause.FILE
        self.switch, self.wanted = switch, wanted
        self._registers = None
        self._forget_refusals()
        self._adopted.set()

    async def run(self) -> None:
        """Run until cancelled."""
        failures = 0
        while True:
            connections = self.snapshot.connections
            try:
                async with connected(self.wanted.target, self._connect) as client:
                    await self._serve(client)
            except SwitchError as error:
                self._update(state=State.CONNECTING, message=str(error), sent_bps={})
            failures = 0 if self.snapshot.connections > connections else failures + 1
            await asyncio.sleep(RETRY_S[min(failures, len(RETRY_S) - 1)])

    async def _serve(self, client: Client) -> None:
        """While the stream lasts: converge if primary, and read counters."""
        await client.arbitrate()
        self._registers = None
        self._cause = Cause.CONNECTED
        self._forget_refusals()
        self._update(connections=self.snapshot.connections + 1)
        role = asyncio.create_task(client.next_role())
        adopted = asyncio.create_task(self._adopted.wait())
        try:
            while True:
                await self._keep(client)
                await self._count(client)
                done, _ = await asyncio.wait(
                    [role, adopted],
                    timeout=self._interval_s,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if role in done:
                    role.result()  # raises the error that broke the stream
                    role = asyncio.create_task(client.next_role())
                if adopted in done:
                    self._adopted.clear()
                    adopted = asyncio.create_task(self._adopted.wait())
        finally:
            role.cancel()
            adopted.cancel()
            await asyncio.gather(role, adopted, return_exceptions=True)

    async def _keep(self, client: Client) -> None:
        """Write what differs from the desired state. A backup writes nothing."""
        if client.role is not Role.PRIMARY:
            self._forget_refusals()
            self._cause = Cause.PRIMARY
            self._update(state=State.BACKUP, message=f"election id {client.primary_id} is primary")
            return
        if time.monotonic() < self._again_s:
            return
        try:
            wanted = self.wanted
            done = await apply.converge(client, wanted)
        except SwitchError as error:
            if error.code in _BROKEN:
                raise
            if error.code == GRPCStatusCode.PERMISSION_DENIED:
                self._cause = Cause.PRIMARY
                self._update(state=State.BACKUP, message="")  # the notification will follow
                return
            self._refused(error)
            return
        except WaymarkError as error:
            self._refused(error)
            return
        self._forget_refusals()
        if not done.is_empty:
            self.wrote(self.snapshot.name, self._cause, done)
        if wanted is self.wanted:  # no other configuration was adopted meanwhile
            self._cause = Cause.DRIFT
        self._update(
            state=State.PRIMARY,
            message="",
            pushes=self.snapshot.pushes + (done.push is not None),
            writes=self.snapshot.writes + len(done.changes),
        )

    def _refused(self, error: WaymarkError) -> None:
        """Wait longer each time: twice the interval, four times, and so on."""
        self._refusals += 1
        wait_s = min(self._interval_s * 2.0 ** min(self._refusals, 16), PATIENCE_S)
        self._again_s = time.monotonic() + wait_s
        message = f"{error}\n  next attempt in {wait_s:.3g} s"
        self._update(state=State.REFUSED, message=message)

    def _forget_refusals(self) -> None:
        """Let the next attempt happen at once."""
        self._refusals, self._again_s = 0, 0.0

    async def _count(self, client: Client) -> None:
        """Read the counters; a switch without the program has none."""
        schema, ports = self.wanted.pipeline.schema, list(self.switch.ports)
        try:
            if self._registers is None:
                self._registers = await counters.has_registers(client, schema, ports)
            counts = await counters.read_counts(client, schema, ports, registers=self._registers)
            losses = await counters.read_losses(client)
        except SwitchError as error:
            if error.code in _BROKEN:
                raise
            self._update(message=self.snapshot.message or str(error), ports={}, sent_bps={})
            return
        counts = counters.with_losses(counts, self.snapshot.ports)
        if losses is not None:
            counts = counters.with_causes(counts, losses, self.snapshot.ports)
        now_s = time.monotonic()
        sent_bps = _rates(self.snapshot, counts, now_s)
        lost: Mapping[str, int] = {} if losses is None else losses.switch
        self._update(ports=counts, lost=lost, read_at_s=now_s, sent_bps=sent_bps)

    def _update(self, **changes: object) -> None:
        self.snapshot = replace(self.snapshot, **changes)  # pyright: ignore
        self.changed(self.snapshot)


def _ignore(_name: str, _cause: Cause, _plan: Plan) -> None:
    pass


def _rates(before: Snapshot, counts: Mapping[int, PortCounts], now_s: float) -> dict[int, float]:
    """Bits per second that each port sent since ``before``, without reset counters."""
    elapsed_s = now_s - before.read_at_s
    return {
        port: (count.sent_octets - before.ports[port].sent_octets) * 8 / elapsed_s
        for port, count in counts.items()
        if port in before.ports and count.sent_octets >= before.ports[port].sent_octets
    }
