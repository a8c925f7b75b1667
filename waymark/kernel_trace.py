"""Traces of congestion controls in Linux's own TCP, like those of a simulated sender."""

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from waymark import json_text, kernel
from waymark.errors import WaymarkError
from waymark.trace import Trace

CHANGES = ("ack", "loss", "recovered", "timeout")

PHASES = ("slow_start", "avoidance")

SATURATED_US = 0xFFFFFF
"""A queueing time of this value is a lower bound: the mark is saturated."""

OCTETS = 1 << 32
"""Sequence numbers wrap."""

Event = Mapping[str, Any]


def record(seconds: int, port: int | None, ready: Callable[[], None]) -> list[Event]:
    """The events of one connection in the next ``seconds``, as ``waymark-kernel trace`` reports
    them.

    Args:
        seconds: the duration.
        port: of the connection, at either end; None: the connection with the most events.
        ready: is called when the recording has begun.

    Raises:
        WaymarkError: the loader was not built or refuses, or no such connection had an event.
    """
    words = [kernel.loader(), "trace", str(seconds)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        if child.stdout.readline().strip() != "ready":
            raise WaymarkError(child.stderr.read().strip().removeprefix("error: "))
        ready()
        events = [json.loads(line) for line in child.stdout]
    return of_connection(events, port, seconds)


def of_connection(events: Sequence[Event], port: int | None, seconds: float) -> list[Event]:
    """The events of one end of a connection: the connection with the most events.

    Args:
        events: of all connections.
        port: of the connection, at either end; None: any.
        seconds: the duration of the recording.

    Raises:
        WaymarkError: no such connection had an event.
    """
    chosen = [event for event in events if port is None or port in _ports(event)]
    if not chosen:
        what = "a control of waymark kernel" if port is None else f"port {port} and such a control"
        raise WaymarkError(f"no connection with {what} had an event within {seconds:g} s")
    ((ends, _),) = Counter(str(event["ends"]) for event in chosen).most_common(1)
    return [event for event in chosen if str(event["ends"]) == ends]


def write(events: Sequence[Event], file: Path) -> None:
    """Write events as JSON lines, for :func:`replay`."""
    lines = (json_text.dumps(event) + "\n" for event in events)
    file.write_text("".join(lines), encoding="utf-8")


@dataclass(frozen=True)
class Difference:
    """Windows, thresholds and rates that differ by more than rounding.

    Attributes:
        event: counted from 1.
        change: what happened.
        kernel: window and threshold in the kernel, in segments, and the pacing rate in segments per
            second; 0: the control has none.
        rust: the same in Rust.
    """

    event: int
    change: str
    kernel: tuple[float, float, float]
    rust: tuple[float, float, float]


@dataclass(frozen=True)
class Replayed:
    """A control in the kernel and the Rust control on the same events.

    Attributes:
        control: its name.
        ends: address and port of this end and of the other.
        acks, losses, timeouts: events of each kind that were compared.
        largest: the largest difference between the windows, as a share of the window.
        rounding: the largest difference that the kernel's rounding explains, as a share too.
        beyond: the first event after which rounding does not explain the difference; None: all
            agree.
        short: acknowledgements before ``beyond`` that end within a segment of full size. The sender
            sent shorter ones, so Rust and the kernel may count segments differently.
    """

    control: str
    ends: tuple[tuple[str, int], tuple[str, int]]
    acks: int
    losses: int
    timeouts: int
    largest: float
    rounding: float
    beyond: Difference | None
    short: int


def replay(file: Path) -> Replayed:
    """Replay the events of a connection, which began after the recording, in the Rust control.

    Raises:
        WaymarkError: the loader was not built, or the file does not have such events; the message
            names the event.
    """
    try:
        text = file.read_bytes()
    except OSError as error:
        raise WaymarkError(f"{file}: {error.strerror}") from error
    done = subprocess.run([kernel.loader(), "replay"], input=text, capture_output=True)
    if done.returncode:
        raise WaymarkError(f"{file}: {done.stderr.decode().strip().removeprefix('error: ')}")
    report = json.loads(done.stdout)
    found = report.pop("beyond")
    beyond = None if found is None else Difference(**found)
    events = [json.loads(line) for line in text.splitlines()[: beyond.event if beyond else None]]
    return Replayed(**report, beyond=beyond, short=_short(events))


def _short(events: Sequence[Event]) -> int:
    begin = events[0]["next"]
    return sum(
        (event["una"] - begin) % OCTETS % event["mss"] != 0
        for event in events
        if event["change"] == "ack"
    )


def as_trace(events: Sequence[Event], begin_s: float | None = None) -> Trace:
    """Events of one connection as a trace: acknowledgements, losses, recoveries and timeouts.

    Packets are counted from the first event on. The base RTT and Diff of a control are not
    exported: they are NaN.

    Args:
        events: of :func:`of_connection`.
        begin_s: time 0 of the trace, by ``time.monotonic()``; None: the first event.
    """
    events = [event for event in events if event["change"] in CHANGES]
    first = events[0]
    count = len(events)
    begin_us = first["time_us"] if begin_s is None else begin_s * 1e6

    def floats(value: Callable[[Event], float | None]) -> Any:
        values = (value(event) for event in events)
        return np.array([np.nan if one is None else one for one in values], np.float64)

    def packets(key: str) -> Any:
        since = ((event[key] - first["una"]) % OCTETS // event["mss"] for event in events)
        return np.fromiter(since, np.uint64, count)

    cwnd, ssthresh = floats(lambda event: event["cwnd"]), floats(lambda event: event["ssthresh"])
    local, remote = (f"{address}:{port}" for address, port in first["ends"])
    return Trace(
        time_s=floats(lambda event: (event["time_us"] - begin_us) / 1e6),
        change=np.array([CHANGES.index(event["change"]) for event in events], np.uint8),
        phase=(cwnd >= ssthresh).astype(np.uint8),
        cwnd=cwnd,
        ssthresh=ssthresh,
        in_flight=np.array([event["in_flight"] for event in events], np.uint64),
        acked=packets("una"),
        next=packets("next"),
        rtt_s=floats(lambda event: _seconds(event["rtt_us"])),
        base_rtt_s=np.full(count, np.nan),
        diff=np.full(count, np.nan),
        aqt_forward_s=floats(lambda event: _queueing(event, 0)),
        aqt_backward_s=floats(lambda event: _queueing(event, 1)),
        mrai=np.array([event["mrai"] or 0 for event in events], np.uint8),
        ci=np.zeros(count, np.bool_),
        random_losses=np.zeros(count, np.uint64),
        congestion_losses=np.zeros(count, np.uint64),
        changes=CHANGES,
        phases=PHASES,
        about={
            "scenario": "Linux's own TCP",
            "flow": f"{local} to {remote}",
            "algorithm": first["control"],
        },
    )


def _ports(event: Event) -> list[int]:
    return [port for _, port in event["ends"]]


def _seconds(time_us: int | None) -> float | None:
    return None if time_us is None else time_us / 1e6


def _queueing(event: Event, way: int) -> float | None:
    times = event["aqt_us"]
    return None if times is None or times[way] >= SATURATED_US else times[way] / 1e6
