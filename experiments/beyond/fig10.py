"""Random loss with and without cross traffic (Chan 2004, chapter 6), today."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.beyond import today
from experiments.chan import heterogeneous as net
from waymark import (
    MODERN,
    Expectation,
    Experiment,
    Row,
    Runs,
    Scale,
    Scenario,
    all_of,
    at_scale,
    plots,
)

CONTROLS: tuple[today.Control, ...] = ("cubic", "bbr", "bbr3", "redvegas", "waymark")
OTHERS: tuple[today.Control, ...] = ("cubic", "bbr", "redvegas")
"""Those of the claims."""
LOSSES: Mapping[Scale, tuple[float, ...]] = {
    "quick": (0.03,),
    "full": (0.01, 0.03, 0.06, 0.1),
}
LOADS = (0.0, 0.5)
END_S: Mapping[Scale, float] = {"quick": 60.0, "full": 300.0}
QUEUE = "r1->r2"


def label(control: str, loss: float, load: float) -> str:
    """``"CUBIC, loss 0.03, load 0.5"``; ``{}`` for the title stays."""
    return f"{plots.NAMES.get(control, control)}, loss {loss:g}, load {load:g}"


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One control at a time against the same cross traffic, at each loss rate and load."""
    return {
        label(control, loss, load): Scenario(
            label(control, loss, load),
            today.marking(net.topology(loss), control, [QUEUE]),
            at_scale(END_S, scale),
            flows=(today.flow(control, "s1", "d1"),),
            sources=net.cross_traffic(load) if load else (),
            seed=seed,
        )
        for load in LOADS
        for loss in at_scale(LOSSES, scale)
        for control in CONTROLS
    }


def rows(runs: Runs) -> list[Row]:
    """Throughput of what arrived, and the queue, over the whole run."""
    table: list[Row] = []
    for name, results in runs.items():
        kbps = [r.throughput_bps(0, 0, len(r.times_s)) / 1e3 for r in results]
        waiting = [r.mean_waiting(QUEUE, 0, len(r.times_s)) for r in results]
        table += [Row.of(name, "kb/s", kbps), Row.of(f"{name}, waiting", "packets", waiting)]
    return table


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """One line per control over the loss rate, without and with cross traffic."""
    figure = plots.new_figure(9.0, 4.4)
    panels = figure.subplots(1, len(LOADS), sharey=True)
    by_name = {row.quantity: row for row in table}
    for axes, load in zip(panels, LOADS, strict=True):
        for control in CONTROLS:
            names = {loss: label(control, loss, load) for loss in LOSSES["full"]}
            points = {loss: by_name[name] for loss, name in names.items() if name in by_name}
            plots.series(axes, points, today.COLOURS[control], plots.NAMES[control])
        plots.finish(
            axes,
            title=f"Random loss, load {load:g}",
            x="loss rate of data packets",
            y="throughput (kb/s)",
            legend_title=plots.mean_of(len(next(iter(runs.values())))),
        )
        axes.set_ylim(0, None)
    return figure


def _grounds(row: Mapping[str, Row], load: float) -> list[tuple[Row, Row, Row, Row]]:
    """Of each loss rate: Waymark's throughput and queue, and those of the best other."""
    grounds: list[tuple[Row, Row, Row, Row]] = []
    for loss in LOSSES["full"]:
        names = [label(control, loss, load) for control in OTHERS]
        own = label("waymark", loss, load)
        if own not in row:
            continue
        best = max(names, key=lambda name: row[name].order)
        grounds.append((row[own], row[f"{own}, waiting"], row[best], row[f"{best}, waiting"]))
    return grounds


def _claims(load: float) -> tuple[Expectation, ...]:
    return (
        Expectation(
            f"At load {load:g} Waymark has at least the best of CUBIC's, BBR's and RedVegas' "
            "throughput",
            "at each loss rate",
            lambda row: all_of(
                own.waymark >= best.waymark for own, _, best, _ in _grounds(row, load)
            ),
        ),
        Expectation(
            f"At load {load:g} fewer packets wait than with the best of these",
            "at each loss rate",
            lambda row: all_of(
                own.waymark < best.waymark for _, own, _, best in _grounds(row, load)
            ),
        ),
    )


EXPERIMENT = Experiment(
    id="beyond/fig10",
    paper="Beyond the papers; the network of Chan 2004, figure 6.3",
    claim="A sender that knows which losses are due to congestion has the highest throughput and "
    "a shorter queue",
    parameters=net.PARAMETERS
    | {
        "profile": MODERN.by_family(),
        "loads": list(LOADS),
        "loss": list(LOSSES["full"]),
        "end_s": END_S["full"],
    },
    seeds={"quick": 1, "full": 5},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=tuple(claim for load in LOADS for claim in _claims(load)),
    comparisons=today.compared(
        more=[label("{}", loss, load) for load in LOADS for loss in LOSSES["full"]],
        less=[f"{label('{}', loss, load)}, waiting" for load in LOADS for loss in LOSSES["full"]],
    ),
    choices=(
        today.PROFILE_CHOICE,
        today.ECN_CHOICE,
        net.MEAN_ON_CHOICE,
        net.ACK_LOSS_CHOICE,
    ),
    notes=(
        "Without load Waymark and RedVegas both fill the link. Waymark's options take 12 of the "
        "1500 octets of a packet, .8 %, which decides at 1 and 3 % of loss. At load .5 the queue "
        "is that of the cross traffic's bursts, which meet more of Waymark's segments."
    ),
)
