"""Wireless links: shadowing, and a base station with Snoop."""

from dataclasses import replace

import pytest

from topologies.plan import plan
from waymark import (
    Cbr,
    Flow,
    Host,
    Medium,
    Ns2Profile,
    Scenario,
    Switch,
    Topology,
    WaymarkError,
    duplex,
    run,
    shadowing_loss,
    simple_medium,
)

NS2_AT_190_M = {2.0: 0.0017, 2.1: 0.0094, 2.2: 0.0364, 2.3: 0.1110, 2.5: 0.4737}
"""Loss of 20001 CBR packets between two nodes of ns-2.35: Propagation/Shadowing, Mac/Simple."""


@pytest.mark.parametrize(("exponent", "loss"), NS2_AT_190_M.items())
def test_losses_are_ns2s(exponent: float, loss: float) -> None:
    ours = shadowing_loss(exponent, 190)
    deviation = (ours * (1 - ours) / 20001) ** 0.5
    assert abs(ours - loss) < 3 * deviation


def test_a_distance_that_cannot_be_is_reported() -> None:
    with pytest.raises(WaymarkError, match="distance_m is 0, expected above 0"):
        shadowing_loss(2.0, 0)


def wireless(snoop: bool) -> Topology:
    loss = shadowing_loss(2.2, 190)
    return Topology(
        (Host("s"), Host("d")),
        (
            Switch("r", "v1model/plain.p4"),
            Switch("base", "v1model/plain.p4", snoop=("d",) if snoop else ()),
        ),
        (
            *duplex("s", "r", 1e6, 0.01),
            *duplex("r", "base", 1e6, 0.01),
            *duplex("base", "d", 2e6, 0.001, loss=loss),
        ),
    )


def test_snoop_hides_losses_from_the_sender() -> None:
    flow = Flow("s", "d", "newreno", Ns2Profile(window=20))
    with_snoop, without = (
        run(Scenario("snoop", wireless(snoop), end_s=60, flows=(flow,))) for snoop in (True, False)
    )
    assert with_snoop.flows[0].timeouts <= without.flows[0].timeouts
    resent = [r.flows[0].retransmissions / r.flows[0].sent.sum() for r in (with_snoop, without)]
    assert resent[0] < 0.5 * resent[1]
    assert with_snoop.throughput_bps(0, 5, 60) > 1.1 * without.throughput_bps(0, 5, 60)


def test_a_neighbour_that_is_not_there_is_reported() -> None:
    with pytest.raises(WaymarkError, match="switch base: snoop: no link to 'x'"):
        Topology((Host("d"),), (Switch("base", snoop=("x",)),), duplex("base", "d", 2e6, 0.001))


AIR = Medium("air", slot_s=5e-5, slots=1)


def on_air(medium: Medium | None) -> Topology:
    links = (
        *duplex("base", "d", 2e6, 0.001, medium=medium),
        *duplex("base", "e", 2e6, 0.001, medium=medium),
    )
    base = Switch("base", "v1model/plain.p4")
    return Topology((Host("d"), Host("e")), (base,), links)


def crossing(medium: Medium | None) -> list[int]:
    """What arrives of d's and e's packets for each other, of 4 ms every 16 ms, both at once."""
    sources = (Cbr("d", "e", 500e3), Cbr("e", "d", 500e3))
    done = run(Scenario("crossing", on_air(medium), end_s=1.0, sources=sources))
    return [int(source.delivered.sum()) for source in done.sources]


def test_packets_that_meet_on_a_medium_are_lost_and_on_links_are_not() -> None:
    assert min(crossing(None)) >= 61
    assert crossing(AIR) == [0, 0]


def test_carrier_sense_avoids_what_random_gaps_do_not() -> None:
    gaps = replace(AIR, slots=40)
    with_sense, without = (sum(crossing(replace(gaps, carrier_sense=c))) for c in (True, False))
    assert with_sense > 1.5 * without


def test_the_simple_medium_is_ns2s() -> None:
    assert simple_medium("air", 2e6) == Medium("air", 5e-5, 40, carrier_sense=False)


@pytest.mark.parametrize(
    ("medium", "message"),
    [
        (Medium("air", -1, 40), "medium air: slot -1 s, expected 0"),
        (Medium("air", 0, 0), "medium air: 0 slots, expected 1 to 65536"),
    ],
)
def test_a_medium_that_cannot_be_is_refused(medium: Medium, message: str) -> None:
    with pytest.raises(WaymarkError, match=message):
        on_air(medium)


def test_media_of_one_name_have_the_same_settings() -> None:
    links = (
        *duplex("base", "d", 2e6, 0.001, medium=AIR),
        *duplex("base", "e", 2e6, 0.001, medium=replace(AIR, slots=2)),
    )
    with pytest.raises(WaymarkError, match="medium air: two links differ in its settings"):
        Topology((Host("d"), Host("e")), (Switch("base"),), links)


def test_both_directions_of_a_link_are_on_one_medium() -> None:
    there, back = duplex("base", "d", 2e6, 0.001, medium=AIR)
    with pytest.raises(WaymarkError, match="link base->d: its reverse link is on another medium"):
        Topology((Host("d"),), (Switch("base"),), (there, replace(back, medium=None)))


def test_a_medium_is_refused_on_interfaces() -> None:
    with pytest.raises(
        WaymarkError, match="link base - d is on a medium, which is supported in virtual time"
    ):
        plan(on_air(AIR))
