"""SCTP in the lab: hosts with several links, associations over P4 switches."""

from itertools import chain

import numpy as np
import pytest

from waymark import (
    Association,
    Host,
    Scenario,
    Switch,
    Topology,
    WaymarkError,
    duplex,
    run,
    scenario,
)
from waymark.addressing import derive, least_round_trip_s


def thesis_network(pairs: int, loss: float = 0.0) -> Topology:
    """Dahal 2007, figure 6.1: two rows of two routers between ``pairs`` pairs of hosts."""
    ends = [f"{side}{pair}" for side in "sd" for pair in range(pairs)]
    links = [duplex(end, f"r{end[0]}{row}", 1e6, 0.01) for row in (1, 2) for end in ends]
    across = [duplex(f"rs{row}", f"rd{row}", 1e6, 0.01) for row in (1, 2)]
    network = Topology(
        tuple(Host(end) for end in ends),
        tuple(Switch(f"r{side}{row}", "v1model/plain.p4") for side in "sd" for row in (1, 2)),
        tuple(chain.from_iterable(links + across)),
    )
    for row in (1, 2):
        network = network.with_link(f"rs{row}", f"rd{row}", loss=loss)
    return network


def associations(pairs: int, **settings: object) -> tuple[Association, ...]:
    return tuple(Association(f"s{pair}", f"d{pair}", **settings) for pair in range(pairs))  # pyright: ignore[reportArgumentType]


def test_every_interface_has_an_address_and_a_path_of_its_own() -> None:
    network = thesis_network(2)
    addressing = derive(network)
    assert [str(addressing.interfaces["d1", port]) for port in (1, 2)] == ["10.0.0.4", "10.1.0.4"]
    assert addressing.next_hop_to["rs2", "d1", 2] == "rd2"
    assert ("rs2", "d1", 1) not in addressing.next_hop_to
    # 40 octets at 1 Mb/s and 10 ms, three links in each direction.
    for interface in (0, 1):
        round_trip_s = least_round_trip_s(network, addressing, "s0", "d0", interface=interface)
        assert round_trip_s == pytest.approx(6 * (0.00032 + 0.01))


def test_spc_uses_both_paths_and_loses_little() -> None:
    flows = associations(5, spc=True, threshold_factor=2.0, trace=True)
    result = run(Scenario("spc", thesis_network(5), end_s=20, associations=flows))
    for measured in result.associations:
        assert measured.losses < 0.02 * measured.sent.sum()
        assert measured.switches > 0
        assert 0.09 < measured.mean_rtt_s < 0.7
        assert all(sent.sum() > 0 for sent in measured.sent_on_path)
        assert sum(sent.sum() for sent in measured.sent_on_path) == measured.sent.sum()
        assert measured.trace is not None
        assert np.nanmax(measured.trace.rtt_s) > 0.09
        assert 0 < len(measured.trace.delay_s) <= measured.delivered.sum()
    total = sum(result.goodput_bps(index, 5, 20) for index in range(5))
    assert 1.2e6 < total < 1440 / 1500 * 2e6


def test_the_primary_path_changes_at_the_time_given() -> None:
    flows = associations(1, primary=[(4.0, 1)])
    result = run(Scenario("change", thesis_network(1), end_s=8, associations=flows))
    (measured,) = result.associations
    first, second = measured.sent_on_path
    assert second[:4].sum() == 0
    assert first[5:].sum() == 0
    assert second[5:].sum() > 100


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Association("a", "b", spc=True), "need threshold_factor"),
        (
            lambda: Association("a", "b", threshold_factor=2, threshold_rtt_s=[1]),
            "expected one of them",
        ),
        (
            lambda: scenario.to_core(
                Scenario("x", one_link_more(), 1, associations=(Association("s0", "d0"),)),
                {"v1model/plain.p4": []},
            ),
            "s0 has 3 links, d0 has 2",
        ),
    ],
)
def test_what_is_impossible_is_reported(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(WaymarkError, match=message):
        make()


def one_link_more() -> Topology:
    network = thesis_network(1)
    more = duplex("s0", "rd1", 1e6, 0.01)
    return Topology(network.hosts, network.switches, (*network.links, *more))
