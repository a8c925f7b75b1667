"""Which signal keeps a sender's rate with a congested reverse path (Chan 2004, figure 3.6)."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.chan import single_bottleneck as net
from experiments.today import measures, signals
from waymark import MODERN, Expectation, Experiment, Row, Runs, Scale, Scenario, at_scale, plots
from waymark.criteria import at_least, at_most

LOADS = (0.5, 0.9)
FROM_S = 20.0
END_S: Mapping[Scale, float] = {"quick": 60.0, "full": 120.0}
SAMPLE_S = 0.1
QUEUE = "r1->r2"
GROUND = signals.wide_area([QUEUE, "r2->r1"], net.BOTTLENECK_BPS)


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One control at a time, against the same traffic."""
    return {
        _key(control, load): Scenario(
            _key(control, load),
            signals.network_for(control, net.topology(), GROUND),
            at_scale(END_S, scale),
            flows=(signals.flow(control, "s1", "d1", GROUND),),
            sources=net.backward_traffic(load),
            seed=seed,
            sample_s=SAMPLE_S,
        )
        for control in signals.SIGNALS
        for load in LOADS
    }


def _key(control: str, load: float) -> str:
    return f"{control}, load {load}"


def rows(runs: Runs) -> list[Row]:
    """Throughput, and packets waiting in front of the link, at each load; ratios."""
    table: list[Row] = []
    kbps: dict[str, list[float]] = {}
    for control in signals.SIGNALS:
        for load in LOADS:
            results = runs[_key(control, load)]
            name = f"{plots.NAMES[control]}, load {load}"
            kbps[name] = [r.throughput_bps(0, FROM_S, r.end_s) / 1e3 for r in results]
            table.append(Row.of(name, "kb/s", kbps[name]))
            table += measures.rows(
                name,
                results,
                links=[QUEUE],
                span_s=(FROM_S, results[0].end_s),
                available_bps=net.BOTTLENECK_BPS,
                flows=[0],
            )
    table += measures.octets((c, runs[_key(c, LOADS[0])]) for c in signals.SIGNALS)
    for load in LOADS:
        for above, below in (("Swift (AQT)", "Swift"), ("Waymark", "CUBIC")):
            over = kbps[f"{above}, load {load}"], kbps[f"{below}, load {load}"]
            table.append(Row.ratio_of(f"{above}/{below}, load {load}", *over))
    return table


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput over what waits: a marker for each control, a colour for each load."""
    figure = plots.new_figure()
    axes = figure.subplots()
    for load, colour in zip(LOADS, plots.PALETTE, strict=False):
        point = f", load {load}"
        measures.scatter(axes, table, point, "waiting", "use", colour, labelled=load == LOADS[-1])
    axes.set_xscale("log")
    plots.finish(
        axes,
        title="Load of .5 (blue) and .9 (vermilion) on the reverse path",
        x="packets waiting, mean",
        y="use of the link (%)",
        legend_title=plots.mean_of(len(next(iter(runs.values())))),
    )
    axes.set_ylim(0, 105)
    return figure


EXPERIMENT = Experiment(
    id="today/fig1",
    paper="Current signals; the network of Chan 2004, figure 3.6",
    claim="A sender keeps its rate if its signal excludes the reverse path",
    parameters=net.PARAMETERS
    | {
        "signals": signals.READS,
        "profile": MODERN.by_family(),
        "backward_loads": list(LOADS),
        "measured_s": [FROM_S, END_S["full"]],
        "queue_packets": 50,
        "delay_target_s": GROUND.delay_target_s,
    },
    seeds={"quick": 1, "full": 5},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Swift on AQT is at least as good as Swift on round-trip times",
            "at least its throughput, at both loads",
            at_least(1.0, *(f"Swift (AQT)/Swift, load {load}" for load in LOADS)),
        ),
        Expectation(
            "Waymark has the throughput of CUBIC",
            "at least 99 % of it, at both loads",
            at_least(0.99, *(f"Waymark/CUBIC, load {load}" for load in LOADS)),
        ),
        Expectation(
            "Waymark keeps at most 3 packets waiting",
            "on average, at both loads",
            at_most(3.0, *(f"Waymark, load {load}: waiting" for load in LOADS)),
        ),
    ),
    choices=(
        signals.PROFILE_CHOICE,
        signals.MARKING_CHOICE,
        net.VBR_CHOICE,
        signals.TARGET_CHOICE,
    ),
    notes=(
        "Swift's delay is the round-trip time by the sender's clock alone. Clocks that differ "
        "between hosts change neither it nor AQT, so that no run has skewed clocks."
    ),
    comparisons=measures.comparisons(
        [f", load {load}" for load in LOADS],
        measures.LOAD,
        "reverse path at load .9",
        ("use", "waiting, p99"),
    ),
)
