"""Memory of arrays that are gone goes back to the system."""

import ctypes

_M_MMAP_THRESHOLD = -3
_LARGE_OCTETS = 128 << 10


def return_large_arrays() -> None:
    """Has the C library map arrays of 128 KiB or more apart from its heap, as it does at first.

    glibc raises that bound up to 32 MiB as such arrays go (mallopt(3), M_MMAP_THRESHOLD). Later
    ones are in the heap and leave gaps there, which stay with the process. Other C libraries do not
    do that, and nothing is changed.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE_OCTETS)
