"""Notify a service manager that a service is ready: sd_notify(3), without its library."""

import os
import socket


def ready() -> None:
    """Report READY=1 to the socket in ``$NOTIFY_SOCKET``; without one, do nothing."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):  # an abstract socket
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as client:
        client.sendto(b"READY=1", address)
