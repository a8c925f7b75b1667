"""Congestion controls in BPF carry data over Linux's own TCP."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from kernel_hosts import ADDRESSES, Pair, needed

from waymark import kernel


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Two hosts."""
    needed("iperf3")
    made = Pair()
    yield made
    made.close()


@pytest.mark.parametrize("control", ["vegas", "rovegas", "redvegas", "muzha"])
def test_a_connection_uses_a_control(pair: Pair, control: str) -> None:
    assert control in kernel.controls()
    marks = ",".join(kernel.marks_of(control))
    pair.attach("a", "b", marks=marks, control=control)
    try:
        server = pair.start("b", "iperf3", "-s", "-1", "--forceflush")
        assert server.stdout is not None
        while "Server listening" not in server.stdout.readline():
            assert server.poll() is None
        chosen = ("-C", f"wm_{control}")
        ran = pair.run("a", "iperf3", "-J", "-c", ADDRESSES["b"], "-n", "20M", *chosen)
        assert server.wait(30) == 0
    finally:
        for host in ADDRESSES:
            assert pair.waymark(host, "detach", "e0").returncode == 0
    end = json.loads(ran)["end"]
    assert end["sender_tcp_congestion"] == f"wm_{control}"
    # iperf3 stops to count while the last octets are under way.
    assert end["sum_received"]["bytes"] > 18_000_000
