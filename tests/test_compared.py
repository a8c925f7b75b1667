"""Controls compared with each other, as the report shows it."""

from __future__ import annotations

from dataclasses import replace

from waymark import compared, experiment
from waymark.experiment import Comparison

QUEUE = Comparison("{}: waiting", "less", ("CUBIC", "BBR"), "reverse path", "waiting")
USE = Comparison("{}: use", "more", ("CUBIC", "BBR"))
NUMBERS = {
    "CUBIC: use": 100.0,
    "CUBIC: waiting": 34.0,
    "Vegas: use": 20.0,
    "Vegas: waiting": 0.1,
    "Waymark: use": 99.0,
    "Waymark: waiting": 1.0,
    "CUBIC: octets of the signal": 0.0,
    "Waymark: octets of the signal": 12.0,
}
ONE = replace(
    experiment.find("today/fig1"),
    comparisons=(QUEUE, USE),
    parameters={"signals": {"CUBIC": "losses", "Waymark": "AQT"}},
)
UNITS = dict.fromkeys(NUMBERS, "packets")


def test_waymark_is_beaten_by_current_transports_alone() -> None:
    """Vegas has a shorter queue, and is not one of them."""
    assert compared.beaten(ONE, NUMBERS) == {"Waymark: use": ["CUBIC"]}
    assert compared.beaten(ONE, NUMBERS | {"Waymark: use": 100.04}) == {}


def test_numbers_that_look_equal_are_equal() -> None:
    assert compared.beaten(ONE, NUMBERS | {"CUBIC: use": 99.0001}) == {}
    assert compared.beaten(ONE, NUMBERS | {"CUBIC: use": float("nan")}) == {}


def test_the_matrix_has_the_columns_that_are_shown() -> None:
    matrix = compared.matrix([(ONE, UNITS, NUMBERS)])
    (column,) = matrix.columns
    assert matrix.scenarios == [("today/fig1", "reverse path", 1)]
    assert column.measure == "waiting (packets)"
    assert [column.cell(title) for title in ("CUBIC", "Waymark", "BBR")] == ["34", "1", ""]
    assert column.is_best("Vegas")
    assert not column.is_best("Waymark")
    assert not column.is_beaten("Waymark")
    assert not column.is_beaten("CUBIC")
    assert matrix.octets == {"CUBIC": 0.0, "Waymark": 12.0}


def test_a_point_that_a_scale_lacks_is_not_a_column() -> None:
    elsewhere = replace(ONE, comparisons=(replace(QUEUE, quantity="{}, load 1: waiting"), QUEUE))
    assert len(compared.matrix([(elsewhere, UNITS, NUMBERS)]).columns) == 1


def test_each_comparison_is_of_rows_that_its_experiment_has_at_full_scale() -> None:
    """A quantity that no table has would never be red."""
    from conftest import ROOT

    from waymark.report import read_table

    for one in experiment.everything():
        table = read_table(ROOT / "docs" / "results" / f"{one.id}.csv")
        quantities = {row.quantity for row in table}
        for comparison in one.comparisons:
            assert comparison.quantity.format("Waymark") in quantities, (one.id, comparison)
