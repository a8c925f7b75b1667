"""Ports and priorities have the same numbers in Python, in Rust and in the P4 programs."""

import re

from conftest import ROOT

from waymark import ports
from waymark.architecture import T2NA, TNA, V1MODEL


def constants(file: str, name: str) -> list[int]:
    text = (ROOT / "p4src/include" / file).read_text()
    found = re.findall(rf"const \w+(?:<\d+>)? {name}\s*= (\d+);", text)
    assert found, f"{file} has no constant {name}"
    return [int(number) for number in found]


def constant(file: str, name: str) -> int:
    (number,) = constants(file, name)
    return number


def in_rust(file: str, name: str) -> int:
    text = (ROOT / "crates" / file).read_text()
    (number,) = re.findall(rf"pub const {name}: \w+ = (\d+);", text)
    return int(number)


def test_the_controller_s_port_is_that_of_the_programs() -> None:
    assert constant("v1model/types.p4", "CPU_PORT") == ports.CPU_PORT == V1MODEL.cpu_port
    assert constants("tna/types.p4", "CPU_PORT") == [TNA.cpu_port, T2NA.cpu_port]


def test_the_largest_number_of_a_port_drops_and_the_one_below_is_the_controller_s() -> None:
    largest = 2 ** constant("types.p4", "PORT_WIDTH") - 1
    assert (largest, largest - 1, largest - 2) == (ports.DROP_PORT, ports.CPU_PORT, ports.MAX_PORT)
    in_core = [in_rust("engine/src/ports.rs", name) for name in ("CPU_PORT", "MAX_PORT")]
    assert [in_rust("v1model/src/architecture.rs", "DEFAULT_DROP_PORT"), *in_core] == [
        ports.DROP_PORT,
        ports.CPU_PORT,
        ports.MAX_PORT,
    ]


def test_a_port_has_a_queue_for_each_priority() -> None:
    assert 2 ** constant("types.p4", "PRIORITY_WIDTH") == ports.PRIORITIES
    assert in_rust("switch/src/config.rs", "MAX_QUEUES") == ports.PRIORITIES
