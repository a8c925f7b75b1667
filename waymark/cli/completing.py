"""Completion of arguments in a shell."""

from waymark.controls import CONTROLS


def experiment_ids(incomplete: str) -> list[str]:
    """The project's experiments with this prefix; no experiment is imported."""
    from waymark import experiment

    return [one for one in experiment.ids() if one.startswith(incomplete)]


def control_names(incomplete: str) -> list[str]:
    """The congestion controls with this prefix."""
    return [control.name for control in CONTROLS if control.name.startswith(incomplete)]
