"""Experiments' rows from runs of the lab and of ns-2, side by side.

``python tests/ns2_compare.py kurata/fig3 lien/fig4.10 --seeds 5``: a row a quantity, with the mean
and the range of both over the seeds, and whether they agree: means within 5 %, or ns-2's mean in
the range here. Runs with a control that ns-2 does not have are left out.
"""

import argparse
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor

import ns2_scenarios

from waymark import Experiment, Result, Row, Scenario, run
from waymark.experiment import Scale, select

TOLERANCE = 0.05


def main() -> None:
    """Measures the experiments and prints their rows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("experiments", nargs="+", help="ids or patterns")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--scale", choices=("quick", "full"), default="quick")
    parser.add_argument(
        "--defect", action="store_true", help="have ns-2's defect of Vegas here too"
    )
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    seeds = range(1, chosen.seeds + 1)
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for experiment in select(chosen.experiments):
            print(f"\n{experiment.id}")
            rows = compare(experiment, chosen.scale, seeds, pool, chosen.defect)
            for ours, theirs in rows:
                print(line(ours, theirs), flush=True)


def compare(
    experiment: Experiment,
    scale: Scale,
    seeds: Sequence[int],
    pool: Executor,
    defect: bool = False,
) -> list[tuple[Row, Row]]:
    """The rows of the runs that ns-2 can make: ours, and ns-2's."""
    scenarios = [experiment.scenarios(scale, seed) for seed in seeds]
    known = [label for label, one in scenarios[0].items() if ns2_scenarios.is_known(one)]
    if not known:
        return []
    foreign = {re.split(r", | \(", label)[0] for label in scenarios[0] if label not in known}
    ours_too = {re.split(r", | \(", label)[0] for label in known}
    foreign -= ours_too
    # "Std of ns-2.35" is known though "Std" is not.
    longer = [name for name in ours_too if any(label in name for label in foreign)]
    sides: list[Mapping[str, Sequence[Result]]] = []
    ours = _run_with_the_defect if defect else run
    futures = [
        {label: [pool.submit(one, each[label]) for each in scenarios] for label in known}
        for one in (ours, ns2_scenarios.run)
    ]
    for several in futures:
        runs = {label: [future.result() for future in each] for label, each in several.items()}
        # What ns-2 cannot run is in neither table.
        sides.append({label: runs.get(label, runs[known[0]]) for label in scenarios[0]})
    rows, theirs = ({row.quantity: row for row in experiment.rows(side)} for side in sides)

    def is_foreign(name: str) -> bool:
        for known_name in longer:
            name = name.replace(known_name, "")
        return any(label in name for label in foreign)

    return [(row, theirs[name]) for name, row in rows.items() if not is_foreign(name)]


def _run_with_the_defect(scenario: Scenario) -> Result:
    return run(ns2_scenarios.with_the_defect(scenario))


def line(ours: Row, theirs: Row) -> str:
    """Both numbers with their ranges, and whether they agree."""

    def told(row: Row) -> str:
        low, high = row.waymark_range or (row.waymark, row.waymark)
        return f"{row.waymark:9.4g} [{low:.4g}, {high:.4g}]"

    low, high = ours.waymark_range or (ours.waymark, ours.waymark)
    verdict = ""
    if abs(ours.waymark - theirs.waymark) > TOLERANCE * abs(theirs.waymark):
        verdict = "in range" if low <= theirs.waymark <= high else "DIFFERS"
    return f"  {ours.quantity:44} {told(ours):30} ns-2 {told(theirs):30} {verdict}".rstrip()


if __name__ == "__main__":
    main()
