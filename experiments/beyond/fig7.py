"""Four flows over a chain of routers, as in simulation 2 of Lien and Chung, today."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from matplotlib.figure import Figure

from experiments.beyond import today
from experiments.lien import common
from experiments.lien import multiple_sessions as chain
from waymark import (
    MODERN,
    Choice,
    Expectation,
    Experiment,
    OnOff,
    Row,
    Runs,
    Scale,
    Scenario,
    all_of,
    at_scale,
    plots,
)
from waymark.analysis.fairness import jain
from waymark.criteria import at_least
from waymark.result import Result

CONTROLS = today.WITHOUT_ECN
SETTINGS: Mapping[str, chain.Setting] = {
    "buffer 5": chain.Setting(1e6, 0.005, 5, 100e3),
    "buffer 50": chain.Setting(1e6, 0.005, 50, 100e3),
    "bursts of 300 kb/s": chain.Setting(2e6, 0.004, 20, 300e3),
    "bursts of 900 kb/s": chain.Setting(2e6, 0.004, 60, 900e3),
    "delay 4 ms": chain.Setting(2e6, 0.004, 25, 100e3),
    "delay 80 ms": chain.Setting(2e6, 0.080, 25, 100e3),
}
"""Points of figures 4.5 to 4.8."""
AT_SCALE: Mapping[Scale, tuple[str, ...]] = {
    "quick": ("buffer 50", "delay 4 ms"),
    "full": tuple(SETTINGS),
}
LINKS = ("r1->r2", "r2->r3", "r3->r4")
FIRST_LINK = (0, 1, 3)
"""The flows that cross it."""
FROM_S, END_S = 5.0, 60.0


def scenarios(scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Each control with each setting; flows start within 0.1 s."""
    return {
        f"{control}, {name}": _scenario(f"{control}, {name}", control, SETTINGS[name], seed)
        for name in at_scale(AT_SCALE, scale)
        for control in CONTROLS
    }


def _scenario(name: str, control: today.Control, setting: chain.Setting, seed: int) -> Scenario:
    count = len(chain.FLOWS)
    starts_s = common.starts_s(seed + 1, count)
    return Scenario(
        name,
        today.marking(chain.network(setting), control, LINKS),
        END_S,
        flows=tuple(
            today.flow(control, f"s{number}", f"d{number}", start_s)
            for number, start_s in enumerate(starts_s, start=1)
        ),
        sources=(OnOff("s0", "d0", 2 * setting.load_bps, chain.MEAN_ON_S, chain.MEAN_ON_S),),
        seed=seed,
    )


def _shares_kbps(result: Result) -> list[float]:
    return [result.throughput_bps(i, FROM_S, END_S) / 1e3 for i in range(len(chain.FLOWS))]


def rows(runs: Runs) -> list[Row]:
    """Throughput, use of the first link, fairness and queues."""
    table: list[Row] = []
    for name, results in runs.items():
        control, point = name.split(", ")
        setting = SETTINGS[point]
        label = _label(control, point)
        shares = [_shares_kbps(result) for result in results]
        left_kbps = (setting.rate_bps - setting.load_bps) / 1e3
        table += [
            Row.of(f"{label}: mean of the flows", "kb/s", [fmean(each) for each in shares]),
            Row.of(
                f"{label}: use of the first link",
                "%",
                [100 * sum(each[i] for i in FIRST_LINK) / left_kbps for each in shares],
            ),
            Row.of(f"{label}: Jain's index", "1", [jain(each) for each in shares]),
            Row.of(
                f"{label}: waiting",
                "packets",
                [sum(r.mean_waiting(link, FROM_S, END_S) for link in LINKS) for r in results],
            ),
        ]
    return table


def _label(control: str, point: str) -> str:
    return f"{plots.NAMES[control]}, {point}"


def draw(_runs: Runs, table: Sequence[Row]) -> Figure:
    """Use of the first link and fairness of each control, one mark per setting."""
    figure = plots.new_figure(9.0, 4.4)
    axes = figure.subplots()
    by_name = {row.quantity: row.waymark for row in table}
    for control in CONTROLS:
        points = [
            (by_name[f"{label}: Jain's index"], by_name[f"{label}: use of the first link"])
            for point in SETTINGS
            if f"{(label := _label(control, point))}: waiting" in by_name
        ]
        axes.plot(
            *zip(*points, strict=True),
            "o",
            color=today.COLOURS[control],
            label=plots.NAMES[control],
        )
    plots.finish(
        axes,
        title="Four flows over three links (Lien and Chung, simulation 2), current transports",
        x="Jain's index of the flows",
        y="use of the capacity that bursts leave on the first link (%)",
    )
    axes.set_xlim(0.45, 1)
    axes.set_ylim(0, 105)
    return figure


def _compared(row: Mapping[str, Row], what: str) -> list[tuple[float, float]]:
    """Waymark's and Muzha's number of each setting."""
    pairs = [(f"{_label(c, point)}: {what}" for c in ("waymark", "muzha")) for point in SETTINGS]
    names = [tuple(pair) for pair in pairs]
    return [(row[own].waymark, row[other].waymark) for own, other in names if own in row]


EXPERIMENT = Experiment(
    id="beyond/fig7",
    paper="Beyond the papers; simulation 2 of Lien and Chung (section IV.B)",
    claim="Waymark uses a chain of links as well as Muzha, and shares it more evenly",
    parameters={
        "settings": {
            name: {
                "links": f"{s.rate_bps / 1e6:g} Mb/s, {1e3 * s.delay_s:g} ms",
                "queue_packets": s.buffer,
                "bursts_bps": s.load_bps,
            }
            for name, s in SETTINGS.items()
        },
        "flows": list(chain.FLOWS),
        "profile": MODERN.by_family(),
        "measured_s": [FROM_S, END_S],
    },
    seeds={"quick": 1, "full": 5},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Waymark's flows have at least Muzha's throughput",
            "the mean of the four flows, with each setting",
            lambda row: all_of(own >= other for own, other in _compared(row, "mean of the flows")),
        ),
        Expectation(
            "Waymark shares more evenly than Muzha",
            "a greater Jain's index with each setting",
            lambda row: all_of(own > other for own, other in _compared(row, "Jain's index")),
        ),
        Expectation(
            "Waymark uses the first link",
            "at least 95 % of what the bursts leave, with each setting",
            at_least(
                95.0, *(f"{_label('waymark', point)}: use of the first link" for point in SETTINGS)
            ),
        ),
    ),
    choices=(
        today.PROFILE_CHOICE,
        today.ECN_CHOICE,
        chain.LAYOUT_CHOICE,
        chain.BURST_CHOICE,
        Choice(
            "settings",
            "of each sweep of simulation 2 its least and its greatest point",
            "the middle of each sweep lies between them",
            "not swept",
        ),
    ),
    notes=(
        "The first two claims exclude each other where both controls fill the first two links. Let "
        "C be what the bursts leave of a link, and a the rate of each of the two flows that cross "
        "both links. The other two then have C - 2 a each, and the mean of the four is "
        "(C - a) / 2: the more the long flows get, the less is the mean. With equal rates, "
        "a = C / 3, it is C / 3. Muzha's is near C / 2, since its long flows have almost nothing."
    ),
    comparisons=today.compared(
        more=[
            f"{{}}, {name}: {what}"
            for name in SETTINGS
            for what in ("mean of the flows", "use of the first link", "Jain's index")
        ],
        less=[f"{{}}, {name}: waiting" for name in SETTINGS],
    ),
)
