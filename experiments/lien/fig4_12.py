"""Lien and Chung, figure 4.12: three Muzha flows that start together, and one after the other."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from matplotlib.figure import Figure

from experiments.lien import common
from waymark import Choice, Expectation, Experiment, Row, Runs, Scale, Scenario, plots
from waymark.analysis.fairness import jain
from waymark.networks import dumbbell

END_S = 50.0
FROM_S = 30.0
SAMPLE_S = 1.0
BUFFER = 50
FLOWS = 3
MIDDLE, ACCESS = (3e6, 0.015), (10e6, 0.003)
STAGGER_S = 10.0
LABELS = ("at one instant", "within 0.1 s", "10 s apart")


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """The three kinds of start."""
    near_s = common.starts_s(seed + 1, FLOWS)
    starts_s = {
        "at one instant": [0.0] * FLOWS,
        "within 0.1 s": near_s,
        "10 s apart": [offset_s + i * STAGGER_S for i, offset_s in enumerate(near_s)],
    }
    network = common.routers(dumbbell(FLOWS, MIDDLE, ACCESS), BUFFER)
    return {
        label: Scenario(
            label,
            network,
            END_S,
            flows=tuple(
                common.flow(f"s{i}", f"d{i}", "muzha", start_s)
                for i, start_s in enumerate(starts_s[label], start=1)
            ),
            seed=seed,
            sample_s=SAMPLE_S,
        )
        for label in LABELS
    }


def rows(runs: Runs) -> list[Row]:
    """Each flow's throughput at the end, and how evenly they share."""
    table: list[Row] = []
    for label in LABELS:
        rates = [
            [common.kbps(result, flow, FROM_S, END_S) for flow in range(FLOWS)]
            for result in runs[label]
        ]
        for flow in range(FLOWS):
            values = [several[flow] for several in rates]
            table.append(Row.of(f"{label}, flow {flow + 1}", "kb/s", values))
        table.append(Row.of(f"{label}, Jain's index", "1", [jain(several) for several in rates]))
    return table


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """Throughput over time, first seed."""
    figure = plots.new_figure(9.5, 4.1)
    panels = figure.subplots(1, len(LABELS), sharey=True)
    colours = ("#0072b2", "#d55e00", "#009e73")
    for axes, label in zip(panels, LABELS, strict=True):
        result = runs[label][0]
        for flow, colour in enumerate(colours):
            rate = result.throughput_over_time_bps(flow) * common.whole(result, flow) / 1e3
            axes.plot(result.times_s, rate, color=colour, label=f"flow {flow + 1}")
        axes.set_title(f"started {label}")
        axes.set_xlabel("time (s)")
        axes.set_xlim(0, END_S)
    panels[0].set_ylim(0)
    panels[0].set_ylabel("throughput (kb/s)")
    common.legend_below(figure, panels[0], FLOWS)
    title = "Lien and Chung, figure 4.12: three Muzha flows"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def _equal(row: Mapping[str, Row]) -> bool:
    rates = [row[f"{LABELS[0]}, flow {flow + 1}"].waymark for flow in range(FLOWS)]
    return all(abs(rate - fmean(rates)) <= 0.05 * fmean(rates) for rate in rates)


EXPERIMENT = Experiment(
    id="lien/fig4.12",
    paper="Lien and Chung, figure 4.12 (section IV.D, simulation 4)",
    claim="Muzha flows that start together get the same rate; later ones take what is left",
    parameters=common.PARAMETERS
    | {
        "flows": FLOWS,
        "bottleneck": "3 Mb/s, 15 ms",
        "access": "10 Mb/s, 3 ms",
        "buffer": BUFFER,
        "stagger_s": STAGGER_S,
        "average_s": [FROM_S, END_S],
    },
    seeds={"quick": 3, "full": 10},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Started simultaneously, the final rates tend to be the same",
            "each flow's within 5 % of the mean of the three, all started at one instant",
            _equal,
        ),
        Expectation(
            "Entering at different times, newer sessions may get less: they take what is left",
            "10 s apart, the first flow has more than each of the others",
            lambda row: all(
                row["10 s apart, flow 1"].waymark > row[f"10 s apart, flow {i}"].waymark
                for i in (2, 3)
            ),
        ),
    ),
    choices=(
        common.DRAI_CHOICE,
        Choice(
            "buffer",
            f"{BUFFER} packets",
            "the paper gives none; ns-2's default",
            "a flow keeps what it gained while the queue was short, longer with a longer buffer",
        ),
        Choice(
            "starts",
            "all at 0 s; uniform in the first 0.1 s, by seed; and these 10 s apart",
            "the paper says simultaneously, and at different times",
            "offsets under 0.1 s already reduce fairness: see the rows and the notes",
        ),
    ),
    notes=common.OCTETS_NOTE
    + "Flows keep the shares with which they start. In steady state all flows read indices 2 and "
    "3, one packet less and one more for each, at any window, so nothing evens them out. "
    "Only indices 1, 5 and 6 change windows in proportion. A flow that comes late finds the link "
    "full and never reads 5 or 6; one that comes 50 ms late misses the first tripling.",
)
