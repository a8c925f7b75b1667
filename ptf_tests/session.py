"""A P4Runtime client for tests: the primary controller of one switch, which waits for every
answer."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import grpc
from finsy.p4entity import (
    P4CounterEntry,
    P4IndirectAction,
    P4PacketIn,
    P4PacketOut,
    P4TableAction,
    P4TableEntry,
    P4TableMatch,
    encode_updates,
)
from finsy.p4schema import P4MatchType, P4Schema
from finsy.proto import p4r, p4r_grpc

OVERLAPPING = {P4MatchType.TERNARY, P4MatchType.RANGE, P4MatchType.OPTIONAL}
"""Kinds of keys that need a priority."""

ANSWER_S = 10.0
"""Timeout for an answer."""


class Session:
    """One stream and unary requests. Names are those of the P4Info."""

    def __init__(self, address: str, device_id: int, p4info: Path, device_config: Path) -> None:
        """Becomes primary.

        Raises:
            RuntimeError: another controller is.
            grpc.RpcError, queue.Empty: the switch does not answer.
        """
        self.device_id = device_id
        self.schema = P4Schema(p4info)
        self.device_config = device_config
        self.channel = grpc.insecure_channel(address)
        self.stub = p4r_grpc.P4RuntimeStub(self.channel)
        self.election_id = p4r.Uint128(high=0, low=1)
        self._requests: queue.SimpleQueue[p4r.StreamMessageRequest | None] = queue.SimpleQueue()
        self._packets: queue.SimpleQueue[P4PacketIn] = queue.SimpleQueue()
        self._arbitration: queue.SimpleQueue[p4r.MasterArbitrationUpdate] = queue.SimpleQueue()
        grpc.channel_ready_future(self.channel).result(timeout=ANSWER_S)
        stream = self.stub.StreamChannel(iter(self._requests.get, None))
        threading.Thread(target=self._listen, args=(stream,), daemon=True).start()
        self._requests.put(
            p4r.StreamMessageRequest(
                arbitration=p4r.MasterArbitrationUpdate(
                    device_id=device_id, election_id=self.election_id
                )
            )
        )
        answer = self._arbitration.get(timeout=ANSWER_S)
        if answer.status.code != 0:
            raise RuntimeError(f"not primary: {answer.status.message}")

    def _listen(self, stream: Iterator[p4r.StreamMessageResponse]) -> None:
        try:
            for message in stream:
                if message.HasField("arbitration"):
                    self._arbitration.put(message.arbitration)
                elif message.HasField("packet"):
                    self._packets.put(P4PacketIn.decode(message, self.schema))
        except grpc.RpcError:
            pass  # closed; pending requests get no answer

    def close(self) -> None:
        """Ends the stream."""
        self._requests.put(None)
        self.channel.close()

    def push(self) -> None:
        """Restarts the program with empty tables, counters and registers."""
        self.stub.SetForwardingPipelineConfig(
            p4r.SetForwardingPipelineConfigRequest(
                device_id=self.device_id,
                election_id=self.election_id,
                action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
                config=p4r.ForwardingPipelineConfig(
                    p4info=self.schema.p4info, p4_device_config=self.device_config.read_bytes()
                ),
            ),
            timeout=60.0,
        )

    def insert(self, table: str, match: dict[str, Any], action: str, **params: Any) -> None:
        """Adds an entry. A range is a pair, both ends included; an omitted key matches all.

        If keys can overlap, the entry has priority 1.
        """
        self._write(+self._entry(table, match, action, params))

    def insert_choices(
        self, table: str, match: dict[str, Any], action: str, choices: Sequence[dict[str, Any]]
    ) -> None:
        """Adds an entry to a table whose action selector chooses among these parameters."""
        group = P4IndirectAction([(1, P4TableAction(action, **params)) for params in choices])
        self._write(+P4TableEntry(table, match=P4TableMatch(match), action=group))

    @property
    def routes(self) -> str:
        """The table of routes: with several next hops, or with one."""
        names = {table.alias for table in self.schema.tables}
        return "ecmp_route" if "ecmp_route" in names else "ipv4_route"

    def modify(self, table: str, match: dict[str, Any], action: str, **params: Any) -> None:
        """Gives an entry another action."""
        self._write(~self._entry(table, match, action, params))

    def _entry(
        self, table: str, match: dict[str, Any], action: str, params: dict[str, Any]
    ) -> P4TableEntry:
        kinds = {key.match_type for key in self.schema.tables[table].match_fields}
        chosen = P4TableAction(action, **params)
        has_selector = self.schema.tables[table].action_profile is not None
        return P4TableEntry(
            table,
            match=P4TableMatch(match),
            action=P4IndirectAction([(1, chosen)]) if has_selector else chosen,
            priority=int(bool(kinds & OVERLAPPING)),
        )

    def _write(self, update: Any) -> None:
        self.stub.Write(
            p4r.WriteRequest(
                device_id=self.device_id,
                election_id=self.election_id,
                updates=encode_updates([update], self.schema),
            ),
            timeout=ANSWER_S,
        )

    def packets(self, counter: str, index: int) -> int:
        """Packets in a counter's cell."""
        entity = P4CounterEntry(counter, index=index).encode(self.schema)
        request = p4r.ReadRequest(device_id=self.device_id, entities=[entity])
        found = [
            P4CounterEntry.decode(entity, self.schema)
            for response in self.stub.Read(request, timeout=ANSWER_S)
            for entity in response.entities
        ]
        (cell,) = found
        return cell.packet_count

    def packet_out(self, payload: bytes, egress_port: int) -> None:
        """Sends a packet through the switch."""
        packet = P4PacketOut(payload, egress_port=egress_port, padding=0)
        message = packet.encode_update(self.schema)
        assert isinstance(message, p4r.StreamMessageRequest)
        self._requests.put(message)

    def packet_in(self, timeout_s: float = 2.0) -> P4PacketIn:
        """The next packet that the switch sends to this controller.

        Raises:
            queue.Empty: none came in time.
        """
        return self._packets.get(timeout=timeout_s)
