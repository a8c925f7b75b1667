"""The way back congested, as in Chan 2004, figure 3.6, with the transports of today."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np
from matplotlib.figure import Figure

from experiments.beyond import today
from experiments.chan import single_bottleneck as net
from waymark import MODERN, Expectation, Experiment, Row, Runs, Scale, Scenario, plots

CONTROLS: tuple[today.Control, ...] = ("cubic", "bbr", "dctcp", "vegas", "rovegas", "waymark")
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


def rows(runs: Runs) -> list[Row]:
    """Throughput and the flow's own queue, before and while the way back is congested."""
    table: list[Row] = []
    for control, results in runs.items():
        for from_s, to_s in ((10.0, TRAFFIC_FROM_S), (TRAFFIC_FROM_S, END_S)):
            name = f"{plots.NAMES[control]}, {from_s:g}-{to_s:g} s"
            kbps = [r.throughput_bps(0, from_s, to_s) / 1e3 for r in results]
            waiting = [r.mean_waiting(QUEUE, from_s, to_s) for r in results]
            table.append(Row.of(name, "kb/s", kbps))
            table.append(Row.of(f"{name}, waiting", "packets", waiting))
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
            color=plots.COLOURS[control],
            label=f"{plots.NAMES[control]}, {average:.0f}",
        )
    plots.finish(
        axes,
        title=f"Backward load {LOAD} from {TRAFFIC_FROM_S:g} s on (Chan 2004, figure 3.6), today",
        x="time (s)",
        y="throughput (kb/s)",
        legend_title=f"averages from {TRAFFIC_FROM_S:g} s on, kb/s\n"
        + plots.mean_of(len(next(iter(runs.values())))),
    )
    axes.set_xlim(0, END_S)
    axes.set_ylim(0, 1700)
    return figure


def _loaded(row: Mapping[str, Row], name: str) -> float:
    return row[f"{name}, {TRAFFIC_FROM_S:g}-{END_S:g} s"].waymark


EXPERIMENT = Experiment(
    id="beyond/fig1",
    paper="Beyond the papers; the network of Chan 2004, figure 3.6",
    claim="With a congested way back, marks let a delay-based sender keep its throughput",
    parameters=net.PARAMETERS
    | {
        "profile": asdict(MODERN),
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
            "RoVegas keeps well above Vegas' throughput in a modern TCP too",
            "at least 1.5 times, as for figure 3.6",
            lambda row: _loaded(row, "RoVegas") >= 1.5 * _loaded(row, "Vegas"),
        ),
        Expectation(
            "Waymark gives up nothing of that for reading the other marks",
            "at least 95 % of RoVegas' throughput",
            lambda row: _loaded(row, "Waymark") >= 0.95 * _loaded(row, "RoVegas"),
        ),
        Expectation(
            "It keeps fewer packets waiting than the loss-based CUBIC",
            "less than half as many on the average",
            lambda row: (
                row[f"Waymark, {TRAFFIC_FROM_S:g}-{END_S:g} s, waiting"].waymark
                < row[f"CUBIC, {TRAFFIC_FROM_S:g}-{END_S:g} s, waiting"].waymark / 2
            ),
        ),
    ),
    choices=(today.PROFILE_CHOICE, today.ECN_CHOICE, net.VBR_CHOICE),
)
