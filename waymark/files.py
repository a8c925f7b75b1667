"""Reads files that a user names, with checks of their kind and size; replaces files as a whole."""

import fcntl
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from waymark.errors import WaymarkError, os_errors

MOST_OCTETS = 64 << 20
"""Maximum length of a file that is read, in octets."""


def is_file(path: Path) -> bool:
    """Whether a regular file exists. False also if none can exist: the name is too long, or the
    path leads through a file."""
    try:
        return path.is_file()
    except OSError:
        return False


def require_file(path: Path) -> None:
    """Raise a :class:`WaymarkError` unless ``path`` is a regular file or a pipe.

    A device such as ``/dev/zero`` may have no end. The shell's ``<(command)`` names a pipe.
    """
    with os_errors(path):
        if not path.exists():
            raise WaymarkError(f"{path}: no such file")
        mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise WaymarkError(f"{path}: is a folder")
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise WaymarkError(f"{path}: not a regular file")


def read(path: Path) -> bytes:
    """The octets of a file.

    Raises:
        WaymarkError: it does not exist, is neither file nor pipe, is longer than
            :data:`MOST_OCTETS`, or cannot be read.
    """
    require_file(path)
    with os_errors(path), path.open("rb") as file:
        octets = file.read(MOST_OCTETS + 1)
    if len(octets) > MOST_OCTETS:
        raise WaymarkError(f"{path}: longer than {MOST_OCTETS >> 20} MiB")
    return octets


def read_text(path: Path) -> str:
    """The text of a file in UTF-8.

    Raises:
        WaymarkError: as :func:`read`, or the file is not UTF-8.
    """
    try:
        return read(path).decode()
    except UnicodeDecodeError as error:
        raise WaymarkError(f"{path}: not UTF-8 text: {error}") from error


def require_folder_of(file: Path) -> None:
    """Raise a :class:`WaymarkError` unless a file can be made in its folder.

    For a command that takes long before it writes the file.
    """
    folder = file.parent
    if not folder.is_dir():
        raise WaymarkError(f"{file}: no such folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise WaymarkError(f"{file}: the folder is read-only")


_PARTIAL = ".partial"


@contextmanager
def replacing(file: Path) -> Generator[BinaryIO]:
    """A file to write, which takes the place of ``file`` when the block is left.

    Until then its name ends with ``.partial``. If the block is left by an exception it is removed,
    and a former ``file`` stays.

    Raises:
        WaymarkError: it cannot be written, or another process is writing this file.
    """
    partial = file.with_name(file.name + _PARTIAL)
    with os_errors(file):
        octets = partial.open("ab")
    with octets:
        if not _lock(octets):
            raise WaymarkError(f"{file}: another process is writing this file")
        try:
            with os_errors(file):
                octets.truncate(0)
                octets.seek(0)
            yield octets
            with os_errors(file):
                octets.flush()
                partial.replace(file)
        finally:
            partial.unlink(missing_ok=True)


def remove_partial(folder: Path) -> None:
    """Remove what processes that were killed have left of :func:`replacing` in a folder."""
    with os_errors(folder):
        for partial in folder.glob(f"*{_PARTIAL}"):
            with partial.open("rb") as octets:
                if _lock(octets):
                    partial.unlink(missing_ok=True)


def _lock(file: BinaryIO) -> bool:
    """Lock an open file, unless another process has locked it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
