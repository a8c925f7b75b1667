"""``waymark lab --network``: serves the live lab's page and the state of a network, on loopback.

The page's address contains a token, which every request needs. A WebSocket brings the state to
each client at the client's own pace: the newest one, never a queue of old ones.
"""

import asyncio
import logging
import mimetypes
import secrets
import signal
import socket
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from topologies.feed import Feed
from waymark import json_text, lab_page
from waymark.errors import WaymarkError

EVERY_S = 0.2
"""Time between two states for a client, in seconds."""

CLIENTS = 32
"""The most clients at a time."""

SILENCE_S = 10.0
"""Time after which a client that answers no ping is disconnected, in seconds."""


def run(feed: Feed, port: int, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        feed: the network.
        port: on loopback; 0: a free one.
        ready: called with the page's address.

    Raises:
        WaymarkError: the page was not built; the port is taken.
    """
    folder = lab_page.folder()
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise WaymarkError(f"port {port}: {error.strerror}; choose another with --port") from None
    asyncio.run(_run(feed, folder, listener, ready))


async def _run(
    feed: Feed, folder: Path, listener: socket.socket, ready: Callable[[str], None]
) -> None:
    port = listener.getsockname()[1]
    site = _Site(feed, folder, secrets.token_urlsafe(16), port)
    quiet = logging.getLogger("websockets.server")
    quiet.setLevel(logging.CRITICAL)  # refused requests are the client's matter
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    async with serve(
        site.feed_client,
        sock=listener,
        process_request=site.answer,
        ping_interval=SILENCE_S,
        ping_timeout=SILENCE_S,
        max_size=1024,  # clients send nothing
        max_queue=1,
        compression=None,
        logger=quiet,
    ) as server:
        site.server = server
        following = asyncio.create_task(feed.run())
        stopping = asyncio.create_task(ended.wait())
        ready(f"http://127.0.0.1:{port}/{site.token}/")
        await asyncio.wait([following, stopping], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if following.done():
            following.result()  # raises what ended it
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


class _Site:
    """The server's resources: the files of the page, and ``live``, the WebSocket."""

    def __init__(self, feed: Feed, folder: Path, token: str, port: int) -> None:
        self.feed, self.folder, self.token = feed, folder, token
        self.origins = [f"http://127.0.0.1:{port}", f"http://localhost:{port}"]
        self.server: Server | None = None
        # Both hosts are named, because browsers differ in whether 'self' includes WebSockets.
        sockets = " ".join(origin.replace("http", "ws", 1) for origin in self.origins)
        self.policy = lab_page.POLICY.replace("connect-src 'self'", f"connect-src 'self' {sockets}")
        self.files = {
            path.relative_to(folder).as_posix(): path
            for path in folder.rglob("*")
            if path.is_file()
        }

    def answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """A file of the page; None lets the WebSocket be opened."""
        path = request.path.partition("?")[0].removeprefix("/")
        token, _, name = path.partition("/")
        if not secrets.compare_digest(token.encode(), self.token.encode()):
            return connection.respond(
                HTTPStatus.FORBIDDEN, "the address needs the token that waymark lab printed\n"
            )
        origin = request.headers.get("Origin")
        if origin is not None and origin not in self.origins:
            return connection.respond(HTTPStatus.FORBIDDEN, f"origin {origin} is not this page\n")
        if name == "live":
            if self.server is not None and len(self.server.connections) > CLIENTS:
                return connection.respond(HTTPStatus.SERVICE_UNAVAILABLE, "too many clients\n")
            return None
        file = self.files.get(name or "index.html")
        if file is None:
            return connection.respond(HTTPStatus.NOT_FOUND, f"no file {name}\n")
        body = file.read_bytes()
        if file.name == "index.html":
            body = body.replace(b"<head>", b'<head>\n    <meta name="live-network" />', 1)
        headers = Headers()
        headers["Content-Type"] = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        headers["Content-Length"] = str(len(body))
        headers["Content-Security-Policy"] = self.policy
        headers["Cache-Control"] = "no-store"
        headers["Referrer-Policy"] = "no-referrer"
        return Response(HTTPStatus.OK, HTTPStatus.OK.phrase, headers, body)

    async def feed_client(self, client: ServerConnection) -> None:
        """Send the network, then its newest state again and again; a slow client gets fewer."""
        version = 0
        try:
            while True:
                if version != self.feed.version:
                    version = self.feed.version
                    await client.send(json_text.dumps(self.feed.about()))
                await client.send(json_text.dumps(self.feed.state()))
                await asyncio.sleep(EVERY_S)
        except ConnectionClosed:
            return
