"""Waymark's hosts on interfaces: a transport, and the ends of cross traffic."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface
from typing import Any

from waymark import _core, published, trace
from waymark.controls import BY_NAME
from waymark.errors import WaymarkError
from waymark.published import Publisher
from waymark.scenario import control_to_core, source_to_core
from waymark.trace import Trace
from waymark.traffic import Flow, Source

PATIENCE_S = 10.0
"""Time without an answer after which the connection is given up, in seconds."""

NOTICE_S = 2.0
"""Time after which a missing answer is reported, in seconds."""

FIN_S = 1.0
"""Time that a sender waits for the other end to close too, in seconds."""


@dataclass(frozen=True)
class Place:
    """The interface and addresses of a host.

    Attributes:
        interface: an interface without a kernel address (``waymark up --bare``), or a TAP.
        address: the host's own, with its prefix length: ``"10.0.0.1/24"``.
        gateway: the router to other networks; None: no router.
        gateway_mac: its address on the link, if it does not answer ARP.
        mac: the host's own address on the link; None: derived from ``address``.
    """

    interface: str
    address: str
    gateway: str | None = None
    gateway_mac: str | None = None
    mac: str | None = None

    def to_core(self) -> "_core.HostPlace":
        """This object in the core's format."""
        own = IPv4Interface(self.address)
        return {
            "interface": self.interface,
            "address": str(own.ip),
            "prefix": own.network.prefixlen,
            "gateway": self.gateway,
            "gateway_mac": _mac(self.gateway_mac),
            "mac": _mac(self.mac),
        }


@dataclass(frozen=True)
class Moment:
    """The progress of a transfer.

    Attributes:
        time_s: since the host began, in seconds.
        octets: payload that was acknowledged (sender) or read (receiver) so far.
        throughput_bps: of payload, since the previous moment, in bits per second.
        rtt_s, base_rtt_s: in seconds; None if unknown.
        cwnd: in segments.
        resent: segments retransmitted so far.
        aqt_forward_s, aqt_backward_s: queueing times in the newest ACK, in seconds.
        mrai: the newest MRAI-Echo, 1 to 6.
        ci: ACKs so far that indicated congestion.
    """

    time_s: float
    octets: int
    throughput_bps: float
    rtt_s: float | None
    base_rtt_s: float | None
    cwnd: float | None
    resent: int
    aqt_forward_s: float | None
    aqt_backward_s: float | None
    mrai: int | None
    ci: int


class LiveHost:
    """A host with one connection, in the modern profile.

    Args:
        place: its interface and addresses.
        flow: control, profile and marks of its connection; its hosts are only names.
        marks: of ``"aqt"``, ``"avbw"``, ``"ci"``, those to carry beyond what the control needs.
        loss: probability of dropping a packet on purpose, in or out.
        seed: of these losses.
        trace_every_s: interval between rows of the trace, in seconds; None: no trace.
        begin_s: start of its time, by ``time.monotonic()``; None: now.
        patience_s: timeout for a silent other end, in seconds.

    Raises:
        waymark._core.SwitchError: no root, no such interface.
        waymark._core.ScenarioError: the control or profile is not available.
        WaymarkError: the control is in Python.
    """

    def __init__(
        self,
        place: Place,
        flow: Flow,
        marks: frozenset[str] = frozenset(),
        loss: float = 0.0,
        seed: int = 1,
        trace_every_s: float | None = None,
        begin_s: float | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._flow, self._place, self._begin_s = flow, place, begin_s
        self._patience_s, self._heard = patience_s, (0.0, 0)
        self._before = self._published_before = (0.0, 0)
        self._host = _core.Host(
            place.to_core(),
            json.dumps(_flow(flow, marks)),
            loss=loss,
            seed=seed,
            trace_every_s=trace_every_s,
            begins_in_s=_from_now(begin_s),
        )

    def send(
        self,
        to: IPv4Address,
        port: int,
        seconds: float,
        octets: int | None,
        interval_s: float,
        notify: Callable[[str], None],
        publisher: Publisher | None = None,
    ) -> Iterator[Moment]:
        """Connect and send, yielding the progress every ``interval_s``, and when all data has
        arrived.

        It ends at most ``seconds`` plus the patience and :data:`FIN_S` after its start.

        Args:
            to: the receiver's address.
            port: its port.
            seconds: how long to send, including the handshake.
            octets: maximum to send; None: no bound.
            interval_s: between two moments.
            notify: called with a line of text if there was no answer for :data:`NOTICE_S`.
            publisher: publishes its state every :data:`waymark.published.EVERY_S`; None: none.

        Raises:
            waymark._core.SwitchError: there is no answer, the connection is refused or ends early,
                or the other end becomes silent.
        """
        time.sleep(_from_now(self._begin_s))
        begun = self._host.state()["time_s"]
        self._open(to, port, seconds, notify)
        self._heard = (self._host.state()["time_s"], 0)
        silence = f"{to} sends no acknowledgements"
        step_s = min(interval_s, self._patience_s)
        done, left = False, seconds - (self._heard[0] - begun)
        while not done and left > 0:
            done = _in_steps(
                lambda s: self._host.send(s, octets), min(step_s, left), self._published(publisher)
            )
            moment = self._moment("acked_octets")
            left = seconds - (moment.time_s - begun)
            yield moment
            self._listen(moment, silence)
        self._host.close(abandon=octets is None)
        arrived, left = False, max(left, 0.0) + self._patience_s
        end = self._host.state()["time_s"] + left
        while not arrived and left > 0:
            arrived = _in_steps(
                self._host.wait_acknowledged, min(step_s, left), self._published(publisher)
            )
            moment = self._moment("acked_octets")
            left = end - moment.time_s
            yield moment
            if not arrived:
                self._listen(moment, silence)
        if not arrived:
            message = f"{to} did not acknowledge all data within {self._patience_s:g} s of the end"
            raise _core.SwitchError(f"{message}: the connection was aborted")
        # The other end retransmits its FIN until it is acknowledged. After a reset, all arrived
        # too.
        with suppress(_core.SwitchError):
            self._host.receive(min(FIN_S, self._patience_s))

    def _open(
        self, to: IPv4Address, port: int, seconds: float, notify: Callable[[str], None]
    ) -> None:
        """Open a connection within the patience, and within the seconds for sending."""
        within_s, limit = min((self._patience_s, "--patience"), (seconds, "--seconds"))
        hint = "is `waymark host recv` running there?"
        self._host.connect(str(to), port)
        try:
            if self._host.wait_open(min(NOTICE_S, within_s)):
                return
            if within_s > NOTICE_S:
                waiting = f"no answer from {to} port {port} yet: {hint}"
                notify(f"{waiting} giving up after {within_s:g} s ({limit})")
                if self._host.wait_open(within_s - NOTICE_S):
                    return
        except _core.SwitchError as error:
            raise _core.SwitchError(f"{to} port {port}: {error}: {hint}") from None
        raise _core.SwitchError(f"no answer from {to} port {port} for {within_s:g} s: {hint}")

    def receive(self, port: int, interval_s: float) -> Iterator[Moment]:
        """Wait for a connection and read it to its end, yielding every ``interval_s``.

        Raises:
            waymark._core.SwitchError: the other end becomes silent.
        """
        self._host.accept(port)
        self._heard = (self._host.state()["time_s"], 0)
        done = False
        while not done:
            done = self._host.receive(interval_s)
            moment = self._moment("read_octets")
            yield moment
            if not done:
                self._listen(moment, "the sender sends nothing")
        self._host.close(abandon=False)
        self._host.wait_acknowledged(1.0)

    def trace(self) -> Trace | None:
        """The trace, which can be read once."""
        record = self._host.trace()
        about = {
            "algorithm": self._flow.algorithm_name,
            "flow": "a transfer",
            "scenario": self._place.interface,
        }
        return None if record is None else trace.from_core(record, about)

    def _listen(self, moment: Moment, silence: str) -> None:
        """Raise an error if the other end has been silent for too long."""
        since_s, octets = self._heard
        if moment.octets > octets:
            self._heard = (moment.time_s, moment.octets)
        elif moment.time_s - since_s >= self._patience_s:
            silent_s = moment.time_s - since_s
            raise _core.SwitchError(f"{silence} for {silent_s:.1f} s: {_given_up(moment)}")

    def _moment(self, counted: str) -> Moment:
        moment = self._since(self._before, counted)
        self._before = (moment.time_s, moment.octets)
        return moment

    def _since(self, before: tuple[float, int], counted: str) -> Moment:
        """Its progress, with the throughput since an earlier time and octet count."""
        state: dict[str, Any] = dict(self._host.state())
        octets = state.pop("acked_octets"), state.pop("read_octets")
        now, total = state["time_s"], octets[0] if counted == "acked_octets" else octets[1]
        passed, more = now - before[0], total - before[1]
        return Moment(
            octets=total, throughput_bps=more * 8 / passed if passed > 0 else 0.0, **state
        )

    def _published(self, publisher: Publisher | None) -> Callable[[], None] | None:
        """Publishes a sender's progress, with the throughput since the previous publication."""
        if publisher is None:
            return None

        def publish() -> None:
            moment = self._since(self._published_before, "acked_octets")
            self._published_before = (moment.time_s, moment.octets)
            publisher.publish(moment)

        return publish


@dataclass(frozen=True)
class Sent:
    """The progress of a source.

    Attributes:
        time_s: since it began, in seconds.
        packets: datagrams.
        octets: of them, IP and UDP headers included.
        late_mean_s, late_max_s: delay of their departure after the planned time, in seconds.
    """

    time_s: float
    packets: int
    octets: int
    late_mean_s: float
    late_max_s: float


class LiveSource:
    """A source of cross traffic: the same datagrams as in the simulator, at the same times.

    Args:
        place: its interface and addresses.
        source: its traffic, from ``start_s`` until ``stop_s``; its hosts are only names.
        to: the receiver's address.
        port: both ends' port.
        seed: of the scenario's random numbers.
        number: its index among the scenario's sources, from 0: each has its own random numbers.
        begin_s: start of its time, by ``time.monotonic()``; None: now.

    Raises:
        waymark._core.SwitchError: no root, no such interface, datagrams longer than it carries.
        waymark._core.ScenarioError: the source's settings are not valid.
    """

    def __init__(
        self,
        place: Place,
        source: Source,
        to: IPv4Address,
        port: int,
        seed: int = 1,
        number: int = 0,
        begin_s: float | None = None,
    ) -> None:
        self._begin_s = begin_s
        self._source = _core.TrafficSource(
            place.to_core(),
            json.dumps(source_to_core(source)),
            seed=seed,
            number=number,
            address=str(to),
            port=port,
            begins_in_s=_from_now(begin_s),
        )

    def send(self, interval_s: float) -> Iterator[Sent]:
        """Send until the end, yielding the progress every ``interval_s`` and at the end."""
        time.sleep(_from_now(self._begin_s))
        done = False
        while not done:
            done = self._source.send(interval_s)
            yield Sent(**self._source.state())


@dataclass(frozen=True)
class Arrived:
    """The datagrams that arrived at a sink.

    Attributes:
        time_s: since its start, in seconds.
        packets: datagrams.
        octets: of them, IP and UDP headers included.
    """

    time_s: float
    packets: int
    octets: int


class LiveSink:
    """Counts the datagrams of cross traffic that arrive at one port.

    Raises:
        waymark._core.SwitchError: no root, no such interface.
    """

    def __init__(self, place: Place, port: int) -> None:
        self._sink = _core.TrafficSink(place.to_core(), port=port)

    def receive(self, interval_s: float) -> Iterator[Arrived]:
        """Count without end, yielding every ``interval_s``."""
        while True:
            self._sink.receive(interval_s)
            yield self.arrived()

    def arrived(self) -> Arrived:
        """The datagrams so far."""
        return Arrived(**self._sink.state())


def _in_steps(
    act: Callable[[float], bool], seconds: float, after: Callable[[], None] | None
) -> bool:
    """Run ``act`` for some seconds, or until it returns True; call ``after`` after each step."""
    if after is None:
        return act(seconds)
    done, end_s = False, time.monotonic() + seconds
    while not done and (left_s := end_s - time.monotonic()) > 0:
        done = act(min(published.EVERY_S, left_s))
        after()
    return done


def _from_now(begin_s: float | None) -> float:
    """Seconds until a time; 0 if it has passed."""
    return 0.0 if begin_s is None else max(0.0, begin_s - time.monotonic())


def _given_up(moment: Moment) -> str:
    return f"the connection was aborted, after {moment.octets} octets"


def _flow(flow: Flow, marks: frozenset[str]) -> dict[str, Any]:
    """The connection in the core's format; marks that the control needs are always carried."""
    if not isinstance(flow.algorithm, str):
        raise WaymarkError(
            f"flow {flow.source}->{flow.target}: {flow.algorithm_name} is a congestion control in "
            "Python, which runs in virtual time only; valid on interfaces: an algorithm's name"
        )
    if "CSIG" in BY_NAME[flow.algorithm].marks:
        raise WaymarkError(
            f"flow {flow.source}->{flow.target}: {flow.algorithm} sends CSIG tags, which hosts "
            "support in virtual time only; valid on interfaces: controls without the mark CSIG"
        )
    settings: dict[str, Any] = {
        "control": control_to_core(flow),
        "profile": flow.profile.by_family(),
    }
    return settings | dict.fromkeys(marks, True)


def _mac(text: str | None) -> tuple[int, ...] | None:
    return None if text is None else tuple(bytes.fromhex(text.replace(":", "")))
