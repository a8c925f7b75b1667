"""Requests of P4Runtime: pipeline configs, batches, reads, who may send what."""

from __future__ import annotations

import threading
from typing import Any

import grpc
import pytest
from finsy.proto import p4r, rpc_status
from google.protobuf import text_format
from p4runtime_client import DELETE, INSERT, MODIFY, Client, errors
from p4runtime_server import (
    ELECTION_IDS,
    PROGRAMS,
    Connect,
    Pipeline,
    codes,
    is_status,
    refused,
    said,
    start,
)
from test_p4runtime import register
from test_p4runtime_tables import INVALID, mark
from typer.main import get_command

from waymark.cli import load
from waymark.switch import SwitchOptions

p4runtime = pytest.mark.p4runtime
Code = grpc.StatusCode


# -- arbitration --------------------------------------------------------------------------------


@p4runtime("notice-fields", "notice-to-others", "unset-id", "zero-id-is-set")
def test_notifications_of_controllers(connect: Connect) -> None:
    monitor = connect()
    monitor.election_id = None
    monitor.arbitrate()
    primary = connect(next(ELECTION_IDS))
    told = primary.arbitrate()
    assert (told.device_id, told.election_id) == (1, primary.id)
    assert is_status(told, Code.OK)
    assert not told.HasField("role")
    notice = monitor.receive("arbitration")
    assert is_status(notice, Code.ALREADY_EXISTS)
    assert notice.election_id == primary.id
    zero = connect(0)
    assert is_status(zero.arbitrate(role="zero"), Code.OK), "0 is an election ID like others"


@p4runtime("identity", "role-apart", "role-notice", "role-same-id", "notice-unset")
def test_roles_have_primaries_of_their_own(connect: Connect, client: Client) -> None:
    monitor = connect()
    monitor.election_id = None
    told = monitor.arbitrate(role="apart")
    assert is_status(told, Code.NOT_FOUND)
    assert not told.HasField("election_id"), "there has not been any primary"
    other = connect(client.election_id)
    assert is_status(other.arbitrate(role="apart"), Code.OK), "the ID of another role's primary"
    assert monitor.receive("arbitration").role.name == "apart"
    entry = client.entry("police", client.action("NoAction"), flow=1)
    update = p4r.Update(type=INSERT, entity=p4r.Entity(table_entry=entry))

    def write(role: str, election_id: int) -> None:
        identity = p4r.Uint128(low=election_id)
        request = p4r.WriteRequest(device_id=1, role=role, election_id=identity, updates=[update])
        client.stub.Write(request)

    assert client.election_id is not None
    write("apart", client.election_id)
    assert refused(lambda: write("nobody", 1)).code() is Code.NOT_FOUND
    assert refused(lambda: write("apart", 0)).code() is Code.PERMISSION_DENIED


@p4runtime("role-config", "live-device", "live-role", "live-id-used")
def test_what_ends_the_stream_of_a_live_controller(connect: Connect, client: Client) -> None:
    assert client.election_id is not None

    def backup() -> Client:
        made = connect(0)
        made.election_id = None
        made.arbitrate()
        return made

    other = backup()
    other.device_id = 9
    assert refused(other.arbitrate).code() is Code.FAILED_PRECONDITION
    other = backup()
    assert refused(lambda: other.arbitrate(role="x")).code() is Code.FAILED_PRECONDITION
    other = backup()
    assert refused(lambda: other.arbitrate(client.election_id)).code() is Code.INVALID_ARGUMENT
    other = connect(0)
    update = p4r.MasterArbitrationUpdate(device_id=1)
    update.role.name = "configured"
    update.role.config.type_url = "type.googleapis.com/google.protobuf.Empty"
    other.send(arbitration=update)
    assert refused(lambda: other.receive("arbitration")).code() is Code.INVALID_ARGUMENT


@p4runtime("step-down", "no-successor", "own-update", "disconnect")
def test_primaries_come_and_go(connect: Connect) -> None:
    low, high = next(ELECTION_IDS), next(ELECTION_IDS)
    backup, primary = connect(low), connect(high)
    primary.arbitrate()
    assert is_status(backup.arbitrate(), Code.ALREADY_EXISTS)
    assert is_status(primary.arbitrate(), Code.OK), "the same once more"
    assert is_status(backup.receive("arbitration"), Code.ALREADY_EXISTS)
    primary.election_id = None
    assert is_status(primary.arbitrate(), Code.NOT_FOUND)
    assert is_status(backup.receive("arbitration"), Code.NOT_FOUND)
    assert is_status(backup.arbitrate(), Code.NOT_FOUND), "its ID is not the highest ever"
    assert is_status(backup.arbitrate(next(ELECTION_IDS)), Code.OK)
    backup.close()
    assert is_status(primary.receive("arbitration"), Code.ALREADY_EXISTS)
    assert is_status(primary.receive("arbitration"), Code.NOT_FOUND)


# -- pipeline configs ---------------------------------------------------------------------------


@p4runtime("set-device", "set-primary", "set-role", "set-unspecified", "set-no-config")
@p4runtime("commit-with-config")
def test_what_setting_a_config_needs(client: Client) -> None:
    def code(**fields: Any) -> Code:
        given = {"device_id": 1, "election_id": client.id, "action": "VERIFY"} | fields
        request = p4r.SetForwardingPipelineConfigRequest(**given)
        error = refused(lambda: client.stub.SetForwardingPipelineConfig(request))
        return error.code()

    assert code(device_id=7, election_id=p4r.Uint128(low=1)) is Code.NOT_FOUND
    assert code(role="nobody") is Code.NOT_FOUND
    assert code(election_id=p4r.Uint128(low=0)) is Code.PERMISSION_DENIED
    assert code(action="UNSPECIFIED") is Code.INVALID_ARGUMENT
    for action in ("VERIFY", "VERIFY_AND_SAVE", "VERIFY_AND_COMMIT", "RECONCILE_AND_COMMIT"):
        assert code(action=action) is Code.INVALID_ARGUMENT
    config = p4r.ForwardingPipelineConfig(p4_device_config=b"x")
    assert code(action="COMMIT", config=config) is Code.INVALID_ARGUMENT


@p4runtime("verify-changes-nothing", "commit-clears", "refused-keeps")
def test_committing_clears_and_verifying_does_not(client: Client, pipeline: Pipeline) -> None:
    entry = client.entry("police", client.action("NoAction"), flow=1)
    client.write((INSERT, entry))
    client.set_pipeline(pipeline[0], action="VERIFY")
    assert refused(lambda: client.set_pipeline("nonsense"))
    assert client.read(client.entry("police")) == [entry]
    client.set_pipeline(pipeline[0], action="VERIFY_AND_COMMIT")
    assert client.read(client.entry("police")) == []


@p4runtime("reconcile-impossible")
def test_reconciling_changes_all_or_nothing(
    client: Client, pipeline: Pipeline, tables_pipeline: Pipeline
) -> None:
    entry = client.entry("police", client.action("NoAction"), flow=1)
    client.write((INSERT, entry))
    info = client.p4info
    client.p4info = type(info)()
    error = refused(lambda: client.set_pipeline(*tables_pipeline, action="RECONCILE_AND_COMMIT"))
    assert error.code() is Code.INVALID_ARGUMENT
    client.p4info = info
    assert client.get_pipeline().config.p4_device_config.decode() == pipeline[0]
    assert client.read(client.entry("police")) == [entry]


@p4runtime(
    "get-all", "get-cookie", "get-p4info", "get-device-config", "get-device", "cookie-absent"
)
def test_a_config_is_given_back_in_parts(client: Client, pipeline: Pipeline) -> None:
    assert not client.get_pipeline().config.HasField("cookie")
    client.set_pipeline(pipeline[0], cookie=0)
    whole = client.get_pipeline("ALL").config
    assert whole.HasField("cookie"), "a cookie of 0 is one"
    parts = {
        "COOKIE_ONLY": (False, False),
        "P4INFO_AND_COOKIE": (True, False),
        "DEVICE_CONFIG_AND_COOKIE": (False, True),
    }
    for kind, (p4info, device_config) in parts.items():
        config = client.get_pipeline(kind).config
        assert config.HasField("cookie")
        assert config.p4info == (whole.p4info if p4info else type(whole.p4info)())
        assert config.p4_device_config == (whole.p4_device_config if device_config else b"")
    request = p4r.GetForwardingPipelineConfigRequest(device_id=4)
    error = refused(lambda: client.stub.GetForwardingPipelineConfig(request))
    assert error.code() is Code.NOT_FOUND


@p4runtime("p4info-ids", "platform")
@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda info: setattr(info.tables[0].preamble, "id", 0), "has the ID 0"),
        (
            lambda info: setattr(info.tables[0].preamble, "id", info.tables[1].preamble.id),
            "has the ID",
        ),
        (
            lambda info: setattr(
                info.pkg_info.platform_properties, "multicast_group_table_size", 1 << 20
            ),
            "1048576 multicast groups, and this target has 65535",
        ),
    ],
)
def test_p4info_that_cannot_be_served(client: Client, edit: Any, message: str) -> None:
    edit(client.p4info)
    error = refused(lambda: client.set_pipeline(client.get_pipeline().config.p4_device_config))
    assert error.code() is Code.INVALID_ARGUMENT
    assert message in str(error.details())


@p4runtime("read-before-config", "write-before-config", "get-before-config", "restart-clean")
def test_before_there_is_a_config(pipeline: Pipeline) -> None:
    process, address = start("--device-id", 3)
    client = Client(address, 1, device_id=3)
    try:
        assert not client.get_pipeline().HasField("config")
        assert refused(lambda: client.read()).code() is Code.FAILED_PRECONDITION
        assert is_status(client.arbitrate(), Code.OK)
        assert refused(lambda: client.write()).code() is Code.FAILED_PRECONDITION
        client.set_pipeline(*pipeline)
        assert client.read() == []
    finally:
        client.close()
        process.terminate()
        assert process.wait(10) == 0


@p4runtime("get-started")
def test_a_program_that_the_switch_starts_with(pipeline: Pipeline) -> None:
    process, address = start("--p4", PROGRAMS / "entities.p4")
    client = Client(address)
    try:
        config = client.get_pipeline().config
        assert text_format.Parse(pipeline[1], type(config.p4info)()) == config.p4info
        assert not config.HasField("cookie")
        assert client.read(p4r.TableEntry(is_default_action=True))
    finally:
        client.close()
        process.terminate()
        assert process.wait(10) == 0


@p4runtime("port-9559")
def test_the_port_is_that_of_p4runtime() -> None:
    assert SwitchOptions().address.endswith(":9559")
    commands: Any = get_command(load())
    defaults = {param.name: param.default for param in commands.commands["switch"].params}
    assert defaults["address"] == SwitchOptions().address


@p4runtime("device-zero")
def test_a_device_has_the_number_1_unless_another_is_given(cli: Any) -> None:
    assert SwitchOptions().device_id == 1
    finished = cli("switch", "--device-id", -1, "--grpc-server-addr", "127.0.0.1:0")
    assert finished.code == 2
    assert "--device-id" in finished.err


# -- writing ------------------------------------------------------------------------------------


@p4runtime("write-device", "write-role", "write-primary", "write-order")
def test_who_may_write(client: Client) -> None:
    def code(device_id: int = 1, role: str = "", election_id: int | None = 0) -> Code:
        request = p4r.WriteRequest(device_id=device_id, role=role)
        if election_id is not None:
            request.election_id.low = election_id
        return refused(lambda: client.stub.Write(request)).code()

    assert code(device_id=8) is Code.NOT_FOUND, "before it is asked who writes"
    assert code(role="nobody") is Code.NOT_FOUND
    assert code() is Code.PERMISSION_DENIED
    assert code(election_id=None) is Code.PERMISSION_DENIED


@p4runtime("update-type", "entity-unset")
def test_updates_need_a_type_and_an_entity(client: Client) -> None:
    entry = client.entry("police", client.action("NoAction"), flow=1)
    assert said(client, (0, entry), (INSERT, p4r.Entity())) == INVALID * 2


@p4runtime("write-errors", "write-errors-details", "write-errors-ok", "continue-on-error")
def test_each_update_of_a_batch_has_its_error(tables: Client) -> None:
    good = tables.entry("scoped", mark(tables, 1), **{"class": 1})
    bad = tables.entry("scoped", mark(tables, 1), 5, **{"class": 2})
    error = refused(lambda: tables.write((INSERT, bad), (INSERT, good), (INSERT, bad)))
    assert error.code() is Code.UNKNOWN
    told = errors(error)
    assert [one.canonical_code for one in told] == [3, 0, 3]
    assert told[1] == p4r.Error()
    assert "priority" in told[0].message
    assert tables.read(tables.entry("scoped")) == [good], "what can be done is done"


@p4runtime("error-status")
def test_a_status_says_the_same_in_its_details(client: Client) -> None:
    error = refused(lambda: client.write((INSERT, p4r.Entity())))
    metadata = dict(error.trailing_metadata())
    status = rpc_status.Status.FromString(metadata["grpc-status-details-bin"])
    assert (status.code, status.message) == (error.code().value[0], error.details())
    assert "update 0" in status.message


@p4runtime("write-errors-whole")
def test_what_fails_before_any_update_has_no_details(client: Client) -> None:
    request = p4r.WriteRequest(device_id=1, election_id=client.id, atomicity=9)
    request.updates.add(type=INSERT)
    error = refused(lambda: client.stub.Write(request))
    assert error.code() is Code.INVALID_ARGUMENT
    assert errors(error) == []


@p4runtime("rollback", "dataplane-atomic")
@pytest.mark.parametrize("atomicity", ["ROLLBACK_ON_ERROR", "DATAPLANE_ATOMIC"])
def test_a_batch_is_carried_out_whole_or_not_at_all(tables: Client, atomicity: str) -> None:
    good = tables.entry("scoped", mark(tables, 1), **{"class": 1})
    bad = tables.entry("scoped", mark(tables, 1), 5, **{"class": 2})
    default = tables.entry("scoped", mark(tables, 9))
    default.is_default_action = True
    default.metadata = b"x"
    asked = p4r.TableEntry(table_id=default.table_id, is_default_action=True)
    before = tables.read(asked)
    batch = ((INSERT, good), (MODIFY, default), (INSERT, bad))
    error = refused(lambda: tables.write(*batch, atomicity=atomicity))
    assert codes(error) == ["ABORTED", "ABORTED", "INVALID_ARGUMENT"]
    assert str(error.details()).startswith("update 2: "), "the cause comes first"
    assert str(error.details()).endswith("(none of the 3 updates was executed)")
    assert tables.read(tables.entry("scoped")) == []
    assert tables.read(asked) == before
    tables.write(*batch[:2], atomicity=atomicity)
    assert tables.read(tables.entry("scoped")) == [good]


@p4runtime("serializable", "read-consistent", "concurrent-reads")
def test_no_reader_sees_half_of_a_batch(client: Client) -> None:
    """Two registers are written together, while readers look."""
    done = threading.Event()
    torn: list[Any] = []

    def look() -> None:
        while not done.is_set():
            found = client.read(*(register(client, "last_src", i) for i in (0, 15)))
            if found[0].data != found[1].data:
                torn.append(found)

    readers = [threading.Thread(target=look) for _ in range(2)]
    for reader in readers:
        reader.start()
    for value in range(100):
        client.write(*((MODIFY, register(client, "last_src", i, value)) for i in (0, 15)))
    done.set()
    for reader in readers:
        reader.join()
    assert not torn


@p4runtime("large-messages")
def test_batches_of_more_than_4_mib_are_taken(client: Client) -> None:
    entry = client.entry("police", client.action("NoAction"), flow=1)
    entry.metadata = bytes(5 << 20)
    client.write((INSERT, entry))
    options = [("grpc.max_receive_message_length", 16 << 20)]
    with grpc.insecure_channel(client.address, options) as channel:
        reader = Client(client.address, channel=channel)
        assert reader.read(entry)[0].metadata == entry.metadata
    client.write((DELETE, entry))


def test_a_request_takes_at_most_512_mib_of_memory(client: Client) -> None:
    write = client.channel.unary_unary("/p4.v1.P4Runtime/Write")
    request = p4r.WriteRequest(device_id=1, election_id=client.id).SerializeToString()
    empty = p4r.WriteRequest(updates=[p4r.Update()]).SerializeToString()
    error = refused(lambda: write(request + empty * 4_000_000))
    assert error.code() is Code.RESOURCE_EXHAUSTED
    assert "more than 512 MiB" in str(error.details())
    tables = b"\x12\x00" * 4_000_000
    request = b"\x08\x01\x2a" + _varint(len(tables) + 5) + b"\x0a" + _varint(len(tables)) + tables
    push = client.channel.unary_unary("/p4.v1.P4Runtime/SetForwardingPipelineConfig")
    assert refused(lambda: push(request)).code() is Code.RESOURCE_EXHAUSTED


def _varint(value: int) -> bytes:
    """A length as Protocol Buffers encode it."""
    low = value & 0x7F
    return bytes([low]) if value < 0x80 else bytes([low | 0x80]) + _varint(value >> 7)


# -- reading ------------------------------------------------------------------------------------


@p4runtime("read-device", "read-anyone", "read-entity-unset")
def test_who_may_read_what(client: Client, connect: Connect) -> None:
    stranger = connect()
    assert len(stranger.read(p4r.TableEntry())) == 2, "without a session"
    stranger.device_id = 5
    assert refused(lambda: stranger.read(p4r.TableEntry())).code() is Code.NOT_FOUND
    assert codes(refused(lambda: client.read(p4r.Entity()))) == INVALID


@p4runtime("read-errors", "read-partly")
def test_each_request_of_a_read_has_its_error(client: Client) -> None:
    request = p4r.ReadRequest(device_id=1)
    request.entities.add().register_entry.CopyFrom(register(client, "last_src", 1))
    request.entities.add().counter_entry.counter_id = 5
    request.entities.add().register_entry.CopyFrom(register(client, "switches", 1))
    request.entities.add()
    found: list[Any] = []

    def read() -> None:
        for response in client.stub.Read(request):
            found.extend(response.entities)

    assert codes(refused(read)) == ["OK", "NOT_FOUND", "OK", "INVALID_ARGUMENT"]
    assert [entity.register_entry.index.index for entity in found] == [1, 1]


@p4runtime("read-everything", "read-stream")
def test_all_state_is_read_at_once(client: Client) -> None:
    entries = [client.entry("police", client.action("NoAction"), flow=i) for i in range(1024)]
    client.write(*((INSERT, entry) for entry in entries))
    request = p4r.ReadRequest(device_id=1)
    for field in p4r.Entity.DESCRIPTOR.fields:
        entity = request.entities.add()
        getattr(entity, field.name).SetInParent()
        if field.name == "packet_replication_engine_entry":
            entity.packet_replication_engine_entry.multicast_group_entry.SetInParent()
    responses = list(client.stub.Read(request))
    assert len(responses) > 1, "in several messages"
    kinds = [entity.WhichOneof("entity") for response in responses for entity in response.entities]
    assert kinds.count("table_entry") == 1024 + 2
    assert kinds.count("register_entry") == 16 + 2


@p4runtime("extern-entry")
def test_there_are_no_other_externs(client: Client) -> None:
    extern = p4r.ExternEntry(extern_type_id=0x81, extern_id=1)
    assert said(client, (INSERT, extern)) == ["UNIMPLEMENTED"]
    assert codes(refused(lambda: client.read(extern))) == ["UNIMPLEMENTED"]


@p4runtime("capabilities", "capabilities-device")
def test_capabilities(client: Client) -> None:
    answer = client.stub.Capabilities(p4r.CapabilitiesRequest())
    assert answer.p4runtime_api_version == "1.5.0"
    assert client.stub.Capabilities(p4r.CapabilitiesRequest(device_id=1)) == answer
    request = p4r.CapabilitiesRequest(device_id=9)
    assert refused(lambda: client.stub.Capabilities(request)).code() is Code.NOT_FOUND


# -- streams ------------------------------------------------------------------------------------


@p4runtime("packet-metadata", "packet-error", "packet-error-copy")
def test_packets_with_metadata_that_p4info_does_not_list(client: Client) -> None:
    meta = p4r.PacketMetadata
    good = [meta(metadata_id=1, value=b"\0"), meta(metadata_id=2, value=b"\0")]
    for metadata in (
        [],
        good[:1],
        [*good, meta(metadata_id=7, value=b"\0")],
        [good[0], *good],
        [meta(metadata_id=1, value=b"\x02\0"), good[1]],
        [meta(metadata_id=1), good[1]],
    ):
        packet = p4r.PacketOut(payload=b"x", metadata=metadata)
        client.send(packet=packet)
        error = client.receive("error")
        assert error.canonical_code == Code.INVALID_ARGUMENT.value[0]
        assert error.packet_out.packet_out == packet


@p4runtime("ack-unknown", "ack-backup")
def test_acknowledgements_of_what_is_not_there(client: Client, connect: Connect) -> None:
    ack = p4r.DigestListAck(digest_id=1, list_id=1)
    client.send(digest_ack=ack)
    error = client.receive("error")
    assert error.canonical_code == Code.INVALID_ARGUMENT.value[0]
    assert error.digest_list_ack.digest_list_ack == ack
    backup = connect(0)
    backup.arbitrate()
    backup.send(digest_ack=ack)
    assert backup.receive("error").canonical_code == Code.PERMISSION_DENIED.value[0]


@p4runtime("stream-other")
def test_other_messages_are_reported_as_unknown(client: Client) -> None:
    request = p4r.StreamMessageRequest()
    request.other.type_url = "type.googleapis.com/google.protobuf.Empty"
    client.outgoing.put(request)
    error = client.receive("error")
    assert error.canonical_code == Code.UNIMPLEMENTED.value[0]
    assert error.other.other == request.other


@p4runtime("packet-in-primary")
def test_packets_go_to_the_primary_alone(tables: Client, connect: Connect) -> None:
    backup = connect(0)
    backup.arbitrate()
    tables.packet_out(0, bytes(5))
    assert tables.receive("packet").payload == bytes(5)
    assert backup.incoming.empty()


# -- other services -----------------------------------------------------------------------------


def test_calls_of_other_services_are_refused_with_what_there_is(client: Client) -> None:
    call = client.channel.unary_unary("/gnmi.gNMI/Get")
    error = refused(lambda: call(b"", timeout=5))
    assert error.code() is Code.UNIMPLEMENTED
    assert error.details() == (
        "there is no gnmi.gNMI/Get; this server has the service p4.v1.P4Runtime only"
    )
