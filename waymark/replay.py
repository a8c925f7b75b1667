"""Runs for comparison with another simulator's traces: a TOML file in, CSV out."""

import json
import tomllib
from pathlib import Path

from waymark import _core
from waymark.errors import WaymarkError


def replay(file: Path) -> str:
    """Run a description (``crates/netsim/src/replay/description.rs``); examples: ``tests/replay``.

    Args:
        file: topology, flows and losses, as TOML.

    Returns:
        Events at the traced link, as CSV: ``time_s,seq_mod_N,kind``, with the flow if requested.

    Raises:
        WaymarkError: the file cannot be read, or is inconsistent; the message gives the place.
    """
    try:
        description = tomllib.loads(file.read_text(encoding="utf-8"))
        return _core.replay(json.dumps(description, default=str))
    except OSError as error:
        raise WaymarkError(f"{file}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, _core.ScenarioError) as error:
        raise WaymarkError(f"{file}: {error}") from error
