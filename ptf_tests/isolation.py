"""Measures how much the control plane delays packets.

    python -m ptf_tests.isolation [--seconds S] [--rounds N]

First, the highest rate without a loss is determined. At 80 % of it, packets pass through the switch
without and with control load, in turn. The load is 100,000 inserts, then 100,000 deletes, each with
a read of all counters and direct counters, and 1,000 entries that go idle each second. In odd
rounds the inserts are in batches of 1,000, and the deletes in one that packets see as a whole; in
even rounds the other way round. The aim is that no load loses a packet or adds more than 1 ms to
the latency that one packet in 1,000 exceeds.

The forwarding thread has real-time scheduling, and its own CPU if there are two. All others share
the remaining CPUs at normal priority: a generator with real-time scheduling keeps the kernel from
delivering packets there, for up to 0.95 s.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np
from finsy.proto import p4r
from numpy.typing import NDArray

from ptf_tests import network
from ptf_tests.__main__ import EXIT_CANNOT_RUN
from ptf_tests.generator import Generator
from ptf_tests.latency import Receiver
from ptf_tests.packets import Datagram
from ptf_tests.ports import A, B
from ptf_tests.rate import STILL_S, arrived, sent
from ptf_tests.session import Session
from ptf_tests.targets import ADDRESS, DEVICE_ID, CannotRunError, stop, wait_until_it_listens
from waymark.program import compile_file
from waymark.switch import FORWARDING_THREAD

MAIN = Path(__file__).with_suffix(".p4")
WRITES = 100_000
BATCH = 1_000
"""Updates of a batch that packets may see a part of."""
IDLE = 1_000
IDLE_TIMEOUT_NS = 1_000_000_000
LOAD = 0.8
"""Share of the lossless rate."""
MOST_ADDED_NS = 1_000_000
"""The aim for the latency that one packet in 1,000 exceeds."""

SLOWEST, FASTEST = 20e3, 600e3
"""Range of the search for the lossless rate, packets/s."""
PRECISION = 1.05
HARVEST_S = 0.01
CHUNK_S = 0.2


@dataclass(frozen=True)
class Measurement:
    """The results of a phase: packets, losses, latencies."""

    packets: int
    lost: int
    latencies_ns: NDArray[np.int64]
    took_s: float

    def quantile_us(self, share: float) -> float:
        """The latency that this share of the packets does not exceed, µs."""
        return float(np.quantile(self.latencies_ns, share)) / 1e3


def main() -> int:
    """Measure. Returns the exit code: 0 the target is met, 1 it is not, 2 could not run."""
    arguments = _arguments()
    if arguments.inside:
        return _run_inside(arguments)
    if why := network.missing():
        print(f"bench-isolation: {why}", file=sys.stderr)
        return EXIT_CANNOT_RUN
    try:
        return network.enter("ptf_tests.isolation", ["--inside", *sys.argv[1:]])
    except KeyboardInterrupt:
        return 130


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ptf_tests.isolation")
    parser.add_argument(
        "--seconds", type=float, default=4.0, help="duration of a round without load"
    )
    parser.add_argument("--rounds", type=int, default=4, help="default: %(default)s")
    parser.add_argument("--results", default="results/isolation", help="default: %(default)s")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _run_inside(arguments: argparse.Namespace) -> int:
    try:
        network.set_up()
        folder = Path(arguments.results).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        with _traffic() as traffic, _switch(folder) as session:
            return _measure(traffic, session, arguments)
    except (CannotRunError, OSError, subprocess.CalledProcessError) as error:
        print(f"bench-isolation: {error}", file=sys.stderr)
        return EXIT_CANNOT_RUN
    except KeyboardInterrupt:
        return 130


def _measure(traffic: Traffic, session: Session, arguments: argparse.Namespace) -> int:
    session.insert("route", {"dst_addr": f"{B.ipv4}/32"}, "forward", port=B.port)
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} before", flush=True)
    lossless = _lossless(traffic)
    rate = LOAD * lossless
    print(f"lossless {lossless:,.0f} packets/s; measured at {rate:,.0f}")
    print(
        f"{'round':5} {'load':13} {'s':>5} {'packets':>10} {'lost':>6}"
        f" {'p50 µs':>8} {'p99 µs':>8} {'p99.9 µs':>9} {'max µs':>8}"
    )
    good = True
    load = _Load(session)
    load.insert_idle()
    for number in range(1, arguments.rounds + 1):
        without = traffic.during(rate, lambda: time.sleep(arguments.seconds))
        _show(number, "none", without)
        for name, carry_out in load.of_round(number):
            with_load = traffic.during(rate, carry_out)
            _show(number, name, with_load)
            added = with_load.quantile_us(0.999) - without.quantile_us(0.999)
            good = good and with_load.lost == 0 and added * 1e3 <= MOST_ADDED_NS
            print(f"      the load adds {added:,.0f} µs to p99.9", flush=True)
    print("the target is met" if good else "the target is missed")
    return int(not good)


def _show(number: int, load: str, found: Measurement) -> None:
    print(
        f"{number:5} {load:13} {found.took_s:5.1f} {found.packets:10,} {found.lost:6,}"
        f" {found.quantile_us(0.5):8,.0f} {found.quantile_us(0.99):8,.0f}"
        f" {found.quantile_us(0.999):9,.0f} {found.quantile_us(1):8,.0f}",
        flush=True,
    )


def _lossless(traffic: Traffic) -> float:
    """The highest rate at which no packet is lost, packets/s.

    Raises:
        CannotRunError: packets are lost at the lowest rate too.
    """
    low, high = SLOWEST, FASTEST
    if traffic.during(low, lambda: time.sleep(1)).lost:
        raise CannotRunError(f"packets are lost at {low:,.0f} packets/s")
    while high / low > PRECISION:
        middle = (low * high) ** 0.5
        found = traffic.during(middle, lambda: time.sleep(1))
        if found.lost == 0 and found.packets / found.took_s > middle / PRECISION:
            low = middle
        else:
            high = middle
    return low


# -- the load ---------------------------------------------------------------------------------


class _Load:
    """Requests of a controller, prepared before they are sent."""

    def __init__(self, session: Session) -> None:
        self._session = session
        table, action = (session.schema.tables["route"], session.schema.actions["forward"])
        self._table, self._action = table.id, action.id
        # 11.0.0.0 and up: no destination of a packet.
        writes = range(0x0B000000, 0x0B000000 + WRITES)
        self._inserts = list(self._requests(p4r.Update.INSERT, writes, 0))
        self._deletes = list(self._requests(p4r.Update.DELETE, writes, 0))

    def insert_idle(self) -> None:
        """Adds the entries that go idle."""
        idle = range(0x0C000000, 0x0C000000 + IDLE)
        for request in self._requests(p4r.Update.INSERT, idle, IDLE_TIMEOUT_NS):
            self._session.stub.Write(request)

    def of_round(self, number: int) -> Iterator[tuple[str, Callable[[], None]]]:
        """The loads of a round: writes and reads, which leave the table as it was."""
        kinds = (("inserts", self._inserts), ("deletes", self._deletes))
        for at, (name, requests) in enumerate(kinds):
            if (number + at) % 2:
                yield name, partial(self._carry_out, requests)
            else:
                yield f"{name}, whole", partial(self._carry_out, [_as_a_whole(requests)])

    def _carry_out(self, requests: list[p4r.WriteRequest]) -> None:
        for request in requests:
            self._session.stub.Write(request)
        everything = [
            p4r.Entity(counter_entry=p4r.CounterEntry()),
            p4r.Entity(direct_counter_entry=p4r.DirectCounterEntry()),
        ]
        read = p4r.ReadRequest(device_id=DEVICE_ID, entities=everything)
        for _ in self._session.stub.Read(read):
            pass

    def _requests(
        self, kind: p4r.Update.Type.ValueType, addresses: range, idle_timeout_ns: int
    ) -> Iterator[p4r.WriteRequest]:
        for first in range(0, len(addresses), BATCH):
            updates = [
                p4r.Update(type=kind, entity=self._entity(address, idle_timeout_ns))
                for address in addresses[first : first + BATCH]
            ]
            yield p4r.WriteRequest(
                device_id=DEVICE_ID, election_id=self._session.election_id, updates=updates
            )

    def _entity(self, address: int, idle_timeout_ns: int) -> p4r.Entity:
        prefix = p4r.FieldMatch.LPM(value=address.to_bytes(4, "big"), prefix_len=32)
        port = p4r.Action.Param(param_id=1, value=bytes([B.port]))
        action = p4r.Action(action_id=self._action, params=[port])
        entry = p4r.TableEntry(
            table_id=self._table,
            match=[p4r.FieldMatch(field_id=1, lpm=prefix)],
            action=p4r.TableAction(action=action),
            idle_timeout_ns=idle_timeout_ns,
        )
        return p4r.Entity(table_entry=entry)


def _as_a_whole(requests: list[p4r.WriteRequest]) -> p4r.WriteRequest:
    """All updates in one batch that packets see as a whole."""
    whole = p4r.WriteRequest(atomicity=p4r.WriteRequest.DATAPLANE_ATOMIC)
    whole.device_id = requests[0].device_id
    whole.election_id.CopyFrom(requests[0].election_id)
    for request in requests:
        whole.updates.extend(request.updates)
    return whole


# -- the switch -------------------------------------------------------------------------------


@contextmanager
def _switch(folder: Path) -> Iterator[Session]:
    program = compile_file(MAIN)
    config, p4info = folder / "program.p4", folder / "p4info.txtpb"
    config.write_text(program.source)
    p4info.write_text(program.p4info())
    command = [sys.executable, "-m", "waymark", "switch", "--real-time"]
    command += [f"-i{host.port}@{host.switch_end}" for host in (A, B)]
    command += ["--grpc-server-addr", ADDRESS, "--device-id", str(DEVICE_ID)]
    log = folder / "switch.log"
    with log.open("wb") as out:
        switch = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        wait_until_it_listens(switch, log)
        _separate(switch.pid)
        session = Session(ADDRESS, DEVICE_ID, p4info, config)
        try:
            session.push()
            yield session
        finally:
            session.close()
    finally:
        stop(switch)


def _separate(switch: int) -> None:
    """Gives the forwarding thread its own CPU."""
    first, *others = sorted(os.sched_getaffinity(0))
    if not others:
        return
    os.sched_setaffinity(0, others)
    for task in Path(f"/proc/{switch}/task").iterdir():
        forwards = (task / "comm").read_text().strip() == FORWARDING_THREAD
        os.sched_setaffinity(int(task.name), [first] if forwards else others)


# -- the traffic ------------------------------------------------------------------------------


class Traffic:
    """A generator and a receiver, in separate processes."""

    def __init__(self, sender: Connection, receiver: Connection, stop: Event) -> None:
        """The ends of the pipes to both, and what ends the generator's phase."""
        self._sender, self._receiver, self._stop = sender, receiver, stop

    def during(self, rate: float, action: Callable[[], None]) -> Measurement:
        """Sends packets at a rate, in packets/s, as long as an action takes.

        Raises:
            CannotRunError: the receiver was too slow.
        """
        before = sent(), arrived()
        self._stop.clear()
        self._sender.send(rate)
        time.sleep(CHUNK_S)
        try:
            action()
        finally:
            self._stop.set()
            took_s: float = self._sender.recv()
        last = -1
        while (now := arrived()) != last:
            last = now
            time.sleep(STILL_S)
        self._receiver.send(None)
        latencies, overflowed = self._receiver.recv()
        if overflowed:
            raise CannotRunError(f"the receiver was too slow for {overflowed} packets")
        packets = sent() - before[0]
        return Measurement(packets, packets - (last - before[1]), latencies, took_s)


@contextmanager
def _traffic() -> Iterator[Traffic]:
    context = multiprocessing.get_context("spawn")
    ended = context.Event()
    (sender, to_sender), (receiver, to_receiver) = context.Pipe(), context.Pipe()
    sending = context.Process(target=_send, args=(to_sender, ended), daemon=True)
    receiving = context.Process(target=_receive, args=(to_receiver,), daemon=True)
    sending.start()
    receiving.start()
    try:
        yield Traffic(sender, receiver, ended)
    finally:
        sending.terminate()
        receiving.terminate()


def _send(commands: Connection, ended: Event) -> None:
    _leave_first_cpu()
    with Generator(A.test_end, Datagram().sent(), stamped=True) as generator:
        while True:
            rate: float = commands.recv()
            took_s = 0.0
            while not ended.is_set():
                took_s += generator.run(rate, CHUNK_S)
            commands.send(took_s)


def _receive(commands: Connection) -> None:
    _leave_first_cpu()
    with Receiver(B.test_end) as receiver:
        taken: list[NDArray[np.int64]] = []
        while True:
            taken.append(receiver.take())
            if commands.poll(HARVEST_S):
                commands.recv()
                commands.send((np.concatenate(taken), receiver.overflowed()))
                taken = []


def _leave_first_cpu() -> None:
    """Leaves the first CPU to the forwarding thread, if there is another."""
    _, *others = sorted(os.sched_getaffinity(0))
    if others:
        os.sched_setaffinity(0, others)


if __name__ == "__main__":
    sys.exit(main())
