"""The newest state of senders on interfaces, one file per sender, for programs that watch them."""

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waymark import json_text

if TYPE_CHECKING:
    from waymark.live import Moment

EVERY_S = 0.2
"""Time between two states of a sender, in seconds."""

SILENT_S = 2.0
"""Time without a publication after which a sender is reported as gone, in seconds."""

FORGOTTEN_S = 10.0
"""Time without a publication after which a sender is no longer reported, in seconds."""


@dataclass(frozen=True)
class Publisher:
    """Publishes a sender's state.

    Attributes:
        path: of the file, without the process's number. Its name is the host's.
        control: the name of the congestion control.
        to: the receiver: address and port.
    """

    path: Path
    control: str
    to: str

    @property
    def _file(self) -> Path:
        return self.path.with_name(f"{self.path.name}.{os.getpid()}.json")

    def publish(self, moment: "Moment") -> None:
        """Replace the published state. A folder that is gone or full is ignored."""
        about = {"host": self.path.name, "control": self.control, "to": self.to}
        draft = self._file.with_suffix(".new")
        with suppress(OSError):
            self.path.parent.mkdir(exist_ok=True)
            draft.write_text(json_text.dumps(about | asdict(moment)), encoding="utf-8")
            draft.replace(self._file)

    def end(self) -> None:
        """Remove the state: the sender has ended."""
        with suppress(OSError):
            self._file.unlink()


def found(folder: Path) -> list[dict[str, Any]]:
    """The published states in a folder, by host; ``id`` names the sender, ``gone`` is whether it
    ended without removing its state.
    """
    states: list[dict[str, Any]] = []
    for file in sorted(folder.glob("*.json")):
        try:
            silent_s = time.time() - file.stat().st_mtime
            state = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # it ended meanwhile
            continue
        if silent_s < FORGOTTEN_S:
            states.append({"id": file.stem, "gone": silent_s > SILENT_S, **state})
    return states
