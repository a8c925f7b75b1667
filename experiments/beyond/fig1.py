"""A congested reverse path, as in Chan 2004, figure 3.6, with current transports."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from experiments.beyond import today
from experiments.chan import single_bottleneck as net
from waymark import MODERN, Expectation, Experiment, Row, Runs, Scale, Scenario, plots
from waymark.criteria import at_least, less_than

CONTROLS: tuple[today.Control, ...] = (
    "cubic",
    "bbr",
    "bbr3",
    "dctcp",
    "vegas",
    "rovegas",
    "waymark",
)
LOAD = 0.9
TRAFFIC_FROM_S = 50.0
END_S = 200.0
QUEUE = "r1->r2"


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One control at a time, against the same traffic."""
    return {
        control: Scenario(
            control,
            today.marking(net.topology(), control, [QUEUE, "r2->r1"]),
            END_S,
            flows=(today.flow(control, "s1", "d1"),),
            sources=net.backward_traffic(LOAD, TRAFFIC_FROM_S),
            seed=seed,
        )
        for control in CONTROLS
    }


BEFORE = 10.0, TRAFFIC_FROM_S
LOADED = TRAFFIC_FROM_S, END_S


def rows(runs: Runs) -> list[Row]:
    """Throughput and the flow's queue, before and while the reverse path is congested; ratios."""
    table: list[Row] = []
    kbps: dict[str, list[float]] = {}
    waiting: dict[str, list[float]] = {}
    for control, results in runs.items():
        name = plots.NAMES[control]
        for from_s, to_s in (BEFORE, LOADED):
            during = f"{name}, {from_s:g}-{to_s:g} s"
            kbps[during] = [r.throughput_bps(0, from_s, to_s) / 1e3 for r in results]
            waiting[during] = [r.mean_waiting(QUEUE, from_s, to_s) for r in results]
            table.append(Row.of(during, "kb/s", kbps[during]))
            table.append(Row.of(f"{during}, waiting", "packets", waiting[during]))
    before, loaded = (f", {from_s:g}-{to_s:g} s" for from_s, to_s in (BEFORE, LOADED))
    for name in ("Vegas", "RoVegas", "Waymark"):
        table.append(Row.ratio_of(f"{name}, kept", kbps[name + loaded], kbps[name + before]))
    for above, below in (("RoVegas", "Vegas"), ("Waymark", "RoVegas")):
        over = kbps[above + loaded], kbps[below + loaded]
        table.append(Row.ratio_of(f"{above}/{below}, loaded", *over))
    over = waiting["Waymark" + loaded], waiting["CUBIC" + loaded]
    table.append(Row.ratio_of("Waymark/CUBIC, waiting, loaded", *over))
    return table


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput over time, the mean of the seeds in averages of 5 s."""
    figure = plots.new_figure()
    axes = figure.subplots()
    axes.axvspan(TRAFFIC_FROM_S, END_S, color="#f4f4f4", zorder=0, linewidth=0)
    averages = {row.quantity: row.waymark for row in table}
    for control, results in runs.items():
        kbps = np.mean([r.throughput_over_time_bps(0) / 1e3 for r in results], axis=0)
        smooth = kbps.reshape(-1, 5).mean(axis=1)
        average = averages[f"{plots.NAMES[control]}, {TRAFFIC_FROM_S:g}-{END_S:g} s"]
        axes.plot(
            np.arange(len(smooth)) * 5 + 2.5,
            smooth,
            color=today.COLOURS[control],
            label=f"{plots.NAMES[control]}, {average:.0f}",
        )
    plots.finish(
        axes,
        title=f"Backward load {LOAD} from {TRAFFIC_FROM_S:g} s on (Chan 2004, figure 3.6), "
        "current transports",
        x="time (s)",
        y="throughput (kb/s)",
        legend_title=f"averages from {TRAFFIC_FROM_S:g} s on, kb/s\n"
        + plots.mean_of(len(next(iter(runs.values())))),
    )
    axes.set_xlim(0, END_S)
    axes.set_ylim(0, 1700)
    return figure


EXPERIMENT = Experiment(
    id="beyond/fig1",
    paper="Beyond the papers; the network of Chan 2004, figure 3.6",
    claim="With a congested reverse path, marks let a delay-based sender keep its throughput",
    parameters=net.PARAMETERS
    | {
        "profile": MODERN.by_family(),
        "backward_load": LOAD,
        "traffic_from_s": TRAFFIC_FROM_S,
        "end_s": END_S,
        "queue_packets": 50,
    },
    seeds={"quick": 2, "full": 20},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "RoVegas and Waymark keep their throughput",
            "at least .68 of it, as figure 3.6 prints for RoVegas (1092 of 1600 kb/s)",
            at_least(0.68, "RoVegas, kept", "Waymark, kept"),
        ),
        Expectation(
            "RoVegas also gets much more than Vegas with a modern TCP",
            "at least 2.1 times as much, as figure 3.6 prints (1092 and 521 kb/s)",
            at_least(2.1, "RoVegas/Vegas, loaded"),
        ),
        Expectation(
            "Reading the other marks does not reduce Waymark's throughput",
            "at least 95 % of RoVegas' throughput",
            at_least(0.95, "Waymark/RoVegas, loaded"),
        ),
        Expectation(
            "Waymark keeps less than half as many packets waiting as the loss-based CUBIC",
            "the ratio of the means",
            less_than(0.5, "Waymark/CUBIC, waiting, loaded"),
        ),
    ),
    choices=(today.PROFILE_CHOICE, today.ECN_CHOICE, net.VBR_CHOICE),
    comparisons=today.compared(
        more=["{}, 10-50 s", "{}, 50-200 s"],
        less=["{}, 10-50 s, waiting", "{}, 50-200 s, waiting"],
    ),
)
