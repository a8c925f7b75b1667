"""The terminal table and the metrics, drawn of given counts."""

from __future__ import annotations

import urllib.request
from dataclasses import replace

import pytest
from conftest import ROOT, Golden
from prometheus_client import CollectorRegistry
from rich.console import Console

from controller import apply as applying
from controller import config, metrics, view
from controller.counters import (
    DROP_CAUSES,
    MARK_KINDS,
    Losses,
    PortCounts,
    counter_cells,
    with_causes,
)
from controller.watch import Snapshot, State, Watcher
from waymark.errors import WaymarkError

EXAMPLE = ROOT / "controller" / "examples" / "two_ports.yaml"

SHOT = Snapshot(
    "s1",
    State.PRIMARY,
    pushes=1,
    writes=35,
    connections=1,
    read_at_s=1,
    ports={
        1: PortCounts(),
        2: PortCounts(
            received_packets=9,
            received_octets=720,
            sent_packets=1200,
            sent_octets=1_800_000,
            malformed_options=1,
            drops={"ttl": 2, "queue_full": 31, "red": 0},
            marks={"aqt": 1100, "drai": 0, "ci": 19},
            waiting=7,
        ),
    },
    sent_bps={1: 0.0, 2: 1.2e6},
)


@pytest.fixture
def watching() -> Watcher:
    settings = config.load(EXAMPLE)
    watcher = Watcher(settings.switches["s1"], applying.wanted(settings, EXAMPLE.parent)["s1"])
    watcher.snapshot = SHOT
    return watcher


def drawn(watcher: Watcher) -> str:
    console = Console(width=120, no_color=True)
    with console.capture() as capture:
        console.print(view.screen([watcher]))
    return capture.get()


def test_the_table_is_the_golden_s(watching: Watcher, golden: Golden) -> None:
    shown = drawn(watching)
    assert shown == golden(ROOT / "tests" / "controller" / "table.txt", shown)


def test_a_switch_not_reached_shows_why(watching: Watcher) -> None:
    watching.snapshot = Snapshot("s1", State.CONNECTING, "cannot be reached: refused")
    shown = drawn(watching)
    assert "connecting  cannot be reached: refused" in shown
    assert "–/19" in shown


def test_a_narrow_terminal_shows_every_digit(watching: Watcher) -> None:
    console = Console(width=60, force_terminal=False)
    with console.capture() as capture:
        console.print(view.screen([watching]))
    assert "…" not in capture.get()


def test_80_columns_show_ten_gigabytes_in_one_piece(watching: Watcher) -> None:
    busy = replace(SHOT.ports[2], sent_packets=10**7, sent_octets=10**10, received_packets=10**7)
    watching.snapshot = replace(SHOT, ports=SHOT.ports | {2: busy})
    console = Console(width=80, force_terminal=False)
    with console.capture() as capture:
        console.print(view.screen([watching]))
    words = capture.get().split()
    assert "10000000000" in words
    assert words.count("10000000") == 2


def test_metrics_show_what_the_switch_counts(watching: Watcher) -> None:
    registry = CollectorRegistry()
    registry.register(metrics.SwitchCollector([watching]))

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"waymark_{name}", {"switch": "s1", **labels})

    assert value("switch_up") == value("switch_primary") == 1
    assert value("entries_written_total") == 35
    assert value("dropped_packets_total", port="2", cause="queue_full") == 31
    assert value("marked_packets_total", port="2", kind="ci") == 19
    assert value("sent_octets_total", port="2") == 1_800_000
    assert value("queue_limit_packets", port="2") == 20
    assert value("queue_waiting_packets", port="2") == 7
    assert value("port_utilisation_ratio", port="2") == 0.75
    assert value("queue_waiting_packets", port="1") is None  # not read: not claimed


def test_what_the_switch_lost_is_shown(watching: Watcher) -> None:
    lost = Losses(
        ports={2: {"ingress": 33, "tm_full": 4, "send_failed": 3}},
        octets={2: {"send_failed": 4500}},
        switch={"digest_backlog": 2},
    )
    ports = with_causes(SHOT.ports, lost)
    watching.snapshot = replace(SHOT, ports=ports, lost=lost.switch)
    assert ports[2].drops == {"ttl": 2, "queue_full": 31, "red": 0, "tm_full": 4, "send_failed": 3}
    assert ports[2].sent_packets == SHOT.ports[2].sent_packets - 3, "they were not sent"
    assert ports[2].sent_octets == SHOT.ports[2].sent_octets - 4500
    later = with_causes(SHOT.ports, Losses(ports={2: {"send_failed": 5}}), before=ports)
    assert later[2].sent_packets == ports[2].sent_packets, "what was sent is not taken back"
    shown = drawn(watching)
    assert "lost: digest_backlog 2" in shown
    assert "send_failed 3" in " ".join(shown.split())
    registry = CollectorRegistry()
    registry.register(metrics.SwitchCollector([watching]))
    at = {"switch": "s1", "port": "2", "cause": "send_failed"}
    assert registry.get_sample_value("waymark_dropped_packets_total", at) == 3
    at = {"switch": "s1", "cause": "digest_backlog"}
    assert registry.get_sample_value("waymark_lost_total", at) == 2


def test_metrics_are_served_and_a_port_in_use_is_reported(watching: Watcher) -> None:
    port = metrics.serve([watching], "127.0.0.1", 0)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as response:
        assert b'waymark_switch_up{switch="s1"} 1.0' in response.read()
    with pytest.raises(WaymarkError, match=rf"metrics at 127.0.0.1:{port}: Address already in use"):
        metrics.serve([watching], "127.0.0.1", port)


def test_the_cells_are_where_the_program_counts() -> None:
    """Indexes of p4src/README.md: 8 · port + cause, 4 · port + kind, port."""
    at = {(cell.array, cell.meaning): cell.index for cell in counter_cells([3])}
    assert at["drops", "queue_full"] == 8 * 3 + 5
    assert at["marks", "ci"] == 4 * 3 + 2
    assert at["sent", ""] == 3


def test_the_causes_and_kinds_are_the_program_s() -> None:
    types = " ".join((ROOT / "p4src/include/types.p4").read_text().split())
    for names in (DROP_CAUSES, MARK_KINDS):
        for value, name in names.items():
            assert f"{name.upper()} = {value}" in types
