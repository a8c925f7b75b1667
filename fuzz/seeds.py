"""Write the seeds of the fuzz targets, from the project's programs, scripts and packets."""

import hashlib
import json
import re
import shutil
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SEEDS = HERE / "seeds"

FILES = {
    "frontend": ("crates/p4-frontend/tests/ok/**/*.p4", "crates/p4-frontend/tests/err/**/*.p4"),
    "script": ("crates/bmv2-json/tests/config/*.stf", "p4src/tests/waymark-*.stf"),
}
"""The seed files of each target that reads text."""

EXCHANGE, HALF_A_SECOND = b"\x02", b"\x93"
WRITE_P4RUNTIME, READ_P4RUNTIME, SET_P4RUNTIME, PACKET_OUT = 1, 6, 7, 9
P4RUNTIME_STEPS = {
    f"writes-{program}": bytes([program])
    + b"".join(
        bytes([WRITE_P4RUNTIME, 0, 48, atomicity, *(bytes([1, kind, *range(22)]) * 2)[:47]])
        for kind in range(10)
        for atomicity in (0, 1)
    )
    + bytes([READ_P4RUNTIME, 0, 0, PACKET_OUT, 0, 24, 1, 1, 0, 1, 0, *range(19)])
    + bytes([SET_P4RUNTIME, 0, 2, 5, 0])
    for program in (0, 1)
}
"""Messages to a switch; see ``fuzz_targets/p4runtime.rs``."""

SCTP_STEPS = {
    "life": EXCHANGE * 8 + HALF_A_SECOND + b"\xfe" * 12,
    "odd_chunks": EXCHANGE * 6 + b"\x01\x14\x00\x03\x00\x14" + bytes(16) + EXCHANGE * 2,
    "odd_packet": EXCHANGE * 4 + b"\x00\x10" + bytes(16) + EXCHANGE * 2,
}
"""Events of two associations; see ``fuzz_targets/sctp.rs``."""

PORT_1 = 0
MADE_ROUTABLE = 4
"""A packet's input format; see ``fuzz_targets/packet.rs``."""

DELIVER, CHANGE, COPY, WAIT, TIME_OUT, WRITE, READ, ACT = (
    step << 1 for step in (0, 6, 9, 10, 11, 12, 13, 14)
)
"""The steps of ``fuzz_targets/tcp.rs``, for host 0; for host 1 one more."""

CHOICES = {"operators": 600, "tables": 900, "hashes": 300}
"""The octets of a seed, for each target whose input is a source of random choices."""

HANDSHAKE = [DELIVER + 1, 0, DELIVER, 0, DELIVER + 1, 0]
CONVERSATIONS = {
    "transfer": [
        *(WRITE, 200, *[DELIVER + 1, 0, DELIVER, 0] * 6, READ + 1, 255, ACT, 2),
        *(DELIVER + 1, 0, ACT + 1, 2, DELIVER, 0, DELIVER, 0, DELIVER + 1, 0, TIME_OUT),
    ],
    "loss": [WRITE, 250, COPY + 1, DELIVER + 1, 3, DELIVER, 0, TIME_OUT, DELIVER + 1, 0],
    "forged": [WRITE, 9, CHANGE + 1, 2, 33, 2, 25, 1, WAIT, 200, DELIVER, 0, DELIVER + 1, 0],
}

_NEIGHBOUR = bytes([2, 0, 0, 0, 0, 2, 10, 0, 0, 2])
_OURS = bytes([2, 0, 0, 0, 0, 1, 10, 0, 0, 1])
_QUESTION = bytes([0, 1, 8, 0, 6, 4, 0, 1]) + _NEIGHBOUR + _OURS
_ANSWER = bytes([0, 1, 8, 0, 6, 4, 0, 2]) + _NEIGHBOUR + _OURS
_SEND, _COMES, _LATER = 0, 8, 0xF0
ARP_STEPS = {
    "answered": bytes([_SEND, 2, _COMES, *_ANSWER, _SEND, 2, _LATER | _SEND, 2, _SEND, 2]),
    "asked": bytes([_COMES, *_QUESTION, _SEND, 2]),
    "silent": bytes([_SEND, 2, _LATER | _SEND, 2, _COMES, *_ANSWER]),
}
"""Steps of ``fuzz_targets/arp.rs``."""


HOSTS = {"a": 1, "b": 2}
FLOWS = {
    **{
        name: {"connection": {"control": {"name": name}}}
        for name in ("tahoe", "newreno", "sack", "vegas", "rovegas", "redvegas", "muzha", "rbcc")
    },
    **{
        f"modern-{name}": {
            "connection": {"control": {"name": name}, "profile": {"modern": {"window": 1000}}}
        }
        for name in ("cubic", "bbr", "dctcp", "waymark", "enhancedvegas")
    },
    "finite": {
        "connection": {"control": {"name": "fack"}},
        "segments": 30,
        "trace": True,
        "stop_s": 1.5,
    },
}
"""Flows of scenarios, without their ends; see ``fuzz_targets/scenario.rs``."""


def scenario(program: str, **traffic: object) -> dict[str, object]:
    """Two hosts on two switches: a - r1 - r2 - b."""
    ports = {"r1": {1: 1, 2: 2}, "r2": {1: 1, 2: 2}}
    return {
        "name": "seed",
        "seed": 1,
        "end_s": 3,
        "sample_s": 0.5,
        "hosts": {
            name: {"ipv4": f"10.0.0.{n}", "mac": _mac(n), "gateway_mac": _mac(9)}
            for name, n in HOSTS.items()
        },
        "switches": {
            name: {"program": program, "entries": _entries(program, of)}
            for name, of in ports.items()
        },
        "links": [
            _link("a", 0, "r1", 1, 10_000_000),
            _link("r1", 2, "r2", 1, 1_600_000, loss=0.01),
            _link("r2", 2, "b", 0, 10_000_000),
        ],
        **traffic,
    }


def _mac(number: int) -> str:
    return f"02:00:00:00:00:{number:02x}"


def _link(a: str, at: int, b: str, by: int, rate_bps: int, loss: float = 0) -> dict[str, object]:
    return {
        "a": {"node": a, "port": at},
        "b": {"node": b, "port": by},
        "rate_bps": rate_bps,
        "delay_s": 0.01,
        "queue": 10,
        "loss": loss,
        "ba": {"loss": 0, "queue": 20},
        "changes": [{"at_s": 1, "direction": "ab", "rate_bps": rate_bps // 2, "delay_s": 0.02}],
    }


def _entries(program: str, ports: dict[int, int]) -> list[dict[str, object]]:
    entries: list[dict[str, object]] = []
    for host, port in ports.items():
        address = f"10.0.0.{host}"
        entries += [
            {
                "table": "ipv4_route",
                "match": {"dst_addr": f"{address}/32"},
                "action": "direct",
                "params": {"port": port},
            },
            {
                "table": "neighbour",
                "match": {"port": port, "next_hop": address},
                "action": "rewrite",
                "params": {"src_addr": _mac(9), "dst_addr": _mac(host)},
            },
            {
                "table": "port_queue",
                "match": {"port": port},
                "action": "drop_tail",
                "params": {"max_waiting": 9},
            },
        ]
        if program == "waymark":
            marks = {"aqt": 1, "drai": 1, "ci": 1, "window_log2": 15}
            entries.append(
                {
                    "table": "port_feedback",
                    "match": {"port": port},
                    "action": "set_feedback",
                    "params": marks,
                }
            )
    return entries


def scenarios() -> dict[str, dict[str, object]]:
    """One for each kind of traffic."""
    ends = {"from": "a", "to": "b"}
    made = {
        f"flow-{name}": scenario("waymark", flows=[ends | flow, {"to": "a", "from": "b"} | flow])
        for name, flow in FLOWS.items()
    }
    bursts = {"kind": "pareto", "rate_bps": 3e6, "mean_on_s": 0.01, "mean_off_s": 0.01, "shape": 2}
    made["sources"] = scenario(
        "plain",
        sources=[ends | {"kind": "cbr", "rate_bps": 1e6}, ends | bursts, ends | bursts],
    )
    association = ends | {"control": "rbca", "spc": True, "thresholds_s": [0.1], "trace": True}
    primary = [{"at_s": 1, "path": 0}]
    made["associations"] = scenario(
        "plain", associations=[ends | {"chunks": 20}, association | {"primary": primary}]
    )
    made["checks"] = made["flow-rovegas"] | {"record": {"check_aqt": True, "aqt_switches": ["r1"]}}
    clocks = json.loads(json.dumps(made["flow-modern-enhancedvegas"]))
    clocks["hosts"]["a"]["clock"] = {"offset_s": -7, "skew_ppm": 200}
    made["clocks"] = clocks
    copies = json.loads(json.dumps(made["flow-tahoe"]))
    replicas = [{"port": 2, "instance": 1}, {"port": 1}]
    copies["switches"]["r1"] |= {
        "multicast_groups": [{"id": 1, "replicas": replicas}],
        "clone_sessions": [{"id": 5, "replicas": replicas, "octets": 60}],
        "default_actions": [{"table": "ipv4_route", "action": "direct", "params": {"port": 2}}],
        "capacity": 5,
        "port_capacity": {"2": 3},
    }
    made["copies"] = copies
    snoop = json.loads(json.dumps(made["flow-newreno"]))
    snoop["switches"]["r2"]["snoop"] = [2]
    made["snoop"] = snoop
    medium = json.loads(json.dumps(made["flow-newreno"]))
    medium["media"] = {"air": {"slot_s": 5e-5, "slots": 40, "carrier_sense": True}}
    medium["links"][-1]["medium"] = "air"
    made["medium"] = medium
    return made


def main() -> None:
    """Write all seeds."""
    shutil.rmtree(SEEDS, ignore_errors=True)
    for target, patterns in FILES.items():
        (SEEDS / target).mkdir(parents=True)
        for path in (path for pattern in patterns for path in ROOT.glob(pattern)):
            name = "-".join(path.relative_to(ROOT).parts[-3:])
            shutil.copyfile(path, SEEDS / target / name)
    (SEEDS / "config").mkdir()
    (SEEDS / "compiled").mkdir()
    for path in ROOT.glob("crates/bmv2-json/tests/config/*.json"):
        config = json.dumps(_without_sources(json.loads(path.read_text())), separators=(",", ":"))
        (SEEDS / "config" / path.name).write_text(config)
        packet = bytes([1, 20, *range(20)])
        (SEEDS / "compiled" / path.name).write_bytes(config.encode() + b"\0" + packet)
    (SEEDS / "p4runtime").mkdir()
    for name, messages in P4RUNTIME_STEPS.items():
        (SEEDS / "p4runtime" / name).write_bytes(messages)
    (SEEDS / "sctp").mkdir()
    for name, steps in SCTP_STEPS.items():
        (SEEDS / "sctp" / name).write_bytes(steps)
    (SEEDS / "tcp").mkdir()
    for name, steps in CONVERSATIONS.items():
        for settings in (0x07, 0xFF):
            path = SEEDS / "tcp" / f"{name}-{settings:02x}"
            path.write_bytes(bytes([settings, *HANDSHAKE, *steps]))
    for target, octets in CHOICES.items():
        (SEEDS / target).mkdir()
        for number in range(20):
            choices = hashlib.shake_128(f"{target} {number}".encode()).digest(octets)
            (SEEDS / target / str(number)).write_bytes(choices)
    (SEEDS / "scenario").mkdir()
    for name, described in scenarios().items():
        text = json.dumps(described, separators=(",", ":"))
        (SEEDS / "scenario" / f"{name}.json").write_text(text)
    (SEEDS / "arp").mkdir()
    for name, steps in ARP_STEPS.items():
        (SEEDS / "arp" / name).write_bytes(steps)
    (SEEDS / "packet").mkdir()
    for script in ROOT.glob("p4src/tests/waymark-*.stf"):
        packets = re.findall(r"^packet \d+ ([0-9a-fA-F ]+)$", script.read_text(), re.MULTILINE)
        for number, packet in enumerate(dict.fromkeys(packets)):
            for how in (PORT_1, PORT_1 | MADE_ROUTABLE):
                seed = SEEDS / "packet" / f"{script.stem}-{number}-{how}"
                seed.write_bytes(bytes([how]) + bytes.fromhex(packet))


def _without_sources(value: object) -> object:
    """BMv2's JSON without its source information, which is shorter and equivalent."""
    match value:
        case dict():
            return {k: _without_sources(v) for k, v in value.items() if k != "source_info"}
        case list():
            return [_without_sources(v) for v in value]
        case _:
            return value


if __name__ == "__main__":
    main()
