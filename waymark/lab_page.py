"""The page of the live lab: its folder, and a server for it on this machine."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from waymark import files, project
from waymark.errors import WaymarkError

POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; "
    "frame-ancestors 'none'"
)
"""The content security policy: the page loads only itself, and evaluates users' JavaScript
controls."""


def folder() -> Path:
    """The folder of the built page.

    Raises:
        WaymarkError: the page was not built.
    """
    for built in (project.PACKAGE / "web", project.root() / "web" / "dist"):
        if files.is_file(built / "index.html"):
            return built
    raise WaymarkError(
        "the page of the live lab is not built: run make web in a checkout (it needs Node 20 and "
        "Rust's target wasm32-unknown-unknown), or install a wheel that make wheel built"
    )


def export(target: Path) -> None:
    """Copy the page to a new folder, for any static server.

    Raises:
        WaymarkError: the page was not built; the folder is there and is not empty.
    """
    built = folder()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise WaymarkError(
            f"{target} exists already and is not an empty folder; choose another folder"
        )
    shutil.copytree(built, target, dirs_exist_ok=True)


@contextmanager
def server(port: int, host: str = "127.0.0.1") -> Generator[ThreadingHTTPServer]:
    """A server of the page; ``serve_forever()`` runs it.

    Args:
        port: 0: a free one, which ``server_address`` contains.
        host: the address to listen on.

    Raises:
        WaymarkError: the page was not built; the port is taken.
    """
    handler = partial(_Handler, directory=str(folder()))
    try:
        made = ThreadingHTTPServer((host, port), handler)
    except OSError as error:
        raise WaymarkError(f"port {port}: {error.strerror}; choose another with --port") from None
    try:
        yield made
    finally:
        made.server_close()


class _Handler(SimpleHTTPRequestHandler):
    """Serves the folder, without a line per request."""

    extensions_map = {  # noqa: RUF012 - as the base class has it
        **SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".wasm": "application/wasm",
        ".json": "application/json",
    }

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        del format, args
