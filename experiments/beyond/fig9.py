"""A path on which most hops write no mark, as in Chan 2004, figure 3.13, today."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from experiments.beyond import today
from experiments.chan import parking_lot as net
from waymark import (
    MODERN,
    Choice,
    Expectation,
    Experiment,
    Flow,
    Row,
    Runs,
    Scale,
    Scenario,
    Topology,
    all_of,
    at_scale,
    plots,
)

CONTROLS = today.WITHOUT_ECN
LOADS: Mapping[Scale, tuple[float, ...]] = {
    "quick": (0.5, 0.9),
    "full": (0.0, 0.5, 0.8, 0.9, 1.0),
}
OF_PARTIAL_DEPLOYMENT = frozenset({"rovegas", "waymark"})
"""Controls with a setting that says that hops may be silent."""
MARKS = "r2"
"""The only router that writes marks."""
QUEUES = ("r1->r2", "r2->r3", "r3->r4")
FROM_S, END_S = 10.0, 150.0


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Each control against traffic on the reverse path over each hop."""
    return {
        name: Scenario(
            name,
            _only_one_marks(today.marking(net.topology(), control, QUEUES)),
            END_S,
            flows=(_flow(control),),
            sources=net.traffic(load, (0.0, 0.0, 0.0)),
            seed=seed,
        )
        for load in at_scale(LOADS, scale)
        for control in CONTROLS
        for name in [f"{control}, load {load:g}"]
    }


def _flow(control: today.Control) -> Flow:
    settings = {"full_deployment": False} if control in OF_PARTIAL_DEPLOYMENT else {}
    return replace(today.flow(control, "s1", "d1"), settings=settings)


def _only_one_marks(network: Topology) -> Topology:
    switches = tuple(
        switch
        if switch.name == MARKS
        else replace(switch, program="v1model/plain.p4", feedback=frozenset())
        for switch in network.switches
    )
    return replace(network, switches=switches)


def rows(runs: Runs) -> list[Row]:
    """Throughput, and the queues of all hops."""
    table: list[Row] = []
    for name, results in runs.items():
        control, load = name.split(", ")
        label = f"{plots.NAMES[control]}, {load}"
        table += [
            Row.of(label, "kb/s", [r.throughput_bps(0, FROM_S, END_S) / 1e3 for r in results]),
            Row.of(
                f"{label}: waiting",
                "packets",
                [sum(r.mean_waiting(queue, FROM_S, END_S) for queue in QUEUES) for r in results],
            ),
        ]
    return table


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput and queue over the load."""
    figure = plots.new_figure(9.0, 4.4)
    rates, queues = figure.subplots(1, 2)
    by_name = {row.quantity: row for row in table}
    loads = [load for load in LOADS["full"] if f"{CONTROLS[0]}, load {load:g}" in runs]
    for control in CONTROLS:
        name, colour = plots.NAMES[control], today.COLOURS[control]
        for axes, what in ((rates, ""), (queues, ": waiting")):
            points = {load: by_name[f"{name}, load {load:g}{what}"] for load in loads}
            plots.series(axes, points, colour, name)
    for axes in (rates, queues):
        axes.set_xlabel("load of the reverse path on each hop")
        axes.set_ylim(0)
    rates.set_ylabel("throughput (kb/s)")
    queues.set_ylabel("waiting packets, all hops")
    title = "Only the second of four routers writes marks (Chan 2004, figure 3.13), today"
    plots.finish_panels(figure, rates, title=title)
    return figure


EXPERIMENT = Experiment(
    id="beyond/fig9",
    paper="Beyond the papers; the network of Chan 2004, figures 3.8 and 3.13",
    claim="When most hops write no marks, Waymark gets no less than Vegas",
    parameters={
        "network": "parking_lot: 3 links of 1.6 Mb/s, 10 ms",
        "marks": MARKS,
        "loads": list(LOADS["full"]),
        "vbr": net.PARAMETERS["vbr"],
        "profile": MODERN.by_family(),
        "measured_s": [FROM_S, END_S],
    },
    seeds={"quick": 1, "full": 10},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Waymark never gets less than Vegas",
            "at least 99 % of it at each load: 12 of 1500 octets are marks",
            lambda row: all_of(
                row[f"Waymark, load {load:g}"].waymark
                >= 0.99 * row[f"Vegas, load {load:g}"].waymark
                for load in LOADS["full"]
                if f"Vegas, load {load:g}" in row
            ),
        ),
    ),
    choices=(
        today.PROFILE_CHOICE,
        *net.CHOICES,
        Choice(
            "Waymark's β where hops may be silent",
            "2 packets instead of 1/2",
            "the mean of Vegas' α and β, so that as much waits as with Vegas",
            "at load 1, three seeds: 73 kb/s with 1/2, 116 with 1, 234 with 2, 314 with 3",
            fitted=True,
        ),
    ),
    notes=(
        "A silent hop's queueing on the reverse path looks like queueing on the way to the "
        "receiver. "
        "Waymark then keeps less in flight than the path could carry. CUBIC, BBR and Muzha have "
        "more throughput because they fill queues. Full deployment is off for RoVegas and Waymark."
    ),
    comparisons=today.compared(
        more=[f"{{}}, load {load:g}" for load in LOADS["full"]],
        less=[f"{{}}, load {load:g}: waiting" for load in LOADS["full"]],
    ),
)
