"""Capacity that comes and goes, as in Chan 2004, figure 5.2, with current transports."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from experiments.beyond import today
from waymark import (
    MODERN,
    Cbr,
    Choice,
    Expectation,
    Experiment,
    Row,
    Runs,
    Scale,
    Scenario,
    all_of,
    plots,
)
from waymark.criteria import at_most, less_than, more_than
from waymark.networks import dumbbell
from waymark.result import Result

CONTROLS: tuple[today.Control, ...] = ("cubic", "bbr", "bbr3", "dctcp", "vegas", "muzha", "waymark")
RATE_BPS = 50e6
DELAY_S = 0.023
TAKEN_FROM_S, TAKEN_TO_S, END_S = 40.0, 80.0, 120.0
PHASES = {
    "new": (0.0, TAKEN_FROM_S),
    "halved": (TAKEN_FROM_S, TAKEN_TO_S),
    "doubled": (TAKEN_TO_S, END_S),
}
SAMPLE_S = 0.1
QUEUE = "r1->r2"
QUEUE_PACKETS = 200
SHARE = 0.9
MARKED = ("Muzha", "Waymark")
"""Controls that read marks about free capacity."""


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One flow; a constant source takes half of the link in the middle of the run."""
    network = dumbbell(2, (RATE_BPS, DELAY_S), (1e9, 0.001), queue_packets=QUEUE_PACKETS)
    cbr = Cbr("s2", "d2", RATE_BPS / 2, start_s=TAKEN_FROM_S, stop_s=TAKEN_TO_S)
    return {
        control: Scenario(
            control,
            today.marking(network, control, [QUEUE]),
            END_S,
            flows=(today.flow(control, "s1", "d1"),),
            sources=(cbr,),
            seed=seed,
            sample_s=SAMPLE_S,
        )
        for control in CONTROLS
    }


def reached_after_s(result: Result, phase: str) -> float:
    """When the throughput of half a second first was 90 % of what the phase leaves to the flow,
    counted from the phase's start; the phase's length if never."""
    from_s, to_s = PHASES[phase]
    first, last = round(from_s / SAMPLE_S), round(to_s / SAMPLE_S)
    bps = result.throughput_over_time_bps(0)[first:last]
    window = np.convolve(bps, np.full(5, 0.2), mode="valid")
    reached = np.flatnonzero(window >= SHARE * left_bps(phase))
    return float(reached[0] + 5) * SAMPLE_S if len(reached) else to_s - from_s


def left_bps(phase: str) -> float:
    """What the constant source leaves to the flow, in bits per second."""
    return RATE_BPS / 2 if phase == "halved" else RATE_BPS


def rows(runs: Runs) -> list[Row]:
    """How soon the capacity is used, how much of it, and the queue meanwhile."""
    table: list[Row] = []
    for control, results in runs.items():
        name = plots.NAMES[control]
        for phase in ("new", "doubled"):
            times = [reached_after_s(r, phase) for r in results]
            table.append(Row.of(f"{name}, {phase}: 90 % after", "s", times))
        for phase, (from_s, to_s) in PHASES.items():
            settled = [r.throughput_bps(0, to_s - 20, to_s) / 1e6 for r in results]
            waiting = [r.mean_waiting(QUEUE, to_s - 20, to_s) for r in results]
            peak = [
                float(
                    r.queues[QUEUE].waiting[round(from_s / SAMPLE_S) : round(to_s / SAMPLE_S)].max()
                )
                for r in results
            ]
            table += [
                Row.of(f"{name}, {phase}: last 20 s", "Mb/s", settled),
                Row.of(f"{name}, {phase}: waiting in them", "packets", waiting),
                Row.of(f"{name}, {phase}: most waiting (of 0.1 s)", "packets", peak),
            ]
    for name in MARKED:
        for phase, (_, to_s) in PHASES.items():
            own, cubic = (
                [r.mean_waiting(QUEUE, to_s - 20, to_s) for r in runs[control]]
                for control in (name.lower(), "cubic")
            )
            table.append(Row.ratio_of(f"{name}/CUBIC, {phase}: waiting", own, cubic))
    return table


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """Throughput and queue over time, in averages of half a second."""
    figure = plots.new_figure(8.0, 6.0)
    rates, queues = figure.subplots(2, 1, sharex=True)
    for control, results in runs.items():
        result = results[0]
        mbps = result.throughput_over_time_bps(0).reshape(-1, 5).mean(axis=1) / 1e6
        waiting = result.queues[QUEUE].waiting.reshape(-1, 5).mean(axis=1)
        times_s = np.arange(len(mbps)) * 0.5 + 0.25
        colour, name = today.COLOURS[control], plots.NAMES[control]
        rates.plot(times_s, mbps, color=colour, label=name, linewidth=1.2)
        queues.plot(times_s, waiting, color=colour, linewidth=1.2)
    plots.finish(
        rates,
        title="Half of 50 Mb/s taken from 40 to 80 s (Chan 2004, figure 5.2), current transports",
        x="",
        y="throughput (Mb/s)",
    )
    rates.set_ylim(0, 52)
    queues.set_xlabel("time (s)")
    queues.set_ylabel("waiting packets")
    queues.set_xlim(0, END_S)
    queues.set_ylim(0, QUEUE_PACKETS)
    return figure


EXPERIMENT = Experiment(
    id="beyond/fig4",
    paper="Beyond the papers; the scenario of Chan 2004, figure 5.2",
    claim="With marks, a sender uses free capacity at once, and keeps the queue short",
    parameters={
        "access": "1 Gb/s, 1 ms",
        "bottleneck": "50 Mb/s, 23 ms",
        "queue_packets": QUEUE_PACKETS,
        "profile": MODERN.by_family(),
        "cbr_bps": RATE_BPS / 2,
        "taken_s": [TAKEN_FROM_S, TAKEN_TO_S],
        "end_s": END_S,
    },
    seeds={"quick": 1, "full": 1},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Muzha and Waymark use returned capacity at once",
            "90 % of it within 1 s, 20 round trips",
            at_most(1.0, *(f"{name}, doubled: 90 % after" for name in MARKED)),
        ),
        Expectation(
            "Vegas, without marks, takes long",
            "more than 4.2 s: from 25 to 45 Mb/s its window grows by 83 packets, one per round "
            "trip of 50 ms",
            more_than(4.2, "Vegas, doubled: 90 % after"),
        ),
        Expectation(
            "Muzha and Waymark keep the queue short",
            "fewer packets wait than with CUBIC in the last 20 s of each phase",
            less_than(
                1.0, *(f"{name}/CUBIC, {phase}: waiting" for name in MARKED for phase in PHASES)
            ),
        ),
        Expectation(
            "Muzha and Waymark use the capacity that is left to the flow",
            "at least 95 % of it in the last 20 s of each phase",
            lambda row: all_of(
                row[f"{name}, {phase}: last 20 s"].waymark >= 0.95 * left_bps(phase) / 1e6
                for name in MARKED
                for phase in PHASES
            ),
        ),
    ),
    choices=(
        today.PROFILE_CHOICE,
        today.ECN_CHOICE,
        Choice(
            "queue limit and delay",
            "200 packets, a base round trip of 50 ms",
            "about one bandwidth-delay product; the paper's queue never overflows",
            "not swept",
        ),
    ),
    notes=(
        "Nothing in this network is random: one seed is enough. Why Vegas stands still at 40 and, "
        "after half of the link is free again, at 25 Mb/s: with α = 1 it grows only while Δ, "
        "rounded, is 0. A paced window with delayed acknowledgements makes small bursts, whose "
        "queueing of 0.1 to 0.2 ms is more than half a segment at these rates. Muzha fills half of "
        "its queue, where indices 3 and 2 balance, and needs 1.7 s after the constant source ends. "
        "BBR lets the queue fill up during the constant source, which it takes for its own "
        "bandwidth to probe for."
    ),
    comparisons=today.compared(
        more=[f"{{}}, {phase}: last 20 s" for phase in ("new", "halved", "doubled")],
        less=[
            "{}, new: 90 % after",
            "{}, doubled: 90 % after",
            *(
                f"{{}}, {phase}: {what}"
                for phase in ("new", "halved", "doubled")
                for what in ("waiting in them", "most waiting (of 0.1 s)")
            ),
        ],
    ),
)
