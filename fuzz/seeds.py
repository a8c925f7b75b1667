"""Make the seeds of the fuzz targets, from the project's programs, scripts and packets."""

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
"""Of each target that reads text, the files it starts from."""

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
"""What is sent to a switch; see ``fuzz_targets/p4runtime.rs``."""

SCTP_STEPS = {
    "life": EXCHANGE * 8 + HALF_A_SECOND + b"\xfe" * 12,
    "odd_chunks": EXCHANGE * 6 + b"\x01\x14\x00\x03\x00\x14" + bytes(16) + EXCHANGE * 2,
    "odd_packet": EXCHANGE * 4 + b"\x00\x10" + bytes(16) + EXCHANGE * 2,
}
"""What happens to two associations; see ``fuzz_targets/sctp.rs``."""

PORT_1 = 0
MADE_ROUTABLE = 4
"""How a packet goes in; see ``fuzz_targets/packet.rs``."""

DELIVER, CHANGE, COPY, WAIT, TIME_OUT, WRITE, READ, ACT = (
    step << 1 for step in (0, 6, 9, 10, 11, 12, 13, 14)
)
"""The steps of ``fuzz_targets/tcp.rs``, for host 0; for host 1 one more."""

CHOICES = {"operators": 600, "tables": 900, "hashes": 300}
"""Of each target whose input is a source of random choices, the octets of a seed."""

HANDSHAKE = [DELIVER + 1, 0, DELIVER, 0, DELIVER + 1, 0]
CONVERSATIONS = {
    "transfer": [
        *(WRITE, 200, *[DELIVER + 1, 0, DELIVER, 0] * 6, READ + 1, 255, ACT, 2),
        *(DELIVER + 1, 0, ACT + 1, 2, DELIVER, 0, DELIVER, 0, DELIVER + 1, 0, TIME_OUT),
    ],
    "loss": [WRITE, 250, COPY + 1, DELIVER + 1, 3, DELIVER, 0, TIME_OUT, DELIVER + 1, 0],
    "forged": [WRITE, 9, CHANGE + 1, 2, 33, 2, 25, 1, WAIT, 200, DELIVER, 0, DELIVER + 1, 0],
}


def main() -> None:
    """Write them anew."""
    shutil.rmtree(SEEDS, ignore_errors=True)
    for target, patterns in FILES.items():
        (SEEDS / target).mkdir(parents=True)
        for path in (path for pattern in patterns for path in ROOT.glob(pattern)):
            name = "-".join(path.relative_to(ROOT).parts[-3:])
            shutil.copyfile(path, SEEDS / target / name)
    (SEEDS / "config").mkdir()
    for path in ROOT.glob("crates/bmv2-json/tests/config/*.json"):
        config = json.dumps(_without_sources(json.loads(path.read_text())), separators=(",", ":"))
        (SEEDS / "config" / path.name).write_text(config)
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
    (SEEDS / "packet").mkdir()
    for script in ROOT.glob("p4src/tests/waymark-*.stf"):
        packets = re.findall(r"^packet \d+ ([0-9a-fA-F ]+)$", script.read_text(), re.MULTILINE)
        for number, packet in enumerate(dict.fromkeys(packets)):
            for how in (PORT_1, PORT_1 | MADE_ROUTABLE):
                seed = SEEDS / "packet" / f"{script.stem}-{number}-{how}"
                seed.write_bytes(bytes([how]) + bytes.fromhex(packet))


def _without_sources(value: object) -> object:
    """BMv2's JSON without what it says of the source: short, and as good."""
    match value:
        case dict():
            return {k: _without_sources(v) for k, v in value.items() if k != "source_info"}
        case list():
            return [_without_sources(v) for v in value]
        case _:
            return value


if __name__ == "__main__":
    main()
