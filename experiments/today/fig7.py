"""Which signal is best in a data centre: a fat-tree at 10 Gb/s with flow sizes of web search."""

from collections.abc import Mapping, Sequence
from functools import cache

from matplotlib.figure import Figure

from experiments.today import measures, signals
from waymark import (
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
from waymark.fabric import Cable, fat_tree
from waymark.result import Result
from waymark.topology import DEFAULT_PROGRAM
from waymark.workload import FlowSizes, poisson

K = 4
CABLE = Cable(10e9, 1e-6, 250)
RTT_S = 19.5e-6
"""Between pods without queues: twelve times 1 µs, and 1500 octets six times."""
LOAD = 0.5
UNTIL_S: Mapping[Scale, float] = {"quick": 0.001, "full": 0.008}
"""No flow starts later."""
DRAIN = 4
"""The run lasts this many times as long."""
SMALL_OCTETS = 100e3
PAYLOAD_OCTETS = 1448


@cache
def network() -> Topology:
    """16 hosts and 20 switches; a switch sends to each host on one of the shortest paths."""
    return fat_tree(K, CABLE, program=DEFAULT_PROGRAM)


@cache
def ground() -> signals.Ground:
    """All queues of switches can grow."""
    names = {switch.name for switch in network().switches}
    bottlenecks = [link.name for link in network().links if link.source in names]
    return signals.datacenter(bottlenecks, RTT_S)


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """The same flows for each control."""
    until_s = at_scale(UNTIL_S, scale)
    arrivals = poisson(
        network(), FlowSizes.load("websearch"), "cubic", load=LOAD, until_s=until_s, seed=seed
    )
    return {
        plots.NAMES[control]: Scenario(
            plots.NAMES[control],
            signals.network_for(control, network(), ground()),
            DRAIN * until_s,
            flows=tuple(
                signals.flow(control, f.source, f.target, ground(), f.start_s, f.segments)
                for f in arrivals
            ),
            seed=seed,
            sample_s=until_s / 200,
        )
        for control in signals.SIGNALS
    }


def rows(runs: Runs) -> list[Row]:
    """Completion times of small and of all flows; what is delivered while flows start; queues."""
    table: list[Row] = []
    bottlenecks = ground().bottlenecks
    for name, results in runs.items():
        until_s = results[0].end_s / DRAIN
        table += measures.completion(name, results, lambda r: range(len(r.flows)))
        table += measures.completion(f"{name}, small", results, _small)
        total_bps = [
            sum(r.throughput_bps(f, 0, until_s) for f in range(len(r.flows))) for r in results
        ]
        offered_bps = LOAD * CABLE.rate_bps * len(network().hosts)
        table.append(measures.use(name, [100 * bps / offered_bps for bps in total_bps]))
        table += measures.longest_queue(name, results, bottlenecks, (0.0, until_s))
    table += measures.octets((c, runs[plots.NAMES[c]]) for c in signals.SIGNALS)
    of = {row.quantity: row for row in table}
    for name in TOLD:
        above, below = (of.get(f"{one}, small: FCT, p50") for one in (name, "CUBIC"))
        if above is not None and below is not None:
            ratio = above.waymark / below.waymark
            table.append(Row(f"{name}/CUBIC, small", "1", None, None, ratio))
    return table


TOLD = ("RoVegas", "Muzha", "Waymark")
"""Controls that read marks about queueing."""


def _small(result: Result) -> list[int]:
    return [
        number
        for number, flow in enumerate(result.flows)
        if (flow.segments or 0) * PAYLOAD_OCTETS <= SMALL_OCTETS
    ]


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """Median completion time of small flows over that of all."""
    title = f"Web search at load {LOAD} in a fat-tree of 16 hosts: flows up to 100 kB"
    x_label = "completion time, median (ms)"
    return measures.completion_picture(runs, table, ", small", "FCT, p50", x_label, title)


EXPERIMENT = Experiment(
    id="today/fig7",
    paper="Current signals; a fat-tree with the flow sizes of Alizadeh et al. 2010",
    claim="Small flows finish soon when senders know the queues and keep them short",
    parameters={
        "signals": signals.READS,
        "profile": signals.PROFILE.by_family(),
        "fat_tree": K,
        "links": "10 Gb/s, 1 µs",
        "queue_packets": CABLE.queue_packets,
        "load": LOAD,
        "sizes": "websearch",
        "starts_until_s": UNTIL_S["full"],
        "end_s": DRAIN * UNTIL_S["full"],
        "dctcp_k": ground().ecn_threshold,
        "dual_pi2_step_s": ground().dual_pi2.step_s,
        "drai_window_log2": ground().drai_window_log2,
        "delay_target_s": ground().delay_target_s,
        "base_rtt_s": ground().base_rtt_s,
    },
    seeds={"quick": 1, "full": 3},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "RoVegas, Muzha and Waymark finish small flows sooner than CUBIC",
            "the median completion time of flows up to 100 kB",
            less_than(1.0, *(f"{name}/CUBIC, small" for name in TOLD)),
        ),
    ),
    choices=(
        *signals.DATACENTER_CHOICES,
        Choice(
            "routes",
            "a switch sends to each host on one of the shortest paths, by a hash of both names",
            "the programs of today's signals have one route per destination; all controls have it",
            "waymark fabric has one of the paths per flow",
        ),
    ),
    notes=(
        "The use is of the offered load, 80 Gb/s, while flows start. The queue is the longest of "
        "all switches in each two-hundredth of that time."
    ),
    comparisons=(
        *measures.comparisons([""], (*measures.COMPLETION, *measures.LOAD)),
        *measures.comparisons(
            [", small"], measures.COMPLETION, "fat-tree, flows to 100 kB", ("FCT, p50", "FCT, p99")
        ),
    ),
)
