"""A TCP sender's state after each change, as a table; tables in files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from waymark import files
from waymark.errors import WaymarkError

if TYPE_CHECKING:
    import pyarrow as pa

    from waymark import _core
    from waymark.experiment import Runs
    from waymark.scenario import Scenario

SUFFIXES = (".parquet", ".csv")
"""Endings of table files: Parquet keeps types and metadata, CSV is for other programs."""

LABELS = ("change", "phase")
"""Columns of names."""

COUNTS = ("ci", "random_losses", "congestion_losses")
"""Columns that always have a value, and nothing to show while it is 0."""

COLUMNS = (
    "time_s",
    *LABELS,
    "cwnd",
    "ssthresh",
    "in_flight",
    "acked",
    "next",
    "rtt_s",
    "base_rtt_s",
    "diff",
    "aqt_forward_s",
    "aqt_backward_s",
    "mrai",
    *COUNTS,
)
"""A table's columns in order; :class:`Trace` describes them."""


@dataclass(frozen=True)
class Trace:
    """A TCP sender's state after each change, one element per change.

    Floats are NaN if a change has no value, or the control has none.

    Attributes:
        time_s: time of the change, in seconds.
        change: its kind: an index into ``changes``, such as ``"ack"``, ``"duplicate_ack"``,
            ``"sent"``, ``"resent"`` or ``"timeout"``.
        phase: the control's phase: an index into ``phases``, such as ``"slow_start"`` or
            ``"avoidance"``.
        cwnd, ssthresh: windows in packets; fractions accumulate.
        in_flight: packets sent and not acknowledged.
        acked, next: packets acknowledged so far, and the number of the next to send.
        rtt_s: round-trip time that an ACK measured, in seconds.
        base_rtt_s: the control's estimate of the propagation delay, in seconds.
        diff: Vegas' Diff of the last round: its own packets that wait in queues.
        aqt_forward_s, aqt_backward_s: queueing times in the ACK (AQT-Echo and AQT), seconds.
        mrai: the ACK's MRAI-Echo, 1 to 6; 0: no hop wrote one.
        ci: whether the ACK indicated congestion (CI-echo).
        random_losses, congestion_losses: classification of losses found without the timer, so far.
        changes, phases: the names.
        about: scenario, seed, flow and algorithm.
    """

    time_s: NDArray[np.float64]
    change: NDArray[np.uint8]
    phase: NDArray[np.uint8]
    cwnd: NDArray[np.float64]
    ssthresh: NDArray[np.float64]
    in_flight: NDArray[np.uint64]
    acked: NDArray[np.uint64]
    next: NDArray[np.uint64]
    rtt_s: NDArray[np.float64]
    base_rtt_s: NDArray[np.float64]
    diff: NDArray[np.float64]
    aqt_forward_s: NDArray[np.float64]
    aqt_backward_s: NDArray[np.float64]
    mrai: NDArray[np.uint8]
    ci: NDArray[np.bool_]
    random_losses: NDArray[np.uint64]
    congestion_losses: NDArray[np.uint64]
    changes: tuple[str, ...]
    phases: tuple[str, ...]
    about: Mapping[str, str]

    def table(self) -> "pa.Table":
        """The same as an Arrow table: one column per quantity, nulls where there is no value.

        ``change`` and ``phase`` are dictionary-encoded strings. The schema's metadata has ``about``
        as JSON under ``waymark``.
        """
        import pyarrow as pa

        columns = {name: self._column(name) for name in COLUMNS}
        about = json.dumps(dict(self.about), ensure_ascii=False)
        return pa.table(columns).replace_schema_metadata({"waymark": about})

    def _column(self, name: str) -> Any:
        import pyarrow as pa

        values: NDArray[Any] = getattr(self, name)
        if name in LABELS:
            names = pa.array(self.changes if name == "change" else self.phases, pa.string())
            indexed: Any = pa.DictionaryArray
            return indexed.from_arrays(values, names)
        if name == "mrai":
            return pa.array(values, mask=values == 0)
        if values.dtype == np.float64:
            return pa.array(values, mask=np.isnan(values))
        return pa.array(values)


def from_core(record: "_core.Trace", about: Mapping[str, str]) -> Trace:
    """A trace from the core's record of a run."""
    columns: dict[str, Any] = dict(record)
    change, phase = columns.pop("change"), columns.pop("phase")
    return Trace(
        **columns,
        change=change["codes"],
        phase=phase["codes"],
        changes=tuple(change["names"]),
        phases=tuple(phase["names"]),
        about=about,
    )


def traced(scenario: "Scenario") -> "Scenario":
    """The scenario, with all flows traced at every change."""
    return replace(scenario, flows=tuple(replace(flow, trace=True) for flow in scenario.flows))


def write_all(runs: "Runs", folder: Path) -> list[Path]:
    """Write the traces of each label's first run: ``vegas-flow0.parquet``.

    Raises:
        WaymarkError: a file cannot be written.
    """
    return [
        write(flow.trace.table(), folder / f"{_file_name(label)}-flow{index}.parquet")
        for label, results in runs.items()
        for index, flow in enumerate(results[0].flows)
        if flow.trace is not None
    ]


def _file_name(label: str) -> str:
    return label.replace(" ", "_").replace("/", "_")


def write(table: "pa.Table", to: str | Path) -> Path:
    """Write a table as Parquet or CSV, by the ending of the file's name.

    Raises:
        WaymarkError: another ending, or the file cannot be written.
    """
    file = Path(to)
    check(file)
    try:
        if file.suffix == ".parquet":
            from pyarrow import parquet

            parquet.write_table(table, file, compression="zstd")
        else:
            from pyarrow import csv

            csv.write_csv(_plain(table), file)
    except OSError as error:
        raise WaymarkError(f"{file}: {error.strerror or error}") from error
    return file


def read(name: str | Path) -> "pa.Table":
    """Read a table that :func:`write` wrote.

    Raises:
        WaymarkError: another ending, or the file does not exist or contains no table.
    """
    import pyarrow as pa

    file = Path(name)
    check(file)
    if not files.is_file(file):
        raise WaymarkError(f"{file}: no such file")
    try:
        if file.suffix == ".parquet":
            from pyarrow import parquet

            return parquet.read_table(file)
        from pyarrow import csv

        return csv.read_csv(file)
    except OSError as error:
        raise WaymarkError(f"{file}: {error.strerror or error}") from error
    except pa.ArrowException as error:
        raise WaymarkError(f"{file}: {error}") from error


def between(table: "pa.Table", from_s: float | None, to_s: float | None) -> "pa.Table":
    """The rows of [from_s, to_s]; None: no bound.

    Raises:
        WaymarkError: the table has no column ``time_s``.
    """
    if "time_s" not in table.column_names:
        raise WaymarkError("not a trace: no column time_s")
    time_s: Any = table.column("time_s").to_numpy()
    low, high = -np.inf if from_s is None else from_s, np.inf if to_s is None else to_s
    return table.filter((time_s >= low) & (time_s <= high))


def about(table: "pa.Table") -> dict[str, str]:
    """Scenario, seed, flow and algorithm; nothing if the table came through CSV."""
    metadata: Any = table.schema.metadata or {}
    return json.loads(metadata.get(b"waymark", b"{}"))


def check(file: Path) -> None:
    """Check that a file's name has the ending of a table, and that its folder exists.

    Raises:
        WaymarkError: it does not.
    """
    if file.suffix not in SUFFIXES:
        raise WaymarkError(f"{file}: expected a name that ends in {' or '.join(SUFFIXES)}")
    files.require_folder_of(file)


def _plain(table: "pa.Table") -> "pa.Table":
    """The table with plain strings, because CSV has no dictionary encoding."""
    import pyarrow as pa

    for name in LABELS:
        if name in table.column_names:
            index = table.column_names.index(name)
            table = table.set_column(index, name, table.column(name).cast(pa.string()))
    return table
