"""``waymark lab``: the live lab, a page that simulates networks in the browser."""

from pathlib import Path
from typing import Annotated

import typer

from waymark.cli.base import app
from waymark.errors import WaymarkError
from waymark.help_text import examples


@app.command(
    epilog=examples(
        "waymark lab",
        "waymark lab --export /srv/www/lab",
        "waymark lab --network bottleneck",
    ),
)
def lab(
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, help="Port on the loopback interface; 0: any free port."),
    ] = 8011,
    export: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the page to DIR, for any static server, and exit."),
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Show this running network of waymark up. Needs root."),
    ] = None,
) -> None:
    """Serve the live lab, a page that simulates networks.

    Users edit P4 programs, run the papers' networks, and trace packets.
    The page runs the compiler and the simulator in WebAssembly; the server only serves its files.
    Ctrl-C stops it. With --network, the page shows queues, counters, windows and marks of a network
    on this machine; its address contains a token, which every request needs.
    """
    from waymark import lab_page

    if network is not None:
        if export is not None:
            raise WaymarkError("--export and --network: expected at most one of them")
        _show(network, port)
        return
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


def _show(name: str, port: int) -> None:
    """Serve the page of a network that is up."""
    from topologies import system

    system.need("ip")
    try:
        from topologies import lab_server
    except ModuleNotFoundError as error:
        hint = "pip install 'waymark[lab]'"
        raise WaymarkError(f"--network needs the package {error.name}: {hint}") from None
    from topologies.feed import Feed, load

    lab_server.run(Feed(load(name)), port, lambda url: print(url, flush=True))
