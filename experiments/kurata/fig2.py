"""Kurata et al., figure 2: the queue's sawtooth over a drop-tail queue, and the model's."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from experiments.kurata import shared_link as net
from waymark import Choice, Expectation, Experiment, Row, Runs, Scale, Scenario, plots
from waymark.analysis.kurata import drop_tail_cycle, queue_of

BUFFER = 50
CASE = net.CASES[0]
SHOWN_S = (100.0, 130.0)
SAMPLE_S = 0.1


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Figure 3's run with a buffer of 50, in finer bins."""
    return {"drop-tail": replace(net.run("drop-tail", CASE, BUFFER, seed), sample_s=SAMPLE_S)}


def rows(runs: Runs) -> list[Row]:
    """The queue's mean, and its 5th and 95th percentile, next to the model's cycle."""
    cycle = drop_tail_cycle(CASE.mix, BUFFER)
    bins = slice(int(net.FROM_S / SAMPLE_S), int(net.END_S / SAMPLE_S))
    queues = [r.queues[net.QUEUE].waiting[bins] for r in runs["drop-tail"]]
    return [
        Row.of(
            "mean queue",
            "packets",
            [float(np.mean(q)) for q in queues],
            derived=queue_of(CASE.mix, cycle.mean_window),
        ),
        Row.of(
            "queue when full (95th percentile)",
            "packets",
            [float(np.percentile(q, 95)) for q in queues],
            derived=BUFFER,
        ),
        Row.of(
            "queue after a loss (5th percentile)",
            "packets",
            [float(np.percentile(q, 5)) for q in queues],
            derived=queue_of(CASE.mix, cycle.window_after),
        ),
    ]


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """The queue over time."""
    figure = plots.new_figure()
    axes = figure.subplots()
    result = runs["drop-tail"][0]
    shown = (result.times_s >= SHOWN_S[0]) & (result.times_s < SHOWN_S[1])
    waiting = result.queues[net.QUEUE].waiting
    axes.plot(result.times_s[shown], waiting[shown], color="#0072b2", label="measured")
    times_s, queue = _model_cycles()
    axes.plot(times_s, queue, color=plots.COLOURS["model"], linestyle="--", label="the model")
    plots.finish(
        axes,
        title="Kurata et al., figure 2: the queue of 5 Reno and 5 Vegas flows, drop-tail",
        x="time (s)",
        y="waiting packets (mean of 0.1 s)",
    )
    axes.set_xlim(*SHOWN_S)
    axes.set_ylim(0, BUFFER * 1.1)
    return figure


def _model_cycles() -> tuple[list[float], list[float]]:
    """The model's sawtooth through the shown time; a round takes what its queue makes it."""
    cycle, mix = drop_tail_cycle(CASE.mix, BUFFER), CASE.mix
    times_s, queue = [SHOWN_S[0]], [queue_of(mix, cycle.window_after)]
    while times_s[-1] < SHOWN_S[1]:
        climb = np.linspace(cycle.window_after, cycle.window_at_loss, 20)
        step_rounds = cycle.rounds / (len(climb) - 1)
        for window in climb[1:]:
            rtt_s = 2 * mix.delay_s + queue[-1] / mix.rate_pps
            times_s.append(times_s[-1] + step_rounds * rtt_s)
            queue.append(queue_of(mix, float(window)))
        times_s.append(times_s[-1] + 2 * mix.delay_s + queue[-1] / mix.rate_pps)
        queue.append(queue[-1])
        times_s.append(times_s[-1])
        queue.append(queue_of(mix, cycle.window_after))
    return times_s, queue


EXPERIMENT = Experiment(
    id="kurata/fig2",
    paper="Kurata et al., figure 2 (section 4.1)",
    claim="A drop-tail queue fills until Reno loses packets, then falls as its windows halve",
    parameters=net.PARAMETERS | {"buffer": BUFFER, "flows": CASE.label},
    seeds={"quick": 1, "full": 5},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "The queue fills up",
            "its 95th percentile within 5 % of the buffer",
            net.as_modelled("queue when full (95th percentile)"),
        ),
        Expectation(
            "After a loss it falls to where halved windows of Reno leave it",
            "its 5th percentile within 5 % of the model's",
            net.as_modelled("queue after a loss (5th percentile)"),
        ),
        Expectation(
            "The mean queue is the model's",
            "within 5 %",
            net.as_modelled("mean queue"),
        ),
    ),
    choices=(
        *net.CHOICES,
        Choice("buffer", "50 packets", "the figure is a sketch without numbers", "see figure 3"),
    ),
    notes=net.MODEL_NOTE
    + "The queue does not fall as low as in the model, where all Reno flows lose in the same round "
    "trip and Vegas' windows stay as they are.",
)
