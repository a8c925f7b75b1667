"""``python -m topologies.wires WIRES.json``: the wires of a network, in a separate process."""

import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from waymark import _core, real_time

READY = "wires are carried"
"""Printed when the wires are ready."""


def command(wires: Sequence[object], seed: int, folder: Path) -> list[str]:
    """The command that runs ``wires`` (of a plan); writes their file into ``folder``."""
    spec = folder / "wires.json"
    spec.write_text(json.dumps({"wires": wires, "seed": seed}), encoding="utf-8")
    return [sys.executable, "-m", __name__, str(spec)]


def main(file: str) -> int:
    """Forward frames until SIGTERM or Ctrl-C."""

    def terminate(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, terminate)
    real_time.claim()
    spec = json.loads(Path(file).read_text(encoding="utf-8"))
    wires = [((a, b), (tuple(there), tuple(back))) for (a, b), (there, back) in spec["wires"]]
    try:
        _core.run_wires(wires, seed=spec["seed"], ready=lambda: print(READY, flush=True))
    except KeyboardInterrupt:
        return 0
    except _core.SwitchError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
