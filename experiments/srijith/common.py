"""What the experiments of Srijith et al. have in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from waymark import SRIJITH, Choice, Flow, Row, Runs, Scale, Scenario, Topology, plots
from waymark.traffic import Algorithm

OURS: tuple[Algorithm, ...] = ("vegas", "vegasa")
OFFSET_S = 0.1
CLOSE = 0.05
"""Numbers this near to each other count as equal throughout the project; the paper prints one run
of each network, and no spread."""
CLOSE_CRITERION = "within 5 %: the paper prints one run and no spread"

PARAMETERS: dict[str, object] = {
    "profile": SRIJITH.by_family(),
    "vegas_alpha_beta_gamma": [1, 3, 1],
    "queue_packets": 50,
}

RTT_CHOICE = Choice(
    "'RTT' of a link",
    "twice its delay",
    "ns-2's Vegas then gives the printed 217320 b/s in table 1 to 0.04 %",
    "as the delay itself, every round trip would be twice as long",
    fitted=True,
)

PROFILE_CHOICE = Choice(
    "TCP settings",
    "clock of 0.1 s, no minimum RTO, no RFC 2988, no limited transmit, no SYN, 1000 octets on the "
    "wire",
    "the paper gives none; with these NewReno comes nearest to the printed numbers in ns-2.35",
    "with ns-2.35's defaults and a packet of 1000 octets NewReno/Vegas in table 2 is 6.11 for 5.40 "
    "and NewReno/Vegas-A 2.76 for 3.63; in table 8, RTT 60 ms, NewReno resends 184, 76, 64, 90 and "
    "74 packets, and Vegas-A the same as here",
    fitted=True,
)

ONE_RUN = "Nothing in this network is random: one seed is enough. "
STARTS = "Seeds after the first start each flow up to 0.1 s later. "
AS_IN_NS2 = (
    "ns-2.35 gives Vegas and NewReno the same numbers over the same starts. Where these differ "
    "from the printed ones, the paper's version of ns-2 or its settings differ. "
)
ROUNDING = "Vegas-A's queue grows because of rounding in the RTTs, as table 1 explains. "
"""For the notes of lone flows."""


def flow(number: int, algorithm: Algorithm, **settings: Any) -> Flow:
    """A flow from s<number> to d<number> in the paper's profile."""
    return Flow(f"s{number}", f"d{number}", algorithm, SRIJITH, **settings)


def starts_s(count: int, every_s: float, seed: int) -> list[float]:
    """The starts of flows that begin one after another, in seconds.

    The first seed starts them exactly every ``every_s``. Drop-tail queues with several flows are
    chaotic, so other seeds add up to 0.1 s to each start.
    """
    offsets = np.random.default_rng(seed).uniform(0, OFFSET_S, count)
    return [i * every_s + (float(offsets[i]) if seed > 1 else 0.0) for i in range(count)]


@dataclass(frozen=True)
class Joining:
    """Flows that start one after another: one run with Vegas and one with Vegas-A.

    Attributes:
        network: with hosts s1, d1, s2, d2, …
        ours: how many flows use Vegas or Vegas-A; they start first.
        newreno: how many use NewReno.
        every_s: time between two starts.
        end_s: length of the run.
        name: a flow's name in the table, from the algorithm's name and the flow's number.
    """

    network: Topology
    ours: int
    newreno: int
    every_s: float
    end_s: float
    name: Callable[[str, int], str] = "{}, S{}".format

    @property
    def flows(self) -> int:
        """How many flows there are."""
        return self.ours + self.newreno

    def names(self, label: str) -> list[str]:
        """The flows' names in the table, of the run with this algorithm."""
        return [self.name(label, i + 1) for i in range(self.flows)]

    def scenarios(self, _scale: Scale, seed: int) -> Mapping[str, Scenario]:
        """Both runs of a seed, by the name of the algorithm."""
        starts = starts_s(self.flows, self.every_s, seed)
        return {
            plots.NAMES[ours]: Scenario(
                ours,
                self.network,
                self.end_s,
                flows=tuple(
                    flow(i + 1, ours if i < self.ours else "newreno", start_s=start)
                    for i, start in enumerate(starts)
                ),
                seed=seed,
            )
            for ours in OURS
        }

    def shares_bps(self, runs: Runs, label: str) -> list[list[float]]:
        """Each flow's throughput by seed, from its start to the end; each packet counts once."""
        return [
            [r.useful_bps(i, i * self.every_s, self.end_s) for r in runs[label]]
            for i in range(self.flows)
        ]

    def rows(
        self,
        runs: Runs,
        algorithm: Algorithm,
        paper: Sequence[float],
        ns2: Sequence[float] | None,
        unit: str = "b/s",
        unit_bps: float = 1.0,
    ) -> list[Row]:
        """One row per flow of the run with this algorithm."""
        label = plots.NAMES[algorithm]
        shares = self.shares_bps(runs, label)
        return [
            Row.of(
                name,
                unit,
                [v / unit_bps for v in values],
                paper[i],
                None if ns2 is None else ns2[i],
            )
            for i, (name, values) in enumerate(zip(self.names(label), shares, strict=True))
        ]

    def draw(self, runs: Runs, title: str) -> Figure:
        """Each flow's throughput over time, one panel per run, first seed."""
        figure = plots.new_figure(9.0, 4.4)
        panels = figure.subplots(1, len(runs), sharey=True, squeeze=False)[0]
        for axes, algorithm in zip(panels, OURS, strict=True):
            label = plots.NAMES[algorithm]
            result = runs[label][0]
            width = max(1, round(2 / result.sample_s))
            for index in range(self.flows):
                kbps = result.throughput_over_time_bps(index) / 1e3
                smooth = np.convolve(kbps, np.ones(width) / width, mode="same")
                own = index < self.ours
                place, count = (index, self.ours) if own else (index - self.ours, self.newreno)
                axes.plot(
                    result.times_s,
                    smooth,
                    color=plots.shade(
                        plots.COLOURS[algorithm if own else "newreno"], 1 - 0.85 * place / count
                    ),
                    linewidth=1,
                    label=f"S{index + 1} {label if own else 'NewReno'}",
                )
            axes.set_xlim(0, self.end_s)
            axes.set_ylim(0)
            axes.set_xlabel("time (s)")
            axes.set_title(label)
            axes.legend(
                loc="upper center",
                bbox_to_anchor=(0.5, -0.16),
                ncols=min(3, self.flows),
                fontsize="small",
                handlelength=1.5,
            )
        panels[0].set_ylabel("throughput (kb/s, mean of 2 s)")
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        return figure
