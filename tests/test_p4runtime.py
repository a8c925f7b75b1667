"""The P4Runtime server over loopback, without interfaces: no root is needed."""

from __future__ import annotations

import queue
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from conftest import ROOT
from finsy.proto import p4d, p4r, p4r_grpc
from p4runtime_client import DELETE, INSERT, MODIFY, Client, errors, octets
from p4runtime_server import (
    CPU_PORT,
    ELECTION_IDS,
    PROGRAMS,
    codes,
    refused,
    said,
    start,
)

PROGRAM = PROGRAMS / "entities.p4"
OK = grpc.StatusCode.OK
p4runtime = pytest.mark.p4runtime


def probe(address: int = 0, flow: int = 0, level: int = 0, kind: int = 0x1234) -> bytes:
    frame = bytes(5) + b"\x01" + bytes(5) + b"\x02" + octets(kind, 2)
    return frame + octets(address, 4) + octets(flow, 2) + octets(level, 1) + b"\x07" + bytes(46)


# -- arbitration --------------------------------------------------------------------------------


@p4runtime(
    "election-per-role",
    "takeover",
    "notice-primary",
    "notice-backup",
    "notice-nobody",
    "notice-to-others",
    "live-id-changes",
    "disconnect",
    "no-successor",
)
def test_the_highest_election_id_is_primary_and_the_others_are_notified(
    connect: Callable[..., Client],
) -> None:
    low, high = next(ELECTION_IDS), next(ELECTION_IDS)
    first, second, monitor = connect(low), connect(high), connect()
    assert first.arbitrate().status.code == 0
    assert second.arbitrate().status.code == 0
    told = first.receive("arbitration")
    assert told.status.code == grpc.StatusCode.ALREADY_EXISTS.value[0]
    assert told.election_id.low == high
    monitor.election_id = None
    assert monitor.arbitrate().status.code == grpc.StatusCode.ALREADY_EXISTS.value[0]
    second.close()
    assert first.receive("arbitration").status.code == grpc.StatusCode.NOT_FOUND.value[0]
    assert first.arbitrate(high).status.code == 0


@p4runtime("new-id-used", "new-device", "stream-ends")
def test_a_used_election_id_and_another_device_end_the_stream(
    client: Client, connect: Callable[..., Client]
) -> None:
    other = connect(client.election_id)
    assert refused(other.arbitrate).code() is grpc.StatusCode.INVALID_ARGUMENT
    elsewhere = connect(client.election_id)
    elsewhere.device_id = 9
    assert refused(elsewhere.arbitrate).code() is grpc.StatusCode.NOT_FOUND


@p4runtime(
    "write-primary", "packet-out-backup", "packet-error-backup", "read-anyone", "packet-error-copy"
)
def test_only_the_primary_writes(client: Client, connect: Callable[..., Client]) -> None:
    backup = connect(0)
    backup.arbitrate()
    backup.p4info = client.p4info
    entry = backup.entry("fixed", backup.action("NoAction"), **{"class": 1})
    assert (
        refused(lambda: backup.write((INSERT, entry))).code() is grpc.StatusCode.PERMISSION_DENIED
    )
    backup.packet_out(CPU_PORT, probe())
    error = backup.receive("error")
    assert error.canonical_code == grpc.StatusCode.PERMISSION_DENIED.value[0]
    assert error.packet_out.packet_out.payload == probe()
    assert len(backup.read(p4r.TableEntry())) == 2, "everyone may read"


@p4runtime("role-apart", "election-per-role", "default-role")
def test_a_role_has_a_primary_of_its_own(client: Client, connect: Callable[..., Client]) -> None:
    other = connect(1)
    assert other.arbitrate(role="monitor").role.name == "monitor"
    told = other.arbitrate(2, role="monitor")
    assert told.status.code == 0
    assert client.arbitrate().status.code == 0


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not on PATH")
@p4runtime("tls")
def test_tls_serves_those_whose_certificates_are_signed(tmp_path: Path) -> None:
    def openssl(*arguments: str) -> None:
        command = ["openssl", *arguments]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *key, "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.pem")
    names = tmp_path / "names"
    names.write_text("subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", str(names))
    for name in ("server", "client"):
        openssl("req", *key, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", "csr")
        openssl("x509", "-req", "-in", "csr", *signed, "-out", f"{name}.pem")
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    process, address = start(
        *("--grpc-server-cert", tmp_path / "server.pem"),
        *("--grpc-server-key", tmp_path / "server.key"),
        *("--grpc-server-cacert", tmp_path / "ca.pem"),
    )
    target = address.replace("127.0.0.1", "localhost")
    try:
        known = grpc.ssl_channel_credentials(
            files["ca.pem"], files["client.key"], files["client.pem"]
        )
        unknown = grpc.ssl_channel_credentials(files["ca.pem"])
        client = Client(target, channel=grpc.secure_channel(target, known))
        assert client.arbitrate().status.code == 0
        client.close()
        stranger = Client(target, channel=grpc.secure_channel(target, unknown))
        assert refused(stranger.arbitrate).code() is grpc.StatusCode.UNAVAILABLE
        stranger.close()
        plain = Client(target)
        assert refused(plain.arbitrate).code() is grpc.StatusCode.UNAVAILABLE
        plain.close()
        openssl("req", "-x509", *key, "-subj", "/CN=other", "-keyout", "o.key", "-out", "o.pem")
        for tls, message in (
            ("{ca: ca.pem, certificate: client.pem, key: client.key}", "entries to change"),
            ("{ca: ca.pem}", "set `certificate` and `key` in `tls`"),
            ("{ca: ca.pem, certificate: o.pem, key: o.key}", "refused the `certificate` in `tls`"),
            ("{ca: o.pem}", "that `ca` in `tls` signed it"),
        ):
            assert message in planned(tmp_path, target, tls)
    finally:
        process.terminate()
        process.wait(10)


def planned(folder: Path, address: str, tls: str) -> str:
    """What ``waymark controller plan`` prints for a switch at an address."""
    example = (ROOT / "controller" / "examples" / "two_ports.yaml").read_text(encoding="utf-8")
    config = folder / "controller.yaml"
    config.write_text(example.replace("127.0.0.1:9559", f"{address}\n    tls: {tls}"))
    command = [sys.executable, "-m", "waymark", "controller", "plan", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return done.stdout + done.stderr


# -- pipeline -----------------------------------------------------------------------------------


@p4runtime("cookie-kept", "get-all", "get-cookie")
def test_pipeline_is_given_back_as_it_came(client: Client, pipeline: tuple[str, str]) -> None:
    client.set_pipeline(pipeline[0], cookie=77)
    whole = client.get_pipeline().config
    assert whole.p4_device_config.decode() == pipeline[0]
    assert whole.p4info == client.p4info
    assert whole.cookie.cookie == 77
    cookie = client.get_pipeline("COOKIE_ONLY").config
    assert not cookie.HasField("p4info")
    assert not cookie.p4_device_config
    assert cookie.cookie.cookie == 77


@p4runtime("commit-nothing-saved", "verify-changes-nothing", "save-refers", "commit-replays")
def test_saved_pipeline_takes_writes_and_commit_brings_them(
    client: Client, pipeline: tuple[str, str]
) -> None:
    error = refused(lambda: client.set_pipeline("", action="COMMIT"))
    assert error.code() is grpc.StatusCode.NOT_FOUND
    route = client.entry("route", client.action("forward", port=1), address=(0x0A000000, 8))
    client.write((INSERT, route))
    client.set_pipeline(pipeline[0], action="VERIFY")
    assert len(client.read(client.entry("route"))) == 1
    client.set_pipeline(pipeline[0], action="VERIFY_AND_SAVE")
    assert client.read(client.entry("route")) == []
    new = client.entry("route", client.action("to_controller"), address=(0x0B000000, 8))
    client.write((INSERT, new))
    client.packet_out(0, probe(0x0B000001))
    with pytest.raises(queue.Empty):
        client.receive("packet", 0.3)
    client.set_pipeline("", action="COMMIT")
    assert client.read(client.entry("route")) == [new]
    client.packet_out(0, probe(0x0B000001))
    assert client.receive("packet").payload == probe(0x0B000001)


@p4runtime("reconcile")
def test_reconciling_keeps_all_state(client: Client, pipeline: tuple[str, str]) -> None:
    client.write(*everything(client))
    before = whole_state(client)
    client.set_pipeline(pipeline[0] + "\n// another text", action="RECONCILE_AND_COMMIT", cookie=3)
    assert whole_state(client) == before
    assert client.get_pipeline().config.cookie.cookie == 3
    client.set_pipeline(pipeline[0], action="VERIFY_AND_COMMIT")
    assert whole_state(client) != before


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "found nothing"),
        ('{"errors": 3}', "p4_device_config: errors: expected an array, found 3"),
        (b"\xff\xfe\xfd", "no text"),
        ("#include <core.p4>\nparser P(packet_in p { }", "p4_device_config:2:"),
        ("const bit<8> a = 1;", "main"),
    ],
)
@p4runtime("set-unrealizable", "refused-keeps")
def test_a_config_that_cannot_run_is_refused_with_the_reason(
    client: Client, source: str | bytes, message: str
) -> None:
    error = refused(lambda: client.set_pipeline(source))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert message in str(error.details())
    assert client.get_pipeline().config.p4info == client.p4info, "what ran runs on"


needs_p4c = pytest.mark.skipif(not shutil.which("p4c-bm2-ss"), reason="p4c-bm2-ss is not on PATH")


def compiled_by_p4c(main: Path, folder: Path) -> tuple[str, str]:
    """BMv2's JSON and the P4Info."""
    config, p4info = folder / "p4c.json", folder / "p4c.txtpb"
    command = ["p4c-bm2-ss", "--std", "p4-16", "-o", config, "--p4runtime-files", p4info, main]
    subprocess.run(command, check=True, capture_output=True)
    return config.read_text(), p4info.read_text()


@needs_p4c
@pytest.mark.parametrize(
    "main", sorted((ROOT / "p4src" / "v1model").glob("*.p4")), ids=lambda main: main.stem
)
def test_every_main_runs_as_p4c_compiled_it(client: Client, main: Path, tmp_path: Path) -> None:
    client.p4info.Clear()
    client.set_pipeline(*compiled_by_p4c(main, tmp_path))
    defaults = client.read(p4r.TableEntry(is_default_action=True))
    assert len(defaults) == len(client.p4info.tables)
    # What a controller sends to its own port comes back; its first octets are taken for the header.
    client.packet_out(CPU_PORT, octets(5 << 7, 2) + probe(1))
    packet = client.receive("packet")
    assert packet.payload == probe(1)
    assert [metadata.value for metadata in packet.metadata] == [octets(5), octets(0)]


@needs_p4c
def test_what_p4c_s_json_leaves_out_comes_of_p4info(client: Client, tmp_path: Path) -> None:
    """Optional keys, and the controller's headers."""
    main = tmp_path / "entities.p4"
    source = PROGRAM.read_text().replace("register<bool>(2) switches;", "")  # p4c has no such ones
    main.write_text(source)
    client.p4info.Clear()
    client.set_pipeline(*compiled_by_p4c(main, tmp_path))
    updates = everything(client)
    client.write(*updates)
    learn = client.entry("classify", client.action("learn"), 11, **{"class": 7})
    punt = client.entry("route", client.action("to_controller"), address=(5, 32))
    client.write((INSERT, learn), (INSERT, punt))
    assert client.read(learn) == [learn]
    client.packet_out(0, probe(5))
    packet = client.receive("packet")
    assert packet.payload == probe(5)
    assert packet.metadata[0].value == octets(CPU_PORT)
    learnt = client.receive("digest").data[0].struct.members
    assert [member.bitstring for member in learnt] == [b"\x02", octets(CPU_PORT)]


@p4runtime("p4info-fits")
def test_p4info_must_fit_the_program(client: Client, pipeline: tuple[str, str]) -> None:
    wrong = pipeline[1].replace('"MyIngress.route"', '"MyIngress.root"')
    client.p4info.Clear()
    error = refused(lambda: client.set_pipeline(pipeline[0], wrong))
    assert "no table `MyIngress.root`" in str(error.details())


@p4runtime("large-messages")
def test_a_config_of_100_mb_is_refused_and_service_continues(
    client: Client, pipeline: tuple[str, str]
) -> None:
    error = refused(lambda: client.set_pipeline(pipeline[0] + " " * 100_000_000))
    assert error.code() in (grpc.StatusCode.OUT_OF_RANGE, grpc.StatusCode.RESOURCE_EXHAUSTED)
    error = refused(lambda: client.set_pipeline(pipeline[0] + " " * 20_000_000))
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    client.set_pipeline(pipeline[0])


@p4runtime("write-before-config", "read-before-config", "get-before-config")
def test_nothing_is_written_before_there_is_a_pipeline() -> None:
    process, address = start("--device-id", 3)
    client = Client(address, device_id=3)
    try:
        client.arbitrate()
        assert not client.get_pipeline().HasField("config")
        code = grpc.StatusCode.FAILED_PRECONDITION
        assert refused(lambda: client.read(p4r.TableEntry())).code() is code
        assert refused(lambda: client.write((INSERT, p4r.TableEntry()))).code() is code
    finally:
        client.close()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


# -- entities -----------------------------------------------------------------------------------


def everything(client: Client) -> list[tuple[int, Any]]:
    """An update for every kind of entity."""
    forward = client.action("forward", port=3)
    route = client.entry("route", forward, address=(0x0A000000, 8))
    route.counter_data.packet_count = 5
    route.metadata = b"mine"
    route.idle_timeout_ns = 3_600_000_000_000
    classify = client.entry(
        "classify",
        client.action("shift", by=0xFE),
        10,
        address=(0x0A, 0xFF),
        flow=(5, 9),
        **{"class": 7},
    )
    police = client.entry("police", client.action("metered"), flow=80)
    police.meter_config.CopyFrom(p4r.MeterConfig(cir=10, cburst=1, pir=20, pburst=2))
    default = client.entry("route", client.action("to_controller"))
    default.is_default_action = True
    paths = client.id_of("action_profiles", "paths")
    member = p4r.ActionProfileMember(action_profile_id=paths, member_id=4, action=forward)
    group = p4r.ActionProfileGroup(action_profile_id=paths, group_id=2, max_size=8)
    group.members.add(member_id=4, weight=3)
    spread = client.entry("spread", p4r.TableAction(action_profile_group_id=2), **{"class": 1})
    multicast = p4r.MulticastGroupEntry(multicast_group_id=7)
    multicast.replicas.add(port=b"\x01", instance=1)
    multicast.replicas.add(port=b"\x02", instance=1)
    clone = p4r.CloneSessionEntry(session_id=5, packet_length_bytes=64)
    clone.replicas.add(egress_port=CPU_PORT, instance=9)
    values = p4r.ValueSetEntry(value_set_id=client.p4info.value_sets[0].preamble.id)
    values.members.add().match.add(field_id=1).exact.value = b"\x43\x21"
    digest = p4r.DigestEntry(digest_id=client.p4info.digests[0].preamble.id)
    digest.config.max_list_size = 10
    counter = p4r.CounterEntry(counter_id=client.id_of("counters", "by_port"))
    counter.index.index = 2
    counter.data.byte_count = 1500
    meter = p4r.MeterEntry(meter_id=client.id_of("meters", "limits"))
    meter.index.index = 1
    meter.config.CopyFrom(p4r.MeterConfig(cir=1, cburst=2, pir=3, pburst=4))
    return [
        (INSERT, route),
        (INSERT, classify),
        (INSERT, police),
        (MODIFY, default),
        (INSERT, member),
        (INSERT, group),
        (INSERT, spread),
        (INSERT, multicast),
        (INSERT, clone),
        (MODIFY, values),
        (INSERT, digest),
        (MODIFY, counter),
        (MODIFY, meter),
        (MODIFY, register(client, "last_src", 3, 0xBEEF)),
    ]


def register(client: Client, name: str, index: int | None, value: int | bool = 0) -> Any:
    entry = p4r.RegisterEntry(register_id=client.id_of("registers", name))
    if index is not None:
        entry.index.index = index
    if isinstance(value, bool):
        entry.data.CopyFrom(p4d.P4Data(bool=value))
    else:
        entry.data.bitstring = octets(value)
    return entry


def whole_state(client: Client) -> list[Any]:
    entries = p4r.TableEntry(counter_data=p4r.CounterData(), meter_config=p4r.MeterConfig())
    return client.read(
        entries,
        p4r.TableEntry(is_default_action=True),
        p4r.ActionProfileMember(),
        p4r.ActionProfileGroup(),
        p4r.MulticastGroupEntry(),
        p4r.CloneSessionEntry(),
        p4r.ValueSetEntry(),
        p4r.DigestEntry(),
        p4r.CounterEntry(),
        p4r.MeterEntry(),
        p4r.RegisterEntry(),
    )


@p4runtime("read-as-written")
def test_what_is_written_is_read(client: Client) -> None:
    updates = everything(client)
    client.write(*updates)
    state = whole_state(client)
    for _, entity in updates:
        expected = entity
        if isinstance(entity, p4r.MulticastGroupEntry):
            expected = p4r.PacketReplicationEngineEntry(multicast_group_entry=entity)
        if isinstance(entity, p4r.CloneSessionEntry):
            expected = p4r.PacketReplicationEngineEntry(clone_session_entry=entity)
        assert expected in state, entity
    assert len(client.read(register(client, "last_src", None))) == 16
    removable = [(DELETE, entity) for kind, entity in reversed(updates) if kind == INSERT]
    client.write(*removable)
    entries = client.read(p4r.TableEntry())
    assert all(entry.is_const for entry in entries)
    assert client.read(p4r.ActionProfileMember(), p4r.MulticastGroupEntry()) == []


@p4runtime("write-errors-details", "continue-on-error", "insert-twice")
def test_every_update_of_a_batch_has_its_error(client: Client) -> None:
    forward = client.action("forward", port=1)
    good = client.entry("route", forward, address=(0x0A000000, 8))
    bits = client.entry("route", forward, address=(0x0A000001, 8))
    wide = client.entry("route", client.action("forward", port=512), address=(0, 1))
    absent = client.entry("route", forward, address=(0x0C000000, 8))
    fixed = client.entry("fixed", client.action("NoAction"), **{"class": 3})
    kind = client.entry("classify", client.action("NoAction"), flow=(1, 2))
    foreign = client.entry("police", client.action("learn"), flow=2)
    last = register(client, "last_src", 16, 1)
    error = refused(
        lambda: client.write(
            (INSERT, good),
            (INSERT, good),
            (INSERT, bits),
            (INSERT, wide),
            (MODIFY, absent),
            (DELETE, absent),
            (INSERT, fixed),
            (INSERT, kind),
            (INSERT, foreign),
            (MODIFY, last),
            (INSERT, last),
            (INSERT, p4r.TableEntry(table_id=1)),
        )
    )
    assert codes(error) == [
        "OK",
        "ALREADY_EXISTS",
        "INVALID_ARGUMENT",
        "INVALID_ARGUMENT",
        "NOT_FOUND",
        "NOT_FOUND",
        "PERMISSION_DENIED",
        "INVALID_ARGUMENT",
        "INVALID_ARGUMENT",
        "OUT_OF_RANGE",
        "INVALID_ARGUMENT",
        "NOT_FOUND",
    ]
    assert client.read(client.entry("route")) == [good]
    one = refused(lambda: client.write((INSERT, foreign)))
    assert "MyIngress.metered" in errors(one)[0].message, "what is valid is said"


@pytest.mark.parametrize("atomicity", ["ROLLBACK_ON_ERROR", "DATAPLANE_ATOMIC"])
@p4runtime("rollback", "dataplane-atomic")
def test_a_failed_batch_is_rolled_back_whole(client: Client, atomicity: str) -> None:
    client.write(*everything(client))
    before = whole_state(client)
    removals = [(DELETE, e) for kind, e in reversed(everything(client)) if kind == INSERT]
    other = register(client, "last_src", 3, 1)
    default = client.entry("route")
    default.is_default_action = True
    bad = client.entry("fixed", client.action("NoAction"), **{"class": 3})
    updates = [*removals, (MODIFY, other), (MODIFY, default), (INSERT, bad)]
    error = refused(lambda: client.write(*updates, atomicity=atomicity))
    assert codes(error) == ["ABORTED"] * (len(updates) - 1) + ["PERMISSION_DENIED"]
    key = lambda entity: entity.SerializeToString(deterministic=True)  # noqa: E731
    assert sorted(whole_state(client), key=key) == sorted(before, key=key)


@p4runtime("match-dont-care", "match-lpm-any", "match-range-any")
def test_matches_that_say_nothing_must_be_left_out(client: Client) -> None:
    action = client.action("NoAction")
    for fields in ({"address": (0, 0)}, {"flow": (0, 0xFFFF)}):
        entry = client.entry("classify", action, 1, **fields)
        assert codes(refused(lambda e=entry: client.write((INSERT, e)))) == ["INVALID_ARGUMENT"]
    entry = client.entry("route", client.action("forward", port=1), address=(0, 0))
    assert codes(refused(lambda: client.write((INSERT, entry)))) == ["INVALID_ARGUMENT"]
    anything = client.entry("classify", action, 1)
    client.write((INSERT, anything))
    assert client.read(client.entry("classify")) == [anything]


@p4runtime("bytes-shortest")
def test_padded_values_are_read_in_canonical_form(client: Client) -> None:
    entry = client.entry("route", client.action("forward", port=1), address=(0x0A000000, 8))
    entry.action.action.params[0].value = b"\x00\x01"
    client.write((INSERT, entry))
    [found] = client.read(client.entry("route"))
    assert found.action.action.params[0].value == b"\x01"


@p4runtime("read-by-match", "read-by-priority", "read-by-action")
def test_entries_are_found_by_match_priority_and_action(client: Client) -> None:
    shift, nothing = client.action("shift", by=1), client.action("NoAction")
    entries = [
        client.entry("classify", shift, 5, flow=(1, 2)),
        client.entry("classify", nothing, 5, flow=(3, 4)),
        client.entry("classify", nothing, 6, flow=(1, 2)),
    ]
    client.write(*((INSERT, entry) for entry in entries))
    asked = client.entry("classify", None, 5)
    assert client.read(asked) == entries[:2]
    asked = client.entry("classify", client.action("NoAction"))
    assert client.read(asked) == entries[1:]
    asked = client.entry("classify", None, 6, flow=(1, 2))
    assert client.read(asked) == entries[2:]
    assert client.read(client.entry("classify", None, 7, flow=(1, 2))) == []


@p4runtime("const-table-read", "const-table-write", "default-const")
def test_constant_entries_are_read_and_not_changed(client: Client) -> None:
    found = client.read(client.entry("fixed"))
    assert [entry.match[0].exact.value for entry in found] == [b"\xfe", b"\xff"]
    assert all(entry.is_const for entry in found)
    found[0].is_const = False
    assert codes(refused(lambda: client.write((DELETE, found[0])))) == ["PERMISSION_DENIED"]
    default = client.entry("fixed", client.action("drop"))
    default.is_default_action = True
    assert codes(refused(lambda: client.write((MODIFY, default)))) == ["PERMISSION_DENIED"]


@p4runtime("default-reset", "default-modify", "default-insert-delete")
def test_default_entry_goes_back_to_the_program_s(client: Client) -> None:
    default = client.entry("route", client.action("forward", port=4))
    default.is_default_action = True
    client.write((MODIFY, default))
    asked = p4r.TableEntry(table_id=default.table_id, is_default_action=True)
    assert client.read(asked) == [default]
    client.write((MODIFY, asked))
    assert client.read(asked)[0].action.action == client.action("drop")
    assert codes(refused(lambda: client.write((INSERT, default)))) == ["INVALID_ARGUMENT"]


@p4runtime("register-type", "register-all", "data-bool")
def test_registers_hold_what_their_type_says(client: Client) -> None:
    client.write((MODIFY, register(client, "switches", 1, True)))
    found = client.read(register(client, "switches", None))
    assert [entry.data.bool for entry in found] == [False, True]
    wrong = register(client, "switches", 0, 1)
    assert codes(refused(lambda: client.write((MODIFY, wrong)))) == ["INVALID_ARGUMENT"]
    client.write((MODIFY, register(client, "last_src", None, 6)))
    found = client.read(register(client, "last_src", None))
    assert [entry.data.bitstring for entry in found] == [b"\x06"] * 16


@p4runtime("one-shot-read", "one-shot-apart")
def test_one_shot_groups_stand_for_members(client: Client) -> None:
    actions = p4r.ActionProfileActionSet()
    for port, weight in ((1, 2), (2, 1)):
        actions.action_profile_actions.add(
            action=client.action("forward", port=port), weight=weight
        )
    action = p4r.TableAction(action_profile_action_set=actions)
    entry = client.entry("spread", action, **{"class": 5})
    client.write((INSERT, entry))
    assert client.read(client.entry("spread")) == [entry]
    paths = client.id_of("action_profiles", "paths")
    member = p4r.ActionProfileMember(
        action_profile_id=paths, member_id=1, action=client.action("drop")
    )
    assert codes(refused(lambda: client.write((INSERT, member)))) == ["INVALID_ARGUMENT"]
    client.write((DELETE, entry))
    client.write((INSERT, member))
    assert codes(refused(lambda: client.write((INSERT, entry)))) == ["INVALID_ARGUMENT"]


@p4runtime("member-delete-in-group", "group-delete-in-table")
def test_members_in_use_stay(client: Client) -> None:
    client.write(*everything(client))
    paths = client.id_of("action_profiles", "paths")
    member = p4r.ActionProfileMember(action_profile_id=paths, member_id=4)
    group = p4r.ActionProfileGroup(action_profile_id=paths, group_id=2)
    error = refused(lambda: client.write((DELETE, member), (DELETE, group)))
    assert codes(error) == ["FAILED_PRECONDITION"] * 2
    group.max_size = 8
    group.members.add(member_id=4, weight=9)
    assert codes(refused(lambda: client.write((MODIFY, group)))) == ["RESOURCE_EXHAUSTED"]


@p4runtime("table-full")
def test_a_full_table_says_so(client: Client) -> None:
    forward = client.action("forward", port=1)
    entries = [client.entry("route", forward, address=(i, 32)) for i in range(1, 66)]
    error = refused(lambda: client.write(*((INSERT, entry) for entry in entries)))
    assert codes(error) == ["OK"] * 64 + ["RESOURCE_EXHAUSTED"]


@p4runtime("metadata-size")
def test_many_errors_of_a_program_fit_into_a_status(client: Client) -> None:
    statement = 'hdr.nothing = "quoted {} <text>";\n'
    source = PROGRAM.read_text(encoding="utf-8").replace("route.apply();", statement * 80)
    error = refused(lambda: client.set_pipeline(source))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "`nothing`" in str(error.details())
    assert "more errors)" in str(error.details())


@p4runtime("metadata-size", "write-errors-many")
def test_many_errors_fit_into_a_status(client: Client) -> None:
    entry = client.entry("route", client.action("forward", port=1), address=(1, 8))
    error = refused(lambda: client.write(*[(INSERT, entry)] * 5_000))
    assert error.code() is grpc.StatusCode.UNKNOWN
    assert "update 0" in str(error.details())
    assert "4999 more of 5000" in str(error.details())


def test_a_missing_entry_is_named_by_its_key_and_a_priority_if_it_has_one(client: Client) -> None:
    route = client.entry("route", client.action("forward", port=1), address=(1, 8))
    learn = client.entry("classify", client.action("learn"), 11, **{"class": 7})
    messages = [
        errors(refused(lambda entry=entry: client.write((DELETE, entry))))[0].message
        for entry in (route, learn)
    ]
    assert "priority" not in messages[0]
    assert messages[1].endswith(" and priority 11")


@p4runtime("write-errors-many")
def test_clients_that_accept_more_metadata_get_every_error_of_a_large_batch(client: Client) -> None:
    entry = client.entry("route", client.action("forward", port=1), address=(1, 8))
    updates = [(INSERT, entry)] * 10_000
    limit = [("grpc.max_metadata_size", 4 << 20)]
    with grpc.insecure_channel(client.address, limit) as channel:
        client.stub = p4r_grpc.P4RuntimeStub(channel)
        assert said(client, *updates) == ["INVALID_ARGUMENT"] * len(updates)


# -- packets ------------------------------------------------------------------------------------


@p4runtime("packet-out", "packet-in", "counter-counts", "volatile")
def test_packet_out_goes_through_and_comes_back_as_packet_in(client: Client) -> None:
    route = client.entry("route", client.action("to_controller"), address=(0x0A000000, 8))
    client.write((INSERT, route))
    client.packet_out(0, probe(0x0A000001))
    packet = client.receive("packet")
    assert packet.payload == probe(0x0A000001)
    values = {metadata.metadata_id: metadata.value for metadata in packet.metadata}
    assert values[1] == octets(CPU_PORT)
    route.counter_data.CopyFrom(p4r.CounterData())
    [found] = client.read(route)
    assert found.counter_data.packet_count == 1
    direct = p4r.DirectCounterEntry(table_entry=found)
    assert client.read(direct)[0].data.packet_count == 1
    counter = p4r.CounterEntry(counter_id=client.id_of("counters", "by_port"))
    counter.index.index = CPU_PORT & 7
    assert client.read(counter)[0].data.packet_count == 1
    [cell] = client.read(register(client, "last_src", CPU_PORT & 7))
    assert cell.data.bitstring == b"\x02"


@p4runtime("packet-error", "packet-metadata")
def test_malformed_packet_out_is_reported(client: Client) -> None:
    client.send(packet=p4r.PacketOut(payload=b"x", metadata=[]))
    error = client.receive("error")
    assert error.canonical_code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert "egress_port" in error.message
    client.send()
    assert client.receive("error").WhichOneof("details") == "other"


@p4runtime("multicast-copies", "multicast-deleted", "clone-copies", "clone-truncates")
def test_multicast_and_clones_are_copied(client: Client) -> None:
    group = p4r.MulticastGroupEntry(multicast_group_id=1)
    for instance in (1, 2, 3):
        group.replicas.add(port=octets(CPU_PORT), instance=instance)
    session = p4r.CloneSessionEntry(session_id=8, packet_length_bytes=20)
    session.replicas.add(egress_port=CPU_PORT, instance=1)
    client.write(
        (INSERT, group),
        (INSERT, session),
        (INSERT, client.entry("route", client.action("flood", group=1), address=(1, 32))),
        (INSERT, client.entry("classify", client.action("copy", session=8), 1, flow=(1, 1))),
    )
    client.packet_out(0, probe(1))
    # No copy has the packet_in header: what is read as one are octets of the frame.
    for _ in range(3):
        assert client.receive("packet").payload == probe(1)[2:]
    client.packet_out(0, probe(0, flow=1))
    assert len(client.receive("packet").payload) == 18
    client.write((DELETE, group))
    client.packet_out(0, probe(1))
    with pytest.raises(queue.Empty):
        client.receive("packet", 0.3)


@p4runtime("digest-distinct", "digest-ack", "digest-timeout", "data-struct")
def test_digests_are_bundled_and_acknowledged(client: Client) -> None:
    learn = client.entry("classify", client.action("learn"), 1, flow=(9, 9))
    digest = p4r.DigestEntry(digest_id=client.p4info.digests[0].preamble.id)
    digest.config.CopyFrom(
        p4r.DigestEntry.Config(max_timeout_ns=1_000_000, ack_timeout_ns=60_000_000_000)
    )
    client.write((INSERT, learn), (INSERT, digest))
    for _ in range(3):
        client.packet_out(0, probe(flow=9))
    learnt = client.receive("digest")
    assert learnt.digest_id == digest.digest_id
    members = [member.bitstring for member in learnt.data[0].struct.members]
    assert members == [b"\x02", octets(CPU_PORT)]
    assert len(learnt.data) == 1, "the same is said once"
    client.packet_out(0, probe(flow=9))
    with pytest.raises(queue.Empty):
        client.receive("digest", 0.3)
    ack = p4r.DigestListAck(digest_id=learnt.digest_id, list_id=learnt.list_id)
    client.send(digest_ack=ack)
    client.packet_out(0, probe(flow=9))
    assert client.receive("digest").list_id > learnt.list_id


@p4runtime("values-match")
def test_value_sets_open_the_parser(client: Client) -> None:
    route = client.entry("route", client.action("to_controller"), address=(3, 32))
    values = p4r.ValueSetEntry(value_set_id=client.p4info.value_sets[0].preamble.id)
    values.members.add().match.add(field_id=1).exact.value = b"\x43\x21"
    client.write((INSERT, route))
    client.packet_out(0, probe(3, kind=0x4321))
    with pytest.raises(queue.Empty):
        client.receive("packet", 0.3)
    client.write((MODIFY, values))
    client.packet_out(0, probe(3, kind=0x4321))
    assert client.receive("packet").payload == probe(3, kind=0x4321)


@p4runtime("idle-told", "idle-since", "idle-notice")
def test_idle_entries_are_reported(client: Client) -> None:
    route = client.entry("route", client.action("to_controller"), address=(4, 32))
    route.idle_timeout_ns = 200_000_000
    route.metadata = b"aging"
    client.write((INSERT, route))
    until = time.monotonic() + 0.6
    while time.monotonic() < until:
        client.packet_out(0, probe(4))
        client.receive("packet")
        time.sleep(0.02)
    assert client.incoming.empty(), "an entry that is hit does not age"
    told = client.receive("idle_timeout_notification")
    assert [entry.metadata for entry in told.table_entry] == [b"aging"]
    asked = client.entry("route")
    asked.time_since_last_hit.CopyFrom(p4r.TableEntry.IdleTimeout())
    assert client.read(asked)[0].time_since_last_hit.elapsed_ns >= 200_000_000
    client.write((DELETE, route))


# -- faults -------------------------------------------------------------------------------------


def test_clients_that_vanish_leave_the_service_as_it_was(server: str, client: Client) -> None:
    host, port = server.split(":")
    for octets_sent in (
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(99),
    ):
        with socket.create_connection((host, int(port))) as raw:
            raw.sendall(octets_sent)
    script = (
        "import sys, time; sys.path.insert(0, '.'); from p4runtime_client import Client\n"
        f"c = Client({server!r}, {next(ELECTION_IDS)}); c.arbitrate(); print('up', flush=True)\n"
        "time.sleep(60)"
    )
    folder = Path(__file__).parent
    victim = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=folder)
    assert victim.stdout is not None
    victim.stdout.readline()
    assert client.receive("arbitration").status.code == grpc.StatusCode.ALREADY_EXISTS.value[0]
    victim.kill()
    victim.wait()
    assert client.receive("arbitration").status.code == grpc.StatusCode.NOT_FOUND.value[0]
    assert client.arbitrate(next(ELECTION_IDS)).status.code == 0
    client.write((MODIFY, register(client, "last_src", 0, 5)))


def test_malformed_messages_are_refused_one_by_one(client: Client) -> None:
    raw = client.channel.unary_unary(
        "/p4.v1.P4Runtime/Write",
        request_serializer=lambda message: message,
        response_deserializer=lambda message: message,
    )
    for message in (b"\xff", b"\x22\xff\xff\xff\x7f", bytes(1000), b"\x0a\x80" * 500):
        assert refused(lambda m=message: raw(m, timeout=10)).code() is not OK
    empty = p4r.Update(type=INSERT, entity=p4r.Entity())
    request = p4r.WriteRequest(device_id=1, election_id=client.id, updates=[empty, p4r.Update()])
    assert codes(refused(lambda: client.stub.Write(request))) == ["INVALID_ARGUMENT"] * 2
    assert client.read(p4r.TableEntry(is_default_action=True))


@p4runtime("restart-clean")
def test_after_kill_9_a_switch_starts_again_on_its_port(pipeline: tuple[str, str]) -> None:
    process, address = start()
    client = Client(address, 5)
    client.arbitrate()
    client.set_pipeline(*pipeline)
    process.kill()
    process.wait()
    assert refused(lambda: client.receive("packet")).code() is grpc.StatusCode.UNAVAILABLE
    client.close()
    process, again = start("--grpc-server-addr", address)
    assert again == address
    client = Client(address, 1)
    assert client.arbitrate().status.code == 0, "a restart forgets election IDs"
    client.close()
    process.terminate()
    assert process.wait(10) == 0
