"""Wireless links: shadowing, and a base station with Snoop."""

import pytest

from waymark import (
    Flow,
    Host,
    Profile,
    Scenario,
    Switch,
    Topology,
    WaymarkError,
    duplex,
    run,
    shadowing_loss,
)

NS2_AT_190_M = {2.0: 0.0017, 2.1: 0.0094, 2.2: 0.0364, 2.3: 0.1110, 2.5: 0.4737}
"""Loss of 20001 CBR packets between two nodes of ns-2.35: Propagation/Shadowing, Mac/Simple."""


@pytest.mark.parametrize(("exponent", "loss"), NS2_AT_190_M.items())
def test_losses_are_ns2s(exponent: float, loss: float) -> None:
    ours = shadowing_loss(exponent, 190)
    deviation = (ours * (1 - ours) / 20001) ** 0.5
    assert abs(ours - loss) < 3 * deviation


def test_a_distance_that_cannot_be_is_told() -> None:
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
    flow = Flow("s", "d", "newreno", Profile(window=20))
    with_snoop, without = (
        run(Scenario("snoop", wireless(snoop), end_s=60, flows=(flow,))) for snoop in (True, False)
    )
    assert with_snoop.flows[0].timeouts <= without.flows[0].timeouts
    resent = [r.flows[0].retransmissions / r.flows[0].sent.sum() for r in (with_snoop, without)]
    assert resent[0] < 0.5 * resent[1]
    assert with_snoop.throughput_bps(0, 5, 60) > 1.1 * without.throughput_bps(0, 5, 60)


def test_a_neighbour_that_is_not_there_is_told() -> None:
    with pytest.raises(WaymarkError, match="switch base: snoop: no link to 'x'"):
        Topology((Host("d"),), (Switch("base", snoop=("x",)),), duplex("base", "d", 2e6, 0.001))
