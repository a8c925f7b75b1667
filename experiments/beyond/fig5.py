"""One flow against CUBIC or Reno in one queue, over the buffer, as in Kurata et al., figure 3."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

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
    at_scale,
    plots,
)
from waymark.criteria import at_least, at_most
from waymark.networks import dumbbell

CONTROLS: tuple[today.Control, ...] = ("vegas", "bbr", "bbr3", "waymark")
RIVALS: tuple[today.Control, ...] = ("cubic", "reno")
BUFFERS: Mapping[Scale, tuple[int, ...]] = {"quick": (50, 100), "full": (10, 20, 50, 100, 200)}
RATE_BPS = 10e6
DELAY_S = 0.02
FAIR_MBPS = RATE_BPS / 2e6
QUEUE = "r1->r2"
COMES_S, GOES_S, END_S = 5.0, 105.0, 205.0
"""When the rival is there."""
COMPETING_S = (COMES_S + 20.0, GOES_S)
ALONE_S = (END_S - 50.0, END_S)


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """A flow, and a rival from 5 to 105 s; a little later with each seed."""
    runs: dict[str, Scenario] = {}
    for packets in at_scale(BUFFERS, scale):
        network = dumbbell(2, (RATE_BPS, DELAY_S), (1e9, 0.0005), queue_packets=packets)
        for rival in RIVALS:
            for control in CONTROLS:
                name = f"{control}, {rival}, {packets}"
                start_s = COMES_S + 0.01 * (seed - 1)
                runs[name] = Scenario(
                    name,
                    today.marking(network, control, [QUEUE]),
                    END_S,
                    flows=(
                        today.flow(control, "s1", "d1"),
                        replace(today.flow(rival, "s2", "d2", start_s), stop_s=GOES_S),
                    ),
                    seed=seed,
                )
    return runs


def _label(control: str, rival: str, packets: int | str) -> str:
    return f"{plots.NAMES[control]} against {plots.NAMES[rival]}, buffer {packets}"


def rows(runs: Runs) -> list[Row]:
    """What each gets, and the queue when the rival has gone."""
    table: list[Row] = []
    for name, results in runs.items():
        control, rival, packets = name.split(", ")
        label = _label(control, rival, packets)
        own, other = ([r.throughput_bps(f, *COMPETING_S) / 1e6 for r in results] for f in (0, 1))
        table += [
            Row.of(label, "Mb/s", own),
            Row.of(f"{label}: the rival", "Mb/s", other),
            Row.of(
                f"{label}: waiting, alone again",
                "packets",
                [r.mean_waiting(QUEUE, *ALONE_S) for r in results],
            ),
        ]
    return table


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Throughput over the buffer, a panel for each rival."""
    figure = plots.new_figure(9.0, 4.4)
    panels = figure.subplots(1, 2, sharey=True)
    by_name = {row.quantity: row for row in table}
    buffers = [p for p in BUFFERS["full"] if f"{CONTROLS[0]}, {RIVALS[0]}, {p}" in runs]
    for axes, rival in zip(panels, RIVALS, strict=True):
        for control in CONTROLS:
            points = {float(p): by_name[_label(control, rival, p)] for p in buffers}
            plots.series(axes, points, today.COLOURS[control], plots.NAMES[control])
        axes.axhline(FAIR_MBPS, color="0.6", linewidth=0.8, linestyle="--")
        axes.set_xscale("log")
        axes.set_xticks(buffers, [str(packets) for packets in buffers])
        axes.minorticks_off()
        axes.set_xlabel("buffer (packets)")
        axes.set_title(f"against {plots.NAMES[rival]}")
        axes.set_ylim(0, RATE_BPS / 1e6)
    panels[0].set_ylabel("throughput (Mb/s)")
    title = "One flow against another over 10 Mb/s; dashed: half of the link"
    plots.finish_panels(figure, panels[1], title=title)
    return figure


def _waymark(what: str = "") -> tuple[str, ...]:
    return tuple(
        f"{_label('waymark', rival, packets)}{what}"
        for rival in RIVALS
        for packets in BUFFERS["full"]
    )


EXPERIMENT = Experiment(
    id="beyond/fig5",
    paper="Beyond the papers; the question of Kurata et al., figure 3",
    claim="A control that keeps the queue short does not starve against one that fills it",
    parameters={
        "access": "1 Gb/s, 0.5 ms",
        "bottleneck": "10 Mb/s, 20 ms",
        "queue_packets": list(BUFFERS["full"]),
        "profile": MODERN.by_family(),
        "rival_s": [COMES_S, GOES_S],
        "measured_s": {"competing": list(COMPETING_S), "alone again": list(ALONE_S)},
    },
    seeds={"quick": 1, "full": 5},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Waymark gets a fair share against CUBIC and against Reno",
            "at least 80 % of half of the link with each buffer",
            at_least(0.8 * FAIR_MBPS, *_waymark()),
        ),
        Expectation(
            "Waymark's queue is short again after the rival ends",
            "at most 3 packets wait with each buffer",
            at_most(3.0, *_waymark(": waiting, alone again")),
        ),
    ),
    choices=(
        today.PROFILE_CHOICE,
        Choice(
            "the criterion",
            "80 % of the fair share",
            "CUBIC's share against Reno differs from the half by more",
            "not swept",
        ),
    ),
    notes=(
        "Waymark notices rivals by a queue that is full again and again, and leaves when it has "
        "not been full for twice the longest time between two full queues. After one Reno flow "
        "with a buffer of 200 packets that is up to half a minute, so that it still waits for one "
        "when the measurement begins."
    ),
    comparisons=today.compared(
        more=[
            f"{{}} against {plots.NAMES[r]}, buffer {b}" for r in RIVALS for b in BUFFERS["full"]
        ],
        less=[
            f"{{}} against {plots.NAMES[r]}, buffer {b}: waiting, alone again"
            for r in RIVALS
            for b in BUFFERS["full"]
        ],
    ),
)
