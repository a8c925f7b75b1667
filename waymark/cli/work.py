"""The options of commands that make many runs, and how they make them."""

import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from waymark.cli.base import EXIT_INTERRUPTED, MOST_THREADS, Jobs, err
from waymark.cli.heap import return_large_arrays
from waymark.measure import Handed, Plan, hand_out
from waymark.pool import pool
from waymark.progress import progress
from waymark.store import KEPT, Store

Results = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Results, in one folder per id.")
]


@dataclass(frozen=True)
class Work:
    """Options for where runs are executed, and where their results are stored.

    Attributes:
        jobs: processes; None: one per core.
        scheduler: the address of a Dask scheduler, whose workers make the runs instead.
        out_dir: the folder of results, which holds finished runs as well.
        again: whether to repeat finished runs.
        threads: among how many each run's network is divided, at most.
    """

    jobs: Jobs = None
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on the Dask cluster of this scheduler."),
    ] = None
    out_dir: Results = Path("results")
    again: Annotated[
        bool, typer.Option("--again", help="Repeat finished runs instead of reusing them.")
    ] = False
    threads: Annotated[
        int,
        typer.Option(
            min=1,
            max=MOST_THREADS,
            help="Threads per run. Results do not depend on it.",
        ),
    ] = 1

    @contextmanager
    def hand_out(
        self, plans: Sequence[Plan], title: str, captures: Path | None = None
    ) -> Generator[Iterator[Handed]]:
        """Start the runs of ``plans``, and show progress under ``title``.

        Within the block, gives the experiments in their order. Ctrl-C ends the command.

        Args:
            plans: what to run.
            title: of the progress bar.
            captures: a folder for the packets of the first seed's runs; None: none are captured.
        """
        return_large_arrays()
        store = Store(self.out_dir / KEPT, _note, afresh=self.again)
        sizes = [size for plan in plans for size in plan.sizes]
        try:
            with (
                pool(self.jobs, self.scheduler, store, self.threads) as workers,
                progress(err, title, sizes) as done,
            ):
                yield hand_out(plans, workers, captures=captures, done=done)
            for (threads, limit), runs in workers.limits.items():
                of = f"{threads} of {self.threads} threads"
                _note(f"{runs} {'run' if runs == 1 else 'runs'} used {of}: {limit}")
        except KeyboardInterrupt as interrupt:
            command = "the command without --again" if self.again else "the command"
            told = f"interrupted: finished runs are stored; repeat {command} to continue"
            print(told, file=sys.stderr)
            raise typer.Exit(EXIT_INTERRUPTED) from interrupt


def _note(sentence: str) -> None:
    err.print(sentence, highlight=False, markup=False, soft_wrap=True)
