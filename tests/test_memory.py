"""Memory does not grow with the length of a run."""

import os
import subprocess
import sys

SHORT_S = 600
LONG_S = int(os.environ.get("WAYMARK_MEMORY_S", "3000"))
"""36000 are the ten hours of a point of Chan 2004, chapter 6."""

ALLOWED_MIB = 4
"""The results have some 2 KiB a bin of 10 s, before they are arrays; the allocator rounds."""

MEASURED = """
import resource, sys
from experiments.chan import heterogeneous as net
from waymark import run

run(net.run("memory", net.VARIANTS[2], 0.5, 0.01, float(sys.argv[1]), seed=1))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_mib(end_s: int) -> float:
    """Peak resident memory of a process that runs RedVegas against cross traffic and loss."""
    command = [sys.executable, "-c", MEASURED, str(end_s)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


def test_a_longer_run_takes_no_more_memory() -> None:
    short, long = peak_mib(SHORT_S), peak_mib(LONG_S)
    assert long - short <= ALLOWED_MIB, f"{short:.1f} MiB at {SHORT_S} s, {long:.1f} at {LONG_S} s"
