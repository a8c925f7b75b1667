"""A P4Runtime server that only remembers: for tests of what the controller sends.

It holds what is written, answers arbitration as P4Runtime 1.4 (5) has it, and keeps every request.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import grpc
from finsy.proto import U128, p4r, p4r_grpc, rpc_code, rpc_status
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Struct


@dataclass(eq=False)
class Stream:
    """One controller's stream."""

    election_id: int = 0
    out: asyncio.Queue[p4r.StreamMessageResponse] = field(default_factory=asyncio.Queue)


class FakeSwitch(p4r_grpc.P4RuntimeServicer):
    """The server; `start` it, and look at what it `writes` and `pushes` were."""

    def __init__(self) -> None:
        self.config: p4r.ForwardingPipelineConfig | None = None
        self.table: dict[bytes, p4r.TableEntry] = {}
        self.defaults: dict[int, p4r.TableEntry] = {}
        self.engine: dict[tuple[int, int], p4r.PacketReplicationEngineEntry] = {}
        self.counters: dict[tuple[int, int], tuple[int, int]] = {}
        self.registers: dict[tuple[int, int], int] | None = {}
        self.losses: dict[str, Any] | None = None
        self.pushes = 0
        self.writes: list[p4r.WriteRequest] = []
        self.refuse_pipeline = False
        self.refuse: rpc_code.Code.ValueType | None = None
        self.streams: list[Stream] = []
        self.highest = 0
        self._server: grpc.aio.Server | None = None

    async def start(self, port: int = 0) -> int:
        """Listen on loopback; returns the port."""
        self._server = grpc.aio.server()
        p4r_grpc.add_P4RuntimeServicer_to_server(self, self._server)
        bound = self._server.add_insecure_port(f"127.0.0.1:{port}")
        await self._server.start()
        return bound

    async def stop(self) -> None:
        """Break all streams, as a switch that is killed."""
        assert self._server is not None
        await self._server.stop(None)
        self.streams.clear()

    @property
    def entries(self) -> list[p4r.TableEntry]:
        """What the tables hold."""
        return list(self.table.values())

    def _is_primary(self, election_id: p4r.Uint128) -> bool:
        asked = U128.decode(election_id)
        return asked == self.highest and any(s.election_id == asked for s in self.streams)

    def _news(self) -> None:
        primary = any(s.election_id == self.highest for s in self.streams)
        for stream in self.streams:
            code = rpc_code.ALREADY_EXISTS if primary else rpc_code.NOT_FOUND
            if primary and stream.election_id == self.highest:
                code = rpc_code.OK
            update = p4r.MasterArbitrationUpdate(
                device_id=1,
                election_id=U128.encode(self.highest),
                status=rpc_status.Status(code=code),
            )
            stream.out.put_nowait(p4r.StreamMessageResponse(arbitration=update))

    async def StreamChannel(self, requests: Any, context: Any) -> AsyncIterator[Any]:  # noqa: N802
        stream = Stream()
        taken = asyncio.Event()

        async def listen() -> None:
            async for request in requests:
                bid = U128.decode(request.arbitration.election_id)
                if any(s.election_id == bid for s in self.streams if s is not stream):
                    taken.set()
                    return
                stream.election_id = bid
                if stream not in self.streams:
                    self.streams.append(stream)
                self.highest = max(self.highest, bid)
                self._news()

        listener = asyncio.create_task(listen())
        refused = asyncio.create_task(taken.wait())
        try:
            while True:
                answer = asyncio.create_task(stream.out.get())
                await asyncio.wait([answer, refused, listener], return_when="FIRST_COMPLETED")
                if taken.is_set():
                    await context.abort(
                        grpc.StatusCode.INVALID_ARGUMENT, "Election id already exists"
                    )
                if answer.done():
                    yield answer.result()
                elif listener.done():
                    return
        finally:
            listener.cancel()
            refused.cancel()
            if stream in self.streams:
                self.streams.remove(stream)
                self._news()

    async def GetForwardingPipelineConfig(self, _request: Any, context: Any) -> Any:  # noqa: N802
        if self.config is None:
            await context.abort(
                grpc.StatusCode.FAILED_PRECONDITION, "No forwarding pipeline config set"
            )
        assert self.config is not None
        return p4r.GetForwardingPipelineConfigResponse(
            config=p4r.ForwardingPipelineConfig(cookie=self.config.cookie)
        )

    async def SetForwardingPipelineConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        if not self._is_primary(request.election_id):
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "Not primary")
        self.pushes += 1
        if self.refuse_pipeline:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "as the test wants it")
        self.config = request.config
        self.table.clear()
        self.defaults.clear()
        self.engine.clear()
        return p4r.SetForwardingPipelineConfigResponse()

    async def Write(self, request: p4r.WriteRequest, context: Any) -> Any:  # noqa: N802
        if not self._is_primary(request.election_id):
            await context.abort(grpc.StatusCode.PERMISSION_DENIED, "Not primary")
        self.writes.append(request)
        errors = [self._update(update) for update in request.updates]
        if any(error.canonical_code for error in errors):
            status = rpc_status.Status(code=rpc_code.UNKNOWN, message="failed updates")
            for error in errors:
                status.details.add().Pack(error)
            details = (("grpc-status-details-bin", status.SerializeToString()),)
            context.set_trailing_metadata(details)
            await context.abort(grpc.StatusCode.UNKNOWN, "failed updates")
        return p4r.WriteResponse()

    def _update(self, update: p4r.Update) -> p4r.Error:
        entry = update.entity.table_entry
        if self.refuse is not None:
            return p4r.Error(canonical_code=self.refuse, message="as the test wants it")
        if update.entity.HasField("packet_replication_engine_entry"):
            return self._replicate(update.type, update.entity.packet_replication_engine_entry)
        if entry.is_default_action:
            if update.type != p4r.Update.MODIFY:
                code = rpc_code.INVALID_ARGUMENT
                return p4r.Error(canonical_code=code, message="a default action is modified")
            self.defaults[entry.table_id] = entry
            return p4r.Error()
        key = p4r.TableEntry(table_id=entry.table_id, match=entry.match, priority=entry.priority)
        name = key.SerializeToString(deterministic=True)
        if (update.type == p4r.Update.INSERT) == (name in self.table):
            code = rpc_code.ALREADY_EXISTS if name in self.table else rpc_code.NOT_FOUND
            return p4r.Error(canonical_code=code, message="no such thing")
        if update.type == p4r.Update.DELETE:
            del self.table[name]
        else:
            self.table[name] = entry
        return p4r.Error()

    def _replicate(
        self, kind: p4r.Update.Type.ValueType, entry: p4r.PacketReplicationEngineEntry
    ) -> p4r.Error:
        name = (
            entry.multicast_group_entry.multicast_group_id,
            entry.clone_session_entry.session_id,
        )
        if (kind == p4r.Update.INSERT) == (name in self.engine):
            return p4r.Error(canonical_code=rpc_code.NOT_FOUND, message="no such thing")
        if kind == p4r.Update.DELETE:
            del self.engine[name]
        else:
            self.engine[name] = entry
        return p4r.Error()

    async def Read(self, request: p4r.ReadRequest, context: Any) -> AsyncIterator[Any]:  # noqa: N802
        answer = p4r.ReadResponse()
        for entity in request.entities:
            if entity.HasField("packet_replication_engine_entry"):
                asked = entity.packet_replication_engine_entry.WhichOneof("type")
                for entry in self.engine.values():
                    if entry.WhichOneof("type") == asked:
                        answer.entities.add().packet_replication_engine_entry.CopyFrom(entry)
            elif entity.HasField("table_entry"):
                wanted = entity.table_entry.table_id
                if entity.table_entry.is_default_action:
                    if wanted in self.defaults:
                        answer.entities.add().table_entry.CopyFrom(self.defaults[wanted])
                    continue
                for entry in self.table.values():
                    if entry.table_id == wanted:
                        answer.entities.add().table_entry.CopyFrom(entry)
            elif entity.HasField("counter_entry"):
                at = (entity.counter_entry.counter_id, entity.counter_entry.index.index)
                packets, octets = self.counters.get(at, (0, 0))
                cell = answer.entities.add().counter_entry
                cell.CopyFrom(entity.counter_entry)
                cell.data.packet_count, cell.data.byte_count = packets, octets
            elif entity.HasField("register_entry"):
                if self.registers is None:
                    await context.abort(grpc.StatusCode.UNIMPLEMENTED, "no register reads")
                assert self.registers is not None
                at = (entity.register_entry.register_id, entity.register_entry.index.index)
                cell = answer.entities.add().register_entry
                cell.CopyFrom(entity.register_entry)
                cell.data.bitstring = self.registers.get(at, 0).to_bytes(6, "big")
            elif entity.HasField("extern_entry"):
                if self.losses is None:
                    await context.abort(grpc.StatusCode.UNIMPLEMENTED, "no extern entries")
                assert self.losses is not None
                entry = answer.entities.add().extern_entry
                entry.CopyFrom(entity.extern_entry)
                entry.entry.Pack(json_format.ParseDict(self.losses, Struct()))
        yield answer
