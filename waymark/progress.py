"""A progress bar on a terminal, a line now and then elsewhere."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Advance = Callable[[], None]
"""To be called once for every finished run."""


@contextmanager
def progress(console: Console, what: str, total: int) -> Generator[Advance]:
    """Show how many of ``total`` runs are done; without a terminal, a line at every tenth."""
    if console.is_terminal:
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("runs"),
            TimeRemainingColumn(),
            console=console,
        )
        with bar:
            task = bar.add_task(what, total=total)
            yield lambda: bar.advance(task)
        return

    done = 0

    def advance() -> None:
        nonlocal done
        done += 1
        if done == total or done * 10 // total > (done - 1) * 10 // total:
            console.print(f"{what}: {done} of {total} runs")

    console.print(f"{what}: {total} runs")
    yield advance
