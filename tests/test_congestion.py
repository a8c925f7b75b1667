"""Congestion controls in Python run with the compiled ones, and their errors are reported."""

from __future__ import annotations

import functools
import math
import runpy
import sys
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from conftest import ROOT

import waymark as wm

AIMD: dict[str, Any] = runpy.run_path(str(ROOT / "examples" / "aimd.py"))
VEGAS: dict[str, Any] = runpy.run_path(str(ROOT / "examples" / "vegas.py"))

MARKS = frozenset({"aqt", "drai", "ci"})


class Steady(wm.CongestionControl):
    """A window that never changes."""

    aqt = avbw = ci = timestamps = True

    def __init__(self, window: float = 12) -> None:
        self.window = window
        self.heard: list[tuple[float | None, int | None, float | None]] = []

    def on_start(self, limits: wm.Limits) -> None:
        super().on_start(limits)
        self.cwnd = self.window

    def on_ack(self, event: wm.AckEvent) -> None:
        self.heard.append((event.aqt_echo, event.mrai, event.echoed_rtt))
        self.diff = len(self.heard)


class Faulty(wm.CongestionControl):
    """Does at its fifth ACK what its arguments say."""

    def __init__(self, window: Any = 1.0, gives: object = None) -> None:
        self.window, self.gives, self.acks = window, gives, 0

    def on_ack(self, event: wm.AckEvent) -> Any:
        self.acks += 1
        if self.acks < 5:
            return None
        self.cwnd = self.window
        return self.gives


class Raises(wm.CongestionControl):
    def on_ack(self, event: wm.AckEvent) -> None:
        self.cwnd += 1 / (3 - event.acked)


class Ends(wm.CongestionControl):
    def on_ack(self, event: wm.AckEvent) -> None:
        sys.exit(3)


class RaisesAtOnce(wm.CongestionControl):
    def on_start(self, limits: wm.Limits) -> None:
        raise LookupError("not ready")


WHOLE_NS = replace(wm.STOCK, floating_rtt=False)
"""A control in Python sees times in whole nanoseconds."""


def scenario(
    network: wm.Topology, *algorithms: Any, end_s: float = 4, profile: wm.Profile = WHOLE_NS
) -> wm.Scenario:
    flows = tuple(wm.Flow("a", "b", which, profile, trace=True) for which in algorithms)
    return wm.Scenario("controls", network, end_s, flows=flows)


def run_one(network: wm.Topology, algorithm: Any, **options: Any) -> pa.Table:
    return wm.run(scenario(network, algorithm, **options)).trace(0)


@pytest.mark.parametrize("loss", [0.0, 0.01, 0.05])
def test_vegas_in_python_is_vegas(loss: float) -> None:
    network = VEGAS["NETWORK"]
    network = replace(network, links=tuple(replace(link, loss=loss) for link in network.links))
    ours = run_one(network, VEGAS["Vegas"], end_s=60)
    compiled = run_one(network, "vegas", end_s=60)
    assert ours.num_rows > 1000
    assert ours.equals(compiled)


def test_vegas_in_python_beside_the_compiled_one_is_vegas() -> None:
    network = VEGAS["NETWORK"]
    mixed = wm.run(scenario(network, VEGAS["Vegas"], "vegas", VEGAS["Vegas"], end_s=20))
    compiled = wm.run(scenario(network, "vegas", "vegas", "vegas", end_s=20))
    for flow in range(3):
        assert mixed.trace(flow).equals(compiled.trace(flow))


def test_aimd_in_python_is_newreno() -> None:
    whole = replace(wm.STOCK, exact_halving=False)
    ours = run_one(AIMD["NETWORK"], AIMD["Aimd"], end_s=60, profile=whole)
    compiled = run_one(AIMD["NETWORK"], "newreno", end_s=60, profile=whole)
    assert ours.column("congestion_losses").equals(compiled.column("congestion_losses"))
    assert len(set(ours.column("ssthresh").to_pylist())) > 2, "it never lost a packet"
    assert ours.equals(compiled)


def test_a_steady_window_is_in_flight_and_its_marks_come_home(small: wm.Topology) -> None:
    marking = tuple(wm.Switch(s.name, feedback=MARKS) for s in small.switches)
    control = Steady()
    traced = run_one(replace(small, switches=marking), lambda: control)
    assert set(traced.column("in_flight").to_pylist()[-100:]) <= {11, 12}
    assert len(control.heard) > 100
    aqt, mrai, rtt = zip(*control.heard[50:], strict=True)
    assert all(queued is not None and 0 < queued < 0.1 for queued in aqt)
    assert set(mrai) <= {1, 2, 3, 4, 5, 6}
    assert all(echoed == pytest.approx(0.06, abs=0.01) for echoed in rtt)
    assert traced.column("diff").to_pylist()[-1] == len(control.heard)


def test_runs_do_not_share_an_instance_s_state(small: wm.Topology) -> None:
    control = Steady(4)
    first = wm.run(scenario(small, control, control))
    again = wm.run(scenario(small, control, control))
    assert control.heard == []
    for flow in range(2):
        assert first.trace(flow).num_rows > 100
        assert first.trace(flow).equals(again.trace(flow))
    alone = run_one(small, functools.partial(Steady, window=4))
    assert max(alone.column("in_flight").to_pylist()) == 4


def test_the_processes_of_a_pool_have_them_too(small: wm.Topology) -> None:
    runs = [scenario(small, which) for which in (Steady, functools.partial(Steady, 3), Steady(5))]
    for here, there in zip(map(wm.run, runs), wm.run_all(runs, jobs=2), strict=True):
        assert here.trace(0).equals(there.trace(0))


def test_a_class_that_no_process_can_import_is_reported(small: wm.Topology) -> None:
    class Local(Steady):
        pass

    with pytest.raises(wm.WaymarkError, match=r"Local.*at the top of a module"):
        wm.run_all([scenario(small, Local)], jobs=1)


@pytest.mark.parametrize(
    ("window", "shown"),
    [
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-1.0, "-1.0"),
        (1e300, "1e+300"),
        ("many", "'many'"),
        (None, "None"),
    ],
)
def test_a_window_out_of_range_names_class_method_and_time(
    small: wm.Topology, window: Any, shown: str
) -> None:
    with pytest.raises(wm.WaymarkError) as raised:
        wm.run(scenario(small, Faulty(window)))
    told = str(raised.value)
    assert "flow0: Faulty.on_ack at 0." in told
    assert f"cwnd is {shown}; expected a number of segments, 0 to 1e9" in told
    assert "Traceback" not in told


def test_a_pacing_rate_out_of_range_is_reported(small: wm.Topology) -> None:
    class Paces(wm.CongestionControl):
        pacing_rate = 0.0

    with pytest.raises(wm.WaymarkError, match=r"Paces\.on_start at 0\.0+ s: pacing_rate is 0\.0;"):
        wm.run(scenario(small, Paces))


def test_a_returned_window_is_reported(small: wm.Topology) -> None:
    with pytest.raises(wm.WaymarkError, match=r"Faulty\.on_ack at .* returned 7; expected None"):
        wm.run(scenario(small, Faulty(gives=7)))


@pytest.mark.parametrize("run", [wm.run, lambda one: wm.run_all([one], jobs=1)])
def test_an_exception_ends_the_run_with_its_traceback(small: wm.Topology, run: Any) -> None:
    with pytest.raises(wm.WaymarkError) as raised:
        run(scenario(small, Raises))
    told = str(raised.value)
    assert "flow0: Raises.on_ack at 0." in told
    assert "raised ZeroDivisionError" in told
    assert "self.cwnd += 1 / (3 - event.acked)" in told
    assert "test_congestion.py" in told
    assert "waymark/running.py" not in told


@pytest.mark.parametrize("run", [wm.run, lambda one: wm.run_all([one], jobs=1)])
def test_the_end_of_the_process_is_reported_as_an_exception(small: wm.Topology, run: Any) -> None:
    with pytest.raises(
        wm.WaymarkError, match=r"(?s)Ends\.on_ack at 0\..* raised SystemExit.*exit\(3"
    ):
        run(scenario(small, Ends))


def test_an_exception_before_the_first_packet_is_reported(small: wm.Topology) -> None:
    with pytest.raises(wm.WaymarkError, match=r"(?s)making the control raised LookupError.*ready"):
        wm.run(scenario(small, RaisesAtOnce))


def test_a_callback_that_is_none_is_refused() -> None:
    """Nothing would call it, and the control would do nothing where it was to do something."""
    with pytest.raises(wm.WaymarkError, match=r"Own\.on_ak is never called; did you mean on_a"):

        class Own(wm.CongestionControl):  # pyright: ignore[reportUnusedClass]
            def on_ak(self, event: wm.AckEvent) -> None: ...

    class Mixin:
        def on_timeoutt(self, event: wm.TimeoutEvent) -> None: ...

    with pytest.raises(wm.WaymarkError, match=r"Mixed\.on_timeoutt .* did you mean on_timeout\?"):

        class Mixed(Mixin, wm.CongestionControl):  # pyright: ignore[reportUnusedClass]
            pass


@pytest.mark.parametrize(
    ("attribute", "value", "told"),
    [
        (
            "recovery",
            "vegsa",
            "Own.recovery: found 'vegsa'; did you mean vegas? valid: tahoe, reno, newreno, sack, "
            "fack, vegas",
        ),
        ("aqt", 1, "Own.aqt: found 1; valid: True, False"),
    ],
)
def test_an_attribute_that_is_none_of_its_values_is_refused(
    attribute: str, value: object, told: str
) -> None:
    class Own(wm.CongestionControl):
        pass

    setattr(Own, attribute, value)
    for algorithm in (Own, Own(), lambda: Own()):
        with pytest.raises(wm.WaymarkError) as raised:
            wm.Flow("a", "b", algorithm)
        assert str(raised.value) == told


def test_an_invalid_algorithm_is_refused() -> None:
    with pytest.raises(wm.WaymarkError, match=r"dict gives \{\}; expected an algorithm's name"):
        wm.Flow("a", "b", dict)  # pyright: ignore
    with pytest.raises(wm.WaymarkError, match="found 'vegan'; did you mean vegas"):
        wm.Flow("a", "b", "vegan")  # pyright: ignore


def test_events_carry_no_more_than_was_asked_for(small: wm.Topology) -> None:
    class Unmarked(Steady):
        aqt = avbw = ci = timestamps = False

    control = Unmarked()
    run_one(small, lambda: control)
    assert set(control.heard) == {(None, None, None)}
