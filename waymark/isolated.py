"""Runs many small jobs, each in a separate process with a time limit."""

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_METHOD = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"


@dataclass(frozen=True)
class Lost:
    """A job without a result, and the reason."""

    reason: str


@dataclass(frozen=True)
class _Running:
    index: int
    process: BaseProcess
    ends: float


def each(
    job: Callable[[T], R], tasks: Sequence[T], *, jobs: int | None = None, limit_s: float
) -> Iterator[tuple[T, R | Lost]]:
    """Do ``job`` for every task; results come in the order of the tasks.

    A job that crashes, raises or runs longer than the limit is :class:`Lost`; the others continue.

    Args:
        job: a function of a module, which another process can import.
        tasks: its arguments.
        jobs: processes at a time; None: one per core.
        limit_s: time limit of each task, in seconds.
    """
    context: Any = multiprocessing.get_context(_METHOD)
    width = max(1, jobs or os.cpu_count() or 1)
    running: dict[Connection, _Running] = {}
    done: dict[int, R | Lost] = {}
    started = shown = 0
    try:
        while shown < len(tasks):
            while started < len(tasks) and len(running) < width:
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(job, tasks[started], theirs))
                process.start()
                theirs.close()
                running[ours] = _Running(started, process, time.monotonic() + limit_s)
                started += 1
            patience = min((one.ends for one in running.values()), default=0.0) - time.monotonic()
            ready = wait(list(running), timeout=max(0.0, patience))
            for pipe, one in list(running.items()):
                if pipe in ready:
                    done[one.index] = _received(pipe, one.process)
                elif time.monotonic() >= one.ends:
                    one.process.kill()
                    one.process.join()
                    done[one.index] = Lost(f"not done after {limit_s:g} s")
                else:
                    continue
                pipe.close()
                del running[pipe]
            while shown in done:
                yield tasks[shown], done.pop(shown)
                shown += 1
    finally:
        for one in running.values():
            one.process.kill()


def _work(job: Callable[[T], R], task: T, pipe: Connection) -> None:
    try:
        result: R | Lost = job(task)
    except KeyboardInterrupt:
        return
    except BaseException as error:  # a panic of the core is not an Exception
        result = Lost(f"{type(error).__name__}: {error}")
    pipe.send(result)


def _received(pipe: Connection, process: BaseProcess) -> Any:
    try:
        result = pipe.recv()
    except EOFError:
        process.join()
        return Lost(f"the process ended with {process.exitcode}")
    process.join()
    return result
