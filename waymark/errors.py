"""Errors that a user can fix: shown as a message, never as a traceback."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path


class WaymarkError(Exception):
    """Invalid input of the user; the message gives the error, its place and the valid values."""


@contextmanager
def os_errors(path: Path | str) -> Generator[None]:
    """Convert an ``OSError`` in the block to a :class:`WaymarkError` with the path."""
    try:
        yield
    except OSError as error:
        raise WaymarkError(f"{path}: {error.strerror or error}") from error


def suggestion(name: object, valid: Sequence[str]) -> str:
    """``did you mean …? valid: …``, for a message about an unknown name."""
    near = get_close_matches(str(name), valid, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"{hint}valid: {', '.join(valid)}"


def check_choice(where: str, value: object, valid: Sequence[str]) -> None:
    """Refuse an invalid value of a parameter.

    Args:
        where: the parameter's name, and what it belongs to.
        value: the given value.
        valid: the valid values.

    Raises:
        WaymarkError: the value is invalid; the message has all three, and the nearest valid value.
    """
    if value not in valid:
        raise WaymarkError(f"{where}: found {value!r}; {suggestion(value, valid)}")
