"""One test module at a time on a machine loads BPF programs.

Controls and the maps that programs share belong to the machine, not to a network namespace or a
checkout: tests of two checkouts would use each other's programs.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

LOCK = Path("/run/waymark-kernel-tests.lock")


@pytest.fixture(scope="module")
def kernel_lock() -> Iterator[None]:
    """Wait until no other process runs a module with this fixture.

    Without root, nothing is loaded, and nothing is locked.
    """
    if os.geteuid() != 0:
        yield
        return
    with LOCK.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
