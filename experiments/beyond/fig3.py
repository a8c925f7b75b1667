"""Flows that join one after another, as in Chan 2004, figure 3.12, with current transports."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from experiments.beyond import today
from waymark import (
    MODERN,
    Choice,
    Expectation,
    Experiment,
    Row,
    Runs,
    Scale,
    Scenario,
    plots,
)
from waymark.analysis.fairness import jain
from waymark.criteria import at_least, less_than
from waymark.networks import in_file

CONTROLS: tuple[today.Control, ...] = (
    "cubic",
    "bbr",
    "bbr3",
    "dctcp",
    "vegas",
    "rovegas",
    "muzha",
    "waymark",
)
FLOWS = 8
JOIN_EVERY_S = 20.0
END_S = FLOWS * JOIN_EVERY_S + 40.0
FROM_S = END_S - 40.0
"""All flows are there, and 20 s have passed since the last one came."""
QUEUE = "r1->r2"
RATE_BPS = 10_000_000
OFFSET_S = 0.1


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Eight flows of one control, one more every 20 s, a little later with each seed."""
    network = in_file("eight_pairs")
    for source, target in (("r1", "r2"), ("r2", "r1")):
        network = network.with_link(source, target, rate_bps=RATE_BPS)
    for host in network.hosts:
        switch = "r1" if host.name.startswith("s") else "r2"
        for source, target in ((host.name, switch), (switch, host.name)):
            network = network.with_link(source, target, rate_bps=100e6)
    later = OFFSET_S * (seed - 1) / 10
    return {
        control: Scenario(
            control,
            today.marking(network, control, [QUEUE]),
            END_S,
            flows=tuple(
                today.flow(control, f"s{i + 1}", f"d{i + 1}", i * (JOIN_EVERY_S + later))
                for i in range(FLOWS)
            ),
            seed=seed,
        )
        for control in CONTROLS
    }


MARKED = ("RoVegas", "Muzha", "Waymark")
"""Controls that read marks about queueing."""

COMPARED = (
    ("RoVegas", "Vegas"),
    *((told, other) for told in MARKED for other in ("CUBIC", "BBR")),
)
"""Whose queue is divided by whose."""


def rows(runs: Runs) -> list[Row]:
    """Queue, throughput of all and fairness once all flows are there."""
    table: list[Row] = []
    waiting: dict[str, list[float]] = {}
    for control, results in runs.items():
        name = plots.NAMES[control]
        shares = [[r.throughput_bps(f, FROM_S, END_S) / 1e6 for f in range(FLOWS)] for r in results]
        waiting[name] = [r.mean_waiting(QUEUE, FROM_S, END_S) for r in results]
        table += [
            Row.of(f"{name}, waiting", "packets", waiting[name]),
            Row.of(f"{name}, all flows", "Mb/s", [sum(each) for each in shares]),
            Row.of(f"{name}, Jain's index", "1", [jain(each) for each in shares]),
        ]
    return table + [
        Row.ratio_of(f"{above}/{below}, waiting", waiting[above], waiting[below])
        for above, below in COMPARED
    ]


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """The bottleneck's queue over time, in averages of 5 s."""
    figure = plots.new_figure()
    axes = figure.subplots()
    for control, results in runs.items():
        waiting = results[0].queues[QUEUE].waiting.reshape(-1, 5).mean(axis=1)
        axes.plot(
            np.arange(len(waiting)) * 5 + 2.5,
            waiting,
            color=today.COLOURS[control],
            linestyle="--" if control == "muzha" else "-",
            label=plots.NAMES[control],
        )
    plots.finish(
        axes,
        title="Queue at 10 Mb/s, one more flow every 20 s (Chan 2004, figure 3.12), current "
        "transports",
        x="time (s)",
        y="waiting packets (mean of 5 s)",
        legend_title="the first seed",
    )
    axes.set_xlim(0, END_S)
    axes.set_ylim(0, 50)
    return figure


EXPERIMENT = Experiment(
    id="beyond/fig3",
    paper="Beyond the papers; the network of Chan 2004, figure 3.11",
    claim="With queueing marks, senders keep the queue short and share the link fairly",
    parameters={
        "access": "100 Mb/s, 1 ms",
        "bottleneck": "10 Mb/s, 20 ms",
        "queue_packets": 50,
        "profile": MODERN.by_family(),
        "flows": FLOWS,
        "join_every_s": JOIN_EVERY_S,
        "measured_s": [FROM_S, END_S],
    },
    seeds={"quick": 1, "full": 10},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "RoVegas, Muzha and Waymark keep the queue short",
            "fewer packets wait than with CUBIC and with BBR; with RoVegas, than with Vegas",
            less_than(1.0, *(f"{above}/{below}, waiting" for above, below in COMPARED)),
        ),
        Expectation(
            "RoVegas, Muzha and Waymark share the link fairly",
            "Jain's index at least .9: with one of eight flows starved it is .875",
            at_least(0.9, *(f"{name}, Jain's index" for name in MARKED)),
        ),
        Expectation(
            "RoVegas, Muzha and Waymark fill the link",
            "at least 95 % of 10 Mb/s",
            at_least(9.5, *(f"{name}, all flows" for name in MARKED)),
        ),
    ),
    choices=(
        today.PROFILE_CHOICE,
        today.ECN_CHOICE,
        Choice(
            "the bottleneck",
            "10 Mb/s instead of 1.6 Mb/s",
            "at 1.6 Mb/s eight flows of 1500-octet packets have less than one packet each in "
            "flight without queueing",
            "with less, all controls keep a queue that they cannot help",
        ),
    ),
    notes=(
        "Muzha's flows never become equal when they come one after another, as in figure 4.12 of "
        "its own paper: all of them add and take off the same. DCTCP's queue is the shortest: its "
        "threshold is 5 packets for all flows together, where α and β are for each."
    ),
    comparisons=today.compared(
        more=["{}, all flows", "{}, Jain's index"],
        less=["{}, waiting"],
    ),
)
