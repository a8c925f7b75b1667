"""BMv2: `simple_switch_grpc`, with queues configured over Thrift."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ptf_tests.ports import HOSTS, SERVICE_S, C
from ptf_tests.targets import (
    ADDRESS,
    COMPILER,
    DEVICE_ID,
    Running,
    compiled,
    not_on_path,
    p4info_of,
    stop,
    wait_until_it_listens,
)
from waymark.architecture import V1MODEL

THRIFT_PORT = 9090
CLI = "simple_switch_CLI"
QUEUE_DEPTH = 64


class Bmv2:
    """Needs p4c and BMv2 on PATH, and BMv2's Thrift client for tests that hold a queue."""

    name = "bmv2"
    architecture = V1MODEL

    def missing(self) -> str:
        """p4c or the switch, if missing."""
        return not_on_path("simple_switch_grpc", COMPILER)

    @contextmanager
    def start(self, main: Path, folder: Path) -> Iterator[Running]:
        """Starts it; the program is loaded over P4Runtime."""
        config = compiled(main, folder)
        interfaces = [f"-i{host.port}@{host.switch_end}" for host in HOSTS]
        command = [
            *("simple_switch_grpc", "--no-p4", *interfaces, "--device-id", str(DEVICE_ID)),
            *("--thrift-port", str(THRIFT_PORT)),
            *("--log-level", "off"),  # otherwise it formats every line, even if none is shown
            *("--", "--grpc-server-addr", ADDRESS, "--cpu-port", str(self.architecture.cpu_port)),
        ]
        log = folder / "switch.log"
        with log.open("wb") as out:
            switch = subprocess.Popen(command, stdout=out, stderr=out)
        try:
            wait_until_it_listens(switch, log)
            yield Running(p4info_of(main), config, _slow_down())
        finally:
            stop(switch)


def _slow_down() -> str:
    """Configures C's queue over Thrift. Returns the reason of a failure, or an empty string."""
    if shutil.which(CLI) is None:
        return f"slowing a queue needs Thrift, and {CLI} is not on PATH"
    settings = (
        f"set_queue_rate {round(1 / SERVICE_S)} {C.port}\nset_queue_depth {QUEUE_DEPTH} {C.port}\n"
    )
    done = subprocess.run(
        [CLI, "--thrift-port", str(THRIFT_PORT)],
        input=settings, capture_output=True, text=True, check=False,
    )  # fmt: skip
    output = done.stdout + done.stderr
    if done.returncode != 0 or "rror" in output or "nvalid" in output:
        return f"slowing a queue needs Thrift, and {CLI} failed: {output.strip()}"
    return ""
