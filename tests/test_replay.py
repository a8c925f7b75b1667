"""``waymark replay``: recorded traces of ns-2 come out again, event by event."""

import csv
import os
from pathlib import Path

import pytest
from conftest import ROOT, Cli

DESCRIPTIONS = sorted((ROOT / "tests" / "replay").glob("*.toml"))
REFERENCE = Path(os.environ.get("WAYMARK_REFERENCE", ROOT.parent / "shared" / "reference" / "ns2"))
TOLERANCE_S = 20e-6
"""The files' precision."""

SECOND_LINK = """\
[[links]]
between = ["s1", "k1"]
rate_bps = 1000
delay_s = 0.1

"""

Row = tuple[tuple[str, ...], float]
"""Everything but the time, and the time in seconds."""


def rows(text: str) -> tuple[list[str], list[Row]]:
    header, *lines = csv.reader(text.splitlines())
    return header, [(tuple(rest), float(at)) for at, *rest in lines]


def first_difference(ours: list[Row], theirs: list[Row]) -> str | None:
    """Rows are matched within the tolerance; at one instant they may come in any order."""
    left = list(ours)
    for number, (what, at) in enumerate(theirs, start=2):
        near = (row for row in left if row[0] == what and abs(row[1] - at) <= TOLERANCE_S)
        match = next(near, None)
        if match is None:
            return f"line {number}, {at} {what}; the run goes on with {left[:4]}"
        left.remove(match)
    return f"the run has {left[0]} as well" if left else None


@pytest.mark.parametrize("description", DESCRIPTIONS, ids=lambda path: path.stem)
def test_every_recorded_event_happens(cli: Cli, description: Path) -> None:
    recorded = REFERENCE / f"{description.stem}.csv"
    if not recorded.exists():
        pytest.skip(f"no recorded trace at {recorded}")
    shown = cli("replay", description)
    assert shown.code == 0, shown.err
    our_header, ours = rows(shown.out)
    their_header, theirs = rows(recorded.read_text())
    assert our_header == their_header
    assert theirs
    assert first_difference(ours, theirs) is None


def test_rows_go_to_a_file(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "rows.csv"
    shown = cli("replay", DESCRIPTIONS[0], "--out", target)
    assert shown.out == f"{target}\n"
    assert target.read_text().startswith("time_s,seq_mod_90,kind\n1.001,0,queue\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ('name = "fack"', 'name = "facks"'),
            'flows[0].connection.control: no congestion control "facks"',
        ),
        (('to = "k1"', 'to = "k2"'), "flows[0]: no path from s1 to k2"),
        (('link = ["r1", "k1"]', 'link = ["r1", "s2"]'), "no link r1-s2 (links: s1-r1, r1-k1)"),
        (("end_s = 6.0", "end_s = "), "Invalid value"),
        (
            ("[[flows]]", f"{SECOND_LINK}[[flows]]"),
            "flows[0]: s1 has 2 links; the end of a flow has one",
        ),
        (('name = "fack"', 'name = "rovegas"'), "flows[0]: the routers of a replay write no AQT"),
    ],
)
def test_errors_say_where_and_what_is_valid(
    cli: Cli, tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    file = tmp_path / "wrong.toml"
    text = (ROOT / "tests" / "replay" / "fack_onedrop.toml").read_text()
    file.write_text(text.replace(*change))
    shown = cli("replay", file)
    assert shown.code == 2
    assert f"{file}: " in shown.err
    assert message in shown.err
