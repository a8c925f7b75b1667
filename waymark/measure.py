"""Measuring experiments: their runs through a pool, then tables, pictures and records."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

from waymark import program, trace
from waymark.experiment import Experiment, Row, Runs, Scale
from waymark.pool import Pool
from waymark.result import Result
from waymark.scenario import Scenario


@dataclass(frozen=True)
class Plan:
    """The runs of one experiment: each label's scenarios, one a seed."""

    experiment: Experiment
    scale: Scale
    seeds: Sequence[int]
    scenarios: dict[str, list[Scenario]]

    @staticmethod
    def of(
        experiment: Experiment,
        scale: Scale,
        first_seed: int,
        seeds: int | None,
        *,
        traced: bool = False,
    ) -> "Plan":
        """The plan at a scale; as many seeds as the scale has, unless told otherwise.

        ``traced``: the flows of the first seed's runs record every change.
        """
        count = experiment.seeds_at(scale) if seeds is None else seeds
        chosen = range(first_seed, first_seed + count)
        per_seed = [dict(experiment.scenarios(scale, seed)) for seed in chosen]
        if traced:
            per_seed[0] = {label: trace.traced(run) for label, run in per_seed[0].items()}
        by_label = {label: [runs[label] for runs in per_seed] for label in per_seed[0]}
        return Plan(experiment, scale, list(chosen), by_label)

    @property
    def sizes(self) -> list[float]:
        """Of each run: simulated seconds times packets per second on the links between switches."""
        return [size_of(s) for scenarios in self.scenarios.values() for s in scenarios]

    @property
    def program_sha256(self) -> dict[str, str]:
        """The hash of every P4 program that the switches run, by name."""
        names = {
            name for several in self.scenarios.values() for s in several for name in s.programs
        }
        return {name: program.of_project(name).sha256 for name in sorted(names)}


@dataclass(frozen=True)
class Measured:
    """An experiment that was measured."""

    plan: Plan
    runs: Runs
    rows: Sequence[Row]
    wall_s: float

    @property
    def run_cpu_s(self) -> float:
        """Seconds of one core that its runs took in all, whenever they were made."""
        return sum(result.cpu_s for several in self.runs.values() for result in several)


def size_of(scenario: Scenario) -> float:
    """How long a run will take, in a unit that runs have in common."""
    switches = {switch.name for switch in scenario.topology.switches}
    between = [
        link.rate_bps
        for link in scenario.topology.links
        if link.source in switches and link.target in switches
    ]
    slowest = min(link.rate_bps for link in scenario.topology.links)
    return scenario.end_s * (sum(between) or 2 * slowest)


@dataclass(frozen=True)
class Handed:
    """An experiment whose runs were handed out."""

    plan: Plan
    _futures: dict[str, list["Future[Result]"]]

    def measured(self) -> Measured:
        """The experiment, once its runs have ended; to be asked for once, as it lets go of them.

        Raises:
            WaymarkError: as :func:`waymark.run`.
        """
        started = time.monotonic()
        runs = {label: [f.result() for f in several] for label, several in self._futures.items()}
        self._futures.clear()
        return Measured(
            self.plan, runs, self.plan.experiment.rows(runs), time.monotonic() - started
        )


def hand_out(
    plans: Sequence[Plan],
    workers: Pool,
    *,
    captures: Path | None = None,
    done: Callable[[float], None] = lambda _: None,
) -> list[Handed]:
    """Hand out all runs of experiments at once.

    Args:
        plans: what to run.
        workers: who runs it.
        captures: a folder for the packets of the first seed's runs; None: none are captured.
        done: called after each run with its size, from any thread.
    """
    return [Handed(plan, _submit(plan, workers, captures, done)) for plan in plans]


def capture_path(folder: Path, label: str) -> Path:
    """Where the packets of a run go."""
    return folder / f"{label.replace(' ', '_').replace('/', '_')}.pcapng"


def _submit(
    plan: Plan, workers: Pool, captures: Path | None, done: Callable[[float], None]
) -> dict[str, list["Future[Result]"]]:
    futures: dict[str, list[Future[Result]]] = {}
    for label, scenarios in plan.scenarios.items():
        futures[label] = []
        for index, scenario in enumerate(scenarios):
            to = capture_path(captures, label) if captures and index == 0 else None
            future = workers.submit(scenario, to)
            size = size_of(scenario)
            future.add_done_callback(lambda _, size=size: done(size))
            futures[label].append(future)
    return futures
