"""One connection to a switch: arbitration, pipeline, entries, counters (P4Runtime 1.4).

Nothing here retries: the caller closes a failed connection and opens a new one.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from finsy.grpcutil import GRPCCredentialsTLS, GRPCStatusCode
from finsy.p4client import P4Client, P4ClientError
from finsy.proto import U128, p4r

from controller import codec, diff
from controller.config import SwitchConfig
from controller.diff import Change, Kind
from controller.pipeline import Pipeline, cookie_of
from controller.replication import DefaultAction, Held
from waymark import files
from waymark.errors import WaymarkError

HANDSHAKE_S = 10.0
"""Timeout for the answer to an arbitration."""

BACKUPS = 8
"""Maximum number of backup controllers with the same configured election id."""

UPDATES_PER_WRITE = 4096
"""Keeps a write below gRPC's default limit of 4 MiB per message."""

_NO_PIPELINE = {GRPCStatusCode.FAILED_PRECONDITION, GRPCStatusCode.NOT_FOUND}

_KINDS = {
    Kind.INSERT: p4r.Update.INSERT,
    Kind.MODIFY: p4r.Update.MODIFY,
    Kind.DELETE: p4r.Update.DELETE,
}


class SwitchError(WaymarkError):
    """A switch cannot be reached, or refused a request."""

    def __init__(self, message: str, code: GRPCStatusCode = GRPCStatusCode.UNKNOWN) -> None:
        super().__init__(message)
        self.code = code


class Role(Enum):
    """The role of this controller at a switch."""

    NONE = "none"
    PRIMARY = "primary"
    BACKUP = "backup"


@dataclass(frozen=True)
class Target:
    """A switch to connect to."""

    name: str
    address: str
    device_id: int
    election_id: int
    credentials: GRPCCredentialsTLS | None = None

    @staticmethod
    def of(name: str, switch: SwitchConfig, election_id: int, folder: Path) -> "Target":
        """The target in a configuration; its TLS files are relative to ``folder``."""
        credentials = None
        if switch.tls is not None:
            tls = switch.tls
            paths = [None if p is None else folder / p for p in (tls.ca, tls.certificate, tls.key)]
            for path in paths:
                if path is not None and not files.is_file(path):
                    raise WaymarkError(f"{path}: no such file (tls of {name})")
            credentials = GRPCCredentialsTLS(cacert=paths[0], cert=paths[1], private_key=paths[2])
        return Target(name, switch.address, switch.device_id, election_id, credentials)


class Client:
    """A connection. Reads need no role; writes need the primary role."""

    def __init__(self, target: Target, rpc: P4Client) -> None:
        self.target = target
        self.role = Role.NONE
        self.primary_id = 0
        """The election id of the primary, or the largest so far."""
        self._rpc = rpc
        self._election_id = target.election_id
        self._answered = False

    # Arbitration (P4Runtime 1.4, 5).

    async def arbitrate(self) -> Role:
        """Request the primary role with the configured election id.

        If another controller uses that id, the next lower one is tried, as backup.

        Raises:
            SwitchError: no answer, or no id is left.
        """
        while True:
            try:
                async with asyncio.timeout(HANDSHAKE_S):
                    await self._bid(self._election_id)
                    await self.next_role()
            except TimeoutError as error:
                raise self._error("does not answer the arbitration") from error
            except SwitchError as error:
                lowest = max(1, self.target.election_id - BACKUPS)
                if error.code != GRPCStatusCode.INVALID_ARGUMENT or self._election_id <= lowest:
                    raise
                self._election_id -= 1  # taken: be its backup
                continue
            return self.role

    async def next_role(self) -> Role:
        """Wait for the next notification of the primary.

        If there is none, because it has disconnected, this controller requests its role with
        its election id, and waits for the answer.

        Raises:
            SwitchError: the stream broke.
        """
        while True:
            try:
                message = await self._rpc.receive()
            except P4ClientError as error:
                raise self._failed("closed the stream", error) from error
            except RuntimeError as error:  # the stream ended without an error
                raise self._error("closed the stream") from error
            self._answered = True
            if message.WhichOneof("update") != "arbitration":
                continue
            notification = message.arbitration
            self.primary_id = U128.decode(notification.election_id)
            if notification.status.code != GRPCStatusCode.NOT_FOUND:
                break
            self.role = Role.BACKUP
            self._election_id = max(self.primary_id, self._election_id)
            await self._bid(self._election_id)
        primary = notification.status.code == GRPCStatusCode.OK
        self.role = Role.PRIMARY if primary else Role.BACKUP
        return self.role

    async def _bid(self, election_id: int) -> None:
        bid = p4r.MasterArbitrationUpdate(
            device_id=self.target.device_id, election_id=U128.encode(election_id)
        )
        try:
            await self._rpc.send(p4r.StreamMessageRequest(arbitration=bid))
        except P4ClientError as error:
            raise self._failed("cannot be reached", error) from error

    # Pipeline (6, 15).

    async def cookie(self) -> int | None:
        """The cookie of the switch's pipeline; None if it has no pipeline.

        A program that the switch was started with has no cookie: it is computed as that of a push.
        """
        config = await self._pipeline(p4r.GetForwardingPipelineConfigRequest.COOKIE_ONLY)
        if config is not None and not config.HasField("cookie"):
            config = await self._pipeline(p4r.GetForwardingPipelineConfigRequest.ALL)
        if config is None:
            return None
        if config.HasField("cookie"):
            return config.cookie.cookie
        if config.HasField("p4info"):
            return cookie_of(config.p4info, config.p4_device_config)
        return None

    async def _pipeline(
        self, wanted: p4r.GetForwardingPipelineConfigRequest.ResponseType.ValueType
    ) -> p4r.ForwardingPipelineConfig | None:
        request = p4r.GetForwardingPipelineConfigRequest(
            device_id=self.target.device_id, response_type=wanted
        )
        try:
            response = await self._rpc.request(request)
        except P4ClientError as error:
            if error.code in _NO_PIPELINE and "pipeline" in error.message.lower():
                return None
            raise self._failed("does not report its pipeline", error) from error
        return response.config

    async def push(self, pipeline: Pipeline) -> None:
        """Load ``pipeline``. This clears all entries and counters."""
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self.target.device_id,
            election_id=U128.encode(self._election_id),
            action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
            config=p4r.ForwardingPipelineConfig(
                p4info=pipeline.p4info,
                p4_device_config=pipeline.device_config,
                cookie=p4r.ForwardingPipelineConfig.Cookie(cookie=pipeline.cookie),
            ),
        )
        try:
            await self._rpc.request(request)
        except P4ClientError as error:
            raise self._failed(f"rejected the pipeline {pipeline.name}", error) from error

    # Entries (9.1, 12).

    async def held(self, pipeline: Pipeline) -> list[Held]:
        """All writable state, in canonical form, without the program's constant entries.

        A default action that the switch does not report is the program's own.
        """
        read = await self.read(_everything(pipeline))
        found = [
            codec.of_entity(entity, pipeline.schema)
            for entity in read
            if not entity.table_entry.is_const
        ]
        reported = {diff.key(entry) for entry in found}
        return [*found, *(one for one in pipeline.defaults if diff.key(one) not in reported)]

    async def write(self, changes: Sequence[Change], pipeline: Pipeline) -> None:
        """Write all ``changes``.

        Raises:
            SwitchError: the switch refused some; the message names each. The others are written.
        """
        for start in range(0, len(changes), UPDATES_PER_WRITE):
            await self._write(changes[start : start + UPDATES_PER_WRITE], pipeline)

    async def _write(self, changes: Sequence[Change], pipeline: Pipeline) -> None:
        request = p4r.WriteRequest(
            device_id=self.target.device_id,
            election_id=U128.encode(self._election_id),
            updates=[_update(change, pipeline) for change in changes],
        )
        try:
            await self._rpc.request(request)
        except P4ClientError as error:
            refused = "".join(
                f"\n  {changes[index]}: {detail.message or detail.canonical_code.name}"
                for index, detail in sorted(error.details.items())
                if index < len(changes)
            )
            raise self._failed("rejected the write", error, refused) from error

    async def read(self, entities: Sequence[p4r.Entity]) -> list[p4r.Entity]:
        """The switch's state of ``entities`` (11)."""
        request = p4r.ReadRequest(device_id=self.target.device_id, entities=entities)
        try:
            return [e async for reply in self._rpc.request_iter(request) for e in reply.entities]
        except P4ClientError as error:
            raise self._failed("rejected the read", error) from error

    def _error(self, what: str) -> SwitchError:
        return SwitchError(f"{self.target.name} ({self.target.address}) {what}")

    def _failed(self, what: str, error: P4ClientError, details: str = "") -> SwitchError:
        if error.code == GRPCStatusCode.UNAVAILABLE:
            what = "cannot be reached"
            if not self._answered:
                details += _hint(self.target.credentials, error.message)
        message = f"{self.target.name} ({self.target.address}) {what}: {error.message}{details}"
        return SwitchError(message, error.code)


def _hint(credentials: GRPCCredentialsTLS | None, message: str) -> str:
    """What to check in a configuration's ``tls`` after a switch never answered."""
    closed = "Socket closed" in message or "Unwrap failed" in message  # by gRPC, for an alert
    if credentials is None:
        return "; if it uses TLS, set the certificates in `tls`" if closed else ""
    if closed and credentials.cert is None:
        return "; if it asks for a certificate, set `certificate` and `key` in `tls`"
    if closed:
        return "; it may have refused the `certificate` in `tls`: check its CA and its dates"
    if "handshake failed" in message:
        return "; check the dates and names of its certificate, and that `ca` in `tls` signed it"
    return ""


def _update(change: Change, pipeline: Pipeline) -> p4r.Update:
    key_only = change.kind is Kind.DELETE
    entity = codec.entity(change.entry, pipeline.schema, key_only=key_only)
    # A default action always exists (P4Runtime 1.4, 9.1.2).
    kind = Kind.MODIFY if isinstance(change.entry, DefaultAction) else change.kind
    return p4r.Update(type=_KINDS[kind], entity=entity)


def _everything(pipeline: Pipeline) -> list[p4r.Entity]:
    """Read requests for all writable state of a switch."""
    tables = [
        p4r.TableEntry(table_id=table.id) for table in pipeline.schema.tables if not table.is_const
    ]
    tables += [
        p4r.TableEntry(table_id=table, is_default_action=True) for table in pipeline.defaults_of
    ]
    return [
        *(p4r.Entity(table_entry=entry) for entry in tables),
        *(
            p4r.Entity(packet_replication_engine_entry=every)
            for every in (
                p4r.PacketReplicationEngineEntry(multicast_group_entry=p4r.MulticastGroupEntry()),
                p4r.PacketReplicationEngineEntry(clone_session_entry=p4r.CloneSessionEntry()),
            )
        ),
    ]


Connect = Callable[[Target], P4Client]


def over_grpc(target: Target) -> P4Client:
    """The usual connection to a switch."""
    return P4Client(target.address, target.credentials, wait_for_ready=False)


@asynccontextmanager
async def connected(target: Target, connect: Connect = over_grpc) -> AsyncGenerator[Client, None]:
    """A context with a connection, which is closed at its end. Nothing is sent yet."""
    rpc = connect(target)
    await rpc.open()
    try:
        yield Client(target, rpc)
    finally:
        await rpc.close()
