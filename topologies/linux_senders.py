"""Connections of Linux's TCP at the hosts of a network: window and RTT, from sock_diag(7)."""

import ctypes
import os
import socket
import struct
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import IPv4Interface, ip_address
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from topologies.state import State

CONNECTIONS = 8
"""The most connections that are reported per host: those that sent most."""

PATIENCE_S = 1.0
"""Time for the kernel to answer, in seconds."""

CLONE_NEWNET = 0x40000000

SOCK_DIAG = 4
"""The family of netlink, ``NETLINK_SOCK_DIAG``."""

BY_FAMILY = 20
"""The request, ``SOCK_DIAG_BY_FAMILY``."""

ERROR, DONE = 2, 3
"""Messages that end an answer."""

REQUEST_DUMP = 0x301

STATES = 1 << 1 | 1 << 4 | 1 << 8
"""TCP states in which data is sent: ESTABLISHED, FIN-WAIT-1 and CLOSE-WAIT."""

INFO, CONG = 2, 4
"""Attributes of a connection: ``struct tcp_info``, and the name of its control."""

HEADER = struct.Struct("=IHHII")

REQUEST = struct.Struct("=BBBxI48x")
"""``struct inet_diag_req_v2``: family, protocol, attributes, states; any socket."""

CONNECTION = struct.Struct("=4x2s2s16s16s4x8s20x")
"""``struct inet_diag_msg``: ports, addresses and the socket's cookie."""

ATTRIBUTE = struct.Struct("=HH")

TCP_INFO = struct.Struct("=68xI8xI16xI16xQQ12xI")
"""RTT (µs), window, segments retransmitted, octets acknowledged and received, minimum RTT (µs)."""

LEAST_RTT_UNKNOWN = 0xFFFFFFFF


@dataclass(frozen=True)
class Connection:
    """An end of a connection.

    Attributes:
        cookie: names the socket while it exists.
        address: its own.
        to: address and port of the other end.
        control: its congestion control.
        rtt_s, base_rtt_s: smoothed and minimum, in seconds; None before the first measurement.
        cwnd: in segments.
        resent: segments retransmitted so far.
        acked, received: octets so far.
    """

    cookie: str
    address: str
    to: str
    control: str
    rtt_s: float | None
    base_rtt_s: float | None
    cwnd: int
    resent: int
    acked: int
    received: int


class LinuxSenders:
    """The connections of all hosts that send more than they receive.

    Its sockets keep the hosts' namespaces alive, so close it when the network goes down.

    Raises:
        OSError: a namespace is gone, or this is not root.
    """

    def __init__(self, one: State) -> None:
        self._hosts = {
            host: (str(IPv4Interface(one.places[host]["address"]).ip), kernel)
            for host, kernel in _opened({host: _namespace(one, host) for host in one.hosts}).items()
        }
        self._begun_s = time.monotonic()
        self._before: dict[str, tuple[float, int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        for _, kernel in self._hosts.values():
            kernel.close()

    def read(self) -> list[dict[str, Any]]:
        """Their states, in the format of :func:`waymark.published.found`; marks are not known.

        Raises:
            OSError: the kernel did not answer.
        """
        states: list[dict[str, Any]] = []
        totals: dict[str, tuple[float, int]] = {}
        for host, (address, kernel) in self._hosts.items():
            for one in senders(connections(kernel), address):
                now_s, name = time.monotonic(), f"{host}.{one.cookie}"
                then_s, acked = self._before.get(name, (now_s, one.acked))
                totals[name] = (now_s, one.acked)
                passed_s = now_s - then_s
                states.append(
                    {
                        "id": name,
                        "host": host,
                        "control": one.control,
                        "to": one.to,
                        "gone": False,
                        "time_s": now_s - self._begun_s,
                        "octets": one.acked,
                        "throughput_bps": (one.acked - acked) * 8 / passed_s if passed_s else 0.0,
                        "rtt_s": one.rtt_s,
                        "base_rtt_s": one.base_rtt_s,
                        "cwnd": one.cwnd,
                        "resent": one.resent,
                        **dict.fromkeys(("aqt_forward_s", "aqt_backward_s", "mrai", "ci")),
                    }
                )
        self._before = totals
        return states


def senders(of: Iterator[Connection], address: str) -> list[Connection]:
    """The connections from an address that send more than they receive, sorted by octets sent."""
    sending = [one for one in of if one.address == address and one.acked > one.received]
    return sorted(sending, key=lambda one: one.acked, reverse=True)[:CONNECTIONS]


def connections(kernel: socket.socket) -> Iterator[Connection]:
    """The ends of TCP connections in the namespace of a socket of ``NETLINK_SOCK_DIAG``.

    An IPv4 connection of a program that uses IPv6 sockets is among those of IPv6.

    Raises:
        OSError: the kernel did not answer.
    """
    wanted = 1 << (INFO - 1) | 1 << (CONG - 1)
    for family in (socket.AF_INET, socket.AF_INET6):
        request = REQUEST.pack(family, socket.IPPROTO_TCP, wanted, STATES)
        header = HEADER.pack(HEADER.size + len(request), BY_FAMILY, REQUEST_DUMP, family, 0)
        kernel.send(header + request)
        for body in _answer(kernel):
            yield _connection(body, family)


def _answer(kernel: socket.socket) -> Iterator[bytes]:
    """The messages of an answer. An error, as without IPv6, ends it."""
    while True:
        rest = kernel.recv(1 << 16)
        while rest:
            octets, kind, *_ = HEADER.unpack_from(rest)
            if kind in (ERROR, DONE):
                return
            yield rest[HEADER.size : octets]
            rest = rest[_aligned(octets) :]


def _connection(body: bytes, family: int) -> Connection:
    _, to_port, *addresses, cookie = CONNECTION.unpack_from(body)
    attributes: dict[int, bytes] = {}
    rest = body[CONNECTION.size :]
    while rest:
        octets, kind = ATTRIBUTE.unpack_from(rest)
        attributes[kind] = rest[ATTRIBUTE.size : octets]
        rest = rest[_aligned(octets) :]
    rtt_us, cwnd, resent, acked, received, least_us = TCP_INFO.unpack_from(attributes[INFO])
    local, remote = (_address(raw, family) for raw in addresses)
    return Connection(
        cookie=cookie.hex(),
        address=local,
        to=f"{remote}:{int.from_bytes(to_port, 'big')}",
        control=attributes[CONG].rstrip(b"\0").decode(),
        rtt_s=rtt_us / 1e6 if rtt_us else None,
        base_rtt_s=None if least_us == LEAST_RTT_UNKNOWN else least_us / 1e6,
        cwnd=cwnd,
        resent=resent,
        acked=acked,
        received=received,
    )


def _address(raw: bytes, family: int) -> str:
    address = ip_address(raw[:4] if family == socket.AF_INET else raw)
    return str(getattr(address, "ipv4_mapped", None) or address)


def _aligned(octets: int) -> int:
    """The length padded to a multiple of 4."""
    return octets + 3 & ~3


def _namespace(one: State, host: str) -> Path:
    if host in one.pids:
        return Path(f"/proc/{one.pids[host]}/ns/net")
    return Path("/run/netns", one.namespaces[host])


def _opened(namespaces: dict[str, Path]) -> dict[str, socket.socket]:
    """A socket of ``NETLINK_SOCK_DIAG`` in each namespace.

    A thread opens them: it has its own namespace, so this process stays in its own.
    """
    opened: dict[str, socket.socket] = {}
    try:
        with ThreadPoolExecutor(1) as thread:
            for name, path in namespaces.items():
                opened[name] = thread.submit(_open, path).result()
    except OSError:
        for kernel in opened.values():
            kernel.close()
        raise
    return opened


def _open(namespace: Path) -> socket.socket:
    libc = ctypes.CDLL(None, use_errno=True)
    with namespace.open() as file:
        if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(namespace))
    kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG)
    kernel.settimeout(PATIENCE_S)
    return kernel
