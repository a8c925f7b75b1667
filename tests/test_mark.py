"""A mark that a user declares: what hops write comes back, and its octets are charged."""

from __future__ import annotations

import pickle
import re
import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Cli

import waymark as wm
from waymark import live, program

EXAMPLE: dict[str, Any] = runpy.run_path(str(ROOT / "examples" / "peak.py"))
PEAK: wm.Mark = EXAMPLE["PEAK"]
NETWORK: wm.Topology = EXAMPLE["NETWORK"]
DEPTH = wm.Field("depth", 16, "max")


class Listens(wm.CongestionControl):
    """A steady window that notes the marks of every acknowledgement."""

    marks = (PEAK,)
    window = 20

    def __init__(self) -> None:
        self.there: list[Any] = []
        self.back: list[Any] = []
        self.aqt_echo: list[float | None] = []

    def on_start(self, limits: wm.Limits) -> None:
        super().on_start(limits)
        self.cwnd = self.window

    def on_ack(self, event: wm.AckEvent) -> None:
        self.there.append(event.marks)
        self.back.append(event.backward_marks)
        self.aqt_echo.append(event.aqt_echo)


SPARE = wm.Mark("spare", 0x1E, (wm.Field("least", 20, "min"), wm.Field("hops", 4, "sum")))


class ListensToAll(Listens):
    """All that an IPv4 header has room for: 8 of AQT, and 6 and 8 padded to 16."""

    aqt = True
    marks = (PEAK, SPARE)


def run(
    control: Listens,
    profile: wm.Profile = wm.STOCK,
    network: wm.Topology = NETWORK,
    sources: tuple[wm.Source, ...] = (),
) -> wm.Result:
    flow = wm.Flow("a", "b", lambda: control, profile)
    return wm.run(wm.Scenario("mark", network, 10, (flow,), sources=sources, sample_s=0.1))


@pytest.mark.parametrize("profile", [wm.STOCK, wm.MODERN])
def test_the_longest_queue_comes_back(profile: wm.Profile) -> None:
    control = Listens()
    result = run(control, profile)
    depths = [marks["peak"].depth for marks in control.there]
    assert len(depths) > 100
    assert depths[0] == 0
    # The queue's peak counts the packet that came, the mark those that it found there.
    assert max(depths) == result.queues["r1->r2"].peak - 1 > 5
    waiting = result.queues["r1->r2"].waiting[-10:].mean()
    assert depths[-1] == pytest.approx(waiting, abs=1)
    assert {marks["peak"] for marks in control.back} == {(0,)}


def test_the_reverse_direction_has_its_own_values() -> None:
    control = Listens()
    cross = wm.Cbr("b", "a", 1.7e6, start_s=4, stop_s=6)
    result = run(control, sources=(cross,))
    back, there = (
        max(marks["peak"].depth for marks in heard) for heard in (control.back, control.there)
    )
    assert back == result.queues["r2->r1"].peak - 1 > 16
    assert there == result.queues["r1->r2"].peak - 1 < 16


@pytest.mark.parametrize("main", ["v1model/plain.p4", "v1model/waymark.p4"])
def test_hops_that_do_not_know_the_option_leave_the_initial_values(main: str) -> None:
    control = ListensToAll()
    run(control, network=NETWORK.with_program(main))
    assert len(control.there) > 100
    initial = {"peak": (0,), "spare": (2**20 - 1, 0)}
    assert all(marks == initial for marks in (*control.there, *control.back))
    assert control.there[0]["spare"]._asdict() == {"least": 2**20 - 1, "hops": 0}
    queued = [aqt for aqt in control.aqt_echo if aqt]
    assert bool(queued) == (main != "v1model/plain.p4")


@pytest.mark.parametrize("profile", [wm.STOCK, wm.MODERN])
@pytest.mark.parametrize(("control", "options"), [(Listens, 8), (ListensToAll, 24)])
def test_links_charge_the_options_and_flows_are_not_credited_with_them(
    profile: wm.Profile, control: type[Listens], options: int
) -> None:
    result = run(control(), profile, NETWORK.with_program("v1model/plain.p4"))
    [flow] = result.flows
    stamps = 12 if profile is wm.MODERN else 0
    assert (flow.packet_octets, flow.feedback_octets) == (profile.packet_octets, options)
    assert flow.payload_octets == profile.packet_octets - 40 - stamps - options
    share = 1 - options / profile.packet_octets
    assert result.throughput_bps(0, 5, 10) == pytest.approx(1.6e6 * share, rel=2e-3)


def test_acknowledgements_take_their_options_time_on_the_link() -> None:
    """48 octets at 48 kb/s take 8 ms: 125 a second acknowledge 125 packets of 1000 octets."""
    slow = NETWORK.with_link("r2", "r1", rate_bps=48e3)

    class Unmarked(Listens):
        marks = ()

    marked, unmarked = (run(made, network=slow) for made in (Listens(), Unmarked()))
    assert marked.throughput_bps(0, 5, 10) == pytest.approx(125 * 992 * 8, rel=0.01)
    assert unmarked.throughput_bps(0, 5, 10) == pytest.approx(150 * 1000 * 8, rel=0.01)


def test_the_processes_of_a_pool_have_marks_too() -> None:
    flow = wm.Flow("a", "b", Averages)
    scenario = wm.Scenario("mark", NETWORK, 5, (replace(flow, trace=True),))
    [there] = wm.run_all([scenario], jobs=1)
    assert there.trace(0).equals(wm.run(scenario).trace(0))
    depths: list[Any] = there.trace(0).column("diff").to_pylist()
    assert max(depths[-100:]) > 3
    assert pickle.loads(pickle.dumps(PEAK)) == PEAK


class Averages(wm.CongestionControl):
    marks = (PEAK,)

    def on_ack(self, event: wm.AckEvent) -> None:
        self.cwnd = 20
        self.diff = event.marks["peak"].depth


def test_the_example_s_header_is_the_declared_one() -> None:
    def fields(text: str) -> list[str]:
        return re.findall(r"bit<\d+> +\w+", text)

    text = (ROOT / "examples" / "peak.p4").read_text()
    header = re.findall(r"header peak_h \{(.*?)\}", text, re.DOTALL)[0]
    declared = PEAK.p4_header()
    assert [" ".join(one.split()) for one in fields(header)] == fields(declared)
    assert f"const bit<16> PEAK = 0x{PEAK.option:02X}{PEAK.octets:02X};" in text


def test_a_program_of_the_user_includes_the_project_s(tmp_path: Path, cli: Cli) -> None:
    own = tmp_path / "own.p4"
    own.write_text((ROOT / "examples" / "peak.p4").read_text())
    assert "PeakIngress.admission.port_queue" in program.compile_file(own).tables
    assert cli("compile", own).code == 0
    topology = tmp_path / "own.yaml"
    topology.write_text(
        "hosts: {a: {}, b: {}}\nswitches: {r: {program: own.p4}}\nlinks:\n"
        "  - {ends: [a, r], rate: 10 Mb/s, delay: 1 ms}\n"
        "  - {ends: [r, b], rate: 1 Mb/s, delay: 1 ms}\n"
    )
    control = Listens()
    run(control, network=wm.Topology.load(topology))
    assert control.there[-1]["peak"].depth > 3


FREE = "0x1e and 0x9e are for experiments (RFC 4727)"
NAMES = "valid: ASCII letters, digits and underscores, a letter first"


@pytest.mark.parametrize(
    ("declare", "told"),
    [
        (
            lambda: wm.Mark("peak", 0x5E, (DEPTH,)),
            f"mark peak: option 0x5e is used by AQT; {FREE}",
        ),
        (
            lambda: wm.Mark("peak", 1, (DEPTH,)),
            f"mark peak: option 0x01 is used by padding (NOP); {FREE}",
        ),
        (
            lambda: wm.Mark("peak", 148, (DEPTH,)),
            f"mark peak: option 0x94 is assigned by IANA to another use; {FREE}",
        ),
        (
            lambda: wm.Mark("peak", 256, (DEPTH,)),
            f"mark peak: option: found 256; valid: 2 to 255; {FREE}",
        ),
        (lambda: wm.Mark("a peak", 0x9E, (DEPTH,)), f"mark: name: found 'a peak'; {NAMES}"),
        (lambda: wm.Field("_depth", 16, "max"), f"field: name: found '_depth'; {NAMES}"),
        (
            lambda: wm.Field("class", 16, "max"),
            "field: name: 'class' is a keyword of Python; valid: any other name",
        ),
        (lambda: wm.Field("depth", 65, "max"), "field depth: bits: found 65; valid: 1 to 64"),
        (lambda: wm.Field("depth", True, "max"), "field depth: bits: found True; valid: 1 to 64"),
        (
            lambda: wm.Field("depth", 16, "mux"),  # pyright: ignore[reportArgumentType]
            "field depth: aggregation: found 'mux'; did you mean max? valid: sum, min, max, last",
        ),
        (
            lambda: wm.Mark("peak", 0x9E, (wm.Field("depth", 12, "max"),)),
            "mark peak: its fields have 12 bits in all; valid: a multiple of 8, 8 or more",
        ),
        (
            lambda: wm.Mark("peak", 0x9E, ()),
            "mark peak: its fields have 0 bits in all; valid: a multiple of 8, 8 or more",
        ),
        (
            lambda: wm.Mark("peak", 0x9E, (DEPTH, DEPTH)),
            "mark peak: names in the header: depth occurs 2 times; valid: once",
        ),
        (
            lambda: wm.Mark("peak", 0x9E, (DEPTH, wm.Field("depth_echo", 8, "max"))),
            "mark peak: names in the header: depth_echo occurs 2 times; valid: once",
        ),
        (
            lambda: wm.Mark("peak", 0x9E, [DEPTH]),  # pyright: ignore[reportArgumentType]
            "mark peak: fields: found [Field(name='depth', bits=16, aggregation='max')]; valid: a "
            'tuple of waymark.Field, such as (Field("depth", 16, "max"),)',
        ),
    ],
)
def test_a_declaration_that_is_not_valid_is_refused(declare: Any, told: str) -> None:
    with pytest.raises(wm.WaymarkError) as raised:
        declare()
    assert str(raised.value) == told


def _wide(name: str, option: int, octets: int) -> wm.Mark:
    fields = tuple(wm.Field(f"f{i}", 4 * octets, "max") for i in range(2))
    return wm.Mark(name, option, fields)


@pytest.mark.parametrize(
    ("marks", "aqt", "told"),
    [
        (PEAK, False, f"Own.marks: found {PEAK!r}; valid: a tuple of waymark.Mark"),
        ((PEAK, PEAK), False, "Own.marks: peak occurs 2 times; valid: once"),
        (
            (PEAK, wm.Mark("depth", 0x9E, (DEPTH,))),
            False,
            "Own.marks: option types: 0x9e occurs 2 times; valid: once",
        ),
        (
            (_wide("one", 0x9E, 9), _wide("two", 0x1E, 10)),
            False,
            "Own.marks: 42 octets of options make an IPv4 header of 64 octets; valid: at most 60",
        ),
        (
            (_wide("one", 0x9E, 16),),
            True,
            "Own.marks: 34 octets of options and 8 of AQT and AVBW-S make an IPv4 header of 64 "
            "octets; valid: at most 60",
        ),
        (
            (wm.Mark("bits", 0x9E, tuple(wm.Field(f"f{i}", 8, "sum") for i in range(9))),),
            False,
            "Own.marks: 9 fields; valid: at most 8 in all marks",
        ),
    ],
)
def test_marks_that_no_packet_can_carry_are_refused(marks: Any, aqt: bool, told: str) -> None:
    own = type("Own", (wm.CongestionControl,), {"marks": marks, "aqt": aqt})
    with pytest.raises(wm.WaymarkError) as raised:
        wm.Flow("a", "b", own)
    assert str(raised.value) == told


def test_a_full_header_is_carried() -> None:
    class Full(Listens):
        marks = (_wide("one", 0x9E, 8), _wide("two", 0x1E, 10))

    result = run(Full())
    assert (result.flows[0].feedback_octets, result.flows[0].losses) == (40, 0)


def test_hosts_on_interfaces_refuse_a_control_in_python() -> None:
    place = live.Place("lo", "10.0.0.1/24")
    with pytest.raises(wm.WaymarkError, match="flow a->b: Listens is a congestion control in Py"):
        live.LiveHost(place, wm.Flow("a", "b", Listens, wm.MODERN))


def test_a_packet_without_room_for_data_is_refused() -> None:
    with pytest.raises(wm.WaymarkError, match="48 octets leave no room for data: 48 are headers"):
        run(Listens(), replace(wm.STOCK, packet_octets=48))
