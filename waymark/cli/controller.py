"""``waymark controller``: the commands of :mod:`controller.cli`."""

from controller.cli import app as controller_app
from waymark.cli.base import app

app.add_typer(controller_app, name="controller")
