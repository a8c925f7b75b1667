"""Memory that large arrays leave to the process as they go."""

import ctypes
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import numpy as np
from waymark.cli.heap import return_large_arrays

def resident_mb():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 >> 20

if sys.argv[1] == "returned":
    return_large_arrays()
first = np.ones(2 << 20)
del first  # glibc raises its bound to 16 MiB
large = [np.ones(1 << 16) for _ in range(200)]
behind = [bytes(600) for _ in range(1000)]
del large
print(resident_mb())
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="the C library is not glibc")
def test_large_arrays_leave_no_gaps() -> None:
    """200 arrays of 512 KiB, with small objects behind them, which stay."""
    kept, returned = (
        int(subprocess.check_output([sys.executable, "-c", PROGRAM, how]))
        for how in ("kept", "returned")
    )
    assert kept - returned > 80
