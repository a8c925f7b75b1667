"""Measuring experiments: their runs through a pool, then tables, pictures and records."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import cast, overload

from waymark import program, trace
from waymark.errors import WaymarkError
from waymark.experiment import Experiment, Row, Runs, Scale
from waymark.pool import Pool
from waymark.result import Result
from waymark.scenario import Scenario
from waymark.topology import Topology


@dataclass(frozen=True)
class Plan:
    """The runs of one experiment: each label's scenarios, one per seed."""

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
        architecture: str | None = None,
    ) -> "Plan":
        """The plan at a scale, by default with the scale's number of seeds.

        ``traced``: the flows of the first seed's runs record every change. ``architecture``: its
        programs replace those that the experiment names.
        """
        count = experiment.seeds_at(scale) if seeds is None else seeds
        chosen = range(first_seed, first_seed + count)
        per_seed = [_scenarios(experiment, scale, seed) for seed in chosen]
        if architecture is not None:
            per_seed = [
                {label: on_architecture(run, architecture) for label, run in runs.items()}
                for runs in per_seed
            ]
        if traced:
            per_seed[0] = {label: trace.traced(run) for label, run in per_seed[0].items()}
        for seed, runs in zip(chosen, per_seed, strict=True):
            if runs.keys() != per_seed[0].keys():
                raise WaymarkError(
                    f"{experiment.id}: scenarios: seed {seed} has the labels {', '.join(runs)}, "
                    f"seed {first_seed} has {', '.join(per_seed[0])}; expected the same"
                )
        by_label = {label: [runs[label] for runs in per_seed] for label in per_seed[0]}
        return Plan(experiment, scale, list(chosen), _with_shared_networks(by_label))

    @property
    def longest(self) -> float:
        """The size of its longest run."""
        return max(self.sizes)

    @property
    def sizes(self) -> list[float]:
        """The size of each run: simulated seconds times packets per second on the links between
        switches."""
        return [size_of(s) for scenarios in self.scenarios.values() for s in scenarios]

    @property
    def program_sha256(self) -> dict[str, str]:
        """The hash of every P4 program that the switches run, by name."""
        names = {
            name for several in self.scenarios.values() for s in several for name in s.programs
        }
        return {name: program.of_project(name).sha256 for name in sorted(names)}


@dataclass(frozen=True)
class Cost:
    """The total cost of runs, including earlier ones.

    Attributes:
        runs: their number.
        packets: sent packets.
        packet_hops: packets times the links that each passed.
        cpu_s: seconds of one core.
    """

    runs: int
    packets: int
    packet_hops: int
    cpu_s: float


@dataclass(frozen=True)
class Measured:
    """An experiment that was measured."""

    plan: Plan
    runs: Runs
    rows: Sequence[Row]
    wall_s: float

    @cached_property
    def cost(self) -> Cost:
        """The cost of its runs. Each result is read once, and released before the next one is
        read."""
        costs = list(map(_cost_of, chain.from_iterable(self.runs.values())))
        return Cost(
            len(costs),
            sum(cost.packets for cost in costs),
            sum(cost.packet_hops for cost in costs),
            sum(cost.cpu_s for cost in costs),
        )


def _cost_of(result: Result) -> Cost:
    return Cost(1, result.packets, result.packet_hops, result.cpu_s)


def _scenarios(experiment: Experiment, scale: Scale, seed: int) -> dict[str, Scenario]:
    """The runs of one seed, checked, because an experiment may be a user's."""
    found = cast("object", experiment.scenarios(scale, seed))
    runs = dict(cast("Mapping[str, Scenario]", found)) if isinstance(found, Mapping) else {}
    if not runs or not _are(list(runs.values()), Scenario) or not _are(list(runs), str):
        raise WaymarkError(
            f"{experiment.id}: scenarios returned {found!r}; expected a dict of labels to "
            "waymark.Scenario, with one entry or more"
        )
    return runs


def _with_shared_networks(runs: dict[str, list[Scenario]]) -> dict[str, list[Scenario]]:
    """The same runs, with equal networks shared as one object: plans have thousands of runs."""
    networks: dict[Topology, Topology] = {}

    def shared(scenario: Scenario) -> Scenario:
        try:
            network = networks.setdefault(scenario.topology, scenario.topology)
        except TypeError:  # of entries, which have dicts
            return scenario
        return scenario if network is scenario.topology else replace(scenario, topology=network)

    return {label: list(map(shared, several)) for label, several in runs.items()}


def _are(values: object, kind: type) -> bool:
    """Whether something is a list or tuple of values of a type."""
    return isinstance(values, list | tuple) and all(
        isinstance(value, kind) for value in cast("Sequence[object]", values)
    )


def on_architecture(scenario: Scenario, name: str) -> Scenario:
    """The same run with the programs for another architecture in its switches."""
    try:
        return replace(scenario, topology=scenario.topology.with_architecture(name))
    except WaymarkError as error:
        raise WaymarkError(f"scenario {scenario.name}: {error}") from None


def size_of(scenario: Scenario) -> float:
    """The expected duration of a run, in a unit that is common to all runs."""
    switches = {switch.name for switch in scenario.topology.switches}
    between = [
        link.rate_bps
        for link in scenario.topology.links
        if link.source in switches and link.target in switches
    ]
    slowest = min(link.rate_bps for link in scenario.topology.links)
    return scenario.end_s * (sum(between) or 2 * slowest)


class FinishedRuns(Sequence[Result]):
    """The results of runs. Results in a store are in memory only while they are used.

    Args:
        futures: of the runs; they are waited for.

    Raises:
        WaymarkError: as :func:`waymark.run`, from the first run that failed.
    """

    def __init__(self, futures: Sequence["Future[Result]"]) -> None:
        self._futures = tuple(futures)
        for future in self._futures:
            error = future.exception()
            if error is not None:
                raise error

    def __len__(self) -> int:
        return len(self._futures)

    def __iter__(self) -> Iterator[Result]:
        # A sequence's default iterator keeps the previous result while the next one is read.
        return (future.result() for future in self._futures)

    @overload
    def __getitem__(self, index: int) -> Result: ...

    @overload
    def __getitem__(self, index: slice) -> "FinishedRuns": ...

    def __getitem__(self, index: int | slice) -> "Result | FinishedRuns":
        if isinstance(index, slice):
            return FinishedRuns(self._futures[index])
        return self._futures[index].result()


@dataclass(frozen=True)
class Handed:
    """An experiment whose runs were submitted."""

    plan: Plan
    _futures: dict[str, list["Future[Result]"]]

    @property
    def unfinished(self) -> int:
        """How many of its runs have not ended."""
        return sum(not future.done() for several in self._futures.values() for future in several)

    def measured(self) -> Measured:
        """Wait for the runs and measure the experiment. Call it once: it releases the runs.

        Raises:
            WaymarkError: as :func:`waymark.run`.
        """
        started = time.monotonic()
        runs = {label: FinishedRuns(several) for label, several in self._futures.items()}
        self.release()
        rows: object = self.plan.experiment.rows(runs)
        if not _are(rows, Row):
            raise WaymarkError(
                f"{self.plan.experiment.id}: rows returned {rows!r}; expected a list of waymark.Row"
            )
        return Measured(self.plan, runs, cast("list[Row]", rows), time.monotonic() - started)

    def release(self) -> None:
        """Forget the runs."""
        self._futures.clear()


AHEAD = 1024
"""Runs that are submitted beyond the current experiment."""


def hand_out(
    plans: Sequence[Plan],
    workers: Pool,
    *,
    captures: Path | None = None,
    done: Callable[[float], None] = lambda _: None,
    ahead: int = AHEAD,
) -> Generator[Handed]:
    """Submit the runs of experiments, and yield the experiments in their order.

    Results that are not in a store stay in memory until their experiment is measured. To limit
    memory, an experiment is yielded before the next one is submitted if its runs have ended, or if
    more than ``ahead`` runs have not ended.

    Args:
        plans: the runs.
        workers: the pool that runs them.
        captures: a folder for the packets of the first seed's runs; None: none are captured.
        done: called after each run with its size, from any thread.
        ahead: enough runs to keep all workers busy.
    """
    waiting: deque[Handed] = deque()
    for plan in plans:
        waiting.append(Handed(plan, _submit(plan, workers, captures, done)))
        while waiting and (
            waiting[0].unfinished == 0 or sum(one.unfinished for one in waiting) > ahead
        ):
            yield waiting.popleft()
    while waiting:
        yield waiting.popleft()


def capture_path(folder: Path, label: str) -> Path:
    """The capture file of a run."""
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
