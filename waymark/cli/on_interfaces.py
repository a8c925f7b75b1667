"""``waymark run --runner netns|mininet``: experiments on this machine's interfaces."""

import os
import re
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from waymark import experiment as experiments
from waymark import trace
from waymark.cli.base import EXIT_INTERRUPTED, err, make, out
from waymark.cli.network import TargetName
from waymark.errors import WaymarkError
from waymark.experiment import Experiment, Scale

if TYPE_CHECKING:
    from topologies.live import Live
    from waymark.scenario import Scenario


class ArchitectureName(StrEnum):
    """``--arch`` of ``waymark run``."""

    V1MODEL = "v1model"
    TNA = "tna"
    T2NA = "t2na"


class RunnerName(StrEnum):
    """``--runner`` of ``waymark run``."""

    NETSIM = "netsim"
    NETNS = "netns"
    MININET = "mininet"


class HostsName(StrEnum):
    """``--hosts`` of ``waymark run``."""

    WAYMARK = "waymark"
    KERNEL = "kernel"


def check(
    chosen: Sequence[Experiment],
    runner: RunnerName,
    target: TargetName | None,
    hosts: HostsName | None,
    arch: ArchitectureName | None,
) -> None:
    """Raise a :class:`WaymarkError` unless all of these can run on interfaces."""
    if runner == RunnerName.NETSIM:
        if hosts is not None:
            raise WaymarkError("--hosts needs --runner netns or mininet")
        if target is not None:
            raise WaymarkError("--target needs --runner netns or mininet")
        return
    other = [one.id for one in chosen if one.on_interfaces is None]
    if other:
        can = [one.id for one in experiments.everything() if one.on_interfaces is not None]
        raise WaymarkError(f"{', '.join(other)}: cannot run on interfaces; valid: {', '.join(can)}")
    if target == TargetName.BMV2 and arch not in (None, ArchitectureName.V1MODEL):
        raise WaymarkError(f"--target bmv2 runs v1model, not --arch {arch}; valid: embedded")
    if os.geteuid() != 0:
        raise WaymarkError("namespaces and interfaces need root: run this with sudo")


def run(
    chosen: Sequence[Experiment],
    runner: RunnerName,
    target: TargetName,
    hosts: HostsName,
    arch: ArchitectureName | None,
    scale: Scale,
    seeds: Sequence[int],
    out_dir: Path,
    *,
    traces: bool,
) -> None:
    """Run experiments on interfaces and in the simulator; write and show the results."""
    from topologies import live
    from waymark import beside

    for one in chosen:
        suffix = runner.value if target == TargetName.EMBEDDED else f"{runner}-{target}"
        suffix += "" if hosts == HostsName.WAYMARK else f"-{hosts}"
        suffix += "" if arch is None else f"-{arch}"
        folder = out_dir / f"{one.id}-{suffix}"
        make(folder)
        network = f"{re.sub('[^A-Za-z0-9_.-]', '-', one.id)}-{os.getpid()}"

        def run_live(scenario: "Scenario", network: str = network) -> "Live":
            name, seconds = scenario.name, f"{scenario.end_s:g} s"
            err.print(f"{name} on {runner}, seed {scenario.seed}: {seconds} in real time")
            return live.run(scenario, network, runner.value, target.value, hosts.value)

        try:
            measured = beside.measure(
                one,
                scale,
                seeds,
                runner.value,
                target.value,
                hosts.value,
                run_live,
                None if arch is None else arch.value,
            )
        except KeyboardInterrupt as interrupt:
            print("interrupted: the network is down", file=sys.stderr)
            raise typer.Exit(EXIT_INTERRUPTED) from interrupt
        files = beside.write(measured, folder, ["waymark", *sys.argv[1:]])
        if traces:
            make(folder / "trace")
            for label, several in measured.runs.items():
                for way, table in (
                    ("live", several[0].live.traces[0]),
                    ("simulated", several[0].simulated.trace(0)),
                ):
                    files.append(trace.write(table, folder / "trace" / f"{label}-{way}.parquet"))
        out.print(beside.terminal_table(measured))
        for file in files:
            print(file)
