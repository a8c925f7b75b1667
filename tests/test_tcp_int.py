"""TCP-INT between hosts in virtual time: what they echo is what tcp_int.p4 wrote."""

from pathlib import Path

import pytest
from scapy.layers.inet import IP, TCP
from scapy.packet import Packet
from scapy.utils import PcapNgReader

from hosts.layers.tcp_int import of
from waymark import MODERN, Flow, Scenario, Topology, WaymarkError, run

SETTINGS = {"target_s": 0.02}


def echo_of(option: Packet) -> tuple[int, int, int, int]:
    """What the hosts' program of p4app-TCP-INT echoes of an option."""
    latency = option.latency
    if latency > 0x7FFF:
        latency = 0x8000 | latency >> 8
    return option.value, 64 - option.hop, option.link_speed, latency


def test_receivers_echo_the_option_of_the_newest_data(small: Topology, tmp_path: Path) -> None:
    network = small.with_program("v1model/tcp_int.p4").with_queues(100)
    flow = Flow("a", "b", "swifttcpint", MODERN, settings=SETTINGS)
    capture = tmp_path / "run.pcapng"
    run(Scenario("tcp_int", network, 4, flows=(flow,)), capture=capture)

    wrote: dict[int, tuple[int, int, int, int]] = {}
    echoed = 0
    with PcapNgReader(str(capture)) as reader:
        packets = sorted(reader, key=lambda packet: packet.time)
    for packet in packets:
        segment = packet[TCP]
        option = of(segment)
        octets = packet[IP].len - 4 * (packet[IP].ihl + segment.dataofs)
        if packet.sniffed_on == "r2->b" and option is not None and option.hop != 0:
            assert option.tag_frequency == 15
            wrote[(segment.seq + octets) % 2**32] = echo_of(option)
        if packet.sniffed_on == "b->r2" and option is not None:
            told = (option.value_echo, option.hop_echo, option.link_speed_echo, option.latency_echo)
            assert told == wrote[segment.ack]
            echoed += 1
    assert echoed > 100
    assert max(latency for *_, latency in wrote.values()) > 0x8000, "none waited for 8.4 ms"


def test_a_control_that_reads_it_needs_a_switch_that_writes_it(small: Topology) -> None:
    flow = Flow("a", "b", "swifttcpint", MODERN)
    told = "swifttcpint reads TCP-INT, which no switch writes; valid: v1model/tcp_int.p4 at the"
    with pytest.raises(WaymarkError, match=told):
        run(Scenario("tcp_int", small, 1, flows=(flow,)))
