"""Which signal shares a chain of routers fairly (Lien and Chung, simulation 2)."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.lien import common
from experiments.lien import multiple_sessions as chain
from experiments.today import measures, signals
from waymark import (
    MODERN,
    Choice,
    Expectation,
    Experiment,
    OnOff,
    Row,
    Runs,
    Scale,
    Scenario,
    all_of,
    at_scale,
    plots,
)
from waymark.criteria import Criterion

SETTINGS: Mapping[str, chain.Setting] = {
    "buffer 50": chain.Setting(1e6, 0.005, 50, 100e3),
    "delay 4 ms": chain.Setting(2e6, 0.004, 25, 100e3),
    "delay 80 ms": chain.Setting(2e6, 0.080, 25, 100e3),
}
"""Points of figures 4.5 and 4.8."""
AT_SCALE: Mapping[Scale, tuple[str, ...]] = {
    "quick": ("delay 4 ms",),
    "full": tuple(SETTINGS),
}
LINKS = ("r1->r2", "r2->r3", "r3->r4")
FLOWS = range(len(chain.FLOWS))
FROM_S = 10.0
END_S: Mapping[Scale, float] = {"quick": 40.0, "full": 60.0}
SAMPLE_S = 0.1


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Each control with each setting; flows start within 0.1 s."""
    return {
        name: _scenario(name, control, SETTINGS[point], at_scale(END_S, scale), seed)
        for point in at_scale(AT_SCALE, scale)
        for control in signals.SIGNALS
        for name in [f"{plots.NAMES[control]}, {point}"]
    }


def _scenario(name: str, control: str, setting: chain.Setting, end_s: float, seed: int) -> Scenario:
    ground = signals.wide_area(LINKS, setting.rate_bps)
    starts_s = common.starts_s(seed + 1, len(FLOWS))
    return Scenario(
        name,
        signals.network_for(control, chain.network(setting), ground),
        end_s,
        flows=tuple(
            signals.flow(control, f"s{number}", f"d{number}", ground, start_s)
            for number, start_s in enumerate(starts_s, start=1)
        ),
        sources=(OnOff("s0", "d0", 2 * setting.load_bps, chain.MEAN_ON_S, chain.MEAN_ON_S),),
        seed=seed,
        sample_s=SAMPLE_S,
    )


def rows(runs: Runs) -> list[Row]:
    """Use of the first link, the queues of all three, and fairness."""
    table: list[Row] = []
    for name, results in runs.items():
        setting = SETTINGS[name.split(", ")[1]]
        span_s = FROM_S, results[0].end_s
        shares = [[r.throughput_bps(flow, *span_s) for flow in FLOWS] for r in results]
        left_bps = setting.rate_bps - setting.load_bps
        first = [sum(each[flow] for flow in FIRST_LINK) for each in shares]
        table.append(measures.use(name, [100 * bps / left_bps for bps in first]))
        table += measures.queue(name, results, LINKS, span_s)
        table.append(measures.fairness(name, shares))
    point = next(iter(runs)).split(", ")[1]
    table += measures.octets((c, runs[f"{plots.NAMES[c]}, {point}"]) for c in signals.SIGNALS)
    return table


FIRST_LINK = (0, 1, 3)
"""The flows that cross it."""


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Use of the first link and fairness of each control, a colour per setting."""
    figure = plots.new_figure(9.0, 4.8)
    axes = figure.subplots()
    points = dict.fromkeys(name.split(", ")[1] for name in runs)
    for place, (point, colour) in enumerate(zip(points, plots.PALETTE, strict=False)):
        measures.scatter(
            axes, table, f", {point}", "Jain's index", "use", colour, labelled=place == 0
        )
    plots.finish(
        axes,
        title="Four flows over three links: "
        + ", ".join(f"{p} ({c})" for p, c in zip(points, COLOUR_NAMES, strict=False)),
        x="Jain's index of the flows",
        y="use of the capacity that bursts leave on the first link (%)",
        legend_title=plots.mean_of(len(next(iter(runs.values())))),
    )
    axes.set_ylim(0, 105)
    return figure


COLOUR_NAMES = ("blue", "vermilion", "green")
"""Of the palette's first."""


def _at_least_muzhas(measure: str) -> Criterion:
    pairs = [[f"{name}, {point}: {measure}" for name in ("Waymark", "Muzha")] for point in SETTINGS]
    return lambda row: all_of(
        row[own].waymark >= row[other].waymark for own, other in pairs if own in row
    )


EXPERIMENT = Experiment(
    id="today/fig4",
    paper="Current signals; the network of Lien and Chung, simulation 2",
    claim="A sender that knows what each hop allows uses a chain of routers and shares it fairly",
    parameters={
        "signals": signals.READS,
        "profile": MODERN.by_family(),
        "access": "10 Mb/s, 3 ms",
        "flows": list(chain.FLOWS),
        "settings": {
            name: {
                "rate_bps": s.rate_bps,
                "delay_s": s.delay_s,
                "buffer": s.buffer,
                "bursts_bps": s.load_bps,
            }
            for name, s in SETTINGS.items()
        },
        "from_s": FROM_S,
        "end_s": END_S["full"],
    },
    seeds={"quick": 1, "full": 3},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        *(
            Expectation(
                f"Waymark has at least Muzha's {what}",
                f"{measure}, with each setting",
                _at_least_muzhas(measure),
            )
            for what, measure in (("throughput", "use"), ("fairness", "Jain's index"))
        ),
    ),
    choices=(
        signals.PROFILE_CHOICE,
        signals.MARKING_CHOICE,
        chain.LAYOUT_CHOICE,
        chain.BURST_CHOICE,
        signals.TARGET_CHOICE,
        Choice(
            "settings",
            "three points of figures 4.5 and 4.8",
            "a buffer that holds more than a path, and a short and a long path",
            "beyond/fig7 has six points of fewer controls",
        ),
    ),
    comparisons=measures.comparisons(
        [", buffer 50", ", delay 80 ms", ", delay 4 ms"],
        (*measures.LOAD, "Jain's index"),
        "chain of routers",
        ("waiting", "Jain's index"),
    ),
)
