"""Tables of numbers on terminals of any width."""

from __future__ import annotations

from rich.console import Console

from waymark.report import Summary, summary_table
from waymark.tables import NumberTable


def shown(table: NumberTable, width: int) -> str:
    console = Console(width=width, color_system=None, legacy_windows=False)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def wide() -> NumberTable:
    table = NumberTable(box=None)
    table.add_words("quantity")
    table.add_words("unit")
    for heading in ("paper", "ns-2", "Waymark"):
        table.add_numbers(heading)
    table.add_row(
        "RBCC-WL with a link at 2 Mb/s", "% of capacity", "1.234e+06", "0.001234", "12345"
    )
    return table


def test_words_wrap_and_numbers_stay_whole() -> None:
    text = shown(wide(), 50)
    for number in ("1.234e+06", "0.001234", "12345"):
        assert number in text
    assert max(map(len, text.splitlines())) <= 50
    assert "RBCC-WL with a link at 2 Mb/s" not in text


def test_headings_wrap_before_numbers_fold() -> None:
    table = NumberTable(box=None)
    table.add_numbers("control", justify="left")
    for heading in ("kb/s", "queue mean", "queue p99", "RTT p50 ms", "RTT p99 ms"):
        table.add_numbers(heading)
    table.add_row("swifttcpint", "17912", "0.1", "12.4", "1060.4", "1064.5")
    text = shown(table, 60)
    assert text.splitlines()[-1].split() == [
        *("swifttcpint", "17912", "0.1", "12.4", "1060.4", "1064.5"),
    ]
    assert "queue" in text
    assert "mean" in text
    assert max(map(len, text.splitlines())) <= 60


def test_a_terminal_too_narrow_for_the_numbers_folds_them() -> None:
    table = NumberTable(box=None)
    table.add_numbers()
    table.add_numbers()
    table.add_row("123456789", "987654321")
    text = shown(table, 14)
    assert sorted(c for c in text if c.isdecimal()) == sorted("123456789" * 2)
    assert "…" not in text
    assert "123456789" in shown(table, 40)  # a wider terminal shows it whole again


def test_the_summary_of_a_campaign_fits_80_columns() -> None:
    lines = [Summary("srijith/tab1", "reproduced in part", 10**13, 123456.7)] * 2
    text = shown(summary_table(lines), 80)
    assert text.count("10000000.0 M") == 2
    assert "20000000.0 M" in text
    assert "246913.4" in text
    assert max(map(len, text.splitlines())) <= 80
