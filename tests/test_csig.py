"""CSIG in virtual time: what csig.p4 writes, compared with a model over a capture."""

from bisect import bisect
from pathlib import Path

from scapy.layers.inet import IP, TCP
from scapy.utils import PcapNgReader

from hosts.layers.csig import CSIG
from waymark import MODERN, Flow, Scenario, Topology, run
from waymark.csig import AVAILABLE_SHARE, DELAY, Quantiser, quantiser_for
from waymark.entries import csig_quantiser

RATE_BPS, UPLINK_BPS, UPLINK_DELAY_NS = 1.6e6, 10e6, 1_000_000
"""Of the bottleneck, and of the line to it."""


def link_octets(packet: IP) -> int:
    """What a link charges for a packet."""
    return packet[IP].len + (4 if CSIG in packet else 0)


def band(quantiser: Quantiser, signal: int, value: int) -> int:
    """The band of a value, from the ranges of the table."""
    ranges = list(quantiser.ranges(signal))
    at = bisect([low for (low, _), _ in ranges], value) - 1
    (low, high), found = ranges[at]
    assert low <= value <= high
    return found


def test_a_hop_s_tags_are_those_of_a_model(small: Topology, tmp_path: Path) -> None:
    """A flow with tags and one without share r1's queue, which is the only one."""
    network = small.with_program("v1model/csig.p4").with_queues(30)
    quantiser = csig_quantiser(network)
    flows = (
        Flow("a", "b", "swiftcsig", MODERN, settings={"target_s": 0.05}),
        Flow("a", "b", "cubic", MODERN, start_s=2, stop_s=4),
    )
    capture = tmp_path / "run.pcapng"
    run(Scenario("csig", network, 6, flows=flows), capture=capture)

    came: dict[tuple[int, int], tuple[int, CSIG]] = {}
    window, octets, last = 0, 0, 0
    compared = {AVAILABLE_SHARE: set[int](), DELAY: set[int]()}
    with PcapNgReader(str(capture)) as reader:
        packets = sorted(reader, key=lambda packet: packet.time)
    for packet in packets:
        start_ns = round(packet.time * 10**9)
        key = (packet[TCP].sport, packet[IP].id)
        if packet.sniffed_on == "a->r1" and CSIG in packet:
            sent_ns = round(link_octets(packet) * 8e9 / UPLINK_BPS)
            came[key] = (start_ns + sent_ns + UPLINK_DELAY_NS, packet[CSIG])
        if packet.sniffed_on != "r1->r2":
            continue
        number = start_ns // 1000 >> quantiser.interval_log2
        if number != window:
            last = octets if number == window + 1 else 0
            window, octets = number, 0
        octets += link_octets(packet)
        if CSIG not in packet:
            continue
        arrived_ns, before = came[key]
        tag = packet[CSIG]
        assert tag.signal == before.signal
        if tag.signal == DELAY:
            waited_us = (start_ns - arrived_ns) // 1000
            own = {band(quantiser, DELAY, max(0, waited_us + error)) for error in (-1, 0, 1)}
            expected = {(value, 1 if value else 0) for value in own}
        else:
            capacity = quantiser.capacity_octets(RATE_BPS)
            share = max(0, capacity - last) * (2**48 // capacity) >> 32
            value = band(quantiser, AVAILABLE_SHARE, share)
            expected = {(value, 1 if value < 31 else 0)}
        assert (tag.band, tag.locator) in expected, (start_ns, tag, expected)
        compared[tag.signal].add(tag.band)
    assert len(compared[DELAY]) > 5, compared
    assert len(compared[AVAILABLE_SHARE]) > 5, compared


def test_ranges_have_no_gaps_and_no_overlaps() -> None:
    for ports in ([(1.6e6, 50), (10e6, 50)], [(100e9, 1000)], [(1e3, 2)], [(400e9, 10_000)]):
        quantiser = quantiser_for(ports)
        for signal in range(3):
            expected_low = 0
            bands = []
            for (low, high), found in quantiser.ranges(signal):
                assert low == expected_low <= high
                expected_low = high + 1
                bands.append(found)
            assert expected_low == 2**32
            assert bands == sorted(set(bands))
            assert (bands[0], bands[-1]) == (0, 31)


def test_bands_beyond_what_the_program_counts_have_no_range() -> None:
    """1000 packets take 12,000 s at 1 kb/s, 2^32 µs are 4295 s."""
    ranges = list(quantiser_for([(1e3, 1000)]).ranges(DELAY))
    assert all(low <= high for (low, high), _ in ranges)
    highs = [high for (_, high), _ in ranges]
    assert [low for (low, _), _ in ranges] == [0, *(high + 1 for high in highs[:-1])]
    assert highs[-1] == 2**32 - 1


def test_an_interval_fits_the_hosts_clocks() -> None:
    assert [quantiser_for([(rate, 20)]).interval_log2 for rate in (1e3, 179, 100, 1)] == [
        29,
        31,
        31,
        31,
    ]
