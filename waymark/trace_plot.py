"""Pictures of a connection: a trace as panels over time, events as sequence numbers over time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from waymark import trace
from waymark.errors import WaymarkError

if TYPE_CHECKING:
    import pyarrow as pa

BLUE, VERMILION, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#999999"
WIDTH_IN = 9.0
PANEL_IN = 1.75
MRAI_RANGE = (1, 6)

Values = NDArray[np.float64]


class Columns:
    """A table's columns as arrays of floats, NaN where there is no value."""

    def __init__(self, table: "pa.Table") -> None:
        self.table = table
        self.time_s = self["time_s"]

    def __getitem__(self, name: str) -> Values:
        import pyarrow as pa

        try:
            column = self.table.column(name).cast(pa.float64())
        except pa.ArrowInvalid as error:
            raise WaymarkError(f"column {name} does not contain numbers: {error}") from error
        return np.asarray(column.to_numpy(), dtype=np.float64)

    def has(self, name: str) -> bool:
        """Whether the column exists and has a value; for counts, a value above 0."""
        if name not in self.table.column_names:
            return False
        values = self[name]
        there = values > 0 if name in trace.COUNTS else ~np.isnan(values)
        return bool(there.any())

    def when(self, change: str) -> NDArray[np.bool_]:
        """The rows of a change."""
        import pyarrow as pa

        names: Any = self.table.column("change").cast(pa.string())
        return np.asarray([str(name) == change for name in names], dtype=np.bool_)


@dataclass(frozen=True)
class Panel:
    """A quantity over time: its columns, and how it is drawn."""

    needs: tuple[str, ...]
    draw: Callable[[Axes, Columns], None]
    height: float = 1.0


def draw(table: "pa.Table") -> Figure:
    """Windows, round-trip times, packets in flight and marks of a trace, one above the other.

    Panels whose quantity the trace does not have are left out.

    Raises:
        WaymarkError: the table is not a trace, or is empty.
    """
    missing = {"time_s", "change", "cwnd", "ssthresh"} - set(table.column_names)
    if missing or table.num_rows == 0:
        what = f"no column {', '.join(sorted(missing))}" if missing else "no row"
        raise WaymarkError(f"not a trace: {what}")
    columns = Columns(table)
    panels = [panel for panel in PANELS if any(columns.has(name) for name in panel.needs)]
    figure = _figure(sum(panel.height for panel in panels) * PANEL_IN + 0.7)
    grid: Any = figure.subplots(
        len(panels),
        sharex=True,
        squeeze=False,
        gridspec_kw={"height_ratios": [panel.height for panel in panels]},
    )
    axes: list[Axes] = list(grid[:, 0])
    for panel, under in zip(panels, axes, strict=True):
        panel.draw(under, columns)
        under.legend(loc="upper left", bbox_to_anchor=(1.0, 1.05), fontsize="small")
    axes[0].set_title(_title(trace.about(table)))
    axes[-1].set_xlabel("time (s)")
    first, last = columns.time_s[0], columns.time_s[-1]
    if first < last:
        axes[-1].set_xlim(first, last)
    figure.align_ylabels(axes)
    return figure


def draw_events(table: "pa.Table") -> Figure:
    """A sequence-time diagram of the events at a link that ``waymark replay`` writes.

    Raises:
        WaymarkError: the table is not one of these, or is empty.
    """
    sequence = next((c for c in table.column_names if c.startswith("seq_mod_")), None)
    if sequence is None or "kind" not in table.column_names or table.num_rows == 0:
        raise WaymarkError("neither a trace nor the events of waymark replay")
    columns = Columns(table)
    numbers = columns[sequence]
    kinds = np.asarray(table.column("kind").to_pylist())
    flows = columns["flow"] if "flow" in table.column_names else np.zeros(table.num_rows)
    dropped = kinds == "drop"
    figure = _figure(4.5)
    axes = figure.subplots()
    for flow in np.unique(flows):
        here = (flows == flow) & ~dropped
        label = "queued" if flows.max() == flows.min() else f"queued, flow {flow:g}"
        axes.plot(columns.time_s[here], numbers[here], ".", markersize=4, label=label)
    if dropped.any():
        axes.plot(columns.time_s[dropped], numbers[dropped], "x", color=VERMILION, label="dropped")
    axes.set_xlabel("time (s)")
    axes.set_ylabel(f"packet number mod {sequence.removeprefix('seq_mod_')}")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), fontsize="small")
    return figure


def _figure(height_in: float) -> Figure:
    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _title(about: dict[str, str]) -> str:
    if not about:
        return ""
    seed = f", seed {about['seed']}" if "seed" in about else ""
    return f"{about['algorithm']} ({about['flow']} of {about['scenario']}{seed})"


def _window(axes: Axes, columns: Columns) -> None:
    time_s, cwnd, ssthresh = columns.time_s, columns["cwnd"], columns["ssthresh"]
    top = max(1.0, float(np.nanmax(cwnd))) * 1.15
    # A threshold that was never reached, such as the first, would flatten the window.
    reached = np.where(ssthresh <= top, ssthresh, np.nan)
    axes.step(time_s, cwnd, where="post", color=BLUE, label="cwnd", linewidth=1.2)
    if not np.isnan(reached).all():
        axes.step(
            time_s, reached, where="post", color=GREY, linestyle=(0, (4, 2)), label="ssthresh"
        )
    for change, colour, marker, size in (
        ("resent", VERMILION, "|", 9),
        ("timeout", "black", "x", 7),
    ):
        rows = columns.when(change)
        if rows.any():
            axes.plot(
                time_s[rows],
                np.zeros(rows.sum()) if change == "resent" else cwnd[rows],
                marker,
                color=colour,
                markersize=size,
                label=change,
                clip_on=False,
            )
    axes.set_ylim(0, top)
    axes.set_ylabel("window\n(packets)")


def _rtt(axes: Axes, columns: Columns) -> None:
    _dots(axes, columns, "rtt_s", "RTT", BLUE)
    if columns.has("base_rtt_s"):
        base_ms = columns["base_rtt_s"] * 1e3
        axes.step(
            columns.time_s, base_ms, where="post", color=VERMILION, linewidth=1.2, label="base RTT"
        )
    axes.set_ylim(bottom=0)
    axes.set_ylabel("round trip\n(ms)")


def _in_flight(axes: Axes, columns: Columns) -> None:
    in_flight = columns["in_flight"]
    axes.step(columns.time_s, in_flight, where="post", color=BLUE, linewidth=1, label="in flight")
    if columns.has("diff"):
        diff = columns["diff"]
        axes.step(columns.time_s, diff, where="post", color=GREEN, linewidth=1, label="Diff")
    axes.set_ylim(bottom=0)
    axes.set_ylabel("packets")


def _aqt(axes: Axes, columns: Columns) -> None:
    _dots(axes, columns, "aqt_forward_s", "AQT forward", BLUE)
    _dots(axes, columns, "aqt_backward_s", "AQT backward", VERMILION)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("queueing\n(ms)")


def _mrai(axes: Axes, columns: Columns) -> None:
    time_s, mrai = columns.time_s, columns["mrai"]
    axes.plot(time_s, mrai, ".", color=GREEN, markersize=3, label="MRAI")
    axes.set_ylim(MRAI_RANGE[0] - 0.5, MRAI_RANGE[1] + 0.5)
    axes.set_yticks(range(MRAI_RANGE[0], MRAI_RANGE[1] + 1))
    axes.set_ylabel("index")


def _judged(axes: Axes, columns: Columns) -> None:
    for name, colour, label in (
        ("random_losses", GREEN, "random losses"),
        ("congestion_losses", VERMILION, "congestion losses"),
        ("ci", GREY, "CI marks"),
    ):
        if columns.has(name):
            values = columns[name]
            counted = np.cumsum(values) if name == "ci" else values
            axes.step(columns.time_s, counted, where="post", color=colour, label=label)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("so far")


def _dots(axes: Axes, columns: Columns, name: str, label: str, colour: str) -> None:
    if columns.has(name):
        milliseconds = columns[name] * 1e3
        axes.plot(columns.time_s, milliseconds, ".", color=colour, markersize=2.5, label=label)


PANELS = (
    Panel(("cwnd",), _window, height=1.6),
    Panel(("rtt_s", "base_rtt_s"), _rtt),
    Panel(("in_flight",), _in_flight),
    Panel(("aqt_forward_s", "aqt_backward_s"), _aqt),
    Panel(("mrai",), _mrai, height=0.8),
    Panel(("random_losses", "congestion_losses", "ci"), _judged, height=0.8),
)
