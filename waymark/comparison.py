"""Congestion controls one after another in the same network: what ``waymark compare`` measures."""

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich import box

from waymark import plots
from waymark.addressing import Addressing, derive, path
from waymark.analysis.fairness import jain
from waymark.congestion import Custom
from waymark.controls import BY_NAME
from waymark.errors import WaymarkError, check_choice, os_errors, suggestion
from waymark.experiment import Experiment, Row, Runs, Scale
from waymark.missing_marks import missing_marks
from waymark.result import Result
from waymark.scenario import Scenario
from waymark.tables import NumberTable, fixed
from waymark.topology import Link, Topology
from waymark.traffic import PACKET_OCTETS, Algorithm, Flow, ModernProfile, OnOff, Profile, Tracing
from waymark.units import format_rate

Pair = tuple[str, str]
"""The host that sends and the host that receives."""

PACKETS_A_BURST = 4
"""Mean length of the load's bursts; the papers' source has 4 at 1.6 Mb/s (3.2 Mb/s for 10 ms)."""

MOST_RTTS = 20_000
"""Samples of the round-trip time per run, so that long and fast runs stay small."""


@dataclass(frozen=True)
class Measure:
    """A column of the table.

    Attributes:
        name: its name in ``runs.csv``, with the unit.
        quantity, unit: its name and unit in ``table.csv``.
        heading: its name on a terminal.
        digits: after the decimal point on a terminal.
        of: its value in one run.
    """

    name: str
    quantity: str
    unit: str
    heading: str
    digits: int
    of: Callable[["Comparison", Result], float]


@dataclass(frozen=True)
class Comparison:
    """The controls to compare, and the network.

    Attributes:
        name: of the network, for files and messages.
        topology: the network.
        controls: the congestion controls by label; all flows of a run have the same one.
        flows: the flows, which start at time zero and send until the run ends.
        link: the one whose queue is measured.
        end_s: length of a run, in seconds.
        from_s: start of measuring, in seconds.
        profile: the rest of the flows' transport.
        load: the mean rate of the cross traffic as a fraction of the rate of the slowest link on
            its path; 0: none.
        cross: where the cross traffic goes.
    """

    name: str
    topology: Topology
    controls: Mapping[str, Algorithm | Custom]
    flows: Sequence[Pair]
    link: Link
    end_s: float
    from_s: float
    profile: Profile
    load: float
    cross: Pair | None

    @property
    def sample_s(self) -> float:
        """Width of a bin, in seconds."""
        return sample_of(self.end_s)

    @property
    def rtt_every_s(self) -> float:
        """Minimum time between two samples of a flow's RTT, in seconds; 0: every
        acknowledgement."""
        packets = self.link.rate_bps * (self.end_s - self.from_s) / (8 * PACKET_OCTETS)
        if packets <= MOST_RTTS:
            return 0.0
        return (self.end_s - self.from_s) * len(self.flows) / MOST_RTTS

    @property
    def is_random(self) -> bool:
        """Whether the result may depend on the seed."""
        by_links = any(link.loss or link.red for link in self.topology.links)
        return (
            self.load > 0 or by_links or any(not isinstance(c, str) for c in self.controls.values())
        )

    def scenarios(self, _scale: Scale, seed: int) -> Mapping[str, Scenario]:
        """One run per control."""
        sources = (self._source(),) if self.load else ()
        return {
            label: Scenario(
                label,
                self.topology,
                self.end_s,
                flows=tuple(
                    Flow(source, target, control, self._profile_of(control), trace=self._tracing())
                    for source, target in self.flows
                ),
                sources=sources,
                seed=seed,
                sample_s=self.sample_s,
            )
            for label, control in self.controls.items()
        }

    def rows(self, runs: Runs) -> list[Row]:
        """Each measure of each control."""
        return [
            Row.of(f"{label}, {one.quantity}", one.unit, [one.of(self, run) for run in several])
            for label, several in runs.items()
            for one in self.measures
        ]

    @property
    def measures(self) -> list[Measure]:
        """The measures; fairness only with several flows."""
        return [one for one in _MEASURES if len(self.flows) > 1 or one.name != "jain"]

    @property
    def about(self) -> str:
        """The setting in one sentence."""
        flows = ", ".join(f"{source} to {target}" for source, target in self.flows)
        link = self.link
        parts = [
            f"Flows: {flows}",
            f"queue of {link.name} ({format_rate(link.rate_bps)}, limit {link.queue_packets})",
            f"measured from {self.from_s:g} to {self.end_s:g} s",
        ]
        if self.load and self.cross is not None:
            parts.append(f"load {self.load:g} from {self.cross[0]} to {self.cross[1]}")
        return "; ".join(parts)

    def experiment(self, seeds: int) -> Experiment:
        """The comparison as an experiment, which is run, stored and reported like any other."""
        controls = ", ".join(self.controls)
        return Experiment(
            id=f"compare/{self.name}",
            paper=f"Comparison on {self.name}",
            claim=f"{controls}, each alone in the same network",
            parameters={
                "controls": list(self.controls),
                "flows": [f"{source}:{target}" for source, target in self.flows],
                "link": self.link.name,
                "end_s": self.end_s,
                "measured_from_s": self.from_s,
                "sample_s": self.sample_s,
                "load": self.load,
                "cross": ":".join(self.cross) if self.load and self.cross else "none",
                "profile": self.profile.by_family(),
                "links": [_described(link) for link in self.topology.links],
                "feedback": {s.name: sorted(s.feedback) for s in self.topology.switches},
            },
            seeds={"quick": seeds, "full": seeds},
            scenarios=self.scenarios,
            rows=self.rows,
            draw=self.draw,
            notes=self.notes,
        )

    @property
    def notes(self) -> str:
        """Definitions of the measures."""
        every_s = self.rtt_every_s
        rtt = f"at most one per {every_s * 1e3:.3g} ms and flow" if every_s else "each"
        return (
            f"{self.about}. Throughput: of all flows, without the options that switches write "
            f"into. Queue: packets that wait, as means over {self.sample_s * 1e3:g} ms. RTT: "
            f"acknowledgements of all flows, {rtt}. Loss: data packets dropped or lost over data "
            "packets sent, over the whole run."
        )

    def draw(self, runs: Runs, table: Sequence[Row]) -> Figure:
        """Throughput, queue and RTT of each control, side by side."""
        rows = {row.quantity: row for row in table}
        labels = list(runs)
        figure = plots.new_figure(9.0, 1.6 + 0.4 * len(labels))
        throughput, queue, rtt = figure.subplots(1, 3, sharey=True)
        places = list(range(len(labels), 0, -1))
        for label, place in zip(labels, places, strict=True):
            colour = plots.COLOURS.get(label, plots.COLOURS["model"])
            row = rows[f"{label}, throughput"]
            throughput.errorbar(
                [row.waymark], [place], xerr=row.waymark_sd or 0, fmt="o", color=colour, capsize=3
            )
            for axes, (low, high) in (
                (queue, ("queue, mean", "queue, p99")),
                (rtt, ("RTT, p50", "RTT, p99")),
            ):
                ends = [rows[f"{label}, {low}"].waymark, rows[f"{label}, {high}"].waymark]
                axes.plot(ends, [place, place], color=colour)
                axes.plot(ends[:1], [place], "o", color=colour)
                axes.plot(ends[1:], [place], "|", color=colour, markersize=10)
        throughput.set_yticks(places, [plots.NAMES.get(label, label) for label in labels])
        throughput.set_ylim(0.4, len(labels) + 0.6)
        throughput.set_xlabel("throughput (kb/s), ± sd")
        queue.set_xlabel("packets waiting, mean to p99")
        rtt.set_xlabel("RTT (ms), median to p99")
        for axes in (throughput, queue, rtt):
            greatest = axes.dataLim.xmax  # not finite if no run has a value
            axes.set_xlim(0, 1.05 * greatest if greatest and math.isfinite(greatest) else 1)
        load = f", load {self.load:g}" if self.load else ""
        seeds = plots.mean_of(len(next(iter(runs.values()))))
        figure.suptitle(f"{self.name}{load}; {seeds}", x=0.01, ha="left", fontsize=11)
        return figure

    def terminal_table(self, runs: Runs) -> NumberTable:
        """A line per control: means over the seeds, throughput with its standard deviation."""
        seeds = plots.mean_of(len(next(iter(runs.values()))))
        table = NumberTable(
            title=f"{self.name}: {seeds}",
            title_justify="left",
            caption=self.about,
            caption_justify="left",
            box=box.SIMPLE_HEAD,
        )
        table.add_numbers("control", justify="left")
        for one in self.measures:
            table.add_numbers(one.heading)
        for label, several in runs.items():
            cells: list[str] = []
            for one in self.measures:
                row = Row.of("", "", [one.of(self, run) for run in several])
                sd = row.waymark_sd if one.name == "throughput_kbps" else None
                mean = fixed(row.waymark, one.digits)
                cells.append(mean + ("" if sd is None else f" ± {sd:.0f}"))
            table.add_row(label, *cells)
        return table

    def runs(self, runs: Runs, seeds: Sequence[int]) -> list[dict[str, str | int | float]]:
        """Control, seed and measures of each run."""
        return [
            {"control": label, "seed": seed}
            | {one.name: one.of(self, run) for one in self.measures}
            for label, several in runs.items()
            for seed, run in zip(seeds, several, strict=True)
        ]

    def write_runs(self, runs: Runs, seeds: Sequence[int], folder: Path) -> Path:
        """``runs.csv``: a line per run, with control, seed and measures of six digits."""
        file = folder / "runs.csv"
        with os_errors(file), file.open("w", encoding="utf-8", newline="") as opened:
            names = ["control", "seed", *(one.name for one in self.measures)]
            writer = csv.DictWriter(opened, names, lineterminator="\n")
            writer.writeheader()
            for line in self.runs(runs, seeds):
                digits = {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in line.items()}
                writer.writerow(digits)
        return file

    def missing_marks(self, *, option: str | None = None) -> list[str]:
        """A sentence for each control that reads marks that no switch writes.

        Args:
            option: the command's option that makes all switches write the given marks.
        """
        return missing_marks(self.name, self.topology, self.controls, option=option)

    def rtts_ms(self, run: Result) -> NDArray[np.float64]:
        """The samples of the round-trip time of all flows, in milliseconds."""
        found: list[NDArray[np.float64]] = []
        for flow in run.flows:
            assert flow.trace is not None
            within = flow.trace.time_s >= self.from_s
            found.append(flow.trace.rtt_s[within & ~np.isnan(flow.trace.rtt_s)] * 1e3)
        return np.concatenate(found)

    def waiting(self, run: Result) -> NDArray[np.float64]:
        """The packets waiting in front of the link, per bin."""
        return run.queues[self.link.name].waiting[round(self.from_s / self.sample_s) :]

    def throughputs_kbps(self, run: Result) -> list[float]:
        """The throughput of each flow."""
        return [
            run.throughput_bps(flow, self.from_s, self.end_s) / 1e3
            for flow in range(len(run.flows))
        ]

    def _tracing(self) -> Tracing:
        return Tracing(from_s=self.from_s, every_s=self.rtt_every_s)

    def _profile_of(self, control: Algorithm | Custom) -> Profile:
        reads_ecn = isinstance(control, str) and BY_NAME[control].reads_ecn
        if isinstance(self.profile, ModernProfile) and reads_ecn:
            return replace(self.profile, ecn="accurate")
        return self.profile

    def _source(self) -> OnOff:
        assert self.cross is not None
        addressing = derive(self.topology)
        link_bps = slowest(self.topology, addressing, self.cross).rate_bps
        rate_bps = 2 * link_bps
        return OnOff.for_load(
            *self.cross,
            load=self.load,
            link_bps=link_bps,
            rate_bps=rate_bps,
            mean_on_s=PACKETS_A_BURST * PACKET_OCTETS * 8 / rate_bps,
        )


def sample_of(end_s: float) -> float:
    """The width of bins for a run of ``end_s`` seconds: 10 ms, or 100 ms for long runs."""
    return 0.01 if end_s <= 300 else 0.1


def compare(
    name: str,
    topology: Topology,
    controls: Mapping[str, Algorithm | Custom],
    *,
    profile: Profile,
    flows: Sequence[Pair] = (),
    link: Pair | None = None,
    end_s: float = 60.0,
    from_s: float | None = None,
    load: float = 0.0,
    cross: Pair | None = None,
) -> Comparison:
    """A comparison; omitted arguments are derived from the topology.

    Args:
        name: of the network, for files and messages.
        topology: the network.
        controls: the congestion controls by label.
        profile: the rest of the flows' transport.
        flows: the flows; none: one, from the first host to the first one behind another switch.
        link: whose queue is measured; None: the slowest on the first flow's path.
        end_s: length of a run, in seconds.
        from_s: start of measuring, in seconds; None: after a sixth of the run.
        load: of the cross traffic, a part of the slowest link on its path; 0: none.
        cross: where the cross traffic goes; None: between the first hosts without a flow that are
            behind different switches.

    Raises:
        WaymarkError: the topology lacks a node or link, or a value is out of range.
    """
    for label, control in controls.items():
        if isinstance(control, str):
            check_choice("control", label, list(BY_NAME))
    hosts = [host.name for host in topology.hosts]
    chosen = list(flows) or [_pair_among(hosts, topology, "--flow")]
    for pair in (*chosen, *([cross] if cross else [])):
        for host in pair:
            if host not in hosts:
                raise WaymarkError(f"{name} has no host {host!r}; {suggestion(host, hosts)}")
        if pair[0] == pair[1]:
            raise WaymarkError(f"{pair[0]}:{pair[1]}: expected two different hosts")
    if not 0 <= load < 2:
        raise WaymarkError(f"load {load:g}: expected 0 to 2, a fraction of the slowest link's rate")
    if load and cross is None:
        used = {host for pair in chosen for host in pair}
        cross = _pair_among([host for host in hosts if host not in used], topology, "--cross")
    sample_s = sample_of(end_s)
    start_s = round(end_s / 6 / sample_s) * sample_s if from_s is None else from_s
    if not 0 <= start_s < end_s:
        raise WaymarkError(f"measuring from {start_s:g} s: expected 0 to less than {end_s:g} s")
    addressing = derive(topology)
    measured = topology.link(*link) if link else slowest(topology, addressing, chosen[0])
    return Comparison(
        name, topology, controls, chosen, measured, end_s, start_s, profile, load, cross
    )


def slowest(topology: Topology, addressing: Addressing, pair: Pair) -> Link:
    """The slowest link between two hosts; of several, the first that leaves a switch."""
    links = path(topology, addressing, *pair)
    switches = {switch.name for switch in topology.switches}
    return min(links, key=lambda link: (link.rate_bps, link.source not in switches))


def _pair_among(hosts: Sequence[str], topology: Topology, option: str) -> Pair:
    """The first host, and the first of the others that is behind another switch."""
    behind = {link.source: link.target for link in reversed(topology.links)}
    for source in hosts:
        for target in hosts:
            if target != source and behind[target] != behind[source]:
                return source, target
    if len(hosts) > 1:
        return hosts[0], hosts[1]
    left = ", ".join(hosts) or "none"
    raise WaymarkError(
        f"{option} HOST:HOST is needed: no two hosts are left to choose (left: {left})"
    )


def _described(link: Link) -> str:
    return (
        f"{link.name}: {format_rate(link.rate_bps)}, {link.delay_s * 1e3:g} ms, queue "
        f"{link.queue_packets}" + (f", loss {link.loss:g}" if link.loss else "")
    )


def _percentile(values: NDArray[np.float64], percent: float) -> float:
    return float(np.percentile(values, percent)) if len(values) else float("nan")


def _loss_percent(_: Comparison, run: Result) -> float:
    sent = sum(int(flow.sent.sum()) for flow in run.flows)
    return 100 * sum(flow.losses for flow in run.flows) / sent if sent else float("nan")


_MEASURES = (
    Measure(
        *("throughput_kbps", "throughput", "kb/s", "kb/s", 0),
        lambda its, run: sum(its.throughputs_kbps(run)),
    ),
    Measure(
        *("queue_mean", "queue, mean", "packets", "queue mean", 1),
        lambda its, run: float(its.waiting(run).mean()),
    ),
    Measure(
        *("queue_p99", "queue, p99", "packets", "queue p99", 1),
        lambda its, run: _percentile(its.waiting(run), 99),
    ),
    Measure(
        *("rtt_p50_ms", "RTT, p50", "ms", "RTT p50 ms", 1),
        lambda its, run: _percentile(its.rtts_ms(run), 50),
    ),
    Measure(
        *("rtt_p99_ms", "RTT, p99", "ms", "RTT p99 ms", 1),
        lambda its, run: _percentile(its.rtts_ms(run), 99),
    ),
    Measure(*("loss_percent", "loss", "%", "loss %", 2), _loss_percent),
    Measure(
        *("jain", "Jain's fairness index", "1", "Jain", 3),
        lambda its, run: jain(its.throughputs_kbps(run)),
    ),
)
