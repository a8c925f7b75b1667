"""Throughput and CPU time of Linux's TCP over a veth pair, with marks and without.

``make bench-kernel``. The variants take turns, with real-time scheduling, because other
programs share the machine.
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from topologies import system
from waymark import kernel, real_time
from waymark.errors import WaymarkError

VARIANTS = ("", "aqt", "aqt,drai", "aqt,drai,ci")
"""The marks that packets carry; empty: without the programs."""

ROUNDS = 7

SECONDS = 1

INTERFACE = "e0"

ADDRESSES = {"a": "10.99.0.1", "b": "10.99.0.2"}


@dataclass(frozen=True)
class Measured:
    """One transfer.

    Attributes:
        gbps: of payload, in Gb/s.
        cpu_s_per_gb: of both ends' processes, in seconds per Gb. On a veth pair, packets cross the
            stacks of both hosts in these processes.
    """

    gbps: float
    cpu_s_per_gb: float


@contextmanager
def pair() -> Generator[dict[str, list[str]]]:
    """Two hosts with a veth pair between them: what runs a command at each."""
    names = {host: f"wm-rate{os.getpid()}-{host}" for host in ADDRESSES}
    try:
        for name in names.values():
            system.run("ip", "netns", "add", name)
        a, b = names.values()
        ends = f"{INTERFACE} netns {a} type veth peer name {INTERFACE} netns {b}"
        system.run("ip", "link", "add", "name", *ends.split())
        for host, name in names.items():
            address = f"{ADDRESSES[host]}/24"
            system.run("ip", "-n", name, "addr", "add", address, "dev", INTERFACE)
            system.run("ip", "-n", name, "link", "set", INTERFACE, "up")
        yield {host: ["ip", "netns", "exec", name] for host, name in names.items()}
    finally:
        for name in names.values():
            system.run("ip", "netns", "del", name, check=False)


@contextmanager
def attached(at: dict[str, list[str]], marks: str) -> Generator[None]:
    """Both hosts have the programs, if there are marks."""
    loader = kernel.loader()
    try:
        for words in at.values() if marks else ():
            system.run(*words, loader, "attach", INTERFACE, "-", marks)
        yield
    finally:
        for words in at.values() if marks else ():
            system.run(*words, loader, "detach", INTERFACE, check=False)


def transfer(at: dict[str, list[str]]) -> Measured:
    """Send as fast as possible from one host to the other."""
    words = [*at["b"], "iperf3", "-s", "-1", "--forceflush"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        while "Server listening" not in server.stdout.readline():
            if server.poll() is not None:
                raise WaymarkError(f"iperf3 -s ended with exit code {server.returncode}")
        client = ("iperf3", "-J", "-t", str(SECONDS), "-c", ADDRESSES["b"])
        measured = json.loads(system.run(*at["a"], *client))
        server.communicate(timeout=30)
    end = measured["end"]
    gbps = end["sum_received"]["bits_per_second"] / 1e9
    used = end["cpu_utilization_percent"]
    return Measured(gbps, (used["host_total"] + used["remote_total"]) / 100 / gbps)


def main() -> None:
    """Measure, and print a table."""
    system.need("ip", "iperf3")
    kernel.loader()
    real_time.claim()
    found: dict[str, list[Measured]] = {marks: [] for marks in VARIANTS}
    with pair() as at:
        transfer(at)  # the first is slower
        for number in range(ROUNDS):
            for marks in VARIANTS if number % 2 else reversed(VARIANTS):
                with attached(at, marks):
                    found[marks].append(transfer(at))
    print(f"Linux's TCP over a veth pair, medians of {ROUNDS} transfers of {SECONDS} s:")
    print(f"{'marks':<14}{'Gb/s':>8}{'of without':>12}{'CPU s/Gb':>10}{'of without':>12}")
    for marks, measured in found.items():
        rate, rate_share = _median([one.gbps for one in measured], [one.gbps for one in found[""]])
        cost, cost_share = _median(
            [one.cpu_s_per_gb for one in measured], [one.cpu_s_per_gb for one in found[""]]
        )
        print(
            f"{marks or 'without':<14}{rate:8.1f}{rate_share:12.0%}{cost:10.3f}{cost_share:12.0%}"
        )


def _median(measured: Sequence[float], without: Sequence[float]) -> tuple[float, float]:
    """Of what was measured, and of its ratio to what the same round measured without marks."""
    ratios = [one / other for one, other in zip(measured, without, strict=True)]
    return statistics.median(measured), statistics.median(ratios)


if __name__ == "__main__":
    try:
        main()
    except WaymarkError as error:
        sys.exit(f"error: {error}")
