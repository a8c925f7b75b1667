"""Tables of results, for pandas, Polars and Arrow; none of these needs to be installed."""

import csv
import importlib
import io
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console

from waymark.errors import WaymarkError, os_errors, suggestion
from waymark.result import mean_sd
from waymark.tables import NumberTable

Value = str | float | int | bool | None
"""The value of a cell."""

SHORT = 12
"""Words of up to this many characters stay on one line."""

SUFFIXES = (".csv", ".parquet")
"""Endings of the files to which a table can be written."""


@dataclass(frozen=True)
class Table:
    """Columns of equal length; ``print`` shows them.

    Attributes:
        columns: the cells by column.
        keys: the columns that identify a row, such as parameters and the seed; the others are
            measured.

    Raises:
        WaymarkError: from the methods: there is no such column, a library is not installed, or a
            file cannot be written.
    """

    columns: Mapping[str, Sequence[Value]]
    keys: tuple[str, ...] = ()

    @staticmethod
    def of_rows(rows: Sequence[Mapping[str, Value]], keys: Sequence[str] = ()) -> "Table":
        """A table of rows that have the same columns."""
        names = list(rows[0]) if rows else list(keys)
        return Table({name: [row[name] for row in rows] for name in names}, tuple(keys))

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, column: str) -> Sequence[Value]:
        """The cells of a column."""
        self._require(column)
        return self.columns[column]

    def __str__(self) -> str:
        text = io.StringIO()
        Console(file=text, width=shutil.get_terminal_size().columns).print(self)
        return text.getvalue().rstrip()

    def __rich__(self) -> NumberTable:
        table = NumberTable(box=box.SIMPLE_HEAD)
        for name, cells in self.columns.items():
            words = [cell for cell in cells if isinstance(cell, str)]
            if any(len(cell) > SHORT for cell in words):
                table.add_words(name)
            else:
                table.add_numbers(name, justify="left" if words else "right")
        for row in self.rows():
            table.add_row(*(_shown(cell) for cell in row.values()))
        return table

    def rows(self) -> Iterator[dict[str, Value]]:
        """The rows, each by column."""
        for cells in zip(*self.columns.values(), strict=True):
            yield dict(zip(self.columns, cells, strict=True))

    def where(self, **cells: Value) -> "Table":
        """The rows that have these cells: ``table.where(algorithm="vegas", load=0.5)``."""
        for name in cells:
            self._require(name)
        kept = [row for row in self.rows() if all(row[k] == cell for k, cell in cells.items())]
        return Table({name: [row[name] for row in kept] for name in self.columns}, self.keys)

    def over_seeds(self) -> "Table":
        """Mean and standard deviation (n - 1) of the measured columns, over the rows that differ
        only in the seed.

        The columns are the parameters, ``seeds`` (how many), and for each measure its mean and
        ``…_sd``, which is None with one seed.
        """
        by = tuple(key for key in self.keys if key != "seed")
        measures = [name for name in self.columns if name not in self.keys]
        groups: dict[tuple[Value, ...], list[dict[str, Value]]] = {}
        for row in self.rows():
            groups.setdefault(tuple(row[key] for key in by), []).append(row)
        rows: list[dict[str, Value]] = []
        for group in groups.values():
            made: dict[str, Value] = {key: group[0][key] for key in by} | {"seeds": len(group)}
            for name in measures:
                numbers = [_number(name, row[name]) for row in group]
                made[name], made[f"{name}_sd"] = mean_sd(numbers)
            rows.append(made)
        return Table.of_rows(rows, by)

    def to_arrow(self) -> Any:
        """As a ``pyarrow.Table``."""
        return _need("pyarrow").table({name: list(cells) for name, cells in self.columns.items()})

    def to_pandas(self) -> Any:
        """As a ``pandas.DataFrame``."""
        return _need("pandas").DataFrame({name: list(c) for name, c in self.columns.items()})

    def to_polars(self) -> Any:
        """As a ``polars.DataFrame``."""
        return _need("polars").DataFrame({name: list(c) for name, c in self.columns.items()})

    def write(self, to: str | Path) -> Path:
        """Write a CSV or Parquet file, by the ending of its name. Returns the file's path."""
        file = Path(to)
        if file.suffix not in SUFFIXES:
            raise WaymarkError(f"{file}: expected a name that ends in {' or '.join(SUFFIXES)}")
        with os_errors(file):
            if file.suffix == ".parquet":
                _need("pyarrow.parquet").write_table(self.to_arrow(), file)
            else:
                with file.open("w", encoding="utf-8", newline="") as opened:
                    writer = csv.writer(opened, lineterminator="\n")
                    writer.writerow(self.columns)
                    writer.writerows(zip(*self.columns.values(), strict=True))
        return file

    def _require(self, column: str) -> None:
        if column not in self.columns:
            raise WaymarkError(f"no column {column!r}; {suggestion(column, list(self.columns))}")


def _number(name: str, cell: Value) -> float:
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        raise WaymarkError(f"column {name}: found {cell!r}; expected numbers to take the mean of")
    return float(cell)


def _shown(cell: Value) -> str:
    if cell is None:
        return ""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def _need(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise WaymarkError(f"{package} is not installed: pip install {package}") from error
