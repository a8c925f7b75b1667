"""One look for every picture, and octet-identical files for identical data."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from waymark.controls import CONTROLS
from waymark.errors import os_errors
from waymark.experiment import Row

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999")
"""Okabe and Ito's palette, which people with colour-blindness can tell apart."""

COLOURS = {
    **{control.name: PALETTE[i % len(PALETTE)] for i, control in enumerate(CONTROLS)},
    "tahoe": "#999999",
    "reno": "#cc79a7",
    "newreno": "#cc79a7",
    "sack": "#e69f00",
    "cubic": "#e69f00",
    "bbr": "#56b4e9",
    "dctcp": "#999999",
    "vegas": "#d55e00",
    "rovegas": "#0072b2",
    "enhancedvegas": "#0072b2",
    "quickvegas": "#0072b2",
    "redvegas": "#0072b2",
    "waymark": "#009e73",
    "vegasa": "#0072b2",
    "muzha": "#0072b2",
    "rbcc": "#0072b2",
    "rbccwl": "#56b4e9",
    "model": "#555555",
    "traffic": "#999999",
    "paper": "#000000",
    "ns2": "#009e73",
}
"""The colour of each control, by its index. Controls in the papers' figures have fixed colours:
each paper's proposal is blue, Vegas vermilion, Reno and NewReno purple."""

NAMES = {control.name: control.title for control in CONTROLS}
"""Algorithms as the papers print them."""

DASHES: Any = {"vegas": (0, (2, 2)), "rovegas": (0, (6, 2))}
"""Dashes that distinguish the algorithms' reference lines without colour."""

PAPER: dict[str, Any] = {
    "color": COLOURS["paper"],
    "marker": "D",
    "markerfacecolor": "none",
    "linestyle": "none",
    "markersize": 6,
    "zorder": 5,
}
"""How the paper's numbers are drawn as points."""

NS2: dict[str, Any] = PAPER | {"color": COLOURS["ns2"], "marker": "x", "markersize": 7}
"""How ns-2's numbers are drawn as points."""

_STYLE: Any = {
    "figure.dpi": 100,
    "savefig.dpi": 150,
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "legend.handlelength": 3.0,
    "svg.hashsalt": "waymark",
    "svg.fonttype": "path",
}


@contextmanager
def style() -> Generator[None]:
    """A context in which figures are drawn and written in the project's style."""
    with mpl.rc_context(_STYLE):
        yield


def new_figure(width_in: float = 8.0, height_in: float = 4.2) -> Figure:
    """An empty figure; sizes in inches."""
    figure = Figure(figsize=(width_in, height_in), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def series(
    axes: Axes,
    points: Mapping[float, Row],
    colour: str,
    label: str,
    dash: Any = "-",
    marker: str = "o",
) -> None:
    """A line through Waymark's numbers over x, with a deviation each way; the paper's and ns-2's
    numbers as marks of the same colour."""
    xs, rows = list(points), list(points.values())
    axes.errorbar(
        xs,
        [row.waymark for row in rows],
        yerr=[row.waymark_sd or 0 for row in rows],
        color=colour,
        linestyle=dash,
        marker=marker,
        markersize=3.5,
        capsize=3,
        label=label,
    )
    for style, name, numbers in (
        (PAPER, "paper", [row.paper for row in rows]),
        (NS2, "ns-2.35", [row.ns2 for row in rows]),
    ):
        known = [(x, number) for x, number in zip(xs, numbers, strict=True) if number is not None]
        if known:
            marks: dict[str, Any] = style | {"color": colour}
            axes.plot(*zip(*known, strict=True), **marks, label=f"{label}, {name}")


def compare(axes: Axes, rows: Sequence[Row]) -> None:
    """One line per row: Waymark's number with its standard deviation, the paper's and ns-2's."""
    places = list(range(len(rows), 0, -1))
    axes.errorbar(
        [row.waymark for row in rows],
        places,
        xerr=[row.waymark_sd or 0 for row in rows],
        fmt="o",
        color=COLOURS["rovegas"],
        capsize=3,
        label="Waymark",
    )
    for style, name, numbers in (
        (PAPER, "paper", [row.paper for row in rows]),
        (NS2, "ns-2.35", [row.ns2 for row in rows]),
    ):
        known = [(n, place) for n, place in zip(numbers, places, strict=True) if n is not None]
        if known:
            axes.plot(*zip(*known, strict=True), **style, label=name)
    axes.set_yticks(places, [row.quantity for row in rows])


def finish(axes: Axes, *, title: str, x: str, y: str, legend_title: str | None = None) -> None:
    """Title, axis labels with units, and the legend next to the data."""
    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0,
        title=legend_title,
        alignment="left",
        title_fontsize="small",
        fontsize="small",
    )


def finish_panels(
    figure: Figure, axes: Axes, *, title: str, legend_title: str | None = None
) -> None:
    """A title over all panels, and below them a legend of the lines in ``axes``, one of the
    panels."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=len(labels),
        title=legend_title,
        title_fontsize="small",
        fontsize="small",
    )
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)


def mean_of(seeds: int) -> str:
    """The legend's text for numbers over this many seeds."""
    return "one seed" if seeds == 1 else f"mean of {seeds} seeds"


def shade(colour: str, strength: float) -> tuple[float, float, float]:
    """The colour mixed with white: 1 is the colour, 0 is white."""
    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(colour))
    return red, green, blue


def save(figure: Figure, folder: Path) -> list[Path]:
    """Write ``plot.png`` and ``plot.svg``; the same figure gives the same octets."""
    png, svg = folder / "plot.png", folder / "plot.svg"
    return [write(figure, png), write(figure, svg)]


def write(figure: Figure, file: Path) -> Path:
    """Write a figure in the format that the file's name ends in: PNG, SVG or PDF.

    Raises:
        WaymarkError: the file cannot be written.
    """
    undated = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with os_errors(file):
        figure.savefig(file, metadata=undated[file.suffix])
    return file
