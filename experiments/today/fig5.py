"""Which signal gets its share against CUBIC in one drop-tail queue (Kurata et al., figure 3)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from experiments.beyond import fig5 as net
from experiments.today import measures, signals
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
from waymark.criteria import at_least
from waymark.networks import dumbbell

BUFFERS: Mapping[Scale, tuple[int, ...]] = {"quick": (50,), "full": (20, 50, 200)}
RIVAL = "cubic"
END_S: Mapping[Scale, float] = {"quick": 60.0, "full": 100.0}
"""Long enough for some of the rival's periods, of 10 s or so."""
COMES, GOES = 0.05, 0.6
"""When the rival is there, in parts of the run."""
COMPETING, ALONE = (0.25, GOES), (0.8, 1.0)
"""When is measured."""
GROUND = signals.wide_area([net.QUEUE], net.RATE_BPS)
SAMPLE_S = 0.1


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """A flow of each control, and one of CUBIC for a time; a little later with each seed."""
    end_s = at_scale(END_S, scale)
    start_s = COMES * end_s + 0.01 * (seed - 1)
    runs: dict[str, Scenario] = {}
    for buffer in at_scale(BUFFERS, scale):
        network = dumbbell(2, (net.RATE_BPS, net.DELAY_S), (1e9, 0.0005), queue_packets=buffer)
        for control in signals.SIGNALS:
            name = _key(control, buffer)
            own = signals.flow(control, "s1", "d1", GROUND)
            rival = signals.flow(RIVAL, "s2", "d2", GROUND, start_s)
            runs[name] = Scenario(
                name,
                signals.network_for(control, network, GROUND),
                end_s,
                flows=(own, replace(rival, stop_s=GOES * end_s)),
                seed=seed,
                sample_s=SAMPLE_S,
            )
    return runs


def _key(control: str, buffer: int) -> str:
    return f"{plots.NAMES[control]}, buffer {buffer}"


def rows(runs: Runs) -> list[Row]:
    """What each gets of its fair share, and the queue with the rival and without it."""
    table: list[Row] = []
    for name, results in runs.items():
        end_s = results[0].end_s
        competing_s, alone_s = _span_s(COMPETING, end_s), _span_s(ALONE, end_s)
        competing = [[r.throughput_bps(f, *competing_s) for f in (0, 1)] for r in results]
        alone = [r.throughput_bps(0, *alone_s) for r in results]
        table.append(
            Row.of(
                f"{name}: share",
                "% of half",
                [200 * own / net.RATE_BPS for own, _ in competing],
            )
        )
        table.append(measures.use(name, [100 * sum(both) / net.RATE_BPS for both in competing]))
        table += measures.queue(name, results, [net.QUEUE], competing_s)
        table.append(measures.fairness(name, competing))
        table.append(measures.use(f"{name}, alone", [100 * a / net.RATE_BPS for a in alone]))
        table += measures.queue(f"{name}, alone", results, [net.QUEUE], alone_s)
    buffer = next(b for b in BUFFERS["full"] if _key(RIVAL, b) in runs)
    table += measures.octets((c, runs[_key(c, buffer)]) for c in signals.SIGNALS)
    return table


def _span_s(parts: tuple[float, float], end_s: float) -> tuple[float, float]:
    return parts[0] * end_s, parts[1] * end_s


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """The share over the buffer, a line per control."""
    figure = plots.new_figure(9.0, 4.8)
    axes = figure.subplots()
    axes.axhline(100, color="#888888", linewidth=0.8)
    points = {float(buffer): f", buffer {buffer}" for buffer in BUFFERS["full"]}
    measures.lines(axes, table, points, "share")
    plots.finish(
        axes,
        title="A flow against CUBIC over 10 Mb/s",
        x="buffer (packets)",
        y="throughput (% of half of the link)",
        legend_title=plots.mean_of(len(next(iter(runs.values())))),
    )
    axes.set_ylim(0, 200)
    return figure


EXPERIMENT = Experiment(
    id="today/fig5",
    paper="Current signals; the question of Kurata et al., figure 3",
    claim="A sender that keeps the queue short does not starve against one that fills it",
    parameters={
        "signals": signals.READS,
        "profile": MODERN.by_family(),
        "access": "1 Gb/s, 0.5 ms",
        "bottleneck": "10 Mb/s, 20 ms",
        "queue_packets": list(BUFFERS["full"]),
        "rival": RIVAL,
        "end_s": END_S["full"],
        "rival_in_parts_of_it": [COMES, GOES],
        "measured_in_parts_of_it": {"competing": list(COMPETING), "alone": list(ALONE)},
        "delay_target_s": GROUND.delay_target_s,
    },
    seeds={"quick": 1, "full": 1},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Waymark gets a fair share against CUBIC",
            "at least 80 % of half of the link, with each buffer",
            at_least(80.0, *(f"Waymark, buffer {buffer}: share" for buffer in BUFFERS["full"])),
        ),
    ),
    choices=(
        signals.PROFILE_CHOICE,
        signals.MARKING_CHOICE,
        signals.TARGET_CHOICE,
        Choice(
            "one queue",
            "all but Prague share a drop-tail queue with CUBIC; Prague and CUBIC have the two "
            "queues of DualPI2",
            "L4S is made of two queues; DCTCP's threshold marks no packet of CUBIC",
            "today/fig2 has more round-trip times of Prague against CUBIC",
        ),
    ),
    comparisons=(
        *measures.comparisons(
            [f", buffer {buffer}, alone" for buffer in BUFFERS["full"]], measures.LOAD
        ),
        *measures.comparisons(
            [", buffer 20", ", buffer 200", ", buffer 50"],
            ("share", *measures.LOAD, "Jain's index"),
            "against CUBIC, buffer 50",
            ("share", "Jain's index"),
        ),
    ),
)
