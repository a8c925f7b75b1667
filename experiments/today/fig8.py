"""RoVegas against CUBIC: in one queue, and in two that DualPI2 couples."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.today import fig2, measures, signals
from waymark import (
    MODERN,
    Choice,
    Expectation,
    Experiment,
    Row,
    Runs,
    Scale,
    Scenario,
    Topology,
    at_scale,
    plots,
)
from waymark.criteria import less_than

PROGRAM = "../experiments/today/two_queues.p4"
"""Relative to ``p4src/``."""
RTTS_MS: Mapping[Scale, tuple[int, ...]] = {"quick": (10,), "full": (10, 50)}
QUEUES = ("one queue", "two queues")
FLOWS = ("cubic", "rovegas")
FROM_S = 10.0
END_S: Mapping[Scale, float] = {"quick": 20.0, "full": 40.0}
SAMPLE_S = 0.1
GROUND = signals.wide_area([fig2.QUEUE], fig2.RATE_BPS)


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Both flows, RoVegas a little later with each seed."""
    return {
        name: Scenario(
            name,
            _network(rtt_ms, queues),
            at_scale(END_S, scale),
            flows=tuple(
                signals.flow(control, f"s{i}", f"d{i}", GROUND, 0.01 * seed * (i - 1))
                for i, control in enumerate(FLOWS, 1)
            ),
            seed=seed,
            sample_s=SAMPLE_S,
        )
        for rtt_ms in at_scale(RTTS_MS, scale)
        for queues in QUEUES
        for name in [_point(rtt_ms, queues)]
    }


def _point(rtt_ms: int, queues: str) -> str:
    return f"{queues}, RTT {rtt_ms} ms"


def _network(rtt_ms: int, queues: str) -> Topology:
    network = fig2.network(rtt_ms)
    if queues == "one queue":
        return signals.network_for("rovegas", network, GROUND)
    return signals.with_dual_pi2(network, GROUND, PROGRAM)


def rows(runs: Runs) -> list[Row]:
    """Shares, their ratio, and what waits in both queues together."""
    table: list[Row] = []
    for name, results in runs.items():
        span_s = FROM_S, results[0].end_s
        mbps = [[r.throughput_bps(f, *span_s) / 1e6 for r in results] for f in (0, 1)]
        for control, values in zip(FLOWS, mbps, strict=True):
            table.append(Row.of(f"{plots.NAMES[control]}, {name}", "Mb/s", values))
        table.append(Row.ratio_of(f"RoVegas/CUBIC, {name}", mbps[1], mbps[0]))
        use = [100e6 * sum(both) / fig2.RATE_BPS for both in zip(*mbps, strict=True)]
        table.append(measures.use(f"both, {name}", use))
        table += measures.queue(f"both, {name}", results, [fig2.QUEUE], span_s)
    return table


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """A bar for each flow, by round-trip time and queues."""
    figure = plots.new_figure()
    axes = figure.subplots()
    of = {row.quantity: row.waymark for row in table}
    for place, control in enumerate(FLOWS):
        axes.bar(
            [at + 0.4 * place for at in range(len(runs))],
            [of[f"{plots.NAMES[control]}, {name}"] for name in runs],
            0.4,
            color=plots.COLOURS[control],
            label=plots.NAMES[control],
        )
    axes.set_xticks([at + 0.2 for at in range(len(runs))], [n.replace(", ", "\n") for n in runs])
    plots.finish(
        axes,
        title="RoVegas against CUBIC over 40 Mb/s",
        x="",
        y="throughput (Mb/s)",
        legend_title=plots.mean_of(len(next(iter(runs.values())))),
    )
    return figure


def _ratios(queues: str) -> list[str]:
    return [f"RoVegas/CUBIC, {_point(rtt_ms, queues)}" for rtt_ms in RTTS_MS["full"]]


EXPERIMENT = Experiment(
    id="today/fig8",
    paper="Current signals; RFC 9332 with senders that read AQT",
    claim="Two coupled queues keep CUBIC from starving a sender that keeps the queue short",
    parameters={
        "profile": MODERN.by_family(),
        "rate_bps": fig2.RATE_BPS,
        "rtts_ms": list(RTTS_MS["full"]),
        "queue_packets": fig2.QUEUE_PACKETS,
        "from_s": FROM_S,
        "end_s": END_S["full"],
    },
    seeds={"quick": 1, "full": 3},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "In one queue, CUBIC starves RoVegas",
            "RoVegas has less than half of CUBIC's rate, at each round-trip time",
            less_than(0.5, *_ratios("one queue")),
        ),
        Expectation(
            "In two coupled queues both have equal rates",
            "within 25 %, as in today/fig2, at each round-trip time",
            fig2.equal(*_ratios("two queues")),
        ),
    ),
    choices=(
        signals.PROFILE_CHOICE,
        Choice(
            "which queue",
            "packets with the AQT option wait in the low-latency queue, weights 1 and 9",
            "RoVegas has no ECN: RFC 9332 classifies by ECT(1), and allows other classifiers",
            "not swept",
        ),
        Choice(
            "what DualPI2 does to RoVegas",
            "it drops a packet with the probability with which it would mark an L4S packet",
            "RoVegas does not react to ECN",
            "not swept",
        ),
    ),
)
