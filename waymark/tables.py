"""Tables on a terminal: on a narrow one, words wrap and numbers stay whole."""

from typing import Literal

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table

Justify = Literal["left", "right"]


def digits(number: float | None) -> str:
    """A number with at least four significant digits, without an exponent; nothing for None."""
    if number is None:
        return ""
    if number != number:
        return "–"
    return f"{number:.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def fixed(number: float, decimals: int) -> str:
    """A number with this many decimals; a dash for NaN."""
    return "–" if number != number else f"{number:.{decimals}f}"


class NumberTable(Table):
    """A table that never cuts a number.

    Columns of words wrap first, then headings, both between words. On a terminal too narrow even
    for the longest word and number of each column, numbers fold onto the next line: each digit is
    still shown.
    """

    def add_words(self, heading: str = "", footer: str = "") -> None:
        """Add a column of text that may wrap."""
        self.add_column(heading, footer, overflow="fold")

    def add_numbers(self, heading: str = "", footer: str = "", justify: Justify = "right") -> None:
        """Add a column whose cells stay on one line: numbers, intervals, names of experiments."""
        self.add_column(heading, footer, justify=justify, overflow="fold", no_wrap=True)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        whole = [column for column in self.columns if column.no_wrap]
        words = [column for column in self.columns if not column.no_wrap]
        for column in words:
            cells = (column.header, *column.cells, column.footer)
            sizes = [Measurement.get(console, options, cell) for cell in cells]
            column.min_width = max(size.minimum for size in sizes)
            column.no_wrap = column.min_width >= max(size.maximum for size in sizes)
        for column in whole:
            heading = Measurement.get(console, options, column.header)
            column.min_width = max(_longest(column, console, options), heading.maximum)
        if not self._fits(console, options):
            for column in whole:
                heading = Measurement.get(console, options, column.header)
                column.min_width = max(_longest(column, console, options), heading.minimum)
                column.no_wrap = column.min_width >= heading.maximum
        if not self._fits(console, options):
            for column in self.columns:
                column.no_wrap, column.min_width = False, None
        yield from super().__rich_console__(console, options)
        for column in self.columns:
            column.no_wrap = column in whole

    def _fits(self, console: Console, options: ConsoleOptions) -> bool:
        least = self.__rich_measure__(console, options.update_width(2**16)).minimum
        return least <= options.max_width


def _longest(column: Column, console: Console, options: ConsoleOptions) -> int:
    """Characters of the longest cell, without the heading."""
    cells = (*column.cells, column.footer)
    return max(Measurement.get(console, options, cell).maximum for cell in cells)
