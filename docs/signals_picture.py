"""Draw which signal buys what, from the tables in ``docs/results``: ``docs/img/signals.png``.

``python docs/signals_picture.py``: a panel per scenario of ``today/*`` with a marker per control.
"""

from pathlib import Path

import measurements
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from waymark import plots
from waymark.compared import Column

PICTURE = Path(__file__).parent / "img" / "signals.png"
MARKERS = "os^vD<>P*hpXd8H1234"
COLUMNS = 3
"""Of panels."""
LABELLED = (1, 2, 5)
"""Multiples of powers of ten that have labels."""


def main() -> None:
    """Write the picture."""
    matrix = measurements.signals()
    with plots.style():
        rows = -(-len(matrix.scenarios) // COLUMNS)
        figure = plots.new_figure(11.0, 3.4 * rows + 0.6)
        panels = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
        for axes, (experiment, scenario, _) in zip(panels, matrix.scenarios, strict=False):
            y, x = (column for column in matrix.columns if column.experiment == experiment)
            _panel(axes, list(matrix.signals), x, y)
            axes.set_title(scenario)
        for axes in panels[len(matrix.scenarios) :]:
            axes.set_axis_off()
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=7, fontsize="small")
        plots.write(figure, PICTURE)


def _panel(axes: Axes, titles: list[str], x: Column, y: Column) -> None:
    for place, (title, marker) in enumerate(zip(titles, MARKERS, strict=False)):
        axes.plot(
            x.numbers[title],
            y.numbers[title],
            marker=marker,
            markersize=8,
            linestyle="none",
            color="#000000" if title == "Waymark" else plots.PALETTE[place % len(plots.PALETTE)],
            label=title,
        )
    for column, axis in ((x, axes.xaxis), (y, axes.yaxis)):
        axis.set_label_text(column.measure)
    if "FCT, p99" in x.measure:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=LABELLED))
    if "FCT, p99" in y.measure:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=LABELLED))
    else:
        axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())


if __name__ == "__main__":
    main()
