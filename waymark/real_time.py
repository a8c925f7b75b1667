"""Coming before other processes, for those that serve queues: who comes late, loses packets."""

import os
import sys

PRIORITY = 1
"""The least one of real time (sched(7)): before every ordinary process, after the kernel's own."""


def claim() -> None:
    """Have the kernel serve this process, and threads that it starts, before ordinary ones.

    On a busy machine a process waits for milliseconds, a queue's length at 100 Mb/s. Where this is
    not permitted (containers, mostly) it is told, and nothing else changes.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    except OSError as error:
        told = f"no real-time scheduling ({error.strerror}): queues overflow on a busy machine"
        print(f"warning: {told}", file=sys.stderr)
