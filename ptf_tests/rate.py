"""Measures how many packets/s a switch forwards, and how long they take.

    python -m ptf_tests.rate [--rounds N] [--seconds S] [--target embedded|bmv2 …]

Besides the switches, two baselines forward the same frames on the same veths: a bare forwarder with
the embedded switch's rings, which does not read frames, and Linux's bridge. All run in turn in each
round, so that other load on the machine affects all of them. A rate is the highest arrival rate
over several offered rates; latencies are measured at half of it. A forwarding thread has its own
CPU if there are two. The bridge has no thread; it runs on the generator's CPU.

If one thread forwards, two more rates are shown. Both are for a forwarder with full receive rings,
while the generator waits. *Drained* is how fast it empties them: on two CPUs, only this shows the
gain of a second thread. *Per CPU second* is the number of these packets divided by the CPU time of
the busiest thread: the rate on dedicated cores. Other processes change it little.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from hosts.layers import AQT
from ptf_tests import network
from ptf_tests.__main__ import EXIT_CANNOT_RUN, TARGETS
from ptf_tests.drain import PACKETS, drained_per_s
from ptf_tests.forwarders import MAIN, Bare, Bridge, Forwarder, Switch, cores, processor_s
from ptf_tests.generator import Generator
from ptf_tests.latency import Receiver
from ptf_tests.packets import Datagram
from ptf_tests.ports import A, B, Host
from ptf_tests.targets import CannotRunError


@dataclass(frozen=True)
class Kind:
    """The traffic: octets of frames with their check sequence, and their directions."""

    name: str
    frame: bytes
    """From A to B."""
    back: bytes | None = None
    """From B to A, as often."""

    @property
    def ends(self) -> tuple[Host, ...]:
        """Where frames arrive."""
        return (B,) if self.back is None else (B, A)


KINDS = (
    Kind("64", Datagram(octets=60).sent()),
    Kind("64, AQT", Datagram(octets=60, options=[bytes(AQT(aqt=1000, aqt_echo=77))]).sent()),
    Kind("1518", Datagram(octets=1514).sent()),
    Kind("64 both", Datagram(octets=60).sent(), Datagram(source=B, to=A, octets=60).sent()),
)
DRAINS = 20
"""How often full rings are drained in a round."""

ALONE, SENDER = "embedded", "embedded-sender"
DEFAULT = (ALONE, SENDER, "bmv2")
"""The measured targets: without and with a sender thread."""

STEPS = (0.9, 1.1, 1.3)
"""Offered in addition to the generator's maximum, as shares of the best so far."""
SLOWEST = 1e4
"""Offered to warm up, packets/s."""
WARM_UP_S = 0.3
CHUNK_S = 0.1
"""Time after which latencies are taken from the receiver's ring."""
STILL_S = 0.3
"""Time without arrivals after which the last packet is considered to have arrived."""


@dataclass(frozen=True)
class Measured:
    """One forwarder in one round with one kind of frame."""

    packets_per_s: float
    packets_per_cpu_s: float | None
    """Per CPU second of the busiest forwarding thread."""
    drained_per_s: float | None
    p50_us: float
    """Latencies at half of that rate."""
    p99_us: float
    lost: float
    """Share of packets that were lost at half of that rate."""


Results = dict[tuple[str, str], list[Measured]]
"""By kind and forwarder, in the order of the rounds."""


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
    parser.add_argument("--target", choices=TARGETS, action="append", help="default: three")
    parser.add_argument("--kind", choices=[kind.name for kind in KINDS], action="append")
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    parser.add_argument(
        "--seconds", type=float, default=0.4, help="duration of a sample; default: %(default)s"
    )
    parser.add_argument("--results", default="results/rate", help="default: %(default)s")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _run_inside(arguments: argparse.Namespace) -> int:
    targets = [TARGETS[name] for name in arguments.target or DEFAULT]
    kinds = [kind for kind in KINDS if kind.name in (arguments.kind or [kind.name])]
    forwarders = list(_that_run([Bare(), Bridge(), *map(Switch, targets)]))
    results: Results = {}
    try:
        network.set_up()
        load = os.getloadavg()[0]
        print(f"{MAIN.name}, {os.cpu_count()} CPUs, load {load:.1f} before")
        print(
            f"{'round':5} {'forwarder':15} {'octets':8} {'packets/s':>10} {'per CPU s':>10}"
            f" {'drained/s':>10} {'p50 µs':>8} {'p99 µs':>8} {'lost':>5}"
        )
        for number in range(1, arguments.rounds + 1):
            for forwarder in forwarders:
                folder = Path(arguments.results) / forwarder.name
                folder.mkdir(parents=True, exist_ok=True)
                with forwarder.forwarding(folder.resolve()), cores() as tasks:
                    for kind in kinds:
                        found = _measure(kind, arguments.seconds, tasks)
                        results.setdefault((kind.name, forwarder.name), []).append(found)
                        _show(f"{number:5} {forwarder.name:15} {kind.name:8}", found)
    except (CannotRunError, OSError, subprocess.CalledProcessError) as error:
        print(f"bench-switch: {error}", file=sys.stderr)
        return EXIT_CANNOT_RUN
    except KeyboardInterrupt:
        return 130
    return _report(results)


def _that_run(forwarders: Sequence[Forwarder]) -> Iterator[Forwarder]:
    for forwarder in forwarders:
        if why := forwarder.missing():
            print(f"{forwarder.name} skipped: {why}")
        else:
            yield forwarder


def _show(what: str, found: Measured) -> None:
    print(
        f"{what} {found.packets_per_s:10,.0f} {_number(found.packets_per_cpu_s)}"
        f" {_number(found.drained_per_s)} {found.p50_us:8,.0f} {found.p99_us:8,.0f}"
        f" {found.lost:5.0%}",
        flush=True,
    )


def _number(number: float | None) -> str:
    return f"{'':10}" if number is None else f"{number:10,.0f}"


def _measure(kind: Kind, seconds: float, tasks: Sequence[Path]) -> Measured:
    """Raises:
    CannotRunError: no packet arrived, or the receiver was too slow.
    """
    _forwarded(kind, SLOWEST, WARM_UP_S)
    best = _forwarded(kind, math.inf, seconds)
    for step in STEPS:
        best = max(best, _forwarded(kind, best / len(kind.ends) * step, seconds))
    if not best:
        raise CannotRunError("no packet arrived")
    per_cpu, drained = _drained(kind, tasks) if tasks else (None, None)
    latencies_us, lost = _latencies(kind, best / len(kind.ends) / 2, seconds)
    p50, p99 = np.quantile(latencies_us, [0.5, 0.99])
    return Measured(best, per_cpu, drained, float(p50), float(p99), lost)


def _drained(kind: Kind, tasks: Sequence[Path]) -> tuple[float, float]:
    """Packets per CPU second of the busiest thread, and packets/s, while full rings are drained."""
    ways = [(A.test_end, kind.frame, B.test_end)]
    if kind.back is not None:
        ways.append((B.test_end, kind.back, A.test_end))
    before = [processor_s(task) for task in tasks]
    rates = drained_per_s(int(tasks[0].parents[1].name), ways, DRAINS)
    took = [processor_s(task) - begun for task, begun in zip(tasks, before, strict=True)]
    return DRAINS * len(ways) * PACKETS / max(took), median(rates)


@contextmanager
def _generators(kind: Kind, stamped: bool = False) -> Iterator[tuple[Generator, Generator | None]]:
    with Generator(A.test_end, kind.frame, stamped) as forth:
        if kind.back is None:
            yield forth, None
        else:
            with Generator(B.test_end, kind.back) as back:
                yield forth, back


def _forwarded(kind: Kind, rate: float, seconds: float) -> float:
    """Packets/s that arrive while packets are sent at a rate, in each direction."""
    came = arrived(*kind.ends)
    with _generators(kind) as (forth, back):
        took = forth.run(rate, seconds, back)
        forwarded = arrived(*kind.ends) - came
    _settle()
    return forwarded / took


def _latencies(kind: Kind, rate: float, seconds: float) -> tuple[NDArray[np.float64], float]:
    """The times of packets that are sent to B at a rate, µs, and the share that was lost."""
    with _generators(kind, stamped=True) as (forth, back), Receiver(B.test_end) as receiver:
        before, came = sent(), arrived()
        taken = [receiver.take()]
        for _ in range(math.ceil(seconds / CHUNK_S)):
            forth.run(rate, CHUNK_S, back)
            taken.append(receiver.take())
        arrivals = _settle() - came
        taken.append(receiver.take())
        if overflowed := receiver.overflowed():
            raise CannotRunError(f"the receiver was too slow for {overflowed} packets")
    return np.concatenate(taken) / 1e3, 1 - arrivals / (sent() - before)


def _settle() -> int:
    """Waits until no packet arrives any more. How many have arrived."""
    last = -1
    while (now := arrived()) != last:
        last = now
        time.sleep(STILL_S)
    return now


def sent() -> int:
    """Frames that A has sent."""
    return _statistic(A.test_end, "tx_packets")


def arrived(*ends: Host) -> int:
    """Frames that B, or these, have received."""
    return sum(_statistic(end.test_end, "rx_packets") for end in ends or (B,))


def _statistic(interface: str, name: str) -> int:
    return int(Path(f"/sys/class/net/{interface}/statistics/{name}").read_text())


def _report(results: Results) -> int:
    print(
        f"\n{'medians of the rounds':26} {'packets/s':>10} {'per CPU s':>10} {'drained/s':>10}"
        f" {'p50 µs':>8} {'p99 µs':>8} {'of bare':>8}"
    )
    for (kind, name), found in sorted(results.items()):
        rate = median(one.packets_per_s for one in found)
        p50, p99 = median(one.p50_us for one in found), median(one.p99_us for one in found)
        per_cpu = [n for one in found if (n := one.packets_per_cpu_s) is not None]
        drained = [n for one in found if (n := one.drained_per_s) is not None]
        share = of_bare(results, kind, name)
        shown = "" if share is None else f"{share:8.0%}"
        print(
            f"{kind:10} {name:15} {rate:10,.0f} {_number(median(per_cpu) if per_cpu else None)}"
            f" {_number(median(drained) if drained else None)} {p50:8,.0f} {p99:8,.0f} {shown}"
        )
    for kind, without in (
        (kind, found) for (kind, name), found in results.items() if name == ALONE
    ):
        if pairs := list(zip(results.get((kind, SENDER), []), without, strict=False)):
            cpu = median((a.packets_per_cpu_s or 0) / (b.packets_per_cpu_s or 1) for a, b in pairs)
            drained = median((a.drained_per_s or 0) / (b.drained_per_s or 1) for a, b in pairs)
            print(
                f"{kind:10} with a sender, of without: {cpu:.2f} per CPU s, {drained:.2f} drained"
            )
    return int(not results)


def of_bare(results: Results, kind: str, name: str) -> float | None:
    """A forwarder's rate divided by the bare forwarder's, as median of the rounds' ratios.

    It uses the rates per CPU second if both have them.
    """
    ratios: list[float] = []
    for one, bare in zip(results[kind, name], results.get((kind, Bare.name), []), strict=False):
        if one.packets_per_cpu_s is None or bare.packets_per_cpu_s is None:
            ratios.append(one.packets_per_s / bare.packets_per_s)
        else:
            ratios.append(one.packets_per_cpu_s / bare.packets_per_cpu_s)
    return median(ratios) if ratios else None


if __name__ == "__main__":
    sys.exit(main())
