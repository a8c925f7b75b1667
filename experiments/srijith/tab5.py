"""Srijith et al., table 5: flows behind access links of different rates."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.srijith import common
from waymark import Choice, Expectation, Experiment, Row, Runs, Scale, Scenario, plots
from waymark.networks import chain

END_S = 1800.0
ACCESS_KBPS = (128, 256, 512)
BOTTLENECK_BPS = 400e3
PRINTED_KILO = 1024
EXPECTED = (57.14, 114.29, 228.57)
PAPER = {"vegas": (123.34, 146.85, 120.46), "vegasa": (98.90, 134.54, 158.25)}
NS2 = {"vegas": (123.32, 146.83, 120.45)}


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """Three flows from 0 s."""
    flows = range(1, len(ACCESS_KBPS) + 1)
    access = {f"s{i}": (ACCESS_KBPS[i - 1] * 1e3, 0.005) for i in flows}
    access |= {f"d{i}": (1e6, 0.005) for i in flows}
    hosts = {f"s{i}": "r1" for i in flows} | {f"d{i}": "r2" for i in flows}
    network = chain([(BOTTLENECK_BPS, 0.01)], hosts, access)
    starts = common.starts_s(len(ACCESS_KBPS), 0.0, seed)
    return {
        ours: Scenario(
            ours,
            network,
            END_S,
            flows=tuple(common.flow(i, ours, start_s=starts[i - 1]) for i in flows),
            seed=seed,
        )
        for ours in common.OURS
    }


def rows(runs: Runs) -> list[Row]:
    """Each flow's throughput in the paper's Kb of 1024 bits."""
    table: list[Row] = []
    for ours in common.OURS:
        for i, paper in enumerate(PAPER[ours]):
            values = [common.lifetime_bps(r, i, 0, END_S) / PRINTED_KILO for r in runs[ours]]
            ns2 = NS2[ours][i] if ours in NS2 else None
            name = f"{plots.NAMES[ours]}, S{i + 1}"
            table.append(Row.of(name, "Kb/s of 1024", values, paper, ns2))
    return table


def draw(_runs: Runs, table: Sequence[Row]) -> Figure:
    """The shares beside the paper's and those in proportion to the access links."""
    figure = plots.new_figure()
    axes = figure.subplots()
    plots.compare(axes, table)
    for index, expected in enumerate(EXPECTED):
        for base in (len(table) - index, len(table) - 3 - index):
            label = "in proportion to access" if index == 0 and base == len(table) else None
            axes.plot([expected], [base], "|", color="#555555", markersize=16, label=label)
    plots.finish(
        axes,
        title="Srijith et al., table 5: access links of 128, 256 and 512 kb/s",
        x="throughput (Kb/s of 1024 b)",
        y="",
    )
    axes.set_xlim(0)
    return figure


def _error(row: Mapping[str, Row], name: str) -> float:
    return sum(
        abs(row[f"{name}, S{i}"].waymark - expected) for i, expected in enumerate(EXPECTED, 1)
    )


EXPERIMENT = Experiment(
    id="srijith/tab5",
    paper="Srijith et al., table 5 (section VI.E)",
    claim="Vegas-A's shares follow the access links' rates, Vegas' do not",
    parameters=common.PARAMETERS
    | {
        "access_kbps": list(ACCESS_KBPS),
        "bottleneck_bps": BOTTLENECK_BPS,
        "delays_s": [0.005, 0.01, 0.005],
        "end_s": END_S,
    },
    seeds={"quick": 1, "full": 10},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Vegas' shares are as printed",
            "each within 5 %",
            lambda row: all(abs((row[f"Vegas, S{i}"].ratio or 0) - 1) <= 0.05 for i in (1, 2, 3)),
        ),
        Expectation(
            "Vegas-A's shares rise with the access rate",
            "S1 < S2 < S3",
            lambda row: (
                row["Vegas-A, S1"].waymark < row["Vegas-A, S2"].waymark < row["Vegas-A, S3"].waymark
            ),
        ),
        Expectation(
            "They are nearer to the proportional ones than Vegas'",
            "sum of the absolute differences",
            lambda row: _error(row, "Vegas-A") < _error(row, "Vegas"),
        ),
    ),
    choices=(
        Choice(
            "'RTT' of a link",
            "its delay one way",
            "ns-2's Vegas then gives the printed numbers to 0.02 %",
            "in tables 1 to 4 twice the delay is what fits",
        ),
        Choice(
            "Kb",
            "1000 b in rates, 1024 b in the table",
            "the printed shares add up to 390.6, that is 400000/1024",
            "with 1000 in both, every number would be 2.4 % more",
        ),
    ),
    notes="Seeds after the first start each flow up to 0.1 s later.",
)
