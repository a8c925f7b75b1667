"""Returns the memory of freed arrays to the system."""

import ctypes

_M_MMAP_THRESHOLD = -3
_LARGE_OCTETS = 128 << 10


def return_large_arrays() -> None:
    """Make the C library always map arrays of 128 KiB or more outside of its heap.

    By default, glibc raises this bound up to 32 MiB when such arrays are freed (mallopt(3),
    M_MMAP_THRESHOLD). Later arrays are then in the heap and leave gaps, which the process keeps.
    Other C libraries do not raise it; for them, nothing changes.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE_OCTETS)
