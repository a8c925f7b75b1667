"""What a shell completes arguments with."""

from waymark.controls import CONTROLS


def experiment_ids(incomplete: str) -> list[str]:
    """The project's experiments that begin so; no experiment is imported for it."""
    from waymark import experiment

    return [one for one in experiment.ids() if one.startswith(incomplete)]


def control_names(incomplete: str) -> list[str]:
    """The congestion controls that begin so."""
    return [control.name for control in CONTROLS if control.name.startswith(incomplete)]
