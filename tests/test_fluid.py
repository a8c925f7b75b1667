"""HPCC, PowerTCP and θ-PowerTCP in virtual time, compared with the papers' laws as fluids.

What packets may change, and so the tolerances, stated before the first run:

* A window holds whole segments: a flow has up to one segment more or less in flight, and so has
  traffic that does not react.
* A fluid sees the queue continuously, a sender once per segment. A decision per round trip falls
  up to a round trip later or earlier.

``OUTSIDE`` has what is beyond them. ``docs/verification.md`` gives the reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from fluid_cases import BETA, BINS, CASES, FLOWS, Case, Course, Values, modelled, simulated

from waymark.analysis import fluid

run_of = cache(simulated)
model_of = cache(modelled)

WAITING, RATE, COMPLETION = "waiting", "segments per round trip", "round trips to complete"

OUTSIDE: Mapping[str, Mapping[str, float]] = {
    "hpcc-joins": {RATE: 0.5},
    "hpcc-incast": {RATE: 2.5, COMPLETION: 2},
    "powertcp-joins": {WAITING: 45, RATE: 2},
    "powertcp-incast": {WAITING: 110, RATE: 4, COMPLETION: 3.5},
    "powertcp-half": {WAITING: 0.5},
    "thetapowertcp-joins": {WAITING: 2, RATE: 2},
    "thetapowertcp-incast": {WAITING: 155, RATE: 4, COMPLETION: 6},
    "thetapowertcp-half": {WAITING: 2},
}
"""By how much a run is outside of the tolerances: measured, rounded up, and no criterion. More is a
change of a control, or of the model."""


def nearby(values: Values) -> tuple[Values, Values]:
    """The least and the greatest value of the last axis within a round trip."""
    around = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(BINS, BINS)], mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(around, 2 * BINS + 1, axis=-1)
    return windows.min(axis=-1), windows.max(axis=-1)


def beyond(measured: Values, model: Values) -> Values:
    """By how much a value is outside of what the model has within a round trip."""
    low, high = nearby(model)
    return np.maximum(low - measured, measured - high).clip(min=0)


def over_rtts(rates: Values) -> Values:
    """Means of five round trips."""
    return np.lib.stride_tricks.sliding_window_view(rates, 5 * BINS, axis=-1).mean(axis=-1)


def outside(case: Case, model: Course) -> dict[str, float]:
    """By how much a run is outside of the tolerances around a model."""
    run = run_of(case)
    times = np.arange(len(run.queue)) / BINS
    packets = sum((times >= begin).astype(int) for begin, _ in case.flows)
    from_rtts, to_rtts = case.other
    packets += (times >= from_rtts) & (times < to_rtts + 1)
    ended = [abs(a - b) for a, b in zip(run.completion_rtts, model.completion_rtts, strict=True)]
    measured = {
        WAITING: float((beyond(run.queue, model.queue) - packets).max()),
        RATE: float(beyond(over_rtts(run.rates), over_rtts(model.rates)).max() - 1),
        COMPLETION: max(ended, default=0.0) - 1,
    }
    return {what: by for what, by in measured.items() if by > 0}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_run_is_as_its_fluid(case: Case) -> None:
    known = OUTSIDE.get(str(case), {})
    measured = outside(case, model_of(case))
    assert measured.keys() == known.keys(), measured
    assert all(by <= known[what] for what, by in measured.items()), measured


OTHERS: Mapping[str, Callable[[Case], fluid.Law]] = {
    "hpcc": lambda case: fluid.Hpcc(case.path, FLOWS, eta=0.85),
    "powertcp": lambda case: fluid.PowerTcp(case.path, FLOWS / 2),
    "thetapowertcp": lambda _: fluid.ThetaPowerTcp(20.0, BETA, gamma=0.5),
}
"""Laws that differ in one constant."""


@pytest.mark.parametrize("case", [c for c in CASES if c.situation == "half"], ids=str)
def test_another_law_is_told_apart(case: Case) -> None:
    """Another constant, and another control."""
    known = OUTSIDE.get(str(case), {})
    for of in (case.control, *(other for other in OTHERS if other != case.control)):
        laws = [OTHERS[of](replace(case, control=case.control))]
        found = outside(case, modelled(case, laws))
        assert any(by > known.get(what, 0) for what, by in found.items()), of


def test_equilibria_are_those_of_the_papers() -> None:
    """PowerTCP: Σβ octets wait (theorem 1). HPCC: U is η and what W_AI adds, below the capacity."""
    path = Case("hpcc", "half").path
    for count in (1, 2):
        senders = [fluid.Sender(fluid.PowerTcp(path, 40)) for _ in range(count)]
        settled = fluid.course(path, senders, 60 * path.base_s).queue[-1]
        beta = path.full_window / 40 * path.link_octets
        assert settled == pytest.approx(count * beta, rel=0.1)
    senders = [fluid.Sender(fluid.Hpcc(path, FLOWS)) for _ in range(3)]
    ran = fluid.course(path, senders, 60 * path.base_s)
    used = sum(sum(flow[-fluid.STEPS :]) for flow in ran.carried) * path.link_octets
    in_flight = 0.95 + 3 * 0.05 / FLOWS * path.link_octets / path.segment_octets
    assert used / (path.octets_per_s * path.base_s) == pytest.approx(in_flight, rel=0.01)
    assert ran.queue[-1] == 0
