"""Switches on a terminal: one row per port."""

from collections.abc import Mapping, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.text import Text

from controller.config import PortConfig
from controller.watch import Snapshot, State, Watcher
from waymark.tables import NumberTable
from waymark.units import format_rate

_STYLES = {
    State.CONNECTING: "yellow",
    State.PRIMARY: "green",
    State.BACKUP: "cyan",
    State.REFUSED: "red",
}

COLUMNS = ("port", "rate", "used", "queue", "sent", "octets", "received", "dropped", "marked")


def screen(watchers: Sequence[Watcher]) -> RenderableType:
    """All switches."""
    return Group(*(switch_table(w.snapshot, w.switch.ports) for w in watchers))


def switch_table(shot: Snapshot, ports: Mapping[int, PortConfig]) -> NumberTable:
    """One switch: its state, and the counters of each port."""
    title = Text.assemble(
        (shot.name, "bold"), "  ", (shot.state.value, _STYLES[shot.state]), f"  {shot.message}"
    )
    if shot.lost:
        title.append(f"\nlost: {_counts(shot.lost)}", "yellow")
    table = NumberTable(
        title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, padding=0
    )
    for column in COLUMNS:
        if column in ("dropped", "marked"):
            table.add_words(column)
        else:
            table.add_numbers(column)
    for number, port in ports.items():
        table.add_row(*_row(number, port, shot))
    return table


def _row(number: int, port: PortConfig, shot: Snapshot) -> list[str]:
    count = shot.ports.get(number)
    rate = "" if port.rate is None else format_rate(port.rate)
    if count is None:
        return [str(number), rate, "", _queue(None, port.queue_limit), *[""] * 5]
    return [
        str(number),
        rate,
        _used(shot.sent_bps.get(number), port.rate),
        _queue(count.waiting, port.queue_limit),
        str(count.sent_packets),
        str(count.sent_octets),
        str(count.received_packets),
        _counts(count.drops),
        _counts(count.marks),
    ]


def _used(sent_bps: float | None, rate_bps: float | None) -> str:
    if sent_bps is None:
        return ""
    return format_rate(sent_bps) if rate_bps is None else f"{sent_bps / rate_bps:.0%}"


def _queue(waiting: int | None, limit: int | None) -> str:
    """Waiting packets and their limit: ``3/49``."""
    return f"{'–' if waiting is None else waiting}/{'∞' if limit is None else limit - 1}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {packets}" for name, packets in counts.items() if packets) or "0"
