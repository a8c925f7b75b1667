"""The embedded switch: `waymark switch`, with P4 source or with p4c's JSON for BMv2.

The programs for Tofino leave the limits of queues to the traffic manager.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ptf_tests.ports import FRAME_OCTETS, LIMITED, SERVICE_S, C
from ptf_tests.targets import (
    ADDRESS,
    COMPILER,
    DEVICE_ID,
    Running,
    compiled,
    hosts_of,
    not_on_path,
    p4info_of,
    stop,
    wait_until_it_listens,
)
from waymark.architecture import V1MODEL, Architecture
from waymark.program import compile_file

RATE_BPS = round(FRAME_OCTETS * 8 / SERVICE_S)


class Embedded:
    """Needs only this checkout."""

    def __init__(
        self, name: str = "embedded", architecture: Architecture = V1MODEL, senders: int = 0
    ) -> None:
        """A target that runs the programs for an architecture, with threads that send."""
        self.name = name
        self.architecture = architecture
        self._senders = senders

    def missing(self) -> str:
        """Nothing is ever missing."""
        return ""

    def config(self, main: Path, folder: Path) -> Path:
        """Starts it; the program is loaded over P4Runtime as P4 source in one file."""
        config = folder / "program.p4"
        config.write_text(compile_file(main).source)
        return config

    @contextmanager
    def start(self, main: Path, folder: Path) -> Iterator[Running]:
        """The lines to C and to the hosts with limited queues have a rate; the others have none."""
        config = self.config(main, folder)
        hosts = hosts_of(self.architecture)
        interfaces = [f"-i{host.port}@{host.switch_end}" for host in hosts]
        limits = {host.port: most for most, host in LIMITED.items() if host in hosts}
        command = [
            *(sys.executable, "-m", "waymark", "switch", *interfaces),
            *("--grpc-server-addr", ADDRESS, "--device-id", str(DEVICE_ID)),
            *("--cpu-port", str(self.architecture.cpu_port), "--senders", str(self._senders)),
            *(f"--port-rate={port}={RATE_BPS}bit" for port in (C.port, *limits)),
            *(f"--port-queue={port}={packets}" for port, packets in limits.items()),
        ]
        log = folder / "switch.log"
        with log.open("wb") as out:
            switch = subprocess.Popen(command, stdout=out, stderr=out)
        try:
            wait_until_it_listens(switch, log)
            yield Running(p4info_of(main), config)
        finally:
            stop(switch)


class EmbeddedWithP4c(Embedded):
    """Needs p4c on PATH."""

    def __init__(self) -> None:
        """The target `embedded-p4c`."""
        super().__init__("embedded-p4c")

    def missing(self) -> str:
        """p4c, if missing."""
        return not_on_path(COMPILER)

    def config(self, main: Path, folder: Path) -> Path:
        """BMv2's JSON from p4c."""
        return compiled(main, folder)
