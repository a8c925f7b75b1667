"""``python -m topologies.readings CONFIG.yaml``: counters of switches, as lines of JSON.

It runs in the switches' namespace, where their P4Runtime servers listen. It only reads: it takes
part in no arbitration, so that it never disturbs a controller.
"""

import asyncio
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from controller import counters, follow
from controller.apply import Wanted
from controller.client import SwitchError, connected
from controller.config import SwitchConfig
from waymark import json_text

EVERY_S = 0.2
"""Time between two readings of a switch, in seconds."""

RETRY_S = 1.0
"""Time before a switch that does not answer is tried again, in seconds."""

PATIENCE_S = 5.0
"""Time for one reading, in seconds."""


async def _watch(name: str, switch: SwitchConfig, wanted: Wanted) -> None:
    """Report a switch's counters for ever, or why there are none."""
    while True:
        try:
            async with connected(wanted.target) as client:
                schema, ports = wanted.pipeline.schema, list(switch.ports)
                registers = await counters.has_registers(client, schema, ports)
                while True:
                    async with asyncio.timeout(PATIENCE_S):
                        counts = await counters.read_counts(
                            client, schema, ports, registers=registers
                        )
                    read = {str(port): asdict(count) for port, count in counts.items()}
                    _report(name, ports=read, read_s=time.monotonic())
                    await asyncio.sleep(EVERY_S)
        except TimeoutError:
            _report(name, error=f"no answer within {PATIENCE_S:g} s")
        except SwitchError as error:
            _report(name, error=str(error))
        await asyncio.sleep(RETRY_S)


def _report(name: str, **what: Any) -> None:
    print(json_text.dumps({"switch": name, **what}), flush=True)


async def _main(file: Path) -> None:
    settings, wanted = follow.load(file, None)
    await asyncio.gather(
        *(_watch(name, switch, wanted[name]) for name, switch in settings.switches.items())
    )


if __name__ == "__main__":
    try:
        asyncio.run(_main(Path(sys.argv[1])))
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(0)
