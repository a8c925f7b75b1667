"""What the experiments of Srijith et al. have in common."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from waymark import SRIJITH, Choice, Flow, Runs, plots
from waymark.result import Result
from waymark.traffic import Algorithm

OURS: tuple[Algorithm, ...] = ("vegas", "vegasa")
OFFSET_S = 0.1

PARAMETERS: dict[str, object] = {
    "profile": asdict(SRIJITH),
    "vegas_alpha_beta_gamma": [1, 3, 1],
    "queue_packets": 50,
}

RTT_CHOICE = Choice(
    "'RTT' of a link",
    "twice its delay",
    "ns-2's Vegas then gives the printed 217320 b/s in table 1 to 0.04 %",
    "as the delay itself, every round trip would be twice as long",
)

ONE_RUN = "Nothing in this network is random: one seed is enough."
ROUNDING = (
    " Vegas-A's queue grows here where the last bits of two rounds' RTTs differ, as in table 1."
)
"""For the notes of lone flows."""


def flow(number: int, algorithm: Algorithm, **settings: Any) -> Flow:
    """A flow from s<number> to d<number> in the paper's profile."""
    return Flow(f"s{number}", f"d{number}", algorithm, SRIJITH, **settings)


def starts_s(count: int, every_s: float, seed: int) -> list[float]:
    """When flows start that come one after another.

    The first seed starts them on the second. Drop-tail queues with several flows are chaotic; other
    seeds add up to 0.1 s to each start, so that their spread tells what chance does.
    """
    offsets = np.random.default_rng(seed).uniform(0, OFFSET_S, count)
    return [i * every_s + (float(offsets[i]) if seed > 1 else 0.0) for i in range(count)]


def lifetime_bps(result: Result, index: int, start_s: float, end_s: float) -> float:
    """A flow's throughput from its start to the end, each packet counted once."""
    return result.useful_bps(index, start_s, end_s)


def draw_throughputs(
    runs: Runs,
    names: Mapping[str, Sequence[str]],
    colours: Callable[[str, int], Any],
    title: str,
    end_s: float,
) -> Figure:
    """Each flow's throughput over time, a panel a run.

    Args:
        runs: by label.
        names: of each run's flows, by label.
        colours: of a flow, by label and index.
        title: of the picture.
        end_s: of the time axis.
    """
    figure = plots.new_figure(9.0, 3.8)
    panels = figure.subplots(1, len(runs), sharey=True, squeeze=False)[0]
    for axes, (label, results) in zip(panels, runs.items(), strict=True):
        result = results[0]
        width = max(1, round(2 / result.sample_s))
        for index, name in enumerate(names[label]):
            kbps = result.throughput_over_time_bps(index) / 1e3
            smooth = np.convolve(kbps, np.ones(width) / width, mode="same")
            axes.plot(result.times_s, smooth, color=colours(label, index), linewidth=1, label=name)
        axes.set_xlim(0, end_s)
        axes.set_ylim(0)
        axes.set_xlabel("time (s)")
        axes.set_title(label)
        axes.legend(fontsize="small")
    panels[0].set_ylabel("throughput (kb/s, mean of 2 s)")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure
