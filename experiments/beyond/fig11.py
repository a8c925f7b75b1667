"""Capacity halved and doubled, as in Chan 2004, figure 5.2, with a short and a long round trip."""

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
    Topology,
    at_scale,
    plots,
)
from waymark.criteria import at_most, less_than
from waymark.networks import dumbbell
from waymark.result import Result

CONTROLS: Mapping[Scale, tuple[today.Control, ...]] = {
    "quick": ("cubic", "waymark"),
    "full": ("cubic", "bbr", "bbr3", "vegas", "muzha", "waymark"),
}
RTTS_S = (0.01, 0.2)
RATE_BPS = 50e6
ACCESS_S = 0.001
TAKEN_FROM_S, TAKEN_TO_S, END_S = 30.0, 45.0, 60.0
QUEUE = "r1->r2"
SAMPLES = 4
"""In a round trip."""
NEAR = 0.1


def label(control: str, rtt_s: float) -> str:
    """``"CUBIC, 10 ms"``; ``{}`` for the title stays."""
    return f"{plots.NAMES.get(control, control)}, {1e3 * rtt_s:g} ms"


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One flow; a constant source takes half of the link for a while."""
    cbr = Cbr("s2", "d2", RATE_BPS / 2, start_s=TAKEN_FROM_S, stop_s=TAKEN_TO_S)
    return {
        label(control, rtt_s): Scenario(
            label(control, rtt_s),
            today.marking(_network(rtt_s), control, [QUEUE]),
            END_S,
            flows=(today.flow(control, "s1", "d1"),),
            sources=(cbr,),
            seed=seed,
            sample_s=rtt_s / SAMPLES,
        )
        for rtt_s in RTTS_S
        for control in at_scale(CONTROLS, scale)
    }


def _network(rtt_s: float) -> Topology:
    return dumbbell(
        2,
        (RATE_BPS, rtt_s / 2 - 2 * ACCESS_S),
        (1e9, ACCESS_S),
        queue_packets=round(bdp(rtt_s)),
        host_queue_packets=10_000,
    )


def bdp(rtt_s: float) -> float:
    """The bandwidth-delay product in packets."""
    return RATE_BPS * rtt_s / (8 * MODERN.packet_octets)


def _after_rtts(result: Result, rtt_s: float, from_s: float, rate_bps: float) -> float:
    """After how many round trips the throughput of one is first within 10 % of a rate."""
    first = round(from_s * SAMPLES / rtt_s)
    bps = result.throughput_over_time_bps(0)[first : first + 100 * SAMPLES]
    mean = np.convolve(bps, np.full(SAMPLES, 1 / SAMPLES), mode="valid")
    near = np.flatnonzero(np.abs(mean / rate_bps - 1) <= NEAR)
    return float(near[0] + SAMPLES) / SAMPLES if len(near) else 100.0


def _most_waiting(result: Result, rtt_s: float, from_s: float, to_s: float) -> float:
    per_s = SAMPLES / rtt_s
    return float(result.queues[QUEUE].waiting[round(from_s * per_s) : round(to_s * per_s)].max())


def rows(runs: Runs) -> list[Row]:
    """How soon the new rate is there, and the longest queue meanwhile."""
    table: list[Row] = []
    for rtt_s in RTTS_S:
        for control in CONTROLS["full"]:
            name = label(control, rtt_s)
            results = runs.get(name, [])
            if not results:
                continue
            for what, from_s, to_s, rate_bps in (
                ("halved", TAKEN_FROM_S, TAKEN_TO_S, RATE_BPS / 2),
                ("doubled", TAKEN_TO_S, END_S, RATE_BPS),
            ):
                after = [_after_rtts(r, rtt_s, from_s, rate_bps) for r in results]
                # What the first phase left is not overshoot of the second.
                begin_s = from_s if what == "halved" else from_s + 3 * rtt_s
                most = [_most_waiting(r, rtt_s, begin_s, to_s) for r in results]
                least = bdp(rtt_s) / 2 if what == "halved" else 0.0
                table += [
                    Row.of(f"{name}, {what}: new rate after", "RTT", after),
                    Row.of(f"{name}, {what}: most waiting", "packets", most),
                    Row.of(
                        f"{name}, {what}: above the least possible",
                        "packets",
                        [waiting - least for waiting in most],
                    ),
                ]
        own, cubic = (
            [_most_waiting(r, rtt_s, TAKEN_FROM_S, TAKEN_TO_S) for r in runs[label(control, rtt_s)]]
            for control in ("waymark", "cubic")
        )
        table.append(Row.ratio_of(_of_cubic(rtt_s), own, cubic))
    return table


def _of_cubic(rtt_s: float) -> str:
    return f"Waymark/CUBIC, {1e3 * rtt_s:g} ms, halved: most waiting"


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """The queue in the ten round trips after the capacity has halved."""
    figure = plots.new_figure(9.0, 4.4)
    for axes, rtt_s in zip(figure.subplots(1, len(RTTS_S)), RTTS_S, strict=True):
        first = round(TAKEN_FROM_S * SAMPLES / rtt_s)
        for control in CONTROLS["full"]:
            if label(control, rtt_s) not in runs:
                continue
            waiting = runs[label(control, rtt_s)][0].queues[QUEUE].waiting
            waiting = waiting[first : first + 10 * SAMPLES]
            axes.plot(
                np.arange(len(waiting)) / SAMPLES,
                waiting,
                color=today.COLOURS[control],
                label=plots.NAMES[control],
            )
        axes.axhline(bdp(rtt_s) / 2, color="#999999", linestyle="--", linewidth=0.8)
        plots.finish(
            axes,
            title=f"Half of 50 Mb/s taken, {1e3 * rtt_s:g} ms",
            x="time since (round trips)",
            y="waiting packets",
            legend_title="dashed: the least possible",
        )
    return figure


EXPERIMENT = Experiment(
    id="beyond/fig11",
    paper="Beyond the papers; the scenario of Chan 2004, figure 5.2",
    claim="With exact queueing marks, a sender reaches the new rate at once, at any round-trip "
    "time",
    parameters={
        "access": "1 Gb/s, 1 ms",
        "bottleneck": "50 Mb/s",
        "round_trips_s": list(RTTS_S),
        "queue_packets": "one bandwidth-delay product",
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
            "Waymark has the new rate within 3 round trips",
            "the mean of a round trip is within 10 % of it, halved and doubled, 10 and 200 ms",
            at_most(
                3.0,
                *(
                    f"{label('waymark', rtt_s)}, {what}: new rate after"
                    for rtt_s in RTTS_S
                    for what in ("halved", "doubled")
                ),
            ),
        ),
        Expectation(
            "At most 10 packets more wait than with the best possible sender",
            "halved: more than half of a bandwidth-delay product; doubled: more than none",
            at_most(
                10.0,
                *(
                    f"{label('waymark', rtt_s)}, {what}: above the least possible"
                    for rtt_s in RTTS_S
                    for what in ("halved", "doubled")
                ),
            ),
        ),
        Expectation(
            "Waymark's queue is shorter than CUBIC's when the capacity is halved",
            "the longest of either, 10 and 200 ms",
            less_than(1.0, *(_of_cubic(rtt_s) for rtt_s in RTTS_S)),
        ),
    ),
    comparisons=today.compared(
        more=[],
        less=[
            f"{label('{}', rtt_s)}, {what}"
            for rtt_s in RTTS_S
            for what in (
                "halved: new rate after",
                "halved: most waiting",
                "doubled: new rate after",
                "doubled: most waiting",
            )
        ],
    ),
    choices=(
        today.PROFILE_CHOICE,
        Choice(
            "the least possible queue",
            "half of a bandwidth-delay product when the capacity C is halved",
            "what is sent in answer to the first acknowledgement of a segment that was queued "
            "longer reaches the queue one round trip R after the change: until then C R and "
            "C R / 2 of the other source arrive, and C R leave",
            "exact for one flow at the rate C; a flow below that rate has less waiting",
        ),
    ),
    notes=(
        "While the other source's packets share the queue, the flow's segments arrive at 2/3 of C, "
        "which its share of the arrivals is, although only C / 2 is left to it. So the first "
        "acknowledgements do not show the new rate. With 10 ms the doubled capacity cannot be seen "
        "within 3 round trips: the switch counts what it sends in windows of 33 ms, and without a "
        "queue AQT says only that the capacity is not exceeded."
    ),
)
