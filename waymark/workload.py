"""Data-centre traffic: flows that arrive at random, with published size distributions."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from waymark import files
from waymark.controls import BY_NAME
from waymark.errors import WaymarkError, check_choice, suggestion
from waymark.topology import Topology
from waymark.traffic import MODERN, Flow, ModernProfile

DATACENTER = replace(MODERN, min_rto_s=0.005, initial_rto_s=0.01, delayed_ack_s=0.001)
"""Modern TCP with timers for round trips of less than a millisecond."""

HEADER_OCTETS = 52
"""Headers of a data packet: IPv4, TCP, and TCP's timestamps."""

MOST_FLOWS = 1 << 20
"""Maximum number of flows of a run, sources included."""

_FOLDER = Path(__file__).parent / "flow_sizes"


@dataclass(frozen=True)
class FlowSizes:
    """A distribution of flow sizes: a cumulative one, linear between its points.

    Attributes:
        octets: sizes, increasing.
        percent: the share of flows of at most each size, from 0 to 100.

    Raises:
        WaymarkError: there are fewer than two points, points do not increase, sizes are infinite,
            or shares are not from 0 to 100.
    """

    octets: tuple[float, ...]
    percent: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.octets) < 2 or len(self.octets) != len(self.percent):
            raise WaymarkError(
                f"flow sizes: {len(self.octets)} sizes with {len(self.percent)} shares, expected "
                "two or more points"
            )
        points = zip(self.octets, self.percent, strict=True)
        for (size, share), (larger, more) in pairwise(points):
            if not (size < larger < inf and share <= more):
                raise WaymarkError(
                    f"flow sizes: {larger:g} octets with {more:g} % after {size:g} octets with "
                    f"{share:g} %, expected sizes and shares that increase (a step, as 999 and "
                    "1000 octets)"
                )
        if self.octets[0] < 0 or (self.percent[0], self.percent[-1]) != (0, 100):
            raise WaymarkError(
                f"flow sizes: from {self.percent[0]:g} to {self.percent[-1]:g} %, expected 0 to 100"
            )

    @staticmethod
    def load(name: str | Path) -> "FlowSizes":
        """Read a distribution: ``"websearch"``, ``"hadoop"``, or a CSV file with the columns
        ``octets`` and ``percent``.

        Raises:
            WaymarkError: there is none, or the file has other columns; the message lists the valid
                ones.
        """
        path = Path(name)
        if path.suffix != ".csv":
            known = sorted(file.stem for file in _FOLDER.glob("*.csv"))
            if str(name) not in known:
                raise WaymarkError(
                    f"no flow sizes {str(name)!r}; {suggestion(str(name), known)}; or a file .csv"
                )
            path = _FOLDER / f"{name}.csv"
        # Spreadsheets write a byte order mark, which is ignored.
        text = files.read_text(path).removeprefix("\ufeff")
        lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
        rows = ([value.strip() for value in row] for row in csv.reader(lines))
        if (first := next(rows, None)) != ["octets", "percent"]:
            found = "nothing" if first is None else repr(",".join(first)[:60])
            raise WaymarkError(f"{path}: expected a first line 'octets,percent', found {found}")
        points: list[tuple[float, float]] = []
        for row in rows:
            try:
                octets, percent = map(float, row)
            except ValueError as error:
                line = ",".join(row)[:60]
                raise WaymarkError(
                    f"{path}: expected two numbers in each line, found {line!r}"
                ) from error
            points.append((octets, percent))
        try:
            return FlowSizes(tuple(p[0] for p in points), tuple(p[1] for p in points))
        except WaymarkError as error:
            raise WaymarkError(f"{path}: {error}") from error

    @property
    def mean_octets(self) -> float:
        """The mean size."""
        pairs = zip(pairwise(self.octets), pairwise(self.percent), strict=True)
        return sum((a + b) / 2 * (q - p) / 100 for (a, b), (p, q) in pairs)

    def draw(self, random: np.random.Generator, count: int) -> NDArray[np.float64]:
        """``count`` sizes in octets, each 1 or more."""
        drawn = np.interp(random.uniform(0, 100, count), self.percent, self.octets)
        return np.maximum(1, np.ceil(drawn))


def profile_for(algorithm: str) -> ModernProfile:
    """:data:`DATACENTER`, with the ECN that an algorithm needs."""
    control = BY_NAME.get(algorithm)
    reads_ecn = control is not None and control.reads_ecn
    return replace(DATACENTER, ecn="accurate") if reads_ecn else DATACENTER


def poisson(
    topology: Topology,
    sizes: FlowSizes,
    algorithm: str,
    *,
    load: float,
    until_s: float,
    seed: int,
    pattern: Sequence[tuple[str, str]] | None = None,
    profile: ModernProfile | None = None,
) -> tuple[Flow, ...]:
    """Flows that arrive as a Poisson process, from each host in proportion to its link.

    Args:
        sizes: of the flows; whole packets are sent, of 1,448 octets of data at an MTU of 1500.
        load: of the hosts' links, headers included, above 0.
        until_s: no flow starts later, in seconds.
        seed: of all random numbers.
        pattern: (source, target) of the flows, such as :func:`permutation`; None: all pairs of
            different hosts are equally likely.
        profile: None: :func:`profile_for` the algorithm.

    Raises:
        WaymarkError: the load or the time is not above 0, the topology has one host, the pattern
            has unknown hosts, the profile's packets have no data, or there are more flows than
            :data:`MOST_FLOWS`.
    """
    if not load > 0 or not until_s > 0:
        raise WaymarkError(f"load {load:g}, until {until_s:g} s: expected more than 0")
    hosts = _hosts(topology, 2)
    profile = profile or profile_for(algorithm)
    senders = hosts if pattern is None else _sources(pattern, hosts)
    rates = np.array([_uplink_bps(topology, host) for host in senders])
    packet = _payload(profile)
    octets = sizes.mean_octets * profile.packet_octets / packet
    random = _random(seed)
    per_s = load * float(rates.sum()) / (8 * octets)
    if not per_s * until_s <= MOST_FLOWS:
        raise WaymarkError(
            f"load {load:g}, until {until_s:g} s: about {per_s * until_s:.3g} flows of "
            f"{sizes.mean_octets:.3g} octets, expected at most {MOST_FLOWS}; lower the load "
            "or the time"
        )
    count = int(random.poisson(per_s * until_s))
    starts = np.sort(random.uniform(0, until_s, count))
    chosen: list[int] = random.choice(len(senders), count, p=rates / rates.sum()).tolist()
    others: list[int] = random.integers(0, len(hosts) - 1, count).tolist()
    segments: list[int] = np.ceil(sizes.draw(random, count) / packet).astype(int).tolist()

    def flow(at: int) -> Flow:
        if pattern is not None:
            source, target = pattern[chosen[at]]
        else:
            source = hosts[chosen[at]]
            target = hosts[others[at] + (others[at] >= chosen[at])]
        return Flow(
            source,
            target,
            algorithm,
            profile,
            start_s=float(starts[at]),
            segments=segments[at],
        )

    return tuple(map(flow, range(count)))


def permutation(topology: Topology, seed: int) -> tuple[tuple[str, str], ...]:
    """Pairs of different hosts, in which each host is source once and target once.

    Raises:
        WaymarkError: the topology has one host.
    """
    hosts = _hosts(topology, 2)
    order: list[int] = _random(seed).permutation(len(hosts)).tolist()
    following = order[1:] + order[:1]
    return tuple((hosts[a], hosts[b]) for a, b in zip(order, following, strict=True))


def incast(
    topology: Topology,
    algorithm: str,
    *,
    senders: int,
    octets: int,
    seed: int,
    target: str | None = None,
    start_s: float = 0.0,
    profile: ModernProfile | None = None,
) -> tuple[Flow, ...]:
    """Flows of ``octets`` from several hosts to one, all at the same time.

    Args:
        senders: different hosts, drawn evenly.
        octets: of data of each, 1 or more; whole packets are sent.
        target: None: drawn as well.

    Raises:
        WaymarkError: there are more senders than other hosts, or the target is not a host.
    """
    hosts = _hosts(topology, 2)
    if target is not None and target not in hosts:
        raise WaymarkError(f"incast: no host {target!r}; {suggestion(target, hosts)}")
    if not 1 <= senders < len(hosts) or octets < 1:
        raise WaymarkError(
            f"incast: {senders} senders of {octets} octets, expected 1 to {len(hosts) - 1} of 1 or "
            "more"
        )
    random = _random(seed)
    its = target or hosts[int(random.integers(len(hosts)))]
    others = [host for host in hosts if host != its]
    profile = profile or profile_for(algorithm)
    segments = -(-octets // _payload(profile))
    chosen: list[int] = random.choice(len(others), senders, replace=False).tolist()
    return tuple(
        Flow(others[at], its, algorithm, profile, start_s=start_s, segments=segments)
        for at in sorted(chosen)
    )


def _sources(pattern: Sequence[tuple[str, str]], hosts: Sequence[str]) -> list[str]:
    if not pattern:
        raise WaymarkError("pattern: no pairs, expected (source, target) of one or more")
    for source, target in pattern:
        check_choice(f"pattern: {source}->{target}: source", source, hosts)
        check_choice(f"pattern: {source}->{target}: target", target, hosts)
    return [source for source, _ in pattern]


def _random(seed: int) -> np.random.Generator:
    if seed < 0:
        raise WaymarkError(f"seed {seed}, expected 0 or more")
    return np.random.default_rng(seed)


def _payload(profile: ModernProfile) -> int:
    if profile.packet_octets <= HEADER_OCTETS:
        raise WaymarkError(
            f"profile: packet_octets {profile.packet_octets}, expected more than the headers' "
            f"{HEADER_OCTETS}"
        )
    return profile.packet_octets - HEADER_OCTETS


def _hosts(topology: Topology, least: int) -> list[str]:
    hosts = [host.name for host in topology.hosts]
    if len(hosts) < least:
        raise WaymarkError(f"{len(hosts)} hosts, expected {least} or more")
    return hosts


def _uplink_bps(topology: Topology, host: str) -> float:
    return topology.uplinks[host].rate_bps
