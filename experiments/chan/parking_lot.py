"""The network of Chan 2004, figure 3.8: four routers, traffic against the flow on each hop."""

from collections.abc import Sequence
from dataclasses import replace

from experiments.chan import single_bottleneck
from experiments.chan.single_bottleneck import Algorithm
from waymark import CHAN, Choice, Flow, OnOff, Scenario, Topology
from waymark.networks import in_file

LINK_BPS = 1_600_000

PARAMETERS: dict[str, object] = {
    "access": "10 Mb/s, 1 ms",
    "links": "3 of 1.6 Mb/s, 10 ms",
    "queue_packets": 50,
    "profile": CHAN.by_family(),
    "alpha_beta_gamma": [1, 3, 1],
    "vbr": single_bottleneck.PARAMETERS["vbr"],
}

CHOICES = (
    single_bottleneck.VBR_CHOICE,
    Choice(
        "where the VBR sources cross",
        "source i crosses hop i only, against the flow",
        "the figure that shows it is lost; with this ns-2.35 comes nearest to the printed ratios",
        "sources that cross all hops would load the last ones three times over",
        fitted=True,
    ),
)


def topology() -> Topology:
    """s1 sends to d1 over r1 … r4; s(i+1) sends to d(i+1) from r(i+1) back to r(i)."""
    return in_file("parking_lot")


def traffic(load: float, starts_s: Sequence[float]) -> tuple[OnOff, ...]:
    """A VBR source on each hop; none at load 0."""
    if load == 0:
        return ()
    return tuple(
        OnOff.for_load(
            f"s{hop + 1}",
            f"d{hop + 1}",
            load=load,
            link_bps=LINK_BPS,
            rate_bps=single_bottleneck.VBR_ON_BPS,
            mean_on_s=single_bottleneck.VBR_MEAN_ON_S,
            start_s=start_s,
        )
        for hop, start_s in enumerate(starts_s, start=1)
    )


def flow(algorithm: Algorithm) -> Flow:
    """The greedy flow over all hops."""
    return Flow("s1", "d1", algorithm, CHAN)


def run(
    name: str,
    algorithm: Algorithm,
    load: float,
    starts_s: Sequence[float],
    end_s: float,
    seed: int,
) -> Scenario:
    """One run of one algorithm alone against the traffic."""
    return Scenario(
        name,
        topology(),
        end_s,
        flows=(flow(algorithm),),
        sources=traffic(load, starts_s),
        seed=seed,
    )


def only_r2_marks(scenario: Scenario) -> Scenario:
    """The same run where only r2 is AQT-capable: the other routers run ``plain.p4``."""
    switches = tuple(
        switch if switch.name == "r2" else replace(switch, program="v1model/plain.p4")
        for switch in scenario.topology.switches
    )
    return replace(scenario, topology=replace(scenario.topology, switches=switches))
