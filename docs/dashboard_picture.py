"""Draw the panels of the Grafana dashboard from a running Prometheus: ``docs/img/dashboard.png``.

``python docs/dashboard_picture.py URL BEGIN END``: URL is Prometheus's, such as
``http://127.0.0.1:9090``; BEGIN and END are seconds since 1970. Queries, layout, units and names
are those of ``packaging/grafana/waymark.json``; all switches and ports are drawn.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

ROOT = Path(__file__).parent.parent
DASHBOARD = ROOT / "packaging" / "grafana" / "waymark.json"
PICTURE = ROOT / "docs" / "img" / "dashboard.png"

STEP_S = 1
VARIABLES = {"$switch": ".*", "$port": ".*", "$__rate_interval": "10s"}
COLUMNS = 24
"""Grafana's grid has 24 columns."""
WIDTH_IN = 13.0
ROW_IN = 0.32
MARGINS_IN = {
    "row": (0.1, 0.1, 0.0, 0.0),
    "stat": (0.1, 0.1, 0.3, 0.1),
    "timeseries": (0.6, 1.5, 0.3, 0.4),
}
"""Space around the axes of a panel: left, right (for the legend), top and bottom, in inches."""
UNITS = {
    "bps": (1e-6, "Mb/s"),
    "percentunit": (100.0, "%"),
    "pps": (1.0, "packets/s"),
    "cps": (1.0, "1/s"),
    "short": (1.0, ""),
}
"""Grafana's unit: factor and label of the axis."""


def main(arguments: Sequence[str]) -> None:
    """Ask Prometheus for each panel, and draw all."""
    if len(arguments) != 3:
        sys.exit(f"usage: python {sys.argv[0]} URL BEGIN END")
    url, begin, end = arguments[0], float(arguments[1]), float(arguments[2])
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    rows = max(panel["gridPos"]["y"] + panel["gridPos"]["h"] for panel in panels)
    figure = plt.figure(figsize=(WIDTH_IN, ROW_IN * rows))
    for panel in panels:
        axes = figure.add_axes(place(panel, rows))
        if panel["type"] == "row":
            axes.axis("off")
            axes.text(0, 0.5, panel["title"], weight="bold", transform=axes.transAxes)
            continue
        axes.set_title(panel["title"], fontsize=9, loc="left")
        lines = series(url, panel, begin, end)
        if panel["type"] == "stat":
            draw_state(axes, panel, lines)
        else:
            draw_lines(axes, panel, lines, begin, end)
    figure.savefig(PICTURE, dpi=85)


def place(panel: Mapping[str, Any], rows: int) -> tuple[float, float, float, float]:
    """Where a panel's axes are in the picture: left, bottom, width and height, as fractions."""
    at = panel["gridPos"]
    column_in = WIDTH_IN / COLUMNS
    left, right, top, below = MARGINS_IN[panel["type"]]
    return (
        (at["x"] * column_in + left) / WIDTH_IN,
        1 - ((at["y"] + at["h"]) * ROW_IN - below) / (rows * ROW_IN),
        (at["w"] * column_in - left - right) / WIDTH_IN,
        (at["h"] * ROW_IN - top - below) / (rows * ROW_IN),
    )


def series(
    url: str, panel: Mapping[str, Any], begin: float, end: float
) -> dict[str, list[tuple[float, float]]]:
    """The panel's series by their legend: seconds since 1970 and value."""
    found: dict[str, list[tuple[float, float]]] = {}
    for target in panel["targets"]:
        expression = target["expr"]
        for variable, value in VARIABLES.items():
            expression = expression.replace(variable, value)
        query = {"query": expression, "start": begin, "end": end, "step": STEP_S}
        with urlopen(f"{url}/api/v1/query_range?{urlencode(query)}") as answer:
            results = json.load(answer)["data"]["result"]
        for result in results:
            labels = result["metric"]
            legend = re.sub(
                r"\{\{(\w+)\}\}",
                lambda name, labels=labels: labels.get(name[1], ""),
                target["legendFormat"],
            )
            found[legend] = [(at, float(value)) for at, value in result["values"]]
    return found


def draw_state(
    axes: Axes, panel: Mapping[str, Any], lines: Mapping[str, Sequence[tuple[float, float]]]
) -> None:
    """The last value of each series, by the name that the panel gives it."""
    names = panel["fieldConfig"]["defaults"]["mappings"][0]["options"]
    axes.set(xticks=[], yticks=[], facecolor="#b8e2c0")
    last = [f"{legend}: {names[f'{values[-1][1]:g}']['text']}" for legend, values in lines.items()]
    axes.text(0.5, 0.5, "\n".join(last), ha="center", va="center", transform=axes.transAxes)


def draw_lines(
    axes: Axes,
    panel: Mapping[str, Any],
    lines: Mapping[str, Sequence[tuple[float, float]]],
    begin: float,
    end: float,
) -> None:
    """Each series over time, the legend next to them; limits are dashed.

    A series that stays 0 is left out, unless all do.
    """
    factor, unit = UNITS[panel["fieldConfig"]["defaults"]["unit"]]
    busy = {legend: values for legend, values in lines.items() if any(y for _, y in values)}
    for legend, values in (busy or lines).items():
        axes.plot(
            [at - begin for at, _ in values],
            [value * factor for _, value in values],
            linestyle="--" if legend.endswith("limit") else "-",
            linewidth=1,
            label=legend,
        )
    axes.set_xlim(0, end - begin)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("s", fontsize=8)
    axes.set_ylabel(unit, fontsize=8)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.3)
    if lines:
        axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    else:
        axes.text(0.5, 0.5, "no data", ha="center", va="center", transform=axes.transAxes)


if __name__ == "__main__":
    main(sys.argv[1:])
