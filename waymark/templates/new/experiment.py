"""An experiment: runs over several seeds, a table, a picture, and claims to test.

    waymark run ./my_figure.py --scale quick
    waymark run ./my_figure.py --jobs 4
    waymark report

Finished runs are kept under results/.runs: after an interrupt, repeat the command to continue.
"""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

import waymark as wm

# Bits per second, and seconds one way. A file does as well:
# wm.Topology.load(Path(__file__).with_name("my_network.yaml")), see `waymark new topology`.
NETWORK = wm.Topology(
    hosts=(wm.Host("a"), wm.Host("b")),
    switches=(wm.Switch("r1"), wm.Switch("r2")),
    links=(
        *wm.duplex("a", "r1", 10e6, 0.001),
        *wm.duplex("r1", "r2", 1.6e6, 0.02, queue_packets=20),
        *wm.duplex("r2", "b", 10e6, 0.001),
    ),
)

# `waymark controls` lists the congestion controls. A class derived from wm.CongestionControl
# stands where a name stands: `waymark new control` writes one.
CONTROLS: Sequence[wm.Algorithm] = ("vegas", "cubic")

LOAD = 0.5  # of the bottleneck's rate, by bursts of cross traffic
FROM_S = 10.0  # when measuring begins
END_S: Mapping[wm.Scale, float] = {"quick": 20.0, "full": 60.0}


def scenarios(scale: wm.Scale, seed: int) -> Mapping[str, wm.Scenario]:
    """The runs of one seed, by label. `scale` is "quick" or "full" (or "paper": as full)."""
    cross = wm.OnOff.for_load("a", "b", load=LOAD, link_bps=1.6e6, rate_bps=3.2e6, mean_on_s=0.01)
    return {
        control: wm.Scenario(
            control,
            NETWORK,
            end_s=wm.at_scale(END_S, scale),
            flows=(wm.Flow("a", "b", control),),
            sources=(cross,),
            seed=seed,
            sample_s=0.1,
        )
        for control in CONTROLS
    }


def rows(runs: wm.Runs) -> list[wm.Row]:
    """The table: each quantity with one value per seed. `runs` has the results by label."""
    table: list[wm.Row] = []
    for label, results in runs.items():
        end_s = results[0].end_s
        kbps = [run.throughput_bps(0, FROM_S, end_s) / 1e3 for run in results]
        queue = [run.mean_waiting("r1->r2", FROM_S, end_s) for run in results]
        table.append(wm.Row.of(f"{label}, throughput", "kb/s", kbps))
        table.append(wm.Row.of(f"{label}, queue", "packets", queue))
    return table


def draw(runs: wm.Runs, _table: Sequence[wm.Row]) -> Figure:
    """The picture: the first seed's queues over time."""
    figure = wm.plots.new_figure()
    axes = figure.subplots()
    for label, results in runs.items():
        first = results[0]
        axes.plot(
            first.times_s,
            first.queues["r1->r2"].waiting,
            color=wm.plots.COLOURS[label],
            label=wm.plots.NAMES[label],
        )
    wm.plots.finish(axes, title="Queue at the bottleneck", x="time (s)", y="packets waiting")
    return figure


EXPERIMENT = wm.Experiment(
    id="own/my_figure",  # results go to results/own/my_figure
    paper="My experiment",
    claim="Vegas keeps the queue shorter than CUBIC",
    parameters={"load": LOAD, "bottleneck": "1.6 Mb/s, 20 ms", "measured_from_s": FROM_S},
    seeds={"quick": 1, "full": 10},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    # What the table must show for a claim to pass. Leave it empty to measure only.
    expectations=(
        wm.Expectation(
            "Vegas' queue is shorter than CUBIC's",
            "the mean over the seeds is less than CUBIC's",
            lambda row: row["vegas, queue"].waymark < row["cubic, queue"].waymark,
        ),
    ),
)
