"""``waymark lab``: the live lab, a page that simulates networks in the browser."""

from pathlib import Path
from typing import Annotated

import typer

from waymark.cli.base import app
from waymark.help_text import examples


@app.command(
    epilog=examples(
        "waymark lab",
        "waymark lab --export /srv/www/lab",
    ),
)
def lab(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on loopback; 0: a free one.")
    ] = 8011,
    export: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the page to DIR, for any static server, and end."),
    ] = None,
) -> None:
    """Serve the live lab on this machine: edit P4, run a paper's network, see every packet.

    The page runs the compiler and the simulator itself, in WebAssembly; the server only hands out
    its files. Ctrl-C ends it.
    """
    from waymark import lab_page

    if export is not None:
        lab_page.export(export)
        print(export)
        return
    with lab_page.server(port) as server:
        number = server.server_address[1]
        print(f"http://127.0.0.1:{number}/", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return
