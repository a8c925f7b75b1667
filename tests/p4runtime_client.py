"""A bare P4Runtime client: the generated stubs, and as little around them as tests need."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any

import grpc
from finsy.proto import p4i, p4r, p4r_grpc, rpc_status
from google.protobuf import text_format

INSERT, MODIFY, DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE
TIMEOUT_S = 10


def octets(number: int, length: int = 0) -> bytes:
    """A number as a canonical bytestring, or with the given number of octets."""
    return number.to_bytes(length or max(1, (number.bit_length() + 7) // 8), "big")


class Client:
    """A controller with its stream."""

    def __init__(
        self,
        address: str,
        election_id: int | None = 1,
        *,
        device_id: int = 1,
        channel: grpc.Channel | None = None,
    ) -> None:
        self.address = address
        self.device_id = device_id
        self.election_id = election_id
        self.channel = channel or grpc.insecure_channel(address)
        self.stub = p4r_grpc.P4RuntimeStub(self.channel)
        self.outgoing: queue.Queue[Any] = queue.Queue()
        self.incoming: queue.Queue[Any] = queue.Queue()
        self.p4info = p4i.P4Info()
        self.stream = self.stub.StreamChannel(iter(self.outgoing.get, None))
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            for message in self.stream:
                self.incoming.put(message)
        except grpc.RpcError as error:
            self.incoming.put(error)

    def close(self) -> None:
        self.outgoing.put(None)
        self.channel.close()

    def send(self, **message: Any) -> None:
        self.outgoing.put(p4r.StreamMessageRequest(**message))

    def receive(self, kind: str, timeout_s: float = TIMEOUT_S) -> Any:
        """The next message of a kind; others are left out.

        Raises:
            grpc.RpcError: the stream has ended.
        """
        while True:
            message = self.incoming.get(timeout=timeout_s)
            if isinstance(message, grpc.RpcError):
                raise message
            if message.WhichOneof("update") == kind:
                return getattr(message, kind)

    def arbitrate(self, election_id: int | None = None, role: str = "") -> Any:
        """Introduce this controller; the answer."""
        self.election_id = election_id if election_id is not None else self.election_id
        update = p4r.MasterArbitrationUpdate(device_id=self.device_id)
        if self.election_id is not None:
            update.election_id.CopyFrom(self.id)
        if role:
            update.role.name = role
        self.send(arbitration=update)
        return self.receive("arbitration")

    @property
    def id(self) -> Any:
        number = self.election_id or 0
        return p4r.Uint128(high=number >> 64, low=number & (2**64 - 1))

    def set_pipeline(
        self,
        source: str | bytes,
        p4info: str = "",
        action: str = "VERIFY_AND_COMMIT",
        cookie: int | None = None,
    ) -> None:
        text_format.Parse(p4info, self.p4info)
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self.device_id, election_id=self.id, action=action
        )
        if action != "COMMIT":
            request.config.p4info.CopyFrom(self.p4info)
            data = source.encode() if isinstance(source, str) else source
            request.config.p4_device_config = data
            if cookie is not None:
                request.config.cookie.cookie = cookie
        self.stub.SetForwardingPipelineConfig(request, timeout=60)

    def get_pipeline(self, response_type: str = "ALL") -> Any:
        request = p4r.GetForwardingPipelineConfigRequest(
            device_id=self.device_id, response_type=response_type
        )
        return self.stub.GetForwardingPipelineConfig(request, timeout=TIMEOUT_S)

    def write(self, *updates: tuple[int, Any], atomicity: str = "CONTINUE_ON_ERROR") -> None:
        """Write updates: each INSERT, MODIFY or DELETE, and an entity."""
        request = p4r.WriteRequest(
            device_id=self.device_id, election_id=self.id, atomicity=atomicity
        )
        for kind, entity in updates:
            request.updates.append(p4r.Update(type=kind, entity=wrap(entity)))
        self.stub.Write(request, timeout=TIMEOUT_S)

    def read(self, *entities: Any) -> list[Any]:
        """Read entities that fit; each is the message within `Entity`."""
        request = p4r.ReadRequest(device_id=self.device_id, entities=map(wrap, entities))
        responses = self.stub.Read(request, timeout=TIMEOUT_S)
        found = (entity for response in responses for entity in response.entities)
        return [getattr(entity, entity.WhichOneof("entity")) for entity in found]

    # -- names ---------------------------------------------------------------------------------

    def _named(self, kind: str, name: str) -> Any:
        for item in getattr(self.p4info, kind):
            if name in (item.preamble.name, item.preamble.alias):
                return item
        raise KeyError(f"{kind}: {name}")

    def id_of(self, kind: str, name: str) -> int:
        return self._named(kind, name).preamble.id

    def action(self, name: str, **arguments: int) -> Any:
        action = self._named("actions", name)
        ids = {param.name: param.id for param in action.params}
        params = [
            p4r.Action.Param(param_id=ids[key], value=octets(value))
            for key, value in arguments.items()
        ]
        return p4r.Action(action_id=action.preamble.id, params=params)

    def entry(self, table: str, action: Any = None, priority: int = 0, **fields: Any) -> Any:
        """A table entry: an int is an exact value, a pair what the match kind has of two."""
        definition = self._named("tables", table)
        entry = p4r.TableEntry(table_id=definition.preamble.id, priority=priority)
        for field in definition.match_fields:
            if field.name in fields:
                entry.match.append(match(field, fields[field.name]))
        if isinstance(action, p4r.Action):
            entry.action.action.CopyFrom(action)
        elif action is not None:
            entry.action.CopyFrom(action)
        return entry

    def packet_out(self, port: int, payload: bytes) -> None:
        metadata = [p4r.PacketMetadata(metadata_id=1, value=octets(port))]
        padding = self._named("controller_packet_metadata", "packet_out").metadata[1:]
        metadata += [p4r.PacketMetadata(metadata_id=m.id, value=b"\0") for m in padding]
        self.send(packet=p4r.PacketOut(payload=payload, metadata=metadata))


def match(field: Any, value: Any) -> Any:
    found = p4r.FieldMatch(field_id=field.id)
    kind = p4i.MatchField.MatchType.Name(field.match_type)
    if kind == "EXACT":
        found.exact.value = octets(value)
    elif kind == "OPTIONAL":
        found.optional.value = octets(value)
    elif kind == "LPM":
        found.lpm.value, found.lpm.prefix_len = octets(value[0]), value[1]
    elif kind == "TERNARY":
        found.ternary.value, found.ternary.mask = map(octets, value)
    else:
        found.range.low, found.range.high = map(octets, value)
    return found


def wrap(message: Any) -> Any:
    """An entity of its kind."""
    name = type(message).__name__
    for field in p4r.Entity.DESCRIPTOR.fields:
        if field.message_type.name == name:
            return p4r.Entity(**{field.name: message})
    replicated = p4r.PacketReplicationEngineEntry
    for field in replicated.DESCRIPTOR.fields:
        if field.message_type.name == name:
            entry = replicated(**{field.name: message})
            return p4r.Entity(packet_replication_engine_entry=entry)
    return message


def errors(error: grpc.RpcError) -> list[Any]:
    """The error of each update or entity of a batch."""
    return list(_errors(error))


def _errors(error: grpc.RpcError) -> Iterator[Any]:
    for key, value in error.trailing_metadata():
        if key == "grpc-status-details-bin":
            for detail in rpc_status.Status.FromString(value).details:
                found = p4r.Error()
                assert detail.Unpack(found)
                yield found
