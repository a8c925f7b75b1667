"""Which feedback of marks survives lost acknowledgements: an echo, ACE, or octet counters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from matplotlib.figure import Figure

from experiments.today import fig2, measures, signals
from waymark import (
    MODERN,
    Choice,
    Expectation,
    Experiment,
    LinkChange,
    Row,
    Runs,
    Scale,
    Scenario,
    at_scale,
    plots,
)
from waymark.criteria import at_least, at_most, less_than, more_than
from waymark.dual_pi2 import DualPi2
from waymark.networks import dumbbell
from waymark.result import Result
from waymark.traffic import Algorithm

RTT_MS = 20
LOSSES: Mapping[Scale, tuple[float, ...]] = {
    "quick": (0.0, 0.5),
    "full": (0.0, 0.1, 0.2, 0.5, 0.8),
}
"""Of the acknowledgements."""
HEAVY = (0.5, 0.8)
LOST_FROM_S = 0.05
FROM_S = 5.0
END_S: Mapping[Scale, float] = {"quick": 20.0, "full": 60.0}
SAMPLE_S = 0.1
ROUTER, OTHER = "r1", "r2"
GROUND = signals.wide_area([fig2.QUEUE], fig2.RATE_BPS)


@dataclass(frozen=True)
class Feedback:
    """A control and its switches.

    Attributes:
        marks: the switches' counter of marks.
        option: whether ACKs have accurate ECN's option.
        dual_pi2: at the bottleneck, for Prague.
    """

    control: Algorithm
    marks: str
    option: bool = False
    dual_pi2: DualPi2 = GROUND.dual_pi2


FEEDBACK: Mapping[str, Feedback] = {
    "DCTCP, echo": Feedback("dctcp", "ecn_marks"),
    "Prague, ACE": Feedback("prague", "dual_pi2_marked"),
    "Prague, ACE and option": Feedback("prague", "dual_pi2_marked", option=True),
    "Prague, ACE and option, step of 4 ms": Feedback(
        "prague", "dual_pi2_marked", option=True, dual_pi2=DualPi2(step_s=0.004)
    ),
}
ACE, OPTION, DEEP = tuple(FEEDBACK)[1:]


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One flow for each feedback and part of acknowledgements that is lost."""
    return {
        _label(name, loss): _scenario(
            _label(name, loss), feedback, loss, at_scale(END_S, scale), seed
        )
        for name, feedback in FEEDBACK.items()
        for loss in at_scale(LOSSES, scale)
    }


def _label(name: str, loss: float) -> str:
    return f"{name}, {100 * loss:g} % lost"


def _scenario(name: str, feedback: Feedback, loss: float, end_s: float, seed: int) -> Scenario:
    delay_s = RTT_MS / 2e3 - 2 * fig2.ACCESS_DELAY_S
    network = dumbbell(
        1,
        (fig2.RATE_BPS, delay_s),
        (1e9, fig2.ACCESS_DELAY_S),
        queue_packets=fig2.QUEUE_PACKETS,
    )
    ground = replace(GROUND, dual_pi2=feedback.dual_pi2)
    flow = signals.flow(feedback.control, "s1", "d1", ground)
    return Scenario(
        name,
        signals.network_for(feedback.control, network, ground),
        end_s,
        flows=(replace(flow, profile=replace(MODERN, ecn_option=feedback.option)),),
        changes=(LinkChange(LOST_FROM_S, OTHER, ROUTER, loss=loss),),
        seed=seed,
        sample_s=SAMPLE_S,
    )


def rows(runs: Runs) -> list[Row]:
    """What was marked, what the sender took for marked, and what it gets."""
    table: list[Row] = []
    for name, results in runs.items():
        counted = [100 * r.flows[0].reported_marks / _arrived(r) for r in results]
        marks = FEEDBACK[name.rpartition(", ")[0]].marks
        marked = [100 * _marked(r, marks) / _arrived(r) for r in results]
        wrong = [abs(a - b) for a, b in zip(counted, marked, strict=True)]
        table += [
            Row.of(f"{name}: marked", "% of packets", marked),
            Row.of(f"{name}: counted", "% of packets", counted),
            Row.of(f"{name}: miscounted", "% of packets", wrong),
        ]
        table += measures.rows(
            name,
            results,
            links=[fig2.QUEUE],
            span_s=(FROM_S, results[0].end_s),
            available_bps=fig2.RATE_BPS,
            flows=[0],
        )
    for above, below in ((OPTION, OPTION), (ACE, OPTION), (DEEP, DEEP)):
        for loss in LOSSES["full"]:
            if (over := _label(above, loss)) in runs and loss > 0:
                under = _label(below, 0.0 if above == below else loss)
                table.append(_ratio(runs, over, under))
    return table


def _ratio(runs: Runs, over: str, under: str) -> Row:
    """Of throughputs."""
    above, below = (
        [r.throughput_bps(0, FROM_S, r.end_s) for r in runs[one]] for one in (over, under)
    )
    return Row.ratio_of(f"{over} / {under}", above, below)


def _arrived(result: Result) -> int:
    return int(result.flows[0].delivered.sum())


def _marked(result: Result, counter: str) -> int:
    return result.switches[ROUTER].counters[counter].total.packets


def draw(runs: Runs, table: Sequence[Row]) -> Figure:
    """What was marked and counted, and the use, over the part that is lost."""
    figure = plots.new_figure(9.0, 4.4)
    marks, use = figure.subplots(1, 2)
    of = {row.quantity: row.waymark for row in table}
    losses = [loss for loss in LOSSES["full"] if _label(ACE, loss) in runs]
    for name, colour in zip(FEEDBACK, plots.PALETTE, strict=False):

        def points(measure: str, name: str = name) -> list[float]:
            return [of[f"{_label(name, loss)}: {measure}"] for loss in losses]

        drawn: dict[str, Any] = {"color": colour, "marker": "o"}
        marks.plot(losses, points("counted"), **drawn)
        marks.plot(losses, points("marked"), linestyle="--", **drawn)
        use.plot(losses, points("use"), label=name, **drawn)
    for axes in (marks, use):
        axes.set_xlabel("part of the acknowledgements that is lost")
    marks.set_ylabel("marks (% of packets)")
    use.set_ylabel("use of the link (%)")
    use.set_ylim(0, 105)
    plots.finish_panels(
        figure,
        use,
        title="Marks counted by senders (dashed: made by switches), and the use of the link",
        legend_title=plots.mean_of(len(next(iter(runs.values())))),
    )
    return figure


def _miscounted(name: str, losses: Sequence[float]) -> tuple[str, ...]:
    return tuple(f"{_label(name, loss)}: miscounted" for loss in losses)


EXPERIMENT = Experiment(
    id="today/fig9",
    paper="Current signals; RFC 9768, section 3.2.2.5",
    claim="Octet counters let a sender count marks even if acknowledgements are lost",
    parameters={
        "profile": MODERN.by_family(),
        "rate_bps": fig2.RATE_BPS,
        "rtt_ms": RTT_MS,
        "queue_packets": fig2.QUEUE_PACKETS,
        "lost": list(LOSSES["full"]),
        "lost_from_s": LOST_FROM_S,
        "from_s": FROM_S,
        "end_s": END_S["full"],
    },
    seeds={"quick": 1, "full": 5},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "With the option the sender counts the marks that were made",
            "within .2 % of the packets, which is more than a window, however many are lost",
            at_most(0.2, *_miscounted(OPTION, LOSSES["full"])),
        ),
        Expectation(
            "Without it the sender counts many packets as marked that were not",
            "more than a tenth of all where half of the acknowledgements or more are lost",
            more_than(10.0, *_miscounted(ACE, HEAVY)),
        ),
        Expectation(
            "With the option, lost acknowledgements do not reduce throughput",
            "at least 95 % of that without losses, however many are lost",
            at_least(
                0.95,
                *(
                    f"{_label(OPTION, loss)} / {_label(OPTION, 0.0)}"
                    for loss in LOSSES["full"]
                    if loss > 0
                ),
            ),
        ),
        Expectation(
            "Without the option, lost acknowledgements reduce throughput",
            "less than half of the throughput with it where half of them or more are lost",
            less_than(0.5, *(f"{_label(ACE, loss)} / {_label(OPTION, loss)}" for loss in HEAVY)),
        ),
    ),
    choices=(
        signals.PROFILE_CHOICE,
        signals.MARKING_CHOICE,
        Choice(
            "losses",
            "of each acknowledgement by itself with the same probability, from 50 ms on",
            "links that thin out acknowledgements drop as many; the handshake is spared",
            "all are rows",
        ),
    ),
    notes=(
        "An acknowledgement is for two packets. One that arrives after others were lost with the "
        "probability p covers 8 packets or more with the probability p³. ACE counts modulo 8, and "
        "RFC 9768 (A.2.1) has the sender assume the most marks that the count allows: 8 or more of "
        "such packets, although none was marked. Of all packets that is "
        "8 p³ / (1 - p⁴) · (1 - p) / 2: .4 % at p = .1, 27 % at .5. Acknowledgements have 8 "
        "octets more with the option. "
        "Prague's throughput falls with 10 % of losses already, with the option and without, "
        "although the count is right. A lost acknowledgement holds up four packets or more, and a "
        "queue that is marked after 1 ms holds three: the link idles. With a step of 4 ms the "
        "queue outlasts this."
    ),
)
