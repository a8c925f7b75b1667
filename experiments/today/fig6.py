"""Which signal survives an incast: 32 senders to one host at 10 Gb/s, during a long flow."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from experiments.today import measures, signals
from waymark import (
    Choice,
    Expectation,
    Experiment,
    Host,
    Row,
    Runs,
    Scale,
    Scenario,
    Switch,
    Topology,
    at_scale,
    plots,
)
from waymark.criteria import at_most
from waymark.fabric import Cable
from waymark.result import Result

SENDERS = 32
SEGMENTS = 45
"""Of each: 64 kB."""
CABLE = Cable(10e9, 5e-6, 250)
RTT_S = 22.5e-6
"""Without queues: four times 5 µs, and 1500 octets twice."""
START_S = 0.002
"""The long flow has been alone until then."""
START_WITHIN_S = 10e-6
END_S: Mapping[Scale, float] = {"quick": 0.012, "full": 0.030}
SAMPLE_S = 25e-6
QUEUE = "r->d"
LONG, INCAST = 0, range(1, SENDERS + 1)
GROUND = signals.datacenter([QUEUE], RTT_S)
ALONE = 2 / 3
"""In parts of the run: when the long flow should have been alone for a while."""
RECOVERED = 0.9
"""The part of the link with which the long flow has recovered."""


def network() -> Topology:
    """Hosts s0 to s32 and d at one switch."""
    names = (*(f"s{number}" for number in range(SENDERS + 1)), "d")
    links = [link for name in names for link in CABLE.between(name, "r", from_host=True)]
    return Topology(tuple(map(Host, names)), (Switch("r"),), tuple(links))


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """A long flow from 0 s on, and 32 flows of 64 kB that start within 10 µs."""
    drawn_s = np.random.default_rng(seed).uniform(0, START_WITHIN_S, SENDERS)
    starts_s = [START_S + float(later_s) for later_s in drawn_s]
    return {
        plots.NAMES[control]: Scenario(
            plots.NAMES[control],
            signals.network_for(control, network(), GROUND),
            at_scale(END_S, scale),
            flows=(
                signals.flow(control, "s0", "d", GROUND),
                *(
                    signals.flow(control, f"s{number}", "d", GROUND, start_s, SEGMENTS)
                    for number, start_s in enumerate(starts_s, start=1)
                ),
            ),
            seed=seed,
            sample_s=SAMPLE_S,
        )
        for control in signals.SIGNALS
    }


def rows(runs: Runs) -> list[Row]:
    """Completion times; use, queue and losses from the incast on; when the long flow is back."""
    table: list[Row] = []
    for name, results in runs.items():
        span_s = START_S, results[0].end_s
        table += measures.completion(name, results, lambda _: INCAST)
        all_bps = [sum(r.throughput_bps(f, *span_s) for f in (LONG, *INCAST)) for r in results]
        table.append(measures.use(name, [100 * bps / CABLE.rate_bps for bps in all_bps]))
        table += measures.queue(name, results, [QUEUE], span_s)
        table.append(measures.fairness(name, [_rates(r) for r in results]))
        alone_s = ALONE * span_s[1], span_s[1]
        busy = [100 * r.throughput_bps(LONG, *alone_s) * _whole(r) for r in results]
        table.append(Row.of(f"{name}, alone: link busy", "%", [b / CABLE.rate_bps for b in busy]))
        table += measures.queue(f"{name}, alone", results, [QUEUE], alone_s)
        losses = [float(sum(f.losses for f in r.flows)) for r in results]
        table.append(Row.of(f"{name}: lost", "packets", losses))
        table.append(Row.of(f"{name}: recovered", "RTTs", [_recovered_rtts(r) for r in results]))
    table += measures.octets((c, runs[plots.NAMES[c]]) for c in signals.SIGNALS)
    return table


def _whole(result: Result) -> float:
    """A packet's octets over those of them that count as throughput."""
    its = result.flows[LONG]
    return its.packet_octets / its.counted_octets


def _rates(result: Result) -> list[float]:
    """Of the incast's flows, in packets per second."""
    return [SEGMENTS / 1e-3 / ms for ms in measures.completion_ms(result, INCAST)]


def _recovered_rtts(result: Result) -> float:
    """How long after the last flow of the incast the long flow has its rate back. If the run ends
    before either: the time from the incast to the end."""
    ends_s = [end_s for f in INCAST if (end_s := result.flows[f].finished_s) is not None]
    if len(ends_s) == SENDERS:
        rates_bps = result.throughput_over_time_bps(LONG)[int(max(ends_s) / SAMPLE_S) :]
        back = np.flatnonzero(rates_bps >= RECOVERED * CABLE.rate_bps)
        if len(back):
            return int(back[0]) * SAMPLE_S / RTT_S
    return (result.end_s - START_S) / RTT_S


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """The 99th percentile of completion times over that of the queue."""
    title = f"{SENDERS} flows of 64 kB to one host at 10 Gb/s"
    x_label = "packets waiting, 99th percentile"
    return measures.completion_picture(runs, table, "", "waiting, p99", x_label, title)


def _hpcc_is_busy_without_a_queue(rows: Mapping[str, Row]) -> bool | None:
    busy, waiting = rows.get("HPCC, alone: link busy"), rows.get("HPCC, alone: waiting")
    if busy is None or waiting is None:
        return None
    return busy.waymark >= 93 and waiting.waymark < 1


EXPERIMENT = Experiment(
    id="today/fig6",
    paper="Current signals; the incast of Addanki et al. 2022",
    claim="A sender that knows the arrival rate at its bottleneck ends an incast soon and recovers",
    parameters={
        "signals": signals.READS,
        "profile": signals.PROFILE.by_family(),
        "links": "10 Gb/s, 5 µs",
        "queue_packets": CABLE.queue_packets,
        "senders": SENDERS,
        "segments": SEGMENTS,
        "incast_s": START_S,
        "start_within_s": START_WITHIN_S,
        "end_s": END_S["full"],
        "dctcp_k": GROUND.ecn_threshold,
        "dual_pi2_step_s": GROUND.dual_pi2.step_s,
        "drai_window_log2": GROUND.drai_window_log2,
        "delay_target_s": GROUND.delay_target_s,
        "base_rtt_s": GROUND.base_rtt_s,
    },
    seeds={"quick": 1, "full": 5},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "θ-PowerTCP recovers within a few round trips after the incast",
            "its long flow has 90 % of the link at most 5 round trips after the last flow ended",
            at_most(5.0, "θ-PowerTCP: recovered"),
        ),
        Expectation(
            "PowerTCP recovers within a few round trips after the incast",
            "its long flow has 90 % of the link at most 5 round trips after the last flow ended",
            at_most(5.0, "PowerTCP: recovered"),
        ),
        Expectation(
            "HPCC keeps the link at 95 % with almost no queue",
            "its long flow alone: less than 1 packet waits on average, and the link is at least "
            "93 % busy without the octets that the hop adds to a packet",
            _hpcc_is_busy_without_a_queue,
        ),
    ),
    choices=(
        *signals.DATACENTER_CHOICES,
        Choice(
            "the incast",
            f"{SENDERS} flows of 64 kB within 10 µs; links of 10 Gb/s, 5 µs, 250 packets",
            "32 first windows of 10 packets or more are more than the buffer",
            "not swept",
        ),
    ),
    notes=(
        "A flow that has not ended counts with the time from its start to the end of the run; "
        "'completed' says how many have. HPCC and PowerTCP start at the rate of the host's link, "
        "as in their papers: the buffer holds less than half of 32 such windows, and a flow that "
        "loses its end waits for the least RTO, 5 ms. With first windows of 10 packets HPCC's 99th "
        "percentile is 1.8 ms."
    ),
    comparisons=(
        *measures.comparisons([", alone"], ("waiting", "waiting, p99")),
        *measures.comparisons(
            [""],
            (*measures.COMPLETION, *measures.LOAD, "Jain's index"),
            "incast of 32",
            ("FCT, p99", "waiting, p99"),
        ),
    ),
)
