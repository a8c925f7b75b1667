"""Which signal keeps a sender's rate where packets are lost at random (Chan 2004, figure 6.6)."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.chan import heterogeneous as net
from experiments.today import measures, signals
from waymark import MODERN, Expectation, Experiment, Row, Runs, Scale, Scenario, at_scale, plots
from waymark.criteria import more_than

LOAD = 0.5
LOSSES: Mapping[Scale, tuple[float, ...]] = {"quick": (0.06,), "full": (0.01, 0.06, 0.1)}
SHOWN = 0.06
"""On the page "Benefit of each signal"."""
FROM_S = 10.0
END_S: Mapping[Scale, float] = {"quick": 60.0, "full": 110.0}
SAMPLE_S = 0.1
QUEUE = "r1->r2"
GROUND = signals.wide_area([QUEUE], net.BOTTLENECK_BPS)
LEFT_BPS = net.BOTTLENECK_BPS * (1 - LOAD)


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One control at a time against the same cross traffic, at each loss rate."""
    return {
        _key(control, loss): Scenario(
            _key(control, loss),
            signals.network_for(control, net.topology(loss), GROUND),
            at_scale(END_S, scale),
            flows=(signals.flow(control, "s1", "d1", GROUND),),
            sources=net.cross_traffic(LOAD),
            seed=seed,
            sample_s=SAMPLE_S,
        )
        for control in signals.SIGNALS
        for loss in at_scale(LOSSES, scale)
    }


def _key(control: str, loss: float) -> str:
    return f"{plots.NAMES[control]}, loss {loss:g}"


def rows(runs: Runs) -> list[Row]:
    """Use of what the cross traffic leaves, and what waits, at each loss rate; ratios."""
    table: list[Row] = []
    for name, results in runs.items():
        table += measures.rows(
            name,
            results,
            links=[QUEUE],
            span_s=(FROM_S, results[0].end_s),
            available_bps=LEFT_BPS,
            flows=[0],
        )
    losses = [loss for loss in LOSSES["full"] if _key("cubic", loss) in runs]
    table += measures.octets((c, runs[_key(c, losses[0])]) for c in signals.SIGNALS)
    for above, below in COMPARED:
        for loss in losses:
            over, under = (
                [r.throughput_bps(0, FROM_S, r.end_s) for r in runs[_key(control, loss)]]
                for control in (above, below)
            )
            table.append(Row.ratio_of(_ratio(above, below, loss), over, under))
    return table


COMPARED = (("redvegas", "vegas"), ("waymark", "cubic"))
"""Whose throughput is divided by whose."""


def _ratio(above: str, below: str, loss: float) -> str:
    return f"{plots.NAMES[above]}/{plots.NAMES[below]}, loss {loss:g}"


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Use over the loss rate, a line per control."""
    figure = plots.new_figure(9.0, 4.8)
    axes = figure.subplots()
    measures.lines(axes, table, {loss: f", loss {loss:g}" for loss in LOSSES["full"]}, "use")
    plots.finish(
        axes,
        title=f"Random loss on the last hop, cross traffic at load {LOAD}",
        x="loss rate of data packets",
        y="use of the capacity that cross traffic leaves (%)",
        legend_title=plots.mean_of(len(next(iter(runs.values())))),
    )
    axes.set_ylim(0, None)
    return figure


EXPERIMENT = Experiment(
    id="today/fig3",
    paper="Current signals; the network of Chan 2004, figure 6.3",
    claim="A sender keeps its rate if its signal distinguishes random losses from congestion",
    parameters=net.PARAMETERS
    | {
        "signals": signals.READS,
        "profile": MODERN.by_family(),
        "load": LOAD,
        "loss": list(LOSSES["full"]),
        "from_s": FROM_S,
        "end_s": END_S["full"],
        "delay_target_s": GROUND.delay_target_s,
    },
    seeds={"quick": 1, "full": 4},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "CI keeps the rate: RedVegas gets more than Vegas, Waymark more than CUBIC",
            "at each loss rate",
            more_than(1.0, *(_ratio(*pair, loss) for pair in COMPARED for loss in LOSSES["full"])),
        ),
    ),
    choices=(
        signals.PROFILE_CHOICE,
        signals.MARKING_CHOICE,
        net.MEAN_ON_CHOICE,
        net.ACK_LOSS_CHOICE,
        signals.TARGET_CHOICE,
    ),
    comparisons=(
        *measures.comparisons(
            [f", loss {loss:g}" for loss in LOSSES["full"] if loss != SHOWN], measures.LOAD
        ),
        *measures.comparisons(
            [f", loss {SHOWN:g}"], measures.LOAD, "6 % random loss", ("use", "waiting")
        ),
    ),
)
