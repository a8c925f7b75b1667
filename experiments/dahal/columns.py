"""A picture of a table of Dahal's: a panel for each column."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from waymark import Row, plots


def draw(
    table: Sequence[Row],
    columns: Mapping[str, str],
    title: str,
    size_in: tuple[float, float],
    labels: str = "medium",
) -> Figure:
    """Up to five panels, and the legend in the place of the sixth.

    Args:
        table: rows named ``"ROW, COLUMN"``.
        columns: the label of each column's axis.
        title: of the picture.
        size_in: width and height in inches.
        labels: matplotlib's size of the rows' names.
    """
    figure = plots.new_figure(*size_in)
    panels = list(figure.subplots(2, 3).flat)
    for axes, (column, label) in zip(panels, columns.items(), strict=False):
        chosen = [row for row in table if row.quantity.endswith(f", {column}")]
        plots.compare(axes, chosen)
        axes.set_yticklabels([row.quantity.removesuffix(f", {column}") for row in chosen])
        axes.tick_params(axis="y", labelsize=labels)
        axes.set_xlabel(label)
        axes.set_xlim(0)
    handles, names = panels[0].get_legend_handles_labels()
    panels[5].axis("off")
    panels[5].legend(handles, names, loc="center")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure
