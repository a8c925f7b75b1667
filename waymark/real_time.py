"""Real-time scheduling, for processes that serve queues: a late process loses packets."""

import os
import sys
from pathlib import Path

PRIORITY = 1
"""The lowest real-time priority (sched(7)): above ordinary processes, below the kernel's own."""


def claim(threads: str | None = None) -> None:
    """Use real-time scheduling for this process and the threads that it starts.

    If a thread name is given, use it only for this process's threads of that name.

    On a busy machine an ordinary process waits for milliseconds, in which a queue at 100 Mb/s
    overflows. If this is not permitted (mostly in containers), a warning is printed.
    """
    try:
        for number in [0] if threads is None else _numbers(threads):
            os.sched_setscheduler(number, os.SCHED_RR, os.sched_param(PRIORITY))
    except OSError as error:
        reason = f"no real-time scheduling ({error.strerror})"
        print(f"warning: {reason}: queues may overflow on a busy machine", file=sys.stderr)


def _numbers(name: str) -> list[int]:
    """The numbers of the threads of this process that have a name.

    Raises:
        ProcessLookupError: there is none.
    """
    tasks = Path("/proc/self/task").iterdir()
    numbers = [int(task.name) for task in tasks if (task / "comm").read_text().strip() == name]
    if not numbers:
        raise ProcessLookupError(0, f"no thread {name}")
    return numbers
