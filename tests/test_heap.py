"""Memory that large arrays leave to the process as they go."""

import ctypes
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
from waymark.cli.heap import return_large_arrays

def resident_mb():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 >> 20

return_large_arrays()
first = np.ones(2 << 20)
del first  # by default, glibc raises its bound to 16 MiB
before = resident_mb()
pairs = [(np.ones(1 << 16), np.ones(15_000)) for _ in range(200)]
behind = [small for _, small in pairs]
del pairs
print(resident_mb() - before)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="the C library is not glibc")
def test_large_arrays_leave_no_gaps() -> None:
    """200 arrays of 512 KiB are freed; each is followed by one of 117 KiB, which stays."""
    grown_mb = int(subprocess.check_output([sys.executable, "-c", PROGRAM]))
    assert 20 <= grown_mb < 60
