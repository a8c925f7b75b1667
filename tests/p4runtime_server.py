"""A P4Runtime server over loopback for tests: fixtures, and the error of a refused request."""

from __future__ import annotations

import itertools
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from p4runtime_client import Client, errors

from waymark import program
from waymark.ports import CPU_PORT

PROGRAMS = Path(__file__).with_name("p4")
ELECTION_IDS = itertools.count(1)
"""Each test is primary in its turn: a server never forgets the highest ID."""

Connect = Callable[..., Client]
Pipeline = tuple[str, str]
"""Device config and P4Info."""


def start(*options: object) -> tuple[subprocess.Popen[str], str]:
    """A switch in a separate process, and its address."""
    command = [sys.executable, "-m", "waymark", "switch", "--grpc-server-addr", "127.0.0.1:0"]
    command += ["--cpu-port", str(CPU_PORT), *map(str, options)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"P4Runtime on (\S+),", line)
    assert found, line
    return process, found[1]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a switch that all tests share."""
    process, address = start()
    yield address
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0


def compiled(name: str) -> Pipeline:
    """A program of `tests/p4`."""
    made = program.compile_file(PROGRAMS / name)
    return made.source, made.p4info()


@pytest.fixture(scope="session")
def pipeline() -> Pipeline:
    """One of every kind of entity."""
    return compiled("entities.p4")


@pytest.fixture(scope="session")
def tables_pipeline() -> Pipeline:
    """Tables, action profiles and value sets of more kinds."""
    return compiled("tables.p4")


@pytest.fixture
def connect(server: str) -> Iterator[Connect]:
    """Opens streams to the switch."""
    clients: list[Client] = []

    def connected(election_id: int | None = None) -> Client:
        clients.append(Client(server, election_id))
        return clients[-1]

    yield connected
    for client in clients:
        client.close()


def _primary(connect: Connect, pipeline: Pipeline) -> Client:
    client = connect(next(ELECTION_IDS))
    assert client.arbitrate().status.code == 0
    client.set_pipeline(*pipeline)
    return client


@pytest.fixture
def client(connect: Connect, pipeline: Pipeline) -> Client:
    """The primary controller of a switch that runs `entities.p4` and holds no state."""
    return _primary(connect, pipeline)


@pytest.fixture
def tables(connect: Connect, tables_pipeline: Pipeline) -> Client:
    """The primary controller of a switch that runs `tables.p4` and holds no state."""
    return _primary(connect, tables_pipeline)


def refused(call: Callable[[], Any]) -> grpc.RpcError:
    """The error that a call ends with."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    return caught.value


def codes(error: grpc.RpcError) -> list[str]:
    """The names of the codes of a batch's parts."""
    assert error.code() is grpc.StatusCode.UNKNOWN
    names = {code.value[0]: code.name for code in grpc.StatusCode}
    return [names[one.canonical_code] for one in errors(error)]


def said(client: Client, *updates: tuple[int, Any]) -> list[str]:
    """The codes of updates, of which one at least is refused."""
    return codes(refused(lambda: client.write(*updates)))


def is_status(message: Any, code: grpc.StatusCode) -> bool:
    """Whether a status, or what holds one, has this code."""
    return getattr(message, "status", message).code == code.value[0]
