"""Connections of Linux's TCP, as the live lab shows them."""

import socket
import time

import pytest

from topologies.linux_senders import SOCK_DIAG, Connection, connections, senders

OCTETS = 150_000


@pytest.mark.parametrize("listens", ["127.0.0.1", "::"])
def test_both_ends_of_a_connection_are_read(listens: str) -> None:
    """Also those of an IPv4 connection to a program that listens on an IPv6 socket."""
    family = socket.AF_INET6 if ":" in listens else socket.AF_INET
    dual = family == socket.AF_INET6
    with (
        socket.create_server((listens, 0), family=family, dualstack_ipv6=dual) as listener,
        socket.create_connection(("127.0.0.1", listener.getsockname()[1])) as sender,
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as kernel,
    ):
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        ports = [listener.getsockname()[1], sender.getsockname()[1]]
        stream, _ = listener.accept()
        with stream:
            sender.sendall(bytes(OCTETS))
            left = OCTETS
            while left > 0:
                left -= len(stream.recv(left))
            time.sleep(0.1)  # for the last acknowledgement
            to = [f"127.0.0.1:{port}" for port in ports]
            ends = {one.to: one for one in connections(kernel) if one.to in to}
    sending, receiving = ends[to[0]], ends[to[1]]
    assert sending.control == "reno"
    # Linux counts the SYN as an octet acknowledged.
    assert sending.acked in (OCTETS, OCTETS + 1)
    assert receiving.received == OCTETS
    assert sending.cwnd >= 10
    assert sending.rtt_s is not None
    assert 0 < sending.rtt_s < 1
    assert sending.base_rtt_s is not None
    assert sending.base_rtt_s <= sending.rtt_s


def test_senders_are_those_that_sent_more_than_they_received() -> None:
    def one(cookie: str, address: str, acked: int, received: int) -> Connection:
        return Connection(cookie, address, "10.0.0.2:1", "reno", 0.1, 0.1, 10, 0, acked, received)

    some = [
        one("request", "10.0.0.1", 100, 9000),
        one("local", "127.0.0.1", 9000, 0),
        *(one(str(n), "10.0.0.1", 1000 + n, 0) for n in range(10)),
    ]
    assert [each.cookie for each in senders(iter(some), "10.0.0.1")] == list("98765432")
