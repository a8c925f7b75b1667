"""Many runs from Python: :func:`run_all` and :func:`sweep`."""

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast

from rich.console import Console

from waymark import congestion
from waymark import progress as bar
from waymark.congestion import CongestionControl
from waymark.errors import WaymarkError
from waymark.frame import Table, Value
from waymark.measure import AHEAD, size_of
from waymark.pool import pool
from waymark.result import Result
from waymark.scenario import Scenario
from waymark.store import KEPT, Store

Measures = Mapping[str, float | int | None]
"""The measurements of one run, by name."""


class Results(list[Result]):
    """The results of :func:`run_all`, in the order of the scenarios."""

    def __init__(self, scenarios: Sequence[Scenario], results: Iterable[Result]) -> None:
        super().__init__(results)
        self._scenarios = tuple(scenarios)

    def table(self, measure: Callable[[Result], Measures] | None = None) -> Table:
        """A row per run: ``scenario``, ``seed``, and the result of ``measure``; None: of
        :func:`summary`."""
        about = [{"scenario": one.name, "seed": one.seed} for one in self._scenarios]
        return _table(about, [(measure or summary)(result) for result in self])


def run_all(
    scenarios: Sequence[Scenario],
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    out: str | Path | None = None,
    again: bool = False,
    progress: bool = False,
    done: Callable[[], None] = lambda: None,
) -> Results:
    """Run scenarios, each in a process of a pool; results keep the scenarios' order.

    Args:
        scenarios: the scenarios.
        jobs: processes; None: one per core.
        scheduler: the address of a Dask scheduler, whose workers run the scenarios instead.
        out: a folder of results, in which finished runs are stored and reused, as in ``waymark
            run``; None: nothing is stored.
        again: repeat finished runs instead of reusing them.
        progress: whether to show progress on standard error.
        done: called after each run.

    Raises:
        WaymarkError: as :func:`waymark.run`, from the first scenario that fails.
    """
    results = _run(
        scenarios, "runs", jobs, scheduler, None if again else out, progress=progress, done=done
    )
    return Results(scenarios, results)


def sweep(
    make: Callable[..., Scenario],
    parameters: Mapping[str, Sequence[Any]],
    measure: Callable[[Result], Measures] | None = None,
    *,
    seeds: int | Sequence[int] = 1,
    jobs: int | None = None,
    scheduler: str | None = None,
    out: str | Path | None = "results",
    again: bool = False,
    progress: bool = True,
) -> Table:
    """Run every combination of parameters with every seed; returns a table with a row per run.

    Finished runs are stored: after an interrupt, the same call continues where it stopped. Call it
        under ``if __name__ == "__main__":``, because other processes import the main module::

        table = sweep(make, {"algorithm": ["vegas", "cubic"], "load": [0, 0.5, 0.9]}, seeds=6)
        print(table.over_seeds())

    Args:
        make: returns the scenario of one combination: it is called with the parameters by name, and
            with ``seed``.
        parameters: the values of each parameter.
        measure: measures a run; None: :func:`summary`.
        seeds: their number, counted from 1; or the seeds.
        jobs, scheduler, out, again, progress: as for :func:`run_all`.

    Returns: A table whose columns are the parameters, ``seed``, and the result of ``measure``. A
        congestion control in Python appears by its name.

    Raises:
        WaymarkError: a parameter has no values, ``make`` or ``measure`` returns something else, or
            as :func:`run_all`.
    """
    for name, values in parameters.items():
        if isinstance(values, str) or not list(values):
            raise WaymarkError(f"parameter {name}: found {values!r}; expected a list of values")
    if "seed" in parameters:
        raise WaymarkError("parameter seed: expected as seeds=…")
    numbers = range(1, seeds + 1) if isinstance(seeds, int) else seeds
    if not numbers:
        raise WaymarkError(f"seeds: found {seeds!r}; expected at least one")
    combinations = [
        dict(zip((*parameters, "seed"), values, strict=True))
        for values in itertools.product(*parameters.values(), numbers)
    ]
    scenarios = [_made(make, each) for each in combinations]
    results = _run(scenarios, "sweep", jobs, scheduler, None if again else out, progress=progress)
    measured = [(measure or summary)(result) for result in results]
    return _table([{k: _cell(v) for k, v in each.items()} for each in combinations], measured)


def summary(result: Result) -> dict[str, float | int | None]:
    """Measurements that every run has: throughput and losses of each flow, the mean of each queue.

    Columns: ``flow0_bps`` (mean throughput over the whole run), ``flow0_losses``,
    ``flow0_retransmissions``, ``flow0_timeouts``, ``flow0_finished_s`` (None: it did not end),
    ``association0_bps`` (goodput), and ``waiting r1->r2`` (mean of the packets waiting).
    """
    found: dict[str, float | int | None] = {}
    for number, flow in enumerate(result.flows):
        found |= {
            f"flow{number}_bps": result.throughput_bps(number, 0, result.end_s),
            f"flow{number}_losses": flow.losses,
            f"flow{number}_retransmissions": flow.retransmissions,
            f"flow{number}_timeouts": flow.timeouts,
            f"flow{number}_finished_s": flow.finished_s,
        }
    for number in range(len(result.associations)):
        found[f"association{number}_bps"] = result.goodput_bps(number, 0, result.end_s)
    for link in result.queues:
        found[f"waiting {link}"] = result.mean_waiting(link, 0, result.end_s)
    return found


def _made(make: Callable[..., Scenario], combination: Mapping[str, Any]) -> Scenario:
    scenario = cast("object", make(**combination))
    if not isinstance(scenario, Scenario):
        given = ", ".join(f"{name}={value!r}" for name, value in combination.items())
        raise WaymarkError(f"make({given}) returned {scenario!r}; expected a waymark.Scenario")
    return scenario


def _run(
    scenarios: Sequence[Scenario],
    title: str,
    jobs: int | None,
    scheduler: str | None,
    out: str | Path | None,
    *,
    progress: bool,
    done: Callable[[], None] = lambda: None,
) -> Generator[Result]:
    """The results in order; only a few are in memory at a time."""
    if not scenarios:
        return
    store = None if out is None else Store(Path(out) / KEPT)
    sizes = [size_of(scenario) for scenario in scenarios]
    shown = bar.progress(Console(stderr=True), title, sizes) if progress else nullcontext(None)
    with pool(jobs, scheduler, store) as workers, shown as advance:
        waiting: deque[Any] = deque()
        for scenario, size in zip(scenarios, sizes, strict=True):
            future = workers.submit(scenario)

            def ended(_: object, size: float = size) -> None:
                done()
                if advance is not None:
                    advance(size)

            future.add_done_callback(ended)
            waiting.append(future)
            if len(waiting) > AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _table(about: Sequence[Mapping[str, Value]], measured: Sequence[Measures]) -> Table:
    for found in measured:
        if not isinstance(cast("object", found), Mapping):
            raise WaymarkError(f"measure returned {found!r}; expected a dict of names to numbers")
    # Runs may have different flows and links; cells of missing ones are empty.
    names = list(dict.fromkeys(name for found in measured for name in found))
    keys = tuple(about[0]) if about else ()
    clash = [name for name in names if name in keys]
    if clash:
        raise WaymarkError(f"measure returned {clash[0]!r}, which is a parameter; rename one")
    rows = [
        {**each, **{name: _plain(found.get(name)) for name in names}}
        for each, found in zip(about, measured, strict=True)
    ]
    return Table.of_rows(rows, keys)


def _plain(number: Any) -> Value:
    """A number of numpy as Python's."""
    return number.item() if hasattr(number, "item") else number


def _cell(value: Any) -> Value:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, CongestionControl) or callable(value):
        return congestion.name(value)
    return str(value)
