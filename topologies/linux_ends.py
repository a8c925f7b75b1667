"""The ends of a flow in Linux's own TCP: ``python -m topologies.linux_ends send|recv``.

``send ADDRESS PORT SECONDS`` prints ``ready``, reads from its input when to begin, by
``time.monotonic()``, and sends for SECONDS. ``recv PORT`` prints ``listening`` and reads one
connection to its end. The congestion control is the default of the host.
"""

import socket
import struct
import sys
import time

CHUNK = bytes(1 << 16)

PATIENCE_S = 10.0
"""How long a receiver waits for data."""

ABORT = struct.pack("ii", 1, 0)
"""``SO_LINGER``: unsent data is dropped on close, because the run is over."""


def send(address: str, port: int, seconds: float) -> None:
    """Send zeros as fast as TCP allows, and abort the connection at the end."""
    print("ready", flush=True)
    begin_s = float(sys.stdin.readline())
    time.sleep(max(0.0, begin_s - time.monotonic()))
    end_s = begin_s + seconds
    with socket.create_connection((address, port), timeout=seconds) as stream:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        while (left_s := end_s - time.monotonic()) > 0:
            stream.settimeout(left_s)
            try:
                stream.send(CHUNK)
            except TimeoutError:
                break


def receive(port: int) -> None:
    """Read one connection until the other end ends or aborts it."""
    with socket.create_server(("0.0.0.0", port)) as listener:
        print("listening", flush=True)
        stream, _ = listener.accept()
    stream.settimeout(PATIENCE_S)
    with stream:
        try:
            while stream.recv(len(CHUNK)):
                pass
        except ConnectionResetError:
            return


def main() -> None:
    """Run the end that the arguments name."""
    match sys.argv[1:]:
        case ["send", address, port, seconds]:
            send(address, int(port), float(seconds))
        case ["recv", port]:
            receive(int(port))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
