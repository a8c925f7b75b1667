"""``waymark plot``: a picture of a trace."""

from pathlib import Path
from typing import Annotated

import typer

from waymark.cli.base import app
from waymark.errors import WaymarkError
from waymark.help_text import examples
from waymark.quantity_options import time_option

FORMATS = (".png", ".svg", ".pdf")


@app.command(
    "plot",
    epilog=examples(
        "waymark plot live.parquet --from 40s --to 60s -o live.svg",
    ),
)
def plot(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A trace (.parquet or .csv), or the events that `waymark replay` writes (.csv).",
        ),
    ],
    out_file: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="PICTURE", help="Default: FILE with the ending .png."),
    ] = None,
    from_s: Annotated[float | None, time_option("--from", help="Start of the picture.")] = None,
    to_s: Annotated[float | None, time_option("--to", help="End of the picture.")] = None,
) -> None:
    """Draw a trace of a connection.

    The picture has windows, round-trip times, packets in flight and marks over time.
    """
    from waymark import plots, trace, trace_plot  # imports matplotlib

    picture = out_file or file.with_suffix(".png")
    if picture.suffix not in FORMATS:
        raise WaymarkError(f"{picture}: expected a name that ends in {', '.join(FORMATS)}")
    table = trace.between(trace.read(file), from_s, to_s)
    try:
        with plots.style():
            if "cwnd" in table.column_names:
                figure = trace_plot.draw(table)
            else:
                figure = trace_plot.draw_events(table)
            plots.write(figure, picture)
    except WaymarkError as error:
        raise WaymarkError(f"{file}: {error}") from error
    print(picture)
