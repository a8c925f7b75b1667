"""Every congestion control on a bottleneck of 10 Mb/s and 40 ms, with room for 50 packets."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from conftest import ROOT, Cli

from waymark import (
    Flow,
    Host,
    Ns2Profile,
    Scenario,
    Switch,
    Topology,
    WaymarkError,
    controls,
    duplex,
    run,
)
from waymark.controls import CONTROLS
from waymark.plots import NAMES
from waymark.traffic import MODERN as TODAY
from waymark.traffic import STOCK, Algorithm

MODERN = {control.name for control in CONTROLS if control.is_modern_only}
"""What needs the modern profile."""
ALGORITHMS = tuple(controls.BY_NAME)

NETWORK = Topology(
    hosts=(Host("a"), Host("b"), Host("c")),
    switches=(Switch("r"),),
    links=(
        *duplex("a", "r", 100e6, 0.001),
        *duplex("c", "r", 100e6, 0.001),
        *duplex("r", "b", 10e6, 0.019, queue_packets=50),
    ),
)


def test_the_document_lists_the_controls(request: pytest.FixtureRequest) -> None:
    page = ROOT / "docs" / "controls.md"
    text = page.read_text(encoding="utf-8")
    if request.config.getoption("--renew-goldens"):
        before, _, rest = text.partition("| name | control |")
        after = rest[rest.index("\n\n") + 1 :]
        page.write_text(before + controls.markdown() + after, encoding="utf-8")
    assert controls.markdown() in page.read_text(encoding="utf-8")


def test_those_of_today_need_the_modern_profile() -> None:
    assert {
        "dctcp",
        "bbr",
        "bbr3",
        "hpcc",
        "powertcp",
        "prague",
        "swift",
        "swiftaqt",
        "swiftcsig",
        "swifttcpint",
        "nscc",
        "thetapowertcp",
        "waymark",
    } == MODERN


@pytest.mark.parametrize(
    ("algorithm", "settings", "message"),
    [
        ("vegas", {"alfa": 1}, 'vegas has no setting "alfa"; valid: alpha, beta, gamma'),
        ("reno", {"alpha": 1}, 'reno has no setting "alpha"; it has none'),
        ("vegas", {"beta": -1}, "beta -1 is not within 0 to 1000000000"),
        ("rovegas", {"full_deployment": 2}, "full_deployment 2 is not true or false"),
        ("rovegas", {"alpha": True}, "alpha true is not a number"),
        ("vegas", {"alpha": "2"}, "found {'alpha': '2'}; valid: numbers, True and False by name"),
    ],
)
def test_a_flow_refuses_settings_that_its_control_does_not_have(
    algorithm: Algorithm, settings: dict[str, float], message: str
) -> None:
    with pytest.raises(WaymarkError) as error:
        Flow("a", "b", algorithm, settings=settings)
    assert str(error.value) == f"flow a->b: settings: {message}"


def test_settings_change_what_a_control_does() -> None:
    result = run(scenario(Flow("a", "b", "vegas", settings={"alpha": 8, "beta": 10})))
    assert 7 < result.mean_waiting("r->b", 8, 14) < 11


def test_a_threshold_factor_is_for_controls_with_a_threshold() -> None:
    with pytest.raises(WaymarkError, match='vegas has no setting "threshold_rtt_s"'):
        Flow("a", "b", "vegas", threshold_factor=2)


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_a_control_s_packets_carry_the_marks_that_it_is_listed_with(
    control: controls.Control,
) -> None:
    """Between switches that write them, on a queue that overflows."""
    marking = Topology(
        hosts=(Host("a"), Host("b")),
        switches=(Switch("r", feedback=frozenset({"aqt", "drai", "ci"})),),
        links=(*duplex("a", "r", 10e6, 0.001), *duplex("r", "b", 1e6, 0.02, queue_packets=5)),
    )
    profile = TODAY if control.name in MODERN else STOCK
    flow = Flow("a", "b", control.name, profile, trace=True)
    if "CSIG" in control.marks:
        marking = marking.with_program("v1model/csig.p4")
    if "INT" in control.marks:
        marking = marking.with_program("v1model/int.p4")
    if "TCP-INT" in control.marks:
        marking = marking.with_program("v1model/tcp_int.p4")
    if "trimming" in control.needs:
        marking = marking.with_program("v1model/trim.p4").with_link("r", "b", ecn_threshold=2)
    result = run(Scenario("marks", marking, end_s=4, flows=(flow,)))
    traced = result.trace(0)
    read = {
        "AQT": len(traced["aqt_forward_s"].drop_null()) > 0,
        "AVBW-S": len(traced["mrai"].drop_null()) > 0,
        "CI": any(traced["ci"].to_pylist()),
        "CSIG": marking.switches[0].program == "v1model/csig.p4"
        and result.switches["r"].counters["csig_tags"].total.packets > 0,
        "INT": marking.switches[0].program == "v1model/int.p4"
        and result.switches["r"].counters["int_events"].total.packets > 0,
        "TCP-INT": marking.switches[0].program == "v1model/tcp_int.p4"
        and result.switches["r"].counters["tcp_int_marks"].total.packets > 0,
    }
    # CI is written as ECN's CE, into packets with ECT(0).
    ecn = {"CI"} if control.reads_ecn and "L4S" not in control.needs else set[str]()
    assert {mark for mark, is_read in read.items() if is_read} == set(control.marks) | ecn


def test_controls_are_listed_within_80_columns(cli: Cli) -> None:
    shown = cli("controls")
    assert shown.code == 0
    assert max(map(len, shown.out.splitlines())) <= 80
    words = shown.out.split()
    assert all(control.name in words for control in CONTROLS)
    some = json.loads(cli("controls", "ro*", "redvegas", "--json").out)
    assert [(one["name"], one["marks"]) for one in some] == [
        ("rovegas", ["AQT"]),
        ("redvegas", ["CI"]),
    ]
    assert "did you mean rovegas?" in cli("controls", "rovega").err
    assert "settings: alpha 20" in cli("controls", "fast").out


def scenario(*flows: Flow, end_s: float = 14) -> Scenario:
    return Scenario("controls", NETWORK, end_s=end_s, flows=flows)


@pytest.mark.parametrize("algorithm", [name for name in ALGORITHMS if name not in MODERN])
def test_every_control_fills_the_path(algorithm: Algorithm) -> None:
    result = run(scenario(Flow("a", "b", algorithm)))
    assert result.throughput_bps(0, 8, 14) > 0.8 * 10e6


@pytest.mark.parametrize(
    ("algorithm", "most"),
    [
        ("vegas", 4),
        ("vegasplus", 4),
        ("reroutingvegas", 4),
        ("card", 2),
        ("tris", 2),
        ("santacruz", 4),
        ("fast", 21),
        ("dual", 26),
        ("newreno", 40),
    ],
)
def test_those_that_look_at_delays_leave_the_queue_short(algorithm: Algorithm, most: float) -> None:
    """Vegas keeps at most 3 queued, Santa Cruz 3.5, FAST 20; DUAL turns back at half the delay."""
    result = run(scenario(Flow("a", "b", algorithm)))
    assert result.mean_waiting("r->b", 8, 14) < most


def test_cubic_leaves_seven_tenths() -> None:
    result = run(scenario(Flow("a", "b", "cubic", trace=True)))
    trace = result.flows[0].trace
    assert trace is not None
    late = [cwnd for at, cwnd in zip(trace.time_s, trace.cwnd, strict=True) if at > 5]
    cuts = [after / before for before, after in pairwise(late) if after < before]
    assert cuts
    # Of the whole segments in use.
    assert all(0.69 < cut <= 0.7 for cut in cuts)


def test_vegas_plus_holds_its_own_beside_newreno() -> None:
    """NewReno's queue leaves Vegas a tenth. Vegas⁺ turns aggressive."""
    profile = Ns2Profile(window=100)

    def share(algorithm: Algorithm) -> float:
        flows = (Flow("a", "b", "newreno", profile), Flow("c", "b", algorithm, profile))
        result = run(scenario(*flows, end_s=40))
        return result.throughput_bps(1, 15, 40) / 10e6

    assert share("vegasplus") > 0.3 > 0.2 > share("vegas")


@pytest.mark.parametrize(
    "algorithm", ["cubic", "dctcp", "bbr", "prague", "swift", "swiftaqt", "thetapowertcp"]
)
def test_those_of_today_fill_the_path_in_the_modern_profile(algorithm: Algorithm) -> None:
    result = run(scenario(Flow("a", "b", algorithm, TODAY)))
    assert result.throughput_bps(0, 8, 14) > 0.9 * 10e6


@pytest.mark.parametrize("algorithm", sorted(MODERN))
def test_what_needs_more_than_ns2_has_says_so(algorithm: Algorithm) -> None:
    with pytest.raises(
        WaymarkError, match=r"flows\[0\]\.connection\.control\.name: .* needs .*ns-2 profile"
    ):
        run(scenario(Flow("a", "b", algorithm)))


def test_every_control_has_a_name_and_a_row() -> None:
    page = (ROOT / "docs" / "controls.md").read_text()
    for algorithm in ALGORITHMS:
        assert f"`{algorithm}`" in page
        assert algorithm in NAMES
