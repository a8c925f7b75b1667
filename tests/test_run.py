"""Single runs through the lab API."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from waymark import (
    CHAN,
    MODERN,
    Association,
    Cbr,
    Clock,
    CongestionControl,
    Flow,
    Host,
    Limits,
    LinkChange,
    ModernProfile,
    OnOff,
    Profile,
    Red,
    Scenario,
    Switch,
    Topology,
    WaymarkError,
    duplex,
    run,
)
from waymark.controls import BY_NAME
from waymark.dual_pi2 import WEIGHTS, DualPi2
from waymark.scenario import to_core
from waymark.traffic import Algorithm

CROSS = OnOff.for_load("b", "a", load=0.9, link_bps=1.6e6, rate_bps=3.2e6, mean_on_s=0.01)
FORWARD = OnOff.for_load(
    "a",
    "b",
    load=0.5,
    link_bps=1.6e6,
    rate_bps=3.2e6,
    mean_on_s=0.01,
    distribution="pareto",
)


def scenario(network: Topology, algorithm: str = "rovegas", **changes: object) -> Scenario:
    flow = Flow("a", "b", algorithm, CHAN)  # pyright: ignore[reportArgumentType]
    fields = {"end_s": 20, "flows": (flow,), "sources": (CROSS,), "check_aqt": True} | changes
    return Scenario("test", network, **fields)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("program", ["v1model/aqt.p4", "v1model/waymark.p4"])
def test_aqt_is_the_time_that_packets_queued(small: Topology, program: str) -> None:
    result = run(scenario(small.with_program(program)))
    assert result.aqt is not None
    assert result.aqt.compared > 1000
    assert result.aqt.mismatches == 0, result.aqt.first


def test_a_lone_flow_fills_the_bottleneck(small: Topology) -> None:
    result = run(scenario(small, "vegas", sources=(), end_s=30))
    assert result.throughput_bps(0, 10, 30) == pytest.approx(1.6e6, rel=0.01)
    assert result.flows[0].timeouts == 0
    assert 1 <= result.mean_waiting("r1->r2", 10, 30) <= 3


NEED_RATES = (
    "bbr",
    "bbr3",
    "dctcp",
    "nscc",
    "prague",
    "swift",
    "swiftaqt",
    "swiftcsig",
    "swifttcpint",
    "hpcc",
    "powertcp",
    "thetapowertcp",
    "waymark",
)
"""Controls that the manner of ns-2 cannot carry."""


@pytest.mark.parametrize("algorithm", NEED_RATES)
def test_what_ns2_cannot_carry_is_refused(small: Topology, algorithm: str) -> None:
    with pytest.raises(WaymarkError, match="which the ns-2 profile does not have"):
        run(scenario(small, algorithm))


@pytest.mark.parametrize("algorithm", list(BY_NAME))
def test_every_control_uses_the_bottleneck(small: Topology, algorithm: str) -> None:
    """A lone flow, 44 ms and 10 packets of queue: the least gets a third of it, most all."""
    profile = MODERN if algorithm in NEED_RATES else CHAN
    flow = Flow("a", "b", algorithm, profile)
    if "CSIG" in BY_NAME[algorithm].marks:
        small = small.with_program("v1model/csig.p4")
    if "INT" in BY_NAME[algorithm].marks:
        small = small.with_program("v1model/int.p4")
    if "TCP-INT" in BY_NAME[algorithm].marks:
        small = small.with_program("v1model/tcp_int.p4")
    if "trimming" in BY_NAME[algorithm].needs:
        small = small.with_program("v1model/trim.p4")
    result = run(scenario(small, flows=(flow,), sources=(), end_s=30, check_aqt=False))
    assert result.throughput_bps(0, 10, 30) > 0.3 * 1.6e6


def test_an_unknown_control_is_reported_with_those_that_exist(small: Topology) -> None:
    told = r"flow a->b: algorithm: found 'vegan'; did you mean vegas\? valid: tahoe, .*rbccwl"
    with pytest.raises(WaymarkError, match=told):
        run(scenario(small, "vegan"))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda: Profile(kind="modern", window=20),
            "Profile is abstract; use ModernProfile(...) for kind='modern', else Ns2Profile(...)",
        ),
        (
            lambda: ModernProfile(ecn="clasic"),  # pyright: ignore[reportArgumentType]
            "profile: ecn: found 'clasic'; did you mean classic? valid: off, classic, accurate",
        ),
        (
            lambda: OnOff("a", "b", 1e6, 1, 1, "parreto"),  # pyright: ignore[reportArgumentType]
            "source a->b: distribution: found 'parreto'; did you mean pareto? valid: exponential, "
            "pareto",
        ),
        (
            lambda: Association("a", "b", "rcba"),  # pyright: ignore[reportArgumentType]
            "association a->b: control: found 'rcba'; did you mean rbca? valid: std, rbca",
        ),
    ],
)
def test_a_name_that_is_none_is_reported_with_those_that_exist(
    make: Callable[[], object], told: str
) -> None:
    with pytest.raises(WaymarkError) as raised:
        make()
    assert str(raised.value) == told


def test_a_value_that_the_core_refuses_is_reported_by_its_place(small: Topology) -> None:
    """And not by its column in a text that users do not see."""
    flow = Flow("a", "b", "vegas", CHAN, segments=1.5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(WaymarkError) as raised:
        run(scenario(small, flows=(flow,)))
    told = "flows[0].segments: found 1.5; expected a whole number, 0 to 18446744073709551615"
    assert str(raised.value) == f"scenario test: {told}"


def test_a_queue_never_holds_more_than_its_limit(small: Topology) -> None:
    result = run(scenario(small.with_queues(5), "vegas"))
    assert max(queue.peak for queue in result.queues.values()) == 4


def test_the_same_seed_gives_the_same_run(small: Topology) -> None:
    first, second = (run(scenario(small, end_s=10)) for _ in range(2))
    assert np.array_equal(first.flows[0].delivered, second.flows[0].delivered)
    assert first.packet_hops == second.packet_hops


def test_without_feedback_rovegas_still_runs(small: Topology) -> None:
    result = run(scenario(small.with_program("v1model/plain.p4"), check_aqt=False))
    assert result.throughput_bps(0, 10, 20) > 0


def test_an_average_needs_whole_bins(small: Topology) -> None:
    result = run(scenario(small, end_s=2))
    with pytest.raises(WaymarkError, match="not a whole number of bins"):
        result.throughput_bps(0, 0.5, 2)
    # 0.7 / 0.1 is 6.999999999999999 in floating point.
    fine = run(scenario(small, end_s=1, sample_s=0.1))
    assert fine.mean_waiting("r1->r2", 0.3, 0.7) >= 0


@pytest.mark.parametrize(("from_s", "to_s"), [(0, 3), (1, 20), (-1, 1), (0, np.inf), (np.nan, 1)])
def test_an_average_is_of_the_run(small: Topology, from_s: float, to_s: float) -> None:
    result = run(scenario(small, end_s=2))
    for average in (
        lambda: result.throughput_bps(0, from_s, to_s),
        lambda: result.useful_bps(0, from_s, to_s),
        lambda: result.mean_waiting("r1->r2", from_s, to_s),
    ):
        with pytest.raises(WaymarkError, match=r"is not within the run, \[0, 2\) s"):
            average()


def test_what_a_run_lacks_is_reported_with_what_it_has(small: Topology) -> None:
    association = Association("a", "b", stop_s=1)
    result = run(scenario(small, end_s=2, associations=(association,)))
    for ask, told in (
        (lambda: result.throughput_bps(1, 0, 2), "no flow 1; the run has flow 0 only"),
        (lambda: result.trace(-1), "no flow -1; the run has flow 0 only"),
        (lambda: result.goodput_bps(1, 0, 2), "no association 1; the run has association 0 only"),
        (
            lambda: result.mean_waiting("r1->r3", 0, 2),
            "no link 'r1->r3'; did you mean r1->r2? valid: a->r1, r1->a, r1->r2, r2->r1, r2->b, "
            "b->r2",
        ),
    ):
        with pytest.raises(WaymarkError) as raised:
            ask()
        assert str(raised.value) == told
    with pytest.raises(WaymarkError, match="no flow 0; the run has none"):
        run(scenario(small, end_s=1, flows=())).useful_bps(0, 0, 1)


class MarkedVegas(CongestionControl):
    """A steady window whose packets carry marks."""

    recovery = "vegas"
    aqt = True

    def on_start(self, limits: Limits) -> None:
        super().on_start(limits)
        self.cwnd = 11.0


class MarkedBoth(MarkedVegas):
    avbw = True


class MarkedByHops(MarkedVegas):
    aqt, avbw, timestamps = False, True, True


@pytest.mark.parametrize(
    ("control", "like", "options", "profile"),
    [
        (MarkedVegas, "rovegas", 8, CHAN),
        (MarkedVegas, "rovegas", 8, MODERN),
        (MarkedBoth, "waymark", 12, MODERN),
        (MarkedByHops, "muzha", 4, CHAN),
        (MarkedByHops, "muzha", 4, MODERN),
    ],
)
def test_octets_are_those_of_the_packets_with_any_control(
    small: Topology,
    control: type[CongestionControl],
    like: Algorithm,
    options: int,
    profile: Profile,
) -> None:
    own, compiled = (
        run(scenario(small, flows=(Flow("a", "b", which, profile),), sources=(), check_aqt=False))
        for which in (control, like)
    )
    [ours], [theirs] = own.flows, compiled.flows
    assert ours.packet_octets == theirs.packet_octets == profile.packet_octets
    assert ours.counted_octets == theirs.counted_octets == profile.packet_octets - options
    stamped = 12 * (profile is MODERN or control.timestamps)
    assert ours.payload_octets == ours.counted_octets - 40 - stamped
    # Nothing is lost: all that arrived is useful, except what is outstanding in the last bin.
    each = own.throughput_bps(0, 5, 20), own.useful_bps(0, 5, 20)
    assert each[1] == pytest.approx(each[0], rel=1e-3)
    assert each[0] == pytest.approx(1.6e6 * ours.counted_octets / ours.packet_octets, rel=2e-3)


def test_a_flow_that_sends_nothing_has_no_throughput(small: Topology) -> None:
    # No SYN arrives, so that no data follows.
    cut = small.with_link("r1", "r2", loss=1.0)
    result = run(scenario(cut, end_s=2, flows=(Flow("a", "b", "cubic", MODERN),)))
    assert result.flows[0].packet_octets == 0
    assert result.throughput_bps(0, 0, 2) == result.useful_bps(0, 0, 2) == 0


def test_a_missing_program_is_reported_with_those_that_exist(small: Topology) -> None:
    with pytest.raises(WaymarkError, match=r"no P4 program .*waymark\.p4"):
        run(scenario(small.with_program("v1model/none.p4")))


def test_a_capture_is_written(small: Topology, tmp_path: Path) -> None:
    capture = tmp_path / "run.pcapng"
    run(scenario(small, end_s=1), capture)
    assert capture.read_bytes()[:4] == bytes.fromhex("0a0d0d0a")


def test_a_lab_switch_takes_the_entries_of_all_marks(small: Topology) -> None:
    marking = tuple(
        replace(switch, feedback=frozenset({"aqt", "drai", "ci"})) for switch in small.switches
    )
    result = run(scenario(replace(small, switches=marking), end_s=10))
    assert result.aqt is not None
    assert result.aqt.mismatches == 0, result.aqt.first


def test_a_finite_flow_ends_when_all_is_acknowledged(small: Topology) -> None:
    flow = Flow("a", "b", "vegas", CHAN, start_s=1, segments=500)
    result = run(Scenario("finite", small, end_s=10, flows=(flow,)))
    [measured] = result.flows
    assert measured.delivered.sum() == 500
    assert measured.sent.sum() == 500 + measured.retransmissions
    # 500 packets take 2.5 s at 1.6 Mb/s, and slow start its time.
    assert measured.finished_s is not None
    assert 3.5 < measured.finished_s < 5.5


def test_a_flow_stops_and_never_finishes_without_end(small: Topology) -> None:
    flows = (Flow("a", "b", "vegas", CHAN, stop_s=3), Flow("b", "a", "vegas", CHAN))
    result = run(Scenario("stop", small, end_s=10, flows=flows))
    stopped, endless = result.flows
    assert stopped.delivered[5:].sum() == 0
    assert stopped.finished_s == pytest.approx(3, abs=0.2)
    assert endless.finished_s is None


def test_a_link_changes_during_the_run(small: Topology) -> None:
    """The base RTT of a flow shows the longer way from 10 s on, in one direction only."""
    flow = Flow("a", "b", "rovegas", CHAN, trace=True)
    changes = (LinkChange(10, "r1", "r2", delay_s=0.1),)
    result = run(Scenario("change", small, end_s=20, flows=(flow,), changes=changes))
    trace = result.flows[0].trace
    assert trace is not None
    before, after = (trace.base_rtt_s[trace.time_s < until_s][-1] for until_s in (10, 20))
    assert after - before == pytest.approx(0.08, abs=0.001)


def test_a_change_of_a_link_that_is_not_there_is_refused(small: Topology) -> None:
    with pytest.raises(WaymarkError, match="no link r1->b"):
        scenario(small, changes=(LinkChange(1, "r1", "b", loss=0.1),))


def test_the_threshold_follows_from_the_path(small: Topology) -> None:
    """A 40-octet packet has a round trip of 44.5 ms: 4·(0.032 + 1) and 2·(0.2 + 20) ms."""
    core = to_core(
        Scenario("f", small, 1, flows=(Flow("a", "b", "rbcc", threshold_factor=2),)),
        {"v1model/waymark.p4": []},
    )
    expected = 2 * (4 * (40 * 8 / 10e6 + 0.001) + 2 * (40 * 8 / 1.6e6 + 0.02))
    assert core["flows"][0]["connection"]["control"]["threshold_rtt_s"] == pytest.approx(
        expected, rel=1e-12
    )


def test_a_threshold_is_given_once() -> None:
    with pytest.raises(WaymarkError, match="expected one of them"):
        Flow("a", "b", "rbcc", settings={"threshold_rtt_s": 0.1}, threshold_factor=2)


@pytest.mark.parametrize("clock", [Clock(offset_s=-7), Clock(skew_ppm=200), Clock(3, -200)])
def test_enhanced_vegas_corrects_for_the_receiver_s_clock(small: Topology, clock: Clock) -> None:
    right, wrong = (
        run(scenario(small, "enhancedvegas", check_aqt=False, end_s=60, clocks=clocks))
        for clocks in ({}, {"b": clock})
    )
    of_both = [result.throughput_bps(0, 20, 60) for result in (right, wrong)]
    assert of_both[1] == pytest.approx(of_both[0], rel=0.05)


def test_dctcp_holds_its_queue_at_the_threshold(small: Topology) -> None:
    network = small.with_program("v1model/ecn.p4").with_queues(50)
    flow = Flow("a", "b", "dctcp", MODERN)
    waiting = [
        run(
            Scenario("dctcp", network.with_link("r1", "r2", ecn_threshold=k), 30, flows=(flow,))
        ).mean_waiting("r1->r2", 10, 30)
        for k in (4, 16)
    ]
    assert 2 < waiting[0] < 8 < waiting[1] < 24


def test_dual_pi2_holds_the_classic_queue_at_its_target(small: Topology) -> None:
    network = small.with_program("v1model/l4s.p4").with_queues(200)
    flow = Flow("a", "b", "cubic", MODERN)
    for target_s in (0.05, 0.1):
        bottleneck = network.with_link(
            "r1", "r2", dual_pi2=DualPi2(target_s=target_s), weights=WEIGHTS
        )
        result = run(Scenario("l4s", bottleneck, 60, flows=(flow,)))
        packet_s = 1500 * 8 / network.link("r1", "r2").rate_bps
        held_s = result.mean_waiting("r1->r2", 20, 60) * packet_s
        assert held_s == pytest.approx(target_s, rel=0.4)


def test_l4s_packets_wait_little_beside_a_classic_flow(small: Topology) -> None:
    """RFC 9332's aim: the L4S queue is short although CUBIC fills the other."""
    network = small.with_program("v1model/l4s.p4").with_queues(500)
    network = network.with_link("r1", "r2", rate_bps=40e6, delay_s=0.004)
    network = network.with_link("a", "r1", rate_bps=1e9).with_link("r2", "b", rate_bps=1e9)
    network = network.with_link("r1", "r2", dual_pi2=DualPi2(), weights=WEIGHTS)
    flows = (Flow("a", "b", "cubic", MODERN), Flow("a", "b", "prague", MODERN, trace=True))
    result = run(Scenario("l4s", network, 40, flows=flows))
    trace = result.trace(1)
    rtts_s = np.array(trace["rtt_s"].drop_null())
    least_s = rtts_s.min()
    assert np.percentile(rtts_s[len(rtts_s) // 2 :], 99) - least_s < 0.002
    assert sum(result.throughput_bps(flow, 15, 40) for flow in (0, 1)) > 0.95 * 40e6


def test_a_threshold_needs_a_program_that_marks(small: Topology) -> None:
    network = small.with_link("r1", "r2", ecn_threshold=5)
    flow = Flow("a", "b", "dctcp", MODERN)
    with pytest.raises(WaymarkError, match=r"r1->r2: v1model/waymark.p4 has no table ecn_thresho"):
        run(Scenario("dctcp", network, 1, flows=(flow,)))


def test_swift_with_marks_does_not_count_the_reverse_path(small: Topology) -> None:
    """The round trip shows that acknowledgements wait behind cross traffic; the marks do not."""
    aqt = frozenset({"aqt"})
    marking = replace(small, switches=tuple(replace(s, feedback=aqt) for s in small.switches))

    def throughput_bps(control: Algorithm, network: Topology) -> float:
        flow = Flow("a", "b", control, MODERN, settings={"target_s": 0.005})
        result = run(Scenario(control, network, 60, flows=(flow,), sources=(CROSS,)))
        return result.throughput_bps(0, 10, 60)

    by_clock = throughput_bps("swift", marking)
    for by_mark in (
        throughput_bps("swiftaqt", marking),
        throughput_bps("swifttcpint", small.with_program("v1model/tcp_int.p4")),
    ):
        assert by_mark > 0.6 * 1.6e6
        assert by_mark > 2 * by_clock


def test_nscc_needs_switches_that_trim(small: Topology) -> None:
    flow = Flow("a", "b", "nscc", MODERN)
    scenario = Scenario("nscc", small.with_program("v1model/trim.p4", at="r1"), 1, flows=(flow,))
    told = "nscc needs switches that trim packets, and v1model/waymark.p4 of r2 has no table trim"
    with pytest.raises(WaymarkError, match=told):
        run(scenario)


def test_what_a_full_queue_trims_arrives_without_a_timeout() -> None:
    """Eight senders at once, with room for ten packets: what is trimmed is sent again."""
    names = tuple(f"s{number}" for number in range(8))
    network = Topology(
        hosts=(*(Host(name) for name in names), Host("b")),
        switches=(Switch("r", program="v1model/trim.p4"),),
        links=(
            *(way for name in names for way in duplex(name, "r", 1e9, 5e-6)),
            *duplex("r", "b", 1e9, 5e-6, queue_packets=10),
        ),
    ).with_link("r", "b", ecn_threshold=5)
    flows = tuple(Flow(name, "b", "nscc", MODERN, segments=100) for name in names)
    result = run(Scenario("incast", network, 0.1, flows=flows, sample_s=0.01))
    assert result.switches["r"].counters["trimmed"].total.packets > 20
    assert result.switches["r"].counters["ecn_marks"].total.packets > 20
    assert (
        sum(f.trimmed for f in result.flows)
        == result.switches["r"].counters["trimmed"].total.packets
    )
    assert [flow.losses for flow in result.flows] == [0] * 8
    assert [flow.timeouts for flow in result.flows] == [0] * 8
    # 800 packets of 12 µs each, and what the trimmed ones take.
    finished = [flow.finished_s for flow in result.flows]
    assert all(at is not None and 0.0012 < at < 0.013 for at in finished), finished


def test_csig_needs_switches_that_know_its_tags(small: Topology) -> None:
    flow = Flow("a", "b", "swiftcsig", MODERN)
    told = (
        "swiftcsig sends CSIG tags, and v1model/waymark.p4 of r2 has no table csig_port: it would"
    )
    scenario = Scenario("csig", small.with_program("v1model/csig.p4", at="r1"), 1, flows=(flow,))
    with pytest.raises(WaymarkError, match=told):
        run(scenario)


def test_a_tag_tells_the_worst_hop_and_what_it_leaves(small: Topology) -> None:
    """r1's line is the worst hop: r2 writes almost no tags."""
    network = small.with_program("v1model/csig.p4")
    flow = Flow("a", "b", "swiftcsig", MODERN, settings={"target_s": 0.02})
    result = run(Scenario("csig", network, 30, flows=(flow,)))
    assert result.throughput_bps(0, 10, 30) > 0.97 * 1.6e6
    # 20 ms are 2.7 packets of 7.5 ms.
    assert 1 < result.mean_waiting("r1->r2", 10, 30) < 5
    assert (result.flows[0].losses, result.flows[0].feedback_octets) == (0, 4)
    written = {
        name: switch.counters["csig_tags"].total.packets for name, switch in result.switches.items()
    }
    sent = int(result.flows[0].sent.sum())
    assert written["r2"] < 0.02 * sent < 0.9 * sent < written["r1"] <= sent


def test_telemetry_needs_a_switch_that_writes_it(small: Topology) -> None:
    flow = Flow("a", "b", "hpcc", MODERN)
    told = "flow a->b: hpcc reads INT, which no switch writes; valid: v1model/int.p4"
    with pytest.raises(WaymarkError, match=told):
        run(Scenario("int", small, 1, flows=(flow,)))


@pytest.mark.parametrize("control", ["hpcc", "powertcp"])
def test_records_keep_the_link_busy_and_the_queue_short(
    small: Topology, control: Algorithm
) -> None:
    """HPCC aims at 95 % of the link in flight, and PowerTCP at the link and a tenth of it queued.
    A packet has 1324 octets, which count as throughput, 16 of INT and 20 of the hop's record."""
    network = small.with_program("v1model/int.p4")
    flow = Flow("a", "b", control, MODERN)
    result = run(Scenario(control, network, 40, flows=(flow,)))
    utilisation = result.throughput_bps(0, 10, 40) / 1.6e6 * (1324 + 16 + 20) / 1324
    # A packet more or less at the ends of the interval.
    assert 0.9 < utilisation < 1.001
    assert result.mean_waiting("r1->r2", 10, 40) < 1
    assert (result.flows[0].losses, result.flows[0].feedback_octets) == (0, 16)


def test_waymark_reads_every_mark(small: Topology) -> None:
    """It takes a free link at once, keeps few packets waiting, and keeps its rate when losses are
    the link's."""
    marks = frozenset({"aqt", "drai", "ci"})
    network = replace(small, switches=tuple(replace(s, feedback=marks) for s in small.switches))
    clean, lossy = (
        run(Scenario("waymark", n, 60, flows=(Flow("a", "b", "waymark", MODERN),)))
        for n in (network, network.with_link("r2", "b", loss=0.02))
    )
    assert clean.mean_waiting("r1->r2", 20, 60) < 4
    assert clean.throughput_bps(0, 1, 60) > 0.97 * 1.6e6
    verdicts = lossy.flows[0].verdicts
    assert verdicts is not None
    assert verdicts.random.link > 0
    assert lossy.throughput_bps(0, 20, 60) > 0.8 * 1.6e6


def test_verdicts_are_compared_with_the_truth(small: Topology) -> None:
    """Below the queues' limits every loss is the link's; without loss on links, the queues'."""
    marking = tuple(replace(s, feedback=frozenset({"ci"})) for s in small.switches)
    network = replace(small, switches=marking).with_queues(50).with_link("r2", "b", loss=0.02)
    flow = Flow("a", "b", "redvegas", CHAN)
    result = run(Scenario("random", network, end_s=60, flows=(flow,)))
    verdicts = result.flows[0].verdicts
    assert verdicts is not None
    assert verdicts.random.link > 50
    assert verdicts.random.queue == verdicts.congestion.queue == 0

    congested = network.with_queues(3).with_link("r2", "b", loss=0)
    result = run(Scenario("queue", congested, end_s=60, flows=(flow,), sources=(FORWARD,)))
    verdicts = result.flows[0].verdicts
    assert verdicts is not None
    assert verdicts.congestion.link == verdicts.random.link == 0
    assert verdicts.congestion.queue > 10


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("place", "changed"),
    [
        ("end_s", lambda one, number: replace(one, end_s=number)),
        ("sample_s", lambda one, number: replace(one, sample_s=number)),
        (
            r"flows\[0\].stop_s",
            lambda one, number: replace(one, flows=(Flow("a", "b", stop_s=number),)),
        ),
        (
            r"flows\[0\].connection.profile.modern.min_rto_s",
            lambda one, number: replace(
                one, flows=(Flow("a", "b", "cubic", replace(MODERN, min_rto_s=number)),)
            ),
        ),
        (
            r"sources\[0\].rate_bps",
            lambda one, number: replace(one, sources=(Cbr("a", "b", number),)),
        ),
        (
            r"links\[1\].changes\[0\].rate_bps",
            lambda one, number: replace(
                one, changes=(LinkChange(1.0, "r1", "r2", rate_bps=number),)
            ),
        ),
        (
            "hosts.a.clock.offset_s",
            lambda one, number: replace(one, clocks={"a": Clock(number)}),
        ),
    ],
)
def test_a_number_that_is_not_finite_is_reported_by_its_place(
    small: Topology, place: str, changed: Callable[[Scenario, float], Scenario], number: float
) -> None:
    if place == "end_s" and number < 0:
        return  # before the traffic starts
    one = Scenario("numbers", small, 2, flows=(Flow("a", "b"),))
    with pytest.raises(WaymarkError, match=rf"numbers: {place}: found \S+; expected a finite num"):
        run(changed(one, number))


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_settings_of_queues_are_finite(small: Topology, number: float) -> None:
    with pytest.raises(WaymarkError, match=r"link r1->r2: RED from 5 to .*, expected .* finite"):
        small.with_link("r1", "r2", red=Red(5, number, 0.1, 2))
    for name in vars(DualPi2()):
        with pytest.raises(WaymarkError, match=f"DualPI2's {name} .*, expected a finite number"):
            small.with_link("r1", "r2", dual_pi2=replace(DualPi2(), **{name: number}))
