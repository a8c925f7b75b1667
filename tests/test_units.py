"""Rates, times and sizes: one grammar in files and on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Cli

from controller import config
from waymark import Topology, WaymarkError
from waymark.units import format_rate, parse_rate, parse_size, parse_time

TEN_MB_S = ("10 Mb/s", "10Mb/s", "10mbit", "10 Mbit/s", "10Mbps", "10mbps", "1e4 kb/s", "10000000")


@pytest.mark.parametrize("text", TEN_MB_S)
def test_a_rate_has_many_spellings(text: str) -> None:
    assert parse_rate(text) == 10_000_000


def test_quantities_are_exact() -> None:
    assert parse_rate("1.6 Mb/s") == 1_600_000
    assert parse_time("20 ms") == parse_time("20msec") == 0.02
    assert parse_time("1 us") == parse_time("1 µs") == 1e-6
    assert parse_time("2 min") == 120
    assert parse_time(".5") == 0.5
    assert parse_size("10 MB") == 10_000_000
    assert parse_size("1.5 KiB") == 1536
    assert parse_size("1500") == parse_size("1500 octets") == parse_size("1500B") == 1500


@pytest.mark.parametrize("text", ["10 MB/s", "10MBps", "10 Mbytes/s", "fast", "", "-1 Mb/s"])
def test_an_invalid_rate_is_refused_with_the_units(text: str) -> None:
    with pytest.raises(WaymarkError, match=r"is not a rate; expected .* \(b/s, kb/s, Mb/s, Gb/s\)"):
        parse_rate(text)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), "1e400 s", "1e306 h", -1, True])
def test_a_quantity_is_finite_and_not_negative(number: float) -> None:
    with pytest.raises(WaymarkError, match="is not a time"):
        parse_time(number)


def test_a_rate_is_shown_in_the_largest_unit() -> None:
    assert format_rate(1.6e6) == "1.6 Mb/s"
    assert format_rate(2) == "2 b/s"


@pytest.mark.parametrize("text", TEN_MB_S)
def test_files_take_every_spelling(text: str, tmp_path: Path) -> None:
    topology = tmp_path / "t.yaml"
    links = f"[{{ends: [a, r], rate: {text}, delay: 1ms}}, {{ends: [b, r], rate: 1, delay: 0}}]"
    topology.write_text(f"hosts: {{a: {{}}, b: {{}}}}\nswitches: {{r: {{}}}}\nlinks: {links}\n")
    link = Topology.load(topology).links[0]
    assert (link.rate_bps, link.delay_s) == (10_000_000, 0.001)
    switches = tmp_path / "c.yaml"
    port = f"{{mac: '02:00:00:00:00:01', rate: {text}}}"
    switches.write_text(f"switches: {{s: {{address: 'h:1', ports: {{1: {port}}}}}}}\n")
    assert config.load(switches).switches["s"].ports[1].rate == 10_000_000


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("host", "cross", "10.0.0.2", "--rate", "10 MB/s"), "'--rate': '10 MB/s' is not a rate"),
        (("host", "send", "10.0.0.2", "--seconds", "soon"), "'--seconds': 'soon' is not a time"),
        (("host", "send", "10.0.0.2", "--seconds", "1 ms"), "'1 ms' is less than 0.1 s"),
        (("host", "send", "10.0.0.2", "--octets", "10 Mb"), "expected --at NODE"),
        (("host", "send", "10.0.0.2", "--octets", "ten"), "'--octets': 'ten' is not a size"),
        (("host", "cross", "10.0.0.2", "--on", "10ms"), "expected --at NODE"),
        (("plot", "x.csv", "--from", "early"), "'--from': 'early' is not a time"),
        (("controller", "watch", "c.yaml", "--interval", "1us"), "less than 0.05 s"),
    ],
)
def test_options_take_units_and_name_themselves(
    cli: Cli, arguments: tuple[str, ...], told: str
) -> None:
    shown = cli(*arguments)
    assert shown.code == 2
    assert told in " ".join(shown.err.replace("\n", " ").split())
