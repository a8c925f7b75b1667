"""Srijith et al., table 3 and figures 8 and 9: three flows of ours and three of NewReno."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from experiments.srijith import common
from waymark import Expectation, Experiment, Row, Runs, Scale, Scenario, plots
from waymark.analysis.fairness import interprotocol_ratio
from waymark.networks import dumbbell

END_S = 200.0
EVERY_S = 10.0
EACH = 3
PAPER_BPS = {
    "vegas": (164480, 119242, 106044, 326590, 207002, 250828),
    "vegasa": (275480, 167789, 304178, 127908, 131402, 109336),
}
PAPER_RATIO = {"vegas": 0.497, "vegasa": 2.028}
NS2_RATIO = {"vegas": 0.472}


def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
    """One flow more every 10 s, ours first."""
    network = dumbbell(2 * EACH, (1e6, 0.04), (1e6, 0.01))
    starts = common.starts_s(2 * EACH, EVERY_S, seed)
    return {
        plots.NAMES[ours]: Scenario(
            ours,
            network,
            END_S,
            flows=tuple(
                common.flow(i + 1, ours if i < EACH else "newreno", start_s=start)
                for i, start in enumerate(starts)
            ),
            seed=seed,
        )
        for ours in common.OURS
    }


def rows(runs: Runs) -> list[Row]:
    """Each flow's throughput over its lifetime, and the interprotocol fairness ratio."""
    table: list[Row] = []
    for ours in common.OURS:
        name = plots.NAMES[ours]
        shares = [
            [common.lifetime_bps(r, i, i * EVERY_S, END_S) for i in range(2 * EACH)]
            for r in runs[name]
        ]
        for i in range(2 * EACH):
            values = [each[i] for each in shares]
            table.append(Row.of(f"{name}, S{i + 1}", "b/s", values, PAPER_BPS[ours][i]))
        ratios = [interprotocol_ratio(each[:EACH], each[EACH:]) for each in shares]
        ratio = PAPER_RATIO[ours], NS2_RATIO.get(ours)
        table.append(Row.of(f"{name}/NewReno", "1", ratios, *ratio))
    return table


def draw(runs: Runs, _table: Sequence[Row]) -> Figure:
    """Throughput over time."""

    def colour(label: str, index: int) -> object:
        ours = next(a for a in common.OURS if plots.NAMES[a] == label)
        base = plots.COLOURS["newreno" if index >= EACH else ours]
        return plots.shade(base, 1 - 0.3 * (index % EACH))

    return common.draw_throughputs(
        runs,
        {
            label: [f"S{i + 1} {label if i < EACH else 'NewReno'}" for i in range(2 * EACH)]
            for label in runs
        },
        colour,
        "Srijith et al., table 3, figures 8 and 9: one flow more every 10 s (first seed)",
        END_S,
    )


EXPERIMENT = Experiment(
    id="srijith/tab3",
    also=("srijith/fig8", "srijith/fig9"),
    paper="Srijith et al., table 3 and figures 8 and 9 (section VI.B)",
    claim="Beside three NewReno flows, Vegas gets half a fair share and Vegas-A twice one",
    parameters=common.PARAMETERS
    | {"links": "1 Mb/s; 10, 40, 10 ms one way", "every_s": EVERY_S, "end_s": END_S},
    seeds={"quick": 2, "full": 10},
    scenarios=scenarios,
    rows=rows,
    draw=draw,
    expectations=(
        Expectation(
            "Vegas/NewReno is .497",
            "within 20 %: six flows over a drop-tail queue, where 0.1 s at the start moves it",
            lambda row: abs((row["Vegas/NewReno"].ratio or 0) - 1) <= 0.2,
        ),
        Expectation(
            "Vegas-A outperforms NewReno: the ratio is above 1",
            "on the mean of the seeds",
            lambda row: row["Vegas-A/NewReno"].waymark > 1,
        ),
    ),
    choices=(common.RTT_CHOICE,),
    notes="Seeds after the first start each flow up to 0.1 s later.",
)
