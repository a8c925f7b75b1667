"""Two hundred networks that nobody tuned for, drawn once, with current transports."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean, median

import numpy as np
from matplotlib.figure import Figure

from experiments.beyond import today
from waymark import (
    MODERN,
    Choice,
    Expectation,
    Experiment,
    Link,
    OnOff,
    Row,
    Runs,
    Scale,
    Scenario,
    Topology,
    all_of,
    at_scale,
    plots,
)
from waymark.analysis.fairness import jain
from waymark.criteria import at_least
from waymark.networks import dumbbell
from waymark.result import Result

CONTROLS: tuple[today.Control, ...] = ("cubic", "bbr", "bbr3", "dctcp", "vegas", "waymark")
DRAWN_BY = 1123
"""The seed of the draw; another one was used while the control was made."""
COUNT: Mapping[Scale, int] = {"quick": 10, "full": 200}
QUEUE = "r1->r2"
ACCESS_S = 0.0001
CLOSE = 0.98
FAIR = 0.95


@dataclass(frozen=True)
class Ground:
    """A bottleneck and who shares it.

    Attributes:
        number: from 1, in the order of the draw.
        rate_bps: the bottleneck's.
        rtts_s: each flow's round trip without queueing.
        loss: part of the packets that the bottleneck's line loses.
        buffer: the bottleneck's, in packets.
        load: of cross traffic, as part of the rate.
    """

    number: int
    rate_bps: float
    rtts_s: tuple[float, ...]
    loss: float
    buffer: int
    load: float

    @property
    def name(self) -> str:
        """What distinguishes it."""
        rtts = sorted({round(1e3 * rtt_s) for rtt_s in self.rtts_s})
        rtt = f"{rtts[0]} to {rtts[-1]} ms" if len(rtts) > 1 else f"{rtts[0]} ms"
        flows = f"{len(self.rtts_s)} flow{'s' if len(self.rtts_s) > 1 else ''}"
        return (
            f"{self.number}: {self.rate_bps / 1e6:.3g} Mb/s, {rtt}, {flows}, "
            f"loss {100 * self.loss:.2g} %, buffer {self.buffer}, load {self.load:.2f}"
        )

    @property
    def bdp(self) -> float:
        """The bandwidth-delay product of the mean round trip, in packets."""
        return self.rate_bps * fmean(self.rtts_s) / (8 * MODERN.packet_octets)

    @property
    def end_s(self) -> float:
        """10 s, or 100 of the longest round trip; an even number of seconds."""
        return max(10.0, 2.0 * math.ceil(50 * max(self.rtts_s)))


def _draw_grounds() -> Iterator[Ground]:
    draw = np.random.default_rng(DRAWN_BY)

    def between(least: float, most: float) -> float:
        return math.exp(draw.uniform(math.log(least), math.log(most)))

    for number in range(1, COUNT["full"] + 1):
        rate_bps, rtt_s = between(1e6, 400e6), between(0.002, 0.2)
        flows = round(between(1, 64))
        unequal, lossy, loaded = draw.random(3) < 0.5
        rtts_s = tuple(rtt_s * (draw.uniform(1.0, 3.0) if unequal else 1.0) for _ in range(flows))
        loss = between(1e-4, 0.05) if lossy else 0.0
        ground = Ground(number, rate_bps, rtts_s, loss, 0, draw.uniform(0.1, 0.5) * loaded)
        buffer = max(4, round(between(0.1, 4.0) * ground.bdp))
        yield replace(ground, buffer=buffer)


GROUNDS = tuple(_draw_grounds())


@cache
def _network(ground: Ground) -> Topology:
    shortest_s = min(ground.rtts_s)
    network = dumbbell(
        len(ground.rtts_s) + 1,
        (ground.rate_bps, shortest_s / 2 - 2 * ACCESS_S),
        (10e9, ACCESS_S),
        queue_packets=ground.buffer,
        host_queue_packets=100_000,
    )
    delays_s = {
        f"s{i}": ACCESS_S + (rtt_s - shortest_s) / 2 for i, rtt_s in enumerate(ground.rtts_s, 1)
    }

    def of_flow(link: Link) -> Link:
        host = link.source if link.source in delays_s else link.target
        return replace(link, delay_s=delays_s.get(host, link.delay_s))

    network = replace(network, links=tuple(map(of_flow, network.links)))
    return network.with_link("r1", "r2", loss=ground.loss)


def _scenario(ground: Ground, control: today.Control, seed: int) -> Scenario:
    """All flows start within the first tenth of the run."""
    flows = len(ground.rtts_s)
    window = math.ceil(2 * (4 * max(ground.rtts_s) / fmean(ground.rtts_s) * ground.bdp)) + 1000
    profile = replace(MODERN, window=window)
    return Scenario(
        f"{control}, {ground.number}",
        today.marking(_network(ground), control, [QUEUE]),
        ground.end_s,
        flows=tuple(
            replace(
                today.flow(control, f"s{i + 1}", f"d{i + 1}", 0.1 * ground.end_s * i / flows),
                profile=profile,
            )
            for i in range(flows)
        ),
        sources=_cross_traffic(ground),
        seed=seed,
    )


def _cross_traffic(ground: Ground) -> tuple[OnOff, ...]:
    """Bursts at the bottleneck's rate, of ten round trips on average."""
    if not ground.load:
        return ()
    last = len(ground.rtts_s) + 1
    return (
        OnOff.for_load(
            f"s{last}",
            f"d{last}",
            load=ground.load,
            link_bps=ground.rate_bps,
            rate_bps=ground.rate_bps,
            mean_on_s=10 * min(ground.rtts_s),
        ),
    )


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Each control on each ground."""
    runs: dict[str, Scenario] = {}
    for ground in GROUNDS[: at_scale(COUNT, scale)]:
        for control in CONTROLS:
            scenario = _scenario(ground, control, seed)
            runs[scenario.name] = scenario
    return runs


@dataclass(frozen=True)
class _Outcome:
    """One control on one ground, in the second half of the run."""

    mbps: float
    waiting: float
    jain: float

    @staticmethod
    def of(result: Result, ground: Ground) -> "_Outcome":
        span = (ground.end_s / 2, ground.end_s)
        shares = [result.throughput_bps(i, *span) / 1e6 for i in range(len(ground.rtts_s))]
        return _Outcome(sum(shares), result.mean_waiting(QUEUE, *span), jain(shares))


def _outcomes(runs: Runs) -> dict[int, dict[str, _Outcome]]:
    table: dict[int, dict[str, _Outcome]] = {}
    for name, results in runs.items():
        control, number = name.split(", ")
        ground = GROUNDS[int(number) - 1]
        table.setdefault(ground.number, {})[control] = _Outcome.of(results[0], ground)
    return table


def _of_best(outcomes: Mapping[str, _Outcome], control: str) -> float:
    return outcomes[control].mbps / max(o.mbps for o in outcomes.values())


def rows(runs: Runs) -> list[Row]:
    """How often each control is close to the best and fair, its queue, and each ground."""
    by_ground = _outcomes(runs)
    table: list[Row] = []
    for control in CONTROLS:
        name = plots.NAMES[control]
        of_best = [_of_best(outcomes, control) for outcomes in by_ground.values()]
        own = [outcomes[control] for outcomes in by_ground.values()]
        relative = [
            o.waiting / max(1.0, GROUNDS[number - 1].bdp)
            for number, o in zip(by_ground, own, strict=True)
        ]
        table += [
            Row.of(
                f"{name}: at least 98 % of the best throughput",
                "% of grounds",
                [100 * fmean(part >= CLOSE for part in of_best)],
            ),
            Row.of(f"{name}: median part of the best throughput", "1", [median(of_best)]),
            Row.of(f"{name}: waiting, median", "packets", [median(o.waiting for o in own)]),
            Row.of(f"{name}: waiting, median, in BDP", "1", [median(relative)]),
            Row.of(
                f"{name}: Jain's index at least .95",
                "% of grounds",
                [100 * fmean(o.jain >= FAIR for o in own)],
            ),
        ]
    for number, outcomes in by_ground.items():
        ground = GROUNDS[number - 1].name
        best = max(outcomes, key=lambda control: outcomes[control].mbps)
        own = outcomes["waymark"]
        table += [
            Row.of(
                f"{ground}: part of the best throughput, {plots.NAMES[best]}'s",
                "1",
                [own.mbps / outcomes[best].mbps],
            ),
            Row.of(f"{ground}: waiting", "packets", [own.waiting]),
            Row.of(f"{ground}: Jain's index", "1", [own.jain]),
        ]
    return table


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """How many grounds have at most a part of the best throughput, and at most a queue."""
    figure = plots.new_figure(9.0, 4.4)
    parts, queues = figure.subplots(1, 2, sharey=True)
    by_ground = _outcomes(runs)
    ranks = np.arange(1, len(by_ground) + 1) / len(by_ground)
    for control in CONTROLS:
        style = {"color": today.COLOURS[control], "label": plots.NAMES[control]}
        of_best = [_of_best(outcomes, control) for outcomes in by_ground.values()]
        waiting = [outcomes[control].waiting for outcomes in by_ground.values()]
        parts.step(sorted(of_best), ranks, where="post", **style)
        queues.step(sorted(waiting), ranks, where="post", **style)
    parts.set_xlabel("share of the best throughput")
    parts.set_ylabel("fraction of networks with at most this")
    parts.set_xlim(0, 1)
    parts.set_ylim(0, 1)
    queues.set_xlabel("waiting packets")
    queues.set_xscale("symlog", linthresh=1)
    queues.set_xlim(0)
    title = f"{len(by_ground)} random networks: throughput and queue"
    plots.finish_panels(figure, parts, title=title)
    return figure


EXPERIMENT = Experiment(
    id="beyond/fig6",
    paper="Beyond the papers",
    claim="Waymark is close to the best transport on networks that it was not tuned for",
    parameters={
        "drawn_by_seed": DRAWN_BY,
        "rate": "1 to 400 Mb/s",
        "round_trip": "2 to 200 ms; of half of the networks each flow's is 1 to 3 times that",
        "flows": "1 to 64",
        "loss": "none in half of the networks, else 0.01 to 5 %",
        "buffer": "0.1 to 4 bandwidth-delay products, at least 4 packets",
        "cross_traffic": "none in half of the networks, else a load of 0.1 to 0.5 in bursts",
        "profile": MODERN.by_family(),
    },
    seeds={"quick": 1, "full": 1},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Waymark is close to the best throughput",
            "at least 98 % of the best of all transports on at least 95 % of the networks",
            at_least(95.0, "Waymark: at least 98 % of the best throughput"),
        ),
        Expectation(
            "Waymark's queue is the shortest",
            "its median is the least of all transports'",
            lambda row: all_of(
                row["Waymark: waiting, median"].waymark <= row[f"{name}: waiting, median"].waymark
                for name in (plots.NAMES[control] for control in CONTROLS)
            ),
        ),
        Expectation(
            "Waymark shares fairly",
            "Jain's index at least .95 on at least 95 % of the networks",
            at_least(95.0, "Waymark: Jain's index at least .95"),
        ),
    ),
    choices=(
        today.PROFILE_CHOICE,
        today.ECN_CHOICE,
        Choice(
            "the draw",
            "logarithmically uniform for rate, round trip, flows, loss above 0 and buffer",
            "each order of magnitude has the same weight",
            "not swept: nothing was run with this seed while the control was made",
        ),
        Choice(
            "length",
            "10 s or 100 of the longest round trip; the second half counts",
            "all flows start in the first tenth",
            "not swept",
        ),
    ),
    notes=(
        "Only Waymark is fair on more than half of the networks: runs are short, and the buffers "
        "of many have fewer packets than there are flows. Vegas and DCTCP have shorter queues in "
        "the median, and less throughput. Where Waymark has less than 98 %, bursts of cross "
        "traffic leave room that BBR takes, except on three long paths."
    ),
    comparisons=today.compared(
        more=[
            "{}: at least 98 % of the best throughput",
            "{}: median part of the best throughput",
            "{}: Jain's index at least .95",
        ],
        less=["{}: waiting, median", "{}: waiting, median, in BDP"],
    ),
)
