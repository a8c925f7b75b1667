"""Measures how many packets/s a switch forwards, and BMv2 for comparison.

    python -m ptf_tests.rate [--seconds S] [--target embedded|bmv2 …]

The switches run in turn with the same veths, program, entries and generator. Packets are offered at
several rates up to the generator's maximum, because an overloaded switch may spend its time on
drops. The result is the highest forwarded rate. Switch and generator share the machine's CPUs.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hosts.layers import AQT
from ptf_tests import network
from ptf_tests.__main__ import EXIT_CANNOT_RUN, TARGETS
from ptf_tests.generator import Generator
from ptf_tests.packets import Datagram
from ptf_tests.ports import HOSTS, A, B
from ptf_tests.session import Session
from ptf_tests.targets import ADDRESS, DEVICE_ID, P4SRC, CannotRunError, Running, Target

MAIN = P4SRC / "v1model" / "waymark.p4"
FRAMES = {
    "no options": Datagram().sent(),
    "AQT": Datagram(options=[AQT(aqt=1000, aqt_echo=77)]).sent(),
}
RATES = (5e3, 10e3, 20e3, 50e3, 100e3, 150e3, 200e3, 300e3, 400e3, math.inf)
"""Offered, packets/s."""
WARM_UP_S = 0.3
STILL_S = 0.3
"""Time without arrivals after which the last packet is considered to have arrived."""


@dataclass(frozen=True)
class Sample:
    """One measurement, packets/s."""

    offered: float
    forwarded: float
    lost: float
    """Share of all packets that never arrived."""


def main() -> int:
    """Measure. Returns the exit code: 0 measured, 1 nothing was forwarded, 2 could not run."""
    arguments = _arguments()
    if arguments.inside:
        return _run_inside(arguments)
    if why := network.missing():
        print(f"bench-switch: {why}", file=sys.stderr)
        return EXIT_CANNOT_RUN
    try:
        return network.enter("ptf_tests.rate", ["--inside", *sys.argv[1:]])
    except KeyboardInterrupt:
        return 130


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ptf_tests.rate")
    parser.add_argument("--target", choices=TARGETS, action="append", help="default: both")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a sample, default 1")
    parser.add_argument("--results", default="results/rate", help="default: %(default)s")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _run_inside(arguments: argparse.Namespace) -> int:
    names: list[str] = arguments.target or ["embedded", "bmv2"]
    rates: dict[tuple[str, str], list[Sample]] = {}
    try:
        network.set_up()
        frame, load = len(FRAMES["AQT"]), os.getloadavg()[0]
        print(
            f"{MAIN.name}, {frame} octets per frame, {os.cpu_count()} CPUs, load {load:.1f} before"
        )
        print(f"{'switch':10} {'packets':10} {'offered/s':>10} {'forwarded/s':>11} {'lost':>5}")
        for name in names:
            target = TARGETS[name]
            if why := target.missing():
                print(f"{name:10} skipped: {why}")
                continue
            for kind, sample in _samples(target, arguments):
                rates.setdefault((name, kind), []).append(sample)
                print(
                    f"{name:10} {kind:10} {sample.offered:10,.0f} {sample.forwarded:11,.0f}"
                    f" {sample.lost:5.0%}",
                    flush=True,
                )
    except (CannotRunError, OSError, subprocess.CalledProcessError) as error:
        print(f"bench-switch: {error}", file=sys.stderr)
        return EXIT_CANNOT_RUN
    except KeyboardInterrupt:
        return 130
    return _report(rates)


def _samples(target: Target, arguments: argparse.Namespace) -> Iterator[tuple[str, Sample]]:
    folder = (Path(arguments.results) / target.name).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with target.start(MAIN, folder) as running:
        session = _configured(running)
        try:
            for kind, frame in FRAMES.items():
                _sample(frame, RATES[0], WARM_UP_S)
                for rate in RATES:
                    yield kind, _sample(frame, rate, arguments.seconds)
        finally:
            session.close()


def _configured(running: Running) -> Session:
    """The switch with its program, routes, and all marks at B."""
    session = Session(ADDRESS, DEVICE_ID, running.p4info, running.device_config)
    session.push()
    for host in HOSTS:
        session.insert("ipv4_route", {"dst_addr": f"{host.ipv4}/32"}, "direct", port=host.port)
        session.insert(
            "neighbour", {"port": host.port, "next_hop": host.ipv4},
            "rewrite", src_addr=host.router_mac, dst_addr=host.mac,
        )  # fmt: skip
    session.insert(
        "port_feedback", {"port": B.port}, "set_feedback", aqt=1, drai=1, ci=1, window_log2=20
    )
    return session


def _sample(frame: bytes, rate: float, seconds: float) -> Sample:
    """Counts arrivals while packets are sent; packets that wait at the end count as neither
    arrived nor lost."""
    before, came = sent(), arrived()
    with Generator(A.test_end, frame) as generator:
        took = generator.run(rate, seconds)
        offered, forwarded = sent() - before, arrived() - came
        last = -1
        while (now := arrived()) != last:
            last = now
            time.sleep(STILL_S)
    return Sample(offered / took, forwarded / took, 1 - (now - came) / offered)


def sent() -> int:
    """Frames that A has sent."""
    return _statistic(A.test_end, "tx_packets")


def arrived() -> int:
    """Frames that B has received."""
    return _statistic(B.test_end, "rx_packets")


def _statistic(interface: str, name: str) -> int:
    return int(Path(f"/sys/class/net/{interface}/statistics/{name}").read_text())


def _report(rates: dict[tuple[str, str], list[Sample]]) -> int:
    best = {key: max(sample.forwarded for sample in found) for key, found in rates.items()}
    for (name, kind), rate in best.items():
        print(f"most: {name}, {kind}: {rate:,.0f} packets/s")
    for kind in FRAMES:
        ours, theirs = best.get(("embedded", kind)), best.get(("bmv2", kind))
        if ours and theirs:
            print(f"embedded / bmv2, {kind}: {ours / theirs:.1f}")
    return int(not best or not all(best.values()))


if __name__ == "__main__":
    sys.exit(main())
