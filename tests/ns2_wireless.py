"""A base station and hosts around it in ns-2: shadowing, ``Mac/Simple``, a wired network behind."""

import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from ns2_runs import SEED_STEP, simulate
from ns2_scenarios import SETTING, count, flow_script, result

from waymark import Result, Scenario

QUIET_S = 20.0
"""When flows start: routes are known by then."""

NEVER_S = 1000.0
"""Between updates of routes: the next one is after the run."""

SIDE_M = 2000

RADIO = (
    "$ns node-config -adhocRouting DSDV -llType LL -macType Mac/Simple "
    "-ifqType Queue/DropTail/PriQueue -ifqLen 50 -antType Antenna/OmniAntenna "
    "-propInstance [new Propagation/Shadowing] -phyType Phy/WirelessPhy "
    "-channel [new Channel/WirelessChannel] -topoInstance $area -wiredRouting ON "
    "-agentTrace OFF -routerTrace OFF -macTrace OFF -movementTrace OFF"
)


def run(
    scenario: Scenario,
    exponent: float,
    distances_m: Sequence[float],
    updates_s: float = NEVER_S,
) -> Result:
    """The scenario in ns-2, which draws losses itself.

    Args:
        scenario: flows from wired hosts over one medium; a link's loss and medium are not read.
        exponent: of the path loss.
        distances_m: of the hosts on the medium from the base station, which they surround.
        updates_s: time between updates of routes, which take the medium; ns-2's default is 15 s.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        printed = simulate("\n".join(_script(scenario, exponent, distances_m, updates_s)), folder)
        # The radio's own messages are on standard output too.
        rows = "\n".join(line for line in printed.splitlines() if _is_count(line))
        return result(scenario, rows, folder, watched=())


def _is_count(line: str) -> bool:
    return len(line.split()) == 5 and line.split()[0].lstrip("-").replace(".", "").isdigit()


def _script(
    scenario: Scenario, exponent: float, distances_m: Sequence[float], updates_s: float
) -> Iterator[str]:
    links = scenario.topology.links
    air = [link for link in links if link.medium is not None]
    mobile = [host.name for host in scenario.topology.hosts if host.name in {x.source for x in air}]
    base = next(link.source for link in air if link.source not in mobile)
    wired = [node for node in scenario.topology.nodes if node not in (base, *mobile)]
    yield f"ns-random {SEED_STEP * scenario.seed}"
    yield SETTING
    yield f"Mac/Simple set bandwidth_ {air[0].rate_bps!r}; Phy/WirelessPhy set bandwidth_ 2e6"
    yield f"Propagation/Shadowing set pathlossExp_ {exponent!r}"
    yield "Propagation/Shadowing set std_db_ 4.0; Propagation/Shadowing set dist0_ 1.0"
    yield f"Propagation/Shadowing set seed_ {scenario.seed}"
    yield f"Agent/DSDV set perup_ {updates_s!r}"
    yield "$ns node-config -addressType hierarchical"
    sizes = [*(1 for _ in wired), 1 + len(mobile)]
    yield f"AddrParams set domain_num_ 2; AddrParams set cluster_num_ {{{len(wired)} 1}}"
    yield f"AddrParams set nodes_num_ {{{' '.join(map(str, sizes))}}}"
    yield "$ns trace-all [open /dev/null w]"
    yield f"set area [new Topography]; $area load_flatgrid {SIDE_M} {SIDE_M}"
    yield f"create-god {1 + len(mobile)}"
    yield from (f"set n({node}) [$ns node 0.{i}.0]" for i, node in enumerate(wired))
    yield RADIO
    yield f"set n({base}) [$ns node 1.0.0]; $ns node-config -wiredRouting OFF"
    yield from _place(base, 0.0, 0.0)
    for i, (host, distance_m) in enumerate(zip(mobile, distances_m, strict=True)):
        yield f"set n({host}) [$ns node 1.0.{i + 1}]"
        yield f"$n({host}) base-station [AddrParams addr2id [$n({base}) node-addr]]"
        yield from _place(host, distance_m, 2 * math.pi * i / len(mobile))
    for link in links:
        if link.medium is None and link.source < link.target:
            ends = f"$n({link.source}) $n({link.target})"
            yield f"$ns duplex-link {ends} {link.rate_bps!r} {link.delay_s!r} DropTail"
    for link in links:
        if link.medium is None:
            yield f"$ns queue-limit $n({link.source}) $n({link.target}) {link.queue_packets}"
    yield from chain.from_iterable(
        flow_script(index, replace(flow, start_s=QUIET_S + flow.start_s, trace=False))
        for index, flow in enumerate(scenario.flows)
    )
    yield from count(scenario, QUIET_S)


def _place(node: str, distance_m: float, angle: float) -> Iterator[str]:
    middle_m = SIDE_M / 2
    yield f"$n({node}) random-motion 0; $n({node}) set Z_ 0"
    yield f"$n({node}) set X_ {middle_m + distance_m * math.cos(angle)!r}"
    yield f"$n({node}) set Y_ {middle_m + distance_m * math.sin(angle)!r}"
