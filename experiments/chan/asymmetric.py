"""Chan 2004, figures 3.4 and 3.5: networks with a k times slower reverse path, counted in ACKs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.chan import single_bottleneck as net
from waymark import Runs, Scenario, plots

FACTORS = (2, 4, 8, 16, 32)
"""The normalized asymmetric factor k = u_f / u_b: data packets/s forward over ACKs/s back."""

QUEUE_PACKETS = 10
END_S = 200.0
STEADY_FROM_S = 100.0

ACK_OCTETS = {"vegas": 40, "rovegas": 48}
DATA_OCTETS = 1000


def parameters() -> dict[str, object]:
    """For the record."""
    return net.PARAMETERS | {
        "k": list(FACTORS),
        "queue_packets": QUEUE_PACKETS,
        "average_s": [STEADY_FROM_S, END_S],
        "end_s": END_S,
    }


def backward_bps(algorithm: net.Algorithm, k: int) -> float:
    """The rate R2 -> R1 that carries u_f / k ACKs a second: 64000/k, or 76800/k with AQT."""
    return net.BOTTLENECK_BPS * ACK_OCTETS[algorithm] / DATA_OCTETS / k


def scenarios(algorithm: net.Algorithm, seed: int) -> dict[str, Scenario]:
    """One run per factor, labelled ``"vegas k=8"``."""
    return {
        label(algorithm, k): net.run(
            label(algorithm, k),
            algorithm,
            net.topology()
            .with_queues(QUEUE_PACKETS)
            .with_link("r2", "r1", rate_bps=backward_bps(algorithm, k)),
            (),
            END_S,
            seed,
        )
        for k in FACTORS
    }


def label(algorithm: net.Algorithm, k: int) -> str:
    """The label of a run."""
    return f"{algorithm} k={k}"


def steady_kbps(runs: Runs, algorithm: net.Algorithm, k: int) -> list[float]:
    """Throughput in 100-200 s, one per seed, in kb/s."""
    return [r.throughput_bps(0, STEADY_FROM_S, END_S) / 1e3 for r in runs[label(algorithm, k)]]


def draw_curves(
    runs: Runs,
    algorithm: net.Algorithm,
    title: str,
    references: Sequence[tuple[Mapping[int, float], Mapping[str, Any], str]],
) -> Figure:
    """Throughput over time for every k.

    Args:
        runs: the runs of both experiments.
        algorithm: whose curves.
        title: of the picture.
        references: for each, kb/s by k, how its points are drawn, and its name in the legend.
    """
    figure = plots.new_figure()
    axes = figure.subplots()
    shades = np.linspace(1.0, 0.35, len(FACTORS))
    for k, shade in zip(FACTORS, shades, strict=True):
        result = runs[label(algorithm, k)][0]
        axes.plot(
            result.times_s,
            result.throughput_over_time_bps(0) / 1e3,
            color=plots.shade(plots.COLOURS[algorithm], shade),
            label=f"{plots.NAMES[algorithm]}, k = {k}",
        )
    for index, (kbps, style, name) in enumerate(references):
        at_s = (STEADY_FROM_S + END_S) / 2 + 12 * index
        axes.plot([at_s] * len(kbps), list(kbps.values()), **style, label=name)
    plots.finish(
        axes,
        title=title,
        x="time (s)",
        y="throughput (kb/s)",
        legend_title=f"marks: averages in {STEADY_FROM_S:g}-{END_S:g} s",
    )
    axes.set_xlim(0, END_S)
    axes.set_ylim(0, 1700)
    return figure
