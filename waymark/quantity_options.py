"""Rates, times and sizes as options of commands: the grammar of :mod:`waymark.units`."""

from collections.abc import Callable
from typing import Any

import typer

from waymark.errors import WaymarkError
from waymark.units import parse_rate, parse_size, parse_time


def time_option(
    *names: str,
    help: str,  # noqa: A002, as typer has it
    least_s: float = 0.0,
    default: str | None = None,
) -> Any:
    """An option in seconds that takes ``5``, ``5s`` and ``"500 ms"``.

    ``--help`` shows the default as it is written here, if it is.
    """
    return _option(names, "TIME", help, _bounded(parse_time, least_s, f"{least_s:g} s"), default)


def rate_option(*names: str, help: str, default: str) -> Any:  # noqa: A002
    """An option in bits per second that takes ``"1.6 Mb/s"``, ``1.6mbit`` and ``1.6Mbps``.

    ``--help`` shows the default as it is written here.
    """
    return _option(names, "RATE", help, _bounded(parse_rate, 1, "1 b/s"), default)


def size_option(
    *names: str,
    help: str,  # noqa: A002
    least: int = 1,
    default: str | None = None,
) -> Any:
    """An option in octets that takes ``1500`` and ``"10 MB"``.

    ``--help`` shows the default as it is written here, if it is.
    """
    return _option(names, "SIZE", help, _bounded(parse_size, least, f"{least} octets"), default)


def _option(
    names: tuple[str, ...],
    metavar: str,
    summary: str,
    parser: Callable[[str | float], float],
    default: str | None,
) -> Any:
    shown = True if default is None else default
    return typer.Option(*names, metavar=metavar, help=summary, parser=parser, show_default=shown)


def _bounded(
    parse: Callable[[str | float], float], least: float, shown: str
) -> Callable[[str | float], float]:
    def quantity(text: str | float) -> float:
        try:
            value = parse(text)
        except WaymarkError as error:
            raise typer.BadParameter(str(error)) from error
        if value < least:
            raise typer.BadParameter(f"{text!r} is less than {shown}")
        return value

    return quantity
