"""Configurations: what they mean, and the errors of invalid ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
from conftest import ROOT, Cli, Golden
from ruamel.yaml import YAML

from controller import config
from controller.entries import entries_for
from waymark import Host, Switch, Topology, duplex, yaml_file
from waymark.addressing import derive
from waymark.entries import entries_for as entries_of_a_topology
from waymark.entry import Entry
from waymark.errors import WaymarkError

REFUSED = sorted((ROOT / "tests" / "controller" / "configs").glob("*.yaml"))
TABLES = (
    "ipv4_route",
    "neighbour",
    "punt",
    "port_queue",
    "red_weight",
    "red",
    "port_feedback",
    "drai",
)


@pytest.mark.parametrize("file", REFUSED, ids=lambda file: file.stem)
def test_the_errors_of_an_invalid_config_name_their_lines(
    file: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    monkeypatch.chdir(file.parent)
    with pytest.raises(WaymarkError) as refused:
        config.load(Path(file.name))
    message = f"{refused.value}\n"
    assert message == golden(file.with_suffix(".txt"), message)
    assert all(line.startswith(file.name) for line in message.splitlines())


def test_every_key_is_in_the_manual() -> None:
    manual = (ROOT / "controller" / "README.md").read_text()
    models = [config.Config]
    for model in models:
        for name, field in model.model_fields.items():
            assert re.search(rf"[`.]{name}[`.]", manual), name
            assert field.description, name
            models += [m for m in (yaml_file.model_in(field.annotation),) if m is not None]
    assert len(models) == 19


def test_the_command_line_reports_it_too(cli: Cli) -> None:
    shown = cli("controller", "plan", REFUSED[0])
    assert shown.code == 2
    assert shown.err.startswith(f"error: {REFUSED[0]}:")
    assert "Traceback" not in shown.err


def test_a_switch_that_cannot_be_reached_is_reported(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("switches:\n  s1:\n    address: 127.0.0.1:1\n")
    shown = cli("controller", "apply", file)
    assert shown.code == 1
    assert "error: s1 (127.0.0.1:1) cannot be reached" in shown.err


def test_a_missing_file_is_reported(cli: Cli, tmp_path: Path) -> None:
    shown = cli("controller", "watch", tmp_path / "none.yaml")
    assert shown.code == 2
    assert "none.yaml: no such file" in shown.err


def test_addresses_of_twelve_decimal_digits_stay_addresses(tmp_path: Path) -> None:
    """YAML 1.1 would read 12:34:56:12:34:56 as a number of base 60."""
    file = tmp_path / "config.yaml"
    file.write_text(
        "switches: {s: {address: 'h:1', ports: {1: {mac: 12:34:56:12:34:56, rate: 5e3 kb/s}}}}"
    )
    port = config.load(file).switches["s"].ports[1]
    assert (port.mac, port.rate) == ("12:34:56:12:34:56", 5e6)


def settings(text: str, folder: Path) -> config.SwitchConfig:
    file = folder / "config.yaml"
    file.write_text(f"switches:\n  r1:\n    address: 127.0.0.1:9559\n{text}")
    return config.load(file).switches["r1"]


def test_lab_and_controller_write_the_same_entries(tmp_path: Path) -> None:
    """A host, a router with two ports, and another router."""
    network = Topology(
        hosts=(Host("a"), Host("b")),
        switches=(Switch("r1", feedback=frozenset({"aqt", "drai"})), Switch("r2")),
        links=(
            *duplex("a", "r1", 10e6, 0.001, queue_packets=30),
            *duplex("r1", "r2", 1.6e6, 0.02, queue_packets=10),
            *duplex("r2", "b", 10e6, 0.001),
        ),
    )
    switch = settings(
        """
    ports:
      1: {mac: "02:00:00:00:03:01", rate: 10 Mb/s, queue_limit: 30, marks: [drai, aqt]}
      2: {mac: "02:00:00:00:03:02", rate: 1.6 Mb/s, queue_limit: 10, marks: [aqt, drai]}
    neighbours:
      - {port: 1, address: 10.0.0.1, mac: "02:00:00:00:01:01"}
      - {port: 2, address: 10.255.0.2, mac: "02:00:00:00:04:01"}
    routes:
      - {to: 10.0.0.1/32, port: 1}
      - {to: 10.0.0.2/32, via: 10.255.0.2}
""",
        tmp_path,
    )
    lab = entries_of_a_topology(network, derive(network), network.switch("r1"), TABLES)
    controller = entries_for(switch, TABLES)
    assert sorted(map(repr, lab)) == sorted(map(repr, controller))


def test_a_cpu_port_gets_arp(tmp_path: Path) -> None:
    assert entries_for(settings("    cpu_port: 510\n", tmp_path), TABLES) == [
        Entry("punt", {"ether_type": 0x0806}, "send_to_cpu")
    ]


def test_a_route_to_the_neighbour_itself_is_direct(tmp_path: Path) -> None:
    switch = settings(
        """
    ports: {1: {mac: "02:00:00:00:03:01"}}
    neighbours: [{port: 1, address: 10.0.0.1, mac: "02:00:00:00:01:01"}]
    routes: [{to: 10.0.0.1/32, via: 10.0.0.1}]
""",
        tmp_path,
    )
    route = entries_for(switch, ("ipv4_route", "neighbour"))[0]
    assert (route.action, route.params) == ("direct", {"port": 1})


def test_the_schema_accepts_the_example_and_refuses_an_unknown_key(cli: Cli) -> None:
    schema = json.loads(cli("controller", "schema").out)
    example = YAML(typ="safe").load(ROOT / "controller" / "examples" / "two_ports.yaml")
    jsonschema.validate(example, schema)
    with pytest.raises(jsonschema.ValidationError, match="nonsense"):
        jsonschema.validate(example | {"nonsense": 1}, schema)


def test_trimming_is_two_entries_of_a_port(tmp_path: Path) -> None:
    text = """
    ports:
      2: {mac: "02:00:00:00:03:02", trim: {trimmable: 10, trimmed: 11, octets: 80, queue_limit: 50}}
"""
    entries = entries_for(settings(text, tmp_path), ("trimming",))
    cut = {"octets": 80, "dscp": 11, "max_waiting": 49}
    assert entries == [
        Entry("trimming", {"port": 2, "dscp": 10}, "cut", cut),
        Entry("trimming", {"port": 2, "dscp": 11}, "send_first", {"max_waiting": 49}),
    ]


def test_csig_is_bands_and_entries_of_ports(tmp_path: Path) -> None:
    text = """
    csig: {locator: 7, interval: 1024 us, delay_unit: 16 us, octets_unit: 100}
    ports:
      1: {mac: "02:00:00:00:03:01", rate: 10 Mb/s, csig: {insert: abw/c}}
      2: {mac: "02:00:00:00:03:02", rate: 8 Mb/s, csig: {strip: true}}
"""
    tables = ("csig_port", "csig_band", "csig_insertion")
    insertion, *ports_and_bands = entries_for(settings(text, tmp_path), tables)
    assert insertion == Entry("csig_insertion", {"port": 1}, "insert", {"signal": 1})
    common = {"locator": 7, "interval_log2": 10}
    assert ports_and_bands[:2] == [
        Entry(
            "csig_port",
            {"port": port},
            "write",
            {**common, "capacity": octets, "per_octet": 2**48 // octets, "strip": strip},
        )
        for port, octets, strip in ((1, 1280, 0), (2, 1024, 1))
    ]
    bands = {
        (entry.match["signal"], entry.params["band"]): entry.match["value"]
        for entry in ports_and_bands[2:]
    }
    assert len(bands) == 96
    assert bands[0, 0] == (0, 99)
    assert bands[1, 31] == (63488, 2**32 - 1)
    assert [bands[2, band] for band in (0, 1, 2, 31)] == [
        (0, 15),
        (16, 22),
        (23, 31),
        (16 * 2**15, 2**32 - 1),
    ]


def test_tcp_int_is_an_entry_of_a_port(tmp_path: Path) -> None:
    text = """
    ports:
      1: {mac: "02:00:00:00:03:01", rate: 10 Gb/s, tcp_int: true}
      2: {mac: "02:00:00:00:03:02", rate: 8 Mb/s, tcp_int: true}
"""
    fast, slow = entries_for(settings(text, tmp_path), ("tcp_int_port",))
    # 320000 octets in 256 us; 32 packets of 1500 octets take 48 ms at an octet per us.
    assert fast.params == {
        "interval_log2": 8,
        "per_octet": -(-127 * 2**40 // 320_000),
        "octets_per_us": 1250 << 16,
        "link_speed": 1,
    }
    assert slow.params == {
        "interval_log2": 16,
        "per_octet": 127 * 2**24,
        "octets_per_us": 1 << 16,
        "link_speed": 0,
    }


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("csig: {locator: 128}", "csig.locator: found 128; valid: 1 to 127"),
        (
            "csig: {locator: 1, interval: 300 us}",
            "(not 2^k us, k to 31); valid: 2^k us, such as 256 us",
        ),
        ("csig: {locator: 1, interval: 4294967296 us}", "(not 2^k us, k to 31); valid: 2^k us"),
        ("csig: {locator: 1, delay_unit: 0}", "delay_unit: found 0.0; valid: above 0, to 4294 s"),
        ("csig: {locator: 1, delay_unit: 2 h}", "delay_unit: found 7200.0; valid: above 0, to"),
        ("csig: {locator: 1, octets_unit: .inf}", "octets_unit: found inf; valid: octets in an"),
        ("csig: {locator: 1}", "ports.1.rate: missing; valid: bits per second with a unit, at"),
    ],
)
def test_csig_that_cannot_be_is_refused(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(WaymarkError) as refused:
        settings(f'    {text}\n    ports: {{1: {{mac: "02:00:00:00:03:02"}}}}\n', tmp_path)
    assert error in str(refused.value)


@pytest.mark.parametrize(
    ("port", "error"),
    [
        ("tcp_int: true", "tcp_int: tcp_int needs rate, which is missing"),
        ("csig: {insert: rate}", "csig.insert: found 'rate'; valid: abw, abw/c or delay"),
        ("dual_pi2: {target: -1}", "dual_pi2.target: found -1 (not a time); valid: 0 to 4294 s"),
        ("dual_pi2: {step: 4295 s}", "dual_pi2.step: found 4295.0; valid: 0 to 4294 s"),
        ("csig: {strip: true}", "csig.strip: found true without csig at the switch"),
    ],
)
def test_signals_of_a_port_that_cannot_be_are_refused(
    tmp_path: Path, port: str, error: str
) -> None:
    with pytest.raises(WaymarkError) as refused:
        settings(f'    ports: {{1: {{mac: "02:00:00:00:03:02", {port}}}}}\n', tmp_path)
    assert error in str(refused.value)


def test_telemetry_is_an_entry_of_a_port_and_one_of_each_source(tmp_path: Path) -> None:
    text = """
    ports:
      1:
        mac: "02:00:00:00:03:01"
        telemetry:
          remove: true
          sources:
            - {protocol: udp, dst_ports: [4791, 4791], instructions: [node, departure], hops: 5}
            - {protocol: tcp}
      2: {mac: "02:00:00:00:03:02", rate: 10 Gb/s, telemetry: {node: 5, mtu: 9000}}
"""
    entries = entries_for(settings(text, tmp_path), ("int_port", "int_source"))
    hpcc = {"words": 5, "instructions": 0x1400, "domain": 0x5741, "domain_instructions": 0xC000}
    own = {"words": 3, "instructions": 0x8400, "domain": 0, "domain_instructions": 0}
    at_1 = {"port": 1, "protocol": 17, "dst_port": (4791, 4791)}
    records = {"node": 5, "rate_kbps": 10_000_000, "mtu": 9000}
    assert entries == [
        Entry("int_port", {"port": 1}, "remove_stack"),
        Entry("int_source", at_1, "start", {"hops": 5, **own}, 1),
        Entry(
            "int_source",
            at_1 | {"protocol": 6, "dst_port": (0, 65535)},
            "start",
            {"hops": 8, **hpcc},
            1,
        ),
        Entry("int_port", {"port": 2}, "write_records", records),
    ]


@pytest.mark.parametrize(
    ("telemetry", "error"),
    [
        (
            "node: 5",
            "telemetry needs rate, which is missing; valid: rate with telemetry, or remove",
        ),
        ("mtu: 1500", "telemetry.node: missing; valid: the switch's number in the domain, or"),
        ("node: 5, mtu: 67", "mtu: found 67; valid: 68 to 65535"),
        (
            "node: 5, remove: true, sources: [{protocol: tcp, dst_ports: [2, 1]}]",
            "the first of `dst_ports` is greater than the last",
        ),
        (
            "node: 5, remove: true, sources: [{protocol: tcp, instructions: [colour]}]",
            "valid: a list of any of node, ports, latency, queue, arrival, departure, sent, rate",
        ),
        (
            "remove: true, sources: [{protocol: udp, dst_ports: [1, 9]}, {protocol: tcp}, "
            "{protocol: udp, dst_ports: [9, 20]}]",
            "sources.2.dst_ports: found ports 1 to 9 of udp, which source 0 also has; valid: each",
        ),
    ],
)
def test_telemetry_that_cannot_be_is_refused(tmp_path: Path, telemetry: str, error: str) -> None:
    text = f'    ports: {{1: {{mac: "02:00:00:00:03:02", telemetry: {{{telemetry}}}}}}}\n'
    with pytest.raises(WaymarkError) as refused:
        settings(text, tmp_path)
    assert error in str(refused.value)


@pytest.mark.parametrize(
    ("trim", "error"),
    [
        ("trimmable: 10, trimmed: 10", "`trimmable` and `trimmed` are the same DSCP"),
        ("trimmable: 7", "`trimmable` and `trimmed` are the same DSCP"),
        ("trimmable: 64, trimmed: 10", "trimmable: found 64; valid: 0 to 63"),
        ("trimmable: 1, trimmed: 2, octets: 77", "octets: found 77; valid: 78 to 65535"),
    ],
)
def test_trimming_that_cannot_be_is_refused(tmp_path: Path, trim: str, error: str) -> None:
    with pytest.raises(WaymarkError) as refused:
        settings(f'    ports: {{1: {{mac: "02:00:00:00:03:02", trim: {{{trim}}}}}}}\n', tmp_path)
    assert error in str(refused.value)
