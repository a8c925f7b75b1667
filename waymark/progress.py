"""A progress bar on a terminal, occasional lines elsewhere."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

Advance = Callable[[float], None]
"""Called once for every finished run, with its size, from any thread."""


@contextmanager
def progress(console: Console, what: str, sizes: list[float]) -> Generator[Advance]:
    """Show how many runs are done and how long the others will take.

    The bar and the remaining time depend on sizes, because one run may be as long as a thousand
    others. Without a terminal, a line is printed after every tenth of the runs.

    Args:
        console: the console.
        what: the name of what runs.
        sizes: of the runs, in any unit.
    """
    total = len(sizes)
    done = 0
    has_ended = False
    lock = threading.Lock()
    if console.is_terminal:
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[done]} of {task.fields[runs]} runs, left:"),
            TimeRemainingColumn(),
            console=console,
        )
        with bar:
            task = bar.add_task(what, total=sum(sizes), done=0, runs=total)

            def move(size: float) -> None:
                nonlocal done
                with lock:
                    done += 1
                    bar.update(task, advance=size, done=done)

            yield move
        return

    def show(line: str) -> None:
        with suppress(OSError):  # nobody reads it any more, which is no reason to end the runs
            console.print(line)

    def tell(_: float) -> None:
        nonlocal done
        with lock:
            if has_ended:  # runs that were given up when the block was left
                return
            done += 1
            if done == total or done * 10 // total > (done - 1) * 10 // total:
                show(f"{what}: {done} of {total} runs")

    show(f"{what}: {total} runs")
    try:
        yield tell
    finally:
        with lock:
            has_ended = True
