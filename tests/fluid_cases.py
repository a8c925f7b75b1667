"""HPCC, PowerTCP and θ-PowerTCP over one bottleneck: as packets in virtual time, and as fluids.

What the papers' figures show: flows that join (Li et al. 2019, figure 9; Addanki et al. 2022,
figure 5), an incast with a long flow (figures 9 and 4), and half of the capacity taken away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from waymark import MODERN, Cbr, Flow, Host, Scenario, Switch, Topology, duplex, run
from waymark.analysis import fluid

Control = Literal["hpcc", "powertcp", "thetapowertcp"]
Values = NDArray[np.float64]

RATE_BPS, ACCESS_BPS, DELAY_S = 8e6, 80e6, 0.015
"""Of the bottleneck r->d, of the senders' links, and of each link.

A round trip has 44 segments, which the window of a SYN holds (65,535 octets), and the millisecond
that a pacer may catch up on is less than one."""
QUEUE = "r->d"
QUEUE_PACKETS = 5000
PROFILE = replace(MODERN, delayed_ack_s=0.0, window=2000, initial_window=20)
"""Each segment is acknowledged, and no window but the control's counts."""
FLOWS = 10.0
"""N of HPCC's W_AI and of PowerTCP's β, as in the papers."""
BETA = 4.0
"""θ-PowerTCP's β, segments."""
BINS = 4
"""In a base round trip."""
JOIN_RTTS = 25
INCAST, INCAST_SEGMENTS = 10, 150
CHANGE_RTTS = 20


@dataclass(frozen=True)
class Case:
    """A control in a situation.

    Attributes:
        control: its name.
        situation: ``"joins"``, ``"incast"`` or ``"half"``.
    """

    control: Control
    situation: Literal["joins", "incast", "half"]

    def __str__(self) -> str:
        return f"{self.control}-{self.situation}"

    @property
    def flows(self) -> tuple[tuple[float, int | None], ...]:
        """When each begins, in round trips, and how many segments it has."""
        if self.situation == "joins":
            return tuple((JOIN_RTTS * number, None) for number in range(4))
        if self.situation == "incast":
            return (0, None), *[(CHANGE_RTTS, INCAST_SEGMENTS)] * INCAST
        return ((0, None),)

    @property
    def end_rtts(self) -> int:
        """When it ends, in round trips."""
        return 4 * JOIN_RTTS

    @property
    def path(self) -> fluid.Path:
        """As a segment with its telemetry and its acknowledgement see it."""
        telemetry = self.control != "thetapowertcp"
        segment, record, ack = (1340, 20, 88) if telemetry else (1500, 0, 52)
        link = segment + record
        ack_s = ack * 8 / RATE_BPS + ack * 8 / ACCESS_BPS
        return fluid.Path(
            RATE_BPS,
            DELAY_S + segment * 8 / ACCESS_BPS,
            3 * DELAY_S + link * 8 / RATE_BPS + ack_s,
            link,
            segment,
        )

    @property
    def other(self) -> tuple[float, float]:
        """From when to when half of the link is taken away, in round trips."""
        return (CHANGE_RTTS, 60) if self.situation == "half" else (0, 0)


CASES = [
    Case(control, situation)
    for control in ("hpcc", "powertcp", "thetapowertcp")
    for situation in ("joins", "incast", "half")
]


@dataclass(frozen=True)
class Course:
    """What happened, by bin of a quarter of a round trip.

    Attributes:
        queue: segments waiting on average.
        rates: of each flow, segments that the link carried per round trip.
        completion_rtts: of each finite flow; infinite where it has not ended.
    """

    queue: Values
    rates: Values
    completion_rtts: tuple[float, ...]


def simulated(case: Case) -> Course:
    """The run in virtual time."""
    path = case.path
    rtt_s = path.base_s
    names = [f"s{number}" for number in range(len(case.flows))]
    links = [
        link
        for name in (*names, "x")
        for link in duplex(name, "r", ACCESS_BPS, DELAY_S, queue_packets=QUEUE_PACKETS)
    ]
    network = Topology(
        tuple(map(Host, (*names, "x", "d"))),
        (Switch("r"),),
        (*links, *duplex("r", "d", RATE_BPS, DELAY_S, queue_packets=QUEUE_PACKETS)),
    )
    if case.control == "thetapowertcp":
        settings = {"beta": BETA}
    else:
        network = network.with_program("v1model/int.p4")
        settings = {"base_rtt_s": rtt_s, "host_rate_bps": RATE_BPS, "flows": FLOWS}
    # The handshake takes a round trip.
    flows = tuple(
        Flow(name, "d", case.control, PROFILE, begin * rtt_s, segments=size, settings=settings)
        for name, (begin, size) in zip(names, case.flows, strict=True)
    )
    from_rtts, to_rtts = case.other
    cbr = Cbr("x", "d", RATE_BPS / 2, round(path.link_octets), from_rtts * rtt_s, to_rtts * rtt_s)
    result = run(
        Scenario(
            f"{case.control}, {case.situation}",
            network,
            case.end_rtts * rtt_s,
            flows=flows,
            sources=(cbr,) if to_rtts else (),
            sample_s=rtt_s / BINS,
        )
    )
    bins = case.end_rtts * BINS
    ended = [f.completion_s for f, (_, size) in zip(result.flows, case.flows, strict=True) if size]
    return Course(
        np.asarray(result.queues[QUEUE].waiting[:bins]),
        np.array([f.delivered[:bins] * float(BINS) for f in result.flows]),
        tuple(float("inf") if s is None else s / rtt_s - 1 for s in ended),
    )


def law(case: Case) -> fluid.Law:
    """The fluid's control at the start."""
    if case.control == "hpcc":
        return fluid.Hpcc(case.path, FLOWS)
    if case.control == "powertcp":
        return fluid.PowerTcp(case.path, FLOWS)
    return fluid.ThetaPowerTcp(float(PROFILE.initial_window), BETA)


def modelled(case: Case, laws: Sequence[fluid.Law] | None = None) -> Course:
    """The same as a fluid; of other laws if given."""
    path = case.path
    laws = laws or [law(case) for _ in case.flows]
    senders = [
        fluid.Sender(own, (begin + 1) * path.base_s, size)
        for own, (begin, size) in zip(laws, case.flows, strict=True)
    ]
    from_s, to_s = (rtts * path.base_s for rtts in case.other)
    ran = fluid.course(
        path,
        senders,
        case.end_rtts * path.base_s,
        lambda now_s: RATE_BPS / 2 if from_s <= now_s < to_s else 0.0,
        steps=12 * BINS,
    )
    per_bin = 12
    on_the_link = round((path.link_octets * 8 / RATE_BPS + DELAY_S) / ran.step_s)
    arrived = np.roll(ran.carried, on_the_link, axis=1)
    arrived[:, :on_the_link] = 0
    carried = arrived.reshape(len(senders), -1, per_bin).sum(axis=2)
    ended: list[float] = []
    for sender, steps in zip(senders, ran.carried, strict=True):
        if sender.segments is not None:
            done = np.flatnonzero(np.cumsum(steps) >= sender.segments - 1e-6)
            end_s = (done[0] + 1) * ran.step_s + path.back_s if len(done) else float("inf")
            ended.append((end_s - sender.start_s) / path.base_s)
    return Course(
        np.array(ran.queue).reshape(-1, per_bin).mean(axis=1) / path.link_octets,
        carried * float(BINS),
        tuple(ended),
    )
