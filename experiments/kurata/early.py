"""RED as figures 4 and 5 of Kurata et al. have it."""

from experiments.kurata import shared_link as net
from waymark import Expectation, Experiment
from waymark.analysis.kurata import red
from waymark.red import Red

THMIN = 5
THMAX_OF_BUFFER = 0.6
W = 9
RED_NOTE = (
    "RED is the P4 program's, which spaces drops as ns-2 does: from 1/p to 2/p packets apart, and "
    "not 1/p in the mean."
)


def settings(buffer: int, p: float) -> Red:
    """thmin 5, thmax 0.6 B, at least one packet above thmin."""
    return Red(THMIN, max(THMIN + 1, THMAX_OF_BUFFER * buffer), p, W)


def experiment(
    figure: int, p: float, ns2: dict[str, tuple[float, float]], *expectations: Expectation
) -> Experiment:
    """Figure 4 or 5: max_p is ``p``."""
    odds = f"1/{round(1 / p)}"
    return net.over_buffers(
        figure,
        f"RED with p = {odds}",
        f"With RED (p = {odds}) Vegas gets a fairer share than over drop-tail",
        lambda buffer: settings(buffer, p),
        lambda mix, _: red(mix, p),
        ns2,
        expectations,
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
    )


def fairer_than(what: str, buffer: int, ns2_unfairness: float) -> Expectation:
    """The five-and-five case against ns-2's number of the figure before."""
    return Expectation(
        f"Fairness is greatly improved against {what}",
        f"Reno/Vegas of 5+5 at a buffer of {buffer} is below the {ns2_unfairness:.2f} that ns-2 "
        f"gives for {what}",
        lambda row: net.unfairness(row, net.CASES[0], buffer) < ns2_unfairness,
    )
