"""DRAI's ranges and RED's stair, as numbers; and what differs between entries."""

from __future__ import annotations

from itertools import pairwise

import pytest

from controller.diff import Change, Kind, changes
from waymark.architecture import TNA
from waymark.drai import (
    MAX_DEPTH,
    MAX_OCTETS,
    DraiRange,
    drai_ranges,
    window_capacity_octets,
    window_log2,
)
from waymark.entry import Entry, direct_route, queue_limit
from waymark.entry import red as red_entries
from waymark.errors import WaymarkError
from waymark.red import FRACTION_BITS, MAX_AVERAGE, Red, RedStep, red_steps, red_steps_of_depth


def index_of(ranges: list[DraiRange], depth: int, octets: int) -> int:
    """The index of the one range that fits."""
    (index,) = (
        r.index
        for r in ranges
        if r.queue_depth[0] <= depth <= r.queue_depth[1]
        and r.window_octets[0] <= octets <= r.window_octets[1]
    )
    return index


@pytest.mark.parametrize("rate_bps", [1.0, 64e3, 1.6e6, 10e6, 1e9, 100e9])
@pytest.mark.parametrize("limit", [2, 3, 4, 5, 10, 50, 1000])
def test_every_depth_and_rate_has_exactly_one_index(rate_bps: float, limit: int) -> None:
    ranges = drai_ranges(rate_bps, limit)
    for depth in (0, 1, limit // 4, limit // 2, limit - 1, limit, MAX_DEPTH):
        for octets in (0, 1, 16_000, 27_429, 48_000, 96_000, MAX_OCTETS):
            assert 1 <= index_of(ranges, depth, octets) <= 6


def test_a_longer_queue_or_a_fuller_link_never_raises_the_index() -> None:
    ranges = drai_ranges(1.6e6, 50)
    octets = range(0, 70_000, 500)
    by_depth = [[index_of(ranges, depth, o) for o in octets] for depth in range(60)]
    for row, longer in pairwise(by_depth):
        assert all(a >= b for a, b in zip(row, longer, strict=True))
        assert row == sorted(row, reverse=True)
    assert {index for row in by_depth for index in row} == {1, 2, 3, 4, 5, 6}


def test_who_follows_an_index_does_not_overrun_the_link() -> None:
    """Index 6 multiplies a window by 3, index 5 by 1.75: both only where that fits."""
    rate_bps = 10e6
    capacity = window_capacity_octets(rate_bps)
    ranges = drai_ranges(rate_bps, 50)
    for octets in range(0, int(capacity) + 1, 100):
        factor = {6: 3, 5: 1.75}.get(index_of(ranges, 0, octets), 1)
        assert octets * factor <= capacity


def test_a_full_queue_is_index_1_and_an_idle_port_index_6() -> None:
    for limit in (2, 5, 20, 50):
        ranges = drai_ranges(1.6e6, limit)
        assert index_of(ranges, limit - 1, 0) == 1
        assert index_of(ranges, 0, 0) == 6
        assert index_of(ranges, 0, MAX_OCTETS) == 3


def test_a_window_is_a_round_trip_or_holds_four_packets() -> None:
    for rate_bps in (1.0, 64e3, 1.4e6, 1.5e6, 1e9, 1e12, 400e12):
        octets = 2 ** window_log2(rate_bps) * 1e-6 * rate_bps / 8
        assert window_capacity_octets(rate_bps) == octets
        assert 4 * 1500 <= octets <= MAX_OCTETS
    assert [window_log2(rate_bps) for rate_bps in (1e6, 1.4e6, 1.5e6, 1e12)] == [16, 16, 15, 15]
    assert window_log2(1.0) < 64


def test_the_shortest_window_tells_the_steps_apart() -> None:
    """With 4 packets of 1500 octets in it: none and 1, 2, 3, 4 of them."""
    rate_bps = 4 * 1500 * 8 / (2**15 * 1e-6)
    assert window_capacity_octets(rate_bps) == 4 * 1500
    ranges = drai_ranges(rate_bps, 50)
    assert [index_of(ranges, 0, 1500 * packets) for packets in range(5)] == [6, 6, 5, 4, 3]


def test_red_rises_from_thmin_to_thmax_and_drops_all_above() -> None:
    red = Red(thmin=5, thmax=15, pmax=0.1)
    *stair, last = red_steps(red)
    assert len(stair) == 16
    assert stair[0].bounds[0] == 5 << FRACTION_BITS
    assert last.bounds == (15 << FRACTION_BITS, MAX_AVERAGE)
    assert last.probability == 2**16
    for step, after in zip(stair, [*stair[1:], last], strict=True):
        assert step.bounds[1] + 1 == after.bounds[0]
        for average in step.bounds:
            line = 0.1 * (average / 2**16 - 5) / 10
            assert abs(step.probability / 2**16 - line) <= 0.1 / 32 + 2**-16
    assert stair == sorted(stair, key=lambda step: step.probability)


def test_red_of_a_depth_has_the_steps_of_whole_packets() -> None:
    """With 2 cells to a packet: 4 steps from 2 to 6 packets, one for each number of packets."""
    steps = red_steps_of_depth(Red(thmin=2, thmax=6, pmax=0.5, w=0), 2)
    probability = {
        packets: step.probability
        for step in steps
        for packets in range(12)
        if 2 * packets in depths(step)
    }
    full = {step.probability for step in red_steps(Red(2, 6, 0.5, 0))}
    assert set(probability) == set(range(2, 12))
    assert set(probability.values()) <= full
    for packets in (2, 3, 4, 5):
        assert abs(probability[packets] / 2**16 - 0.5 * (packets - 2) / 4) <= 0.5 / 32 + 2**-16
    assert {probability[packets] for packets in range(6, 12)} == {2**16}
    for below, above in pairwise(steps):
        assert below.bounds[1] + 1 == above.bounds[0]
    assert steps[-1].bounds[1] == MAX_DEPTH


def depths(step: RedStep) -> range:
    return range(step.bounds[0], step.bounds[1] + 1)


def test_red_for_tofino_is_of_depths_alone() -> None:
    entries = red_entries(2, Red(2, 6, 0.5, w=0), TNA, 1500)
    assert {entry.table for entry in entries} == {"red"}
    assert entries[0].match == {"port": 2, "queue_depth": (2 * 20, 3 * 20 - 1)}  # of 80 octets
    assert (entries[-1].action, entries[-1].params) == ("drop_all", {})
    with pytest.raises(WaymarkError, match="programs for tna have no average; valid: w: 0"):
        red_entries(2, Red(2, 6, 0.5), TNA)


def test_red_at_its_bounds_fits_the_table() -> None:
    for red in (Red(0, 1e-3, 1), Red(0, 2**18, 1), Red(3, 3.0001, 1e-6, w=15)):
        for step in red_steps(red):
            assert 0 <= step.bounds[0] <= step.bounds[1] <= MAX_AVERAGE
            assert 0 <= step.probability <= 2**16


A, B = queue_limit(1, 50), direct_route("10.0.0.0/24", 1)


def test_what_is_there_is_left_alone() -> None:
    assert changes([A, B], [B, A]) == []


def test_from_nothing_all_is_inserted_and_to_nothing_all_deleted() -> None:
    assert [c.kind for c in changes([A, B], [])] == [Kind.INSERT, Kind.INSERT]
    assert [c.kind for c in changes([], [A, B])] == [Kind.DELETE, Kind.DELETE]


def test_another_action_or_parameter_modifies_and_shows_what_was() -> None:
    other = queue_limit(1, 40)
    (change,) = changes([other], [A])
    assert change == Change(Kind.MODIFY, other, A)
    assert str(change) == (
        "~ port_queue port=1: drop_tail(max_waiting=39), was drop_tail(max_waiting=49)"
    )


def test_priority_is_part_of_what_an_entry_is() -> None:
    low = Entry("drai", {"queue_depth": (0, 3)}, "set_index", {"index": 6}, priority=1)
    high = Entry("drai", {"queue_depth": (0, 3)}, "set_index", {"index": 6}, priority=2)
    assert [str(c) for c in changes([high], [low])] == [
        "- drai queue_depth=0…3: set_index(index=6)",
        "+ drai queue_depth=0…3: set_index(index=6)",
    ]


def test_room_is_made_before_it_is_taken() -> None:
    kinds = [c.kind for c in changes([B, queue_limit(1, 9)], [A, direct_route("10.1.0.0/16", 2)])]
    assert kinds == [Kind.DELETE, Kind.MODIFY, Kind.INSERT]
