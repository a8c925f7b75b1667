"""Srijith et al., table 5: flows behind access links of different rates."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from experiments.srijith import common
from waymark import Choice, Expectation, Experiment, Row, Runs, Topology, criteria, plots
from waymark.networks import chain

ACCESS_KBPS = (128, 256, 512)
BOTTLENECK_BPS = 400e3
PRINTED_KILO = 1024
EXPECTED = (57.14, 114.29, 228.57)
PAPER = {"vegas": (123.34, 146.85, 120.46), "vegasa": (98.90, 134.54, 158.25)}
NS2 = {"vegas": (120.8, 144.1, 125.7)}


def _network() -> Topology:
    flows = range(1, len(ACCESS_KBPS) + 1)
    access = {f"s{i}": (ACCESS_KBPS[i - 1] * 1e3, 0.005) for i in flows}
    access |= {f"d{i}": (1e6, 0.005) for i in flows}
    hosts = {f"s{i}": "r1" for i in flows} | {f"d{i}": "r2" for i in flows}
    return chain([(BOTTLENECK_BPS, 0.01)], hosts, access)


NET = common.Joining(_network(), ours=len(ACCESS_KBPS), newreno=0, every_s=0.0, end_s=1800.0)


def rows(runs: Runs) -> list[Row]:
    """Each flow's throughput in the paper's Kb of 1024 bits, and how far they are from the
    proportional ones."""
    unit = "Kb/s of 1024"
    shares: list[Row] = []
    distances: list[Row] = []
    for ours in common.OURS:
        label = plots.NAMES[ours]
        shares += NET.rows(runs, ours, PAPER[ours], NS2.get(ours), unit, PRINTED_KILO)
        by_seed = zip(*NET.shares_bps(runs, label), strict=True)
        values = [_distance([share / PRINTED_KILO for share in each]) for each in by_seed]
        printed = _distance(PAPER[ours])
        distances.append(Row.of(f"{label}, distance", unit, values, derived=printed))
    return shares + distances


def _distance(shares: Sequence[float]) -> float:
    """The sum of the differences from the shares that the paper expects."""
    return sum(abs(share - expected) for share, expected in zip(shares, EXPECTED, strict=True))


def draw(_runs: Runs, table: Sequence[Row]) -> Figure:
    """The shares, the paper's and those in proportion to the access links."""
    figure = plots.new_figure()
    axes = figure.subplots()
    shares = [row for row in table if row.paper is not None]
    plots.compare(axes, shares)
    for index, expected in enumerate(EXPECTED):
        for base in (len(shares) - index, len(shares) - 3 - index):
            label = "in proportion to access" if index == 0 and base == len(shares) else None
            axes.plot([expected], [base], "|", color="#555555", markersize=16, label=label)
    plots.finish(
        axes,
        title="Srijith et al., table 5: access links of 128, 256 and 512 kb/s",
        x="throughput (Kb/s of 1024 b)",
        y="",
    )
    axes.set_xlim(0)
    return figure


EXPERIMENT = Experiment(
    id="srijith/tab5",
    paper="Srijith et al., table 5 (section VI.E)",
    claim="Vegas-A's shares follow the access links' rates, Vegas' do not",
    parameters=common.PARAMETERS
    | {
        "access_kbps": list(ACCESS_KBPS),
        "bottleneck_bps": BOTTLENECK_BPS,
        "delays_s": [0.005, 0.01, 0.005],
        "end_s": NET.end_s,
    },
    seeds={"quick": 1, "full": 10},
    scenarios=NET.scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        *(
            Expectation(
                f"The shares of {name} are {', '.join(f'{value:g}' for value in PAPER[ours])}",
                common.CLOSE_CRITERION,
                criteria.as_printed(*NET.names(name), within=common.CLOSE),
            )
            for ours, name in ((a, plots.NAMES[a]) for a in common.OURS)
        ),
        Expectation(
            "Vegas' shares do not follow the access rates",
            "S3, with the fastest link, gets less than S2",
            criteria.ascending("Vegas, S3", "Vegas, S2"),
        ),
        Expectation(
            "Vegas-A's shares follow the access rates",
            "S1 < S2 < S3",
            criteria.ascending("Vegas-A, S1", "Vegas-A, S2", "Vegas-A, S3"),
        ),
        Expectation(
            "Vegas-A's shares are nearer than Vegas' to the proportional ones",
            "sum of the absolute differences, mean of the runs",
            criteria.ascending("Vegas-A, distance", "Vegas, distance"),
        ),
    ),
    choices=(
        common.PROFILE_CHOICE,
        Choice(
            "'RTT' of a link",
            "its delay one way",
            "ns-2's Vegas then gives the printed numbers to 0.02 % (first seed)",
            "in tables 1 to 4, twice the delay comes nearest",
            fitted=True,
        ),
        Choice(
            "Kb",
            "1000 b in rates, 1024 b in the table",
            "the printed shares add up to 390.6, that is 400000/1024",
            "with 1000 in both, every number would be 2.4 % more",
            fitted=True,
        ),
    ),
    notes=common.STARTS + common.AS_IN_NS2,
)
