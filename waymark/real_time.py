"""Real-time scheduling, for processes that serve queues: a late one loses packets."""

import os
import sys

PRIORITY = 1
"""The lowest real-time priority (sched(7)): above ordinary processes, below the kernel's own."""


def claim() -> None:
    """Use real-time scheduling for this process and the threads that it starts.

    On a busy machine an ordinary process waits for milliseconds, in which a queue at 100 Mb/s
    overflows. If this is not permitted (mostly in containers), a warning is printed.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    except OSError as error:
        reason = f"no real-time scheduling ({error.strerror})"
        print(f"warning: {reason}: queues may overflow on a busy machine", file=sys.stderr)
