"""RED as figures 4 and 5 of Kurata et al. have it."""

from collections.abc import Mapping
from math import inf

from experiments.kurata import shared_link as net
from waymark import Expectation, Experiment, Row, all_of
from waymark.analysis.kurata import red
from waymark.red import Red

THMIN = 5
THMAX_OF_BUFFER = 0.6
W = 9
RED_NOTE = (
    "RED is the P4 program's, which spaces drops as ns-2 does: from 1/p to 2/p packets apart, and "
    "not 1/p on average. Throughputs still change from a buffer of 100 to one of 200 because thmax "
    "is 0.6 B: at the same queue a larger buffer drops less. The model's p is the same for all "
    "buffers. "
)


def settings(buffer: int, p: float) -> Red:
    """thmin 5, thmax 0.6 B, at least one packet above thmin."""
    return Red(THMIN, max(THMIN + 1, THMAX_OF_BUFFER * buffer), p, W)


def experiment(
    figure: int,
    p: float,
    ns2: dict[str, tuple[float, float]],
    reference: net.Reference,
    *expectations: Expectation,
) -> Experiment:
    """Figure 4 or 5.

    Args:
        figure: its number.
        p: max_p.
        ns2: as in :func:`shared_link.over_buffers`.
        reference: the queue that the figure is compared with.
        expectations: the figure's own claims.
    """
    odds = f"1/{round(1 / p)}"
    return net.over_buffers(
        figure,
        f"RED with p = {odds}",
        f"With RED (p = {odds}) Vegas gets a fairer share than with {reference.name}",
        lambda buffer: settings(buffer, p),
        lambda mix, _: red(mix, p),
        ns2,
        (
            Expectation(
                f"Fairness is better than with {reference.name}",
                "Reno/Vegas nearer to 1 in every case, with buffers of 100, 150 and 200",
                lambda row: all_of(
                    _unfairness(row, ours) < _unfairness(row, theirs)
                    for ours, theirs in _compared(row, reference)
                ),
            ),
            *expectations,
            Expectation(
                "The model illustrates well how different the throughputs are",
                "Reno/Vegas within 5 % of the model's in every case, with buffers of 100, 150 and "
                "200; the paper gives no number",
                net.as_modelled(*net.labels(net.LARGE, "Reno/Vegas, ")),
            ),
        ),
        {
            "red": {
                "thmin": THMIN,
                "thmax": f"{THMAX_OF_BUFFER} B",
                "max_p": p,
                "weight": 2**-W,
                "gentle": False,
            }
        },
        RED_NOTE,
        reference,
    )


def equal_totals(reference: net.Reference) -> Expectation:
    """The claim that RED costs no throughput at large buffers."""
    return Expectation(
        f"The total throughput is almost identical to that with {reference.name}",
        "within 5 % in every case, with buffers of 100, 150 and 200; the paper gives no number",
        lambda row: all_of(
            abs(row[f"total, {ours}"].waymark - total) <= net.CLOSE * total
            for ours, theirs in _compared(row, reference)
            for total in (row[f"total, {theirs}"].waymark,)
        ),
    )


def halved(reference: net.Reference) -> Expectation:
    """The claim that fairness improves greatly."""
    return Expectation(
        f"Fairness is greatly improved against {reference.name}",
        "Reno/Vegas at most half of it in every case, with a buffer of 200",
        lambda row: all_of(
            row[f"Reno/Vegas, {ours}"].waymark <= 0.5 * row[f"Reno/Vegas, {theirs}"].waymark
            for ours, theirs in _compared(row, reference)
            if ours.endswith("B = 200")
        ),
    )


UNCHANGED = Expectation(
    "Throughputs do not change when the buffer becomes large",
    "of Reno and of Vegas with 200 packets within 5 % of those with 100, in every case",
    lambda row: all_of(
        abs(row[f"{kind}, {net.label_of(case, 200)}"].waymark - before) <= net.CLOSE * before
        for kind in ("Reno", "Vegas")
        for case in net.CASES
        if f"{kind}, {net.label_of(case, 200)}" in row
        and (before := row[f"{kind}, {net.label_of(case, 100)}"].waymark)
    ),
)


def _compared(row: Mapping[str, Row], reference: net.Reference) -> list[tuple[str, str]]:
    """The labels of the runs at large buffers that the table has, and of the reference's."""
    pairs = [
        (net.label_of(case, b), reference.of(case, b)) for case in net.CASES for b in net.LARGE
    ]
    return [pair for pair in pairs if f"total, {pair[0]}" in row]


def _unfairness(row: Mapping[str, Row], label: str) -> float:
    """The greater throughput over the smaller, 1 or more."""
    ratio = row[f"Reno/Vegas, {label}"].waymark
    return max(ratio, 1 / ratio) if ratio else inf
