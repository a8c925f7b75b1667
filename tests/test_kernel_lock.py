"""Tests that load BPF programs do not run at the same time as those of another checkout."""

from __future__ import annotations

import fcntl
import os

import pytest
from kernel_lock import LOCK


@pytest.mark.usefixtures("kernel_lock")
def test_another_process_waits() -> None:
    if os.geteuid() != 0:
        pytest.skip("BPF programs need root, and so does their lock")
    with LOCK.open("w") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
