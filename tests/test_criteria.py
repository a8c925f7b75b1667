"""Criteria of claims: what passes, what fails, and what a table cannot tell."""

import pytest

from waymark import Expectation, Experiment, Row, criteria, experiment


def table(**numbers: float) -> dict[str, Row]:
    return {
        name: Row(name, "1", 10.0, None, number, derived=5.0) for name, number in numbers.items()
    }


@pytest.mark.parametrize(
    ("criterion", "passes", "fails"),
    [
        (criteria.as_printed("a", "b"), {"a": 10, "b": 10}, {"a": 10, "b": 10.001}),
        (criteria.as_printed("a", within=0.05), {"a": 10.5}, {"a": 10.51}),
        (criteria.as_printed("a", within_absolute=0.5), {"a": 9.5}, {"a": 9.49}),
        (criteria.as_derived("a", within=0.1), {"a": 5.5}, {"a": 5.51}),
        (criteria.as_derived("a", within_absolute=0.1), {"a": 4.9}, {"a": 4.89}),
        (
            criteria.together(criteria.at_least(1, "a"), criteria.at_most(2, "b")),
            {"a": 1, "b": 2},
            {"a": 1, "b": 3},
        ),
        (criteria.at_least(2, "a", "b"), {"a": 2, "b": 3}, {"a": 2, "b": 1.9}),
        (criteria.at_most(2, "a", "b"), {"a": 2, "b": 1}, {"a": 2, "b": 2.1}),
        (criteria.more_than(2, "a"), {"a": 2.1}, {"a": 2}),
        (criteria.less_than(2, "a"), {"a": 1.9}, {"a": 2}),
        (criteria.between(1, 2, "a"), {"a": 2}, {"a": 2.1}),
        (criteria.ascending("a", "b"), {"a": 1, "b": 2}, {"a": 2, "b": 2}),
        (criteria.descending("a", "b"), {"a": 2, "b": 1}, {"a": 2, "b": 2}),
    ],
)
def test_a_criterion_passes_and_fails(
    criterion: criteria.Criterion, passes: dict[str, float], fails: dict[str, float]
) -> None:
    assert criterion(table(**passes)) is True
    assert criterion(table(**fails)) is False
    assert criterion({}) is None


def test_an_order_needs_all_of_its_quantities() -> None:
    assert criteria.ascending("a", "b")(table(a=1)) is None


def _two_settings(paper: bool, variant: bool) -> Experiment:
    one = experiment.find("chan/fig2.2")
    claims = (
        Expectation("the paper's", "as given", lambda _: paper),
        Expectation("of a variant", "as given", lambda _: variant, variant="another timer"),
    )
    return Experiment(
        id=one.id,
        paper=one.paper,
        claim=one.claim,
        parameters={},
        seeds=one.seeds,
        scenarios=one.scenarios,
        rows=one.rows,
        draw=one.draw,
        expectations=claims,
    )


def test_the_verdict_rests_on_the_papers_own_setting() -> None:
    failing = _two_settings(paper=False, variant=True)
    assert failing.verdict([]) == "not reproduced"
    assert failing.variant_verdicts([]) == {"another timer": "reproduced"}
    assert _two_settings(paper=True, variant=False).verdict([]) == "reproduced"


def test_a_claim_is_undecided_where_an_interval_crosses_its_bound() -> None:
    claim = Expectation("a > 1", "any amount", criteria.more_than(1, "a"))
    near = Row.ratio_of("a", [1.0, 1.2, 1.1], [1.0, 1.0, 1.0])
    clear = Row.ratio_of("a", [2.0, 2.2, 2.1], [1.0, 1.0, 1.0])
    assert claim.undecided_by([near]) == ["a"]
    assert claim.undecided_by([clear]) == []


def test_a_ratio_is_of_means_and_not_a_mean_of_ratios() -> None:
    row = Row.ratio_of("a/b", [10.0, 10.0], [1.0, 4.0])
    assert row.waymark == 4.0  # the mean of 10 and 2.5 is 6.25
    assert row.unit == "1"
