"""The kinds of switches in a network, and how to start a process of each."""

import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Protocol

from topologies import system
from topologies.plan import SwitchPlan
from waymark import project
from waymark.errors import WaymarkError

FRAME_OCTETS = 1000
"""The packet size that converts rates for BMv2's queues, which count packets."""


class Target(Protocol):
    """A kind of switch."""

    name: str

    def prepare(self, programs: Collection[str], folder: Path) -> dict[str, Path] | None:
        """Compile ``programs`` to device configs; None if the controller makes them.

        Raises:
            WaymarkError: a tool is missing on this machine, or a program has errors.
        """
        ...

    def command(self, switch: SwitchPlan, folder: Path) -> list[str]:
        """The command that starts ``switch``."""
        ...

    def settle(self, switch: SwitchPlan, prefix: Collection[str]) -> None:
        """Configure what P4Runtime cannot, once the switch runs.

        Args:
            switch: the switch.
            prefix: of a command that runs in the switch's namespace.
        """
        ...


class Embedded:
    """``waymark switch``: it shapes its ports, and its program sees their queues."""

    name = "embedded"

    def prepare(self, programs: Collection[str], folder: Path) -> None:
        """Do nothing: the controller sends the source."""

    def command(self, switch: SwitchPlan, folder: Path) -> list[str]:  # noqa: ARG002
        """The command; rates charge IP packets, as in virtual time."""
        longest = max((link.queue_packets for link in switch.links.values()), default=1)
        queue_packets = max(1024, 2 * longest) if switch.keeps_limits else longest
        command = [
            *(sys.executable, "-m", "waymark", "switch", "--charge-ip", "--real-time"),
            *("--grpc-server-addr", switch.grpc, "--device-id", str(switch.device_id)),
            *("--cpu-port", str(switch.cpu_port), "--queue-packets", str(queue_packets)),
        ]
        for port, interface in switch.interfaces.items():
            command += [f"-i{port}@{interface}"]
            command += ["--port-rate", f"{port}={round(switch.links[port].rate_bps)}bit"]
        if switch.architecture.limits_queues:
            for port, link in switch.links.items():
                command += ["--port-queue", f"{port}={link.queue_packets - 1}"]
        for port, link in switch.links.items():
            if link.weights is not None:
                command += ["--port-weights", f"{port}={','.join(map(str, link.weights))}"]
        return command

    def settle(self, switch: SwitchPlan, prefix: Collection[str]) -> None:
        """Do nothing."""


class Bmv2:
    """``simple_switch_grpc``: its queues have rates in packets, set over Thrift."""

    name = "bmv2"

    def prepare(self, programs: Collection[str], folder: Path) -> dict[str, Path]:
        """Compile each program to JSON with p4c."""
        system.need("simple_switch_grpc", "p4c-bm2-ss")
        made: dict[str, Path] = {}
        for program in programs:
            made[program] = folder / f"{Path(program).stem}.json"
            source = project.program_path(program)
            system.run("p4c-bm2-ss", "--std", "p4-16", "-o", str(made[program]), str(source))
        return made

    def command(self, switch: SwitchPlan, folder: Path) -> list[str]:
        """The command; the program is loaded over P4Runtime."""
        for link in switch.links.values():
            if link.weights is not None:
                raise WaymarkError(
                    f"link {link.name}: BMv2 has strict priority only; weights need "
                    "--target embedded"
                )
        interfaces = [f"-i{port}@{name}" for port, name in switch.interfaces.items()]
        return [
            *("simple_switch_grpc", "--no-p4", *interfaces),
            *("--device-id", str(switch.device_id), "--thrift-port", str(switch.thrift_port)),
            *("--notifications-addr", f"ipc://{folder}/{switch.name}.ipc"),
            *("--log-console", "--log-level", "warn"),
            *("--", "--grpc-server-addr", switch.grpc, "--cpu-port", str(switch.cpu_port)),
        ]

    def settle(self, switch: SwitchPlan, prefix: Collection[str]) -> None:
        """Set each port's rate and depth; the depth exceeds the program's own limit."""
        factor = 2 if switch.keeps_limits else 1
        settings = "".join(
            f"set_queue_rate {max(1, round(link.rate_bps / 8 / FRAME_OCTETS))} {port}\n"
            f"set_queue_depth {factor * link.queue_packets} {port}\n"
            for port, link in switch.links.items()
        )
        command = [*prefix, "simple_switch_CLI", "--thrift-port", str(switch.thrift_port)]
        try:
            done = subprocess.run(
                command, input=settings, capture_output=True, text=True, check=False
            )
        except FileNotFoundError as error:
            raise WaymarkError(f"{error.filename}, for BMv2's queues, is not on PATH") from error
        output = done.stdout + done.stderr
        if done.returncode != 0 or "rror" in output or "nvalid" in output:
            raise WaymarkError(f"{switch.name}: simple_switch_CLI: {output.strip()}")


TARGETS: dict[str, Target] = {target.name: target for target in (Embedded(), Bmv2())}
