"""Real-time scheduling, for processes that serve queues: a late one loses packets."""

import os
import sys
from pathlib import Path

PRIORITY = 1
"""The lowest real-time priority (sched(7)): above ordinary processes, below the kernel's own."""


def claim(thread: str | None = None) -> None:
    """Use real-time scheduling for this process and the threads that it starts.

    With the name of a thread of this process, use it for that one alone.

    On a busy machine an ordinary process waits for milliseconds, in which a queue at 100 Mb/s
    overflows. If this is not permitted (mostly in containers), a warning is printed.
    """
    try:
        number = 0 if thread is None else _number(thread)
        os.sched_setscheduler(number, os.SCHED_RR, os.sched_param(PRIORITY))
    except OSError as error:
        reason = f"no real-time scheduling ({error.strerror})"
        print(f"warning: {reason}: queues may overflow on a busy machine", file=sys.stderr)


def _number(thread: str) -> int:
    """The number of a thread of this process.

    Raises:
        ProcessLookupError: there is none of this name.
    """
    for task in Path("/proc/self/task").iterdir():
        if (task / "comm").read_text().strip() == thread:
            return int(task.name)
    raise ProcessLookupError(0, f"no thread {thread}")
