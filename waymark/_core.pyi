"""The compiled core: P4 compiler, packet scripts, networks in virtual time.

Nothing here decides anything: the algorithms are in the Rust crates, the lab's API in the other
modules of this package.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from waymark.generator import GeneratorApp

__version__: str
"""Version of the core's crates."""

class WaymarkCoreError(Exception):
    """What every error of the core derives from."""

class CompileError(WaymarkCoreError):
    """A P4 program with errors. The message is every diagnostic, the source lines underlined."""

    places: list[tuple[str, int]]
    """File and line at which each error stands; line 0: the file as a whole."""

class ScriptError(WaymarkCoreError):
    """An STF script that cannot be read."""

class ScenarioError(WaymarkCoreError):
    """A scenario that does not hold together. The message names the place in the data."""

class ControlError(WaymarkCoreError):
    """A congestion control in Python that failed; its own error, if any, is the cause."""

class SwitchError(WaymarkCoreError):
    """A switch that cannot run: no root, no such interface, an address in use, and the like."""

class AckEvent:
    """An acknowledgement arrived. Times are in seconds; segments are numbered from 0."""

    @property
    def now(self) -> float:
        """When it arrived, in seconds of virtual time."""
    @property
    def acked(self) -> int:
        """Segments acknowledged so far, this acknowledgement included: 0 to ``acked`` - 1."""
    @property
    def newly_acked(self) -> int:
        """How many of them this acknowledgement added; 0 for a duplicate."""
    @property
    def duplicates(self) -> int:
        """Duplicates in a row, this one included; 0 for an acknowledgement of new data."""
    @property
    def next(self) -> int:
        """The number of the next segment to send, before anything is sent in answer to this."""
    @property
    def in_flight(self) -> int:
        """Segments sent and not acknowledged, this acknowledgement applied."""
    @property
    def rtt(self) -> float | None:
        """Round-trip time in seconds of the newest segment covered, if that was sent only once."""
    @property
    def echoed_rtt(self) -> float | None:
        """Round-trip time in seconds by the echoed timestamp, for resends and duplicates as well;
        None without timestamps."""
    @property
    def aqt_echo(self) -> float | None:
        """AQT-Echo: seconds that the data segment waited in queues on its way there. None: no
        information, or more than the mark can say."""
    @property
    def aqt_backward(self) -> float | None:
        """AQT: seconds that this acknowledgement waited on its way back. None: as above."""
    @property
    def mrai(self) -> int | None:
        """MRAI-Echo: the least data rate adjustment index on the way there, 1 to 6. None: no hop
        has spoken."""
    @property
    def ci_echo(self) -> bool:
        """The data segment was waiting in a queue that refused a packet."""
    @property
    def marks(self) -> Mapping[str, Any]:
        """What hops wrote into the control's own marks on the data's way there, by the marks'
        names: ``event.marks["peak"].depth``. What no hop wrote has its initial value; so has all
        of a packet without the option, such as the answer to a SYN."""
    @property
    def backward_marks(self) -> Mapping[str, Any]:
        """The same on this acknowledgement's way back."""
    @property
    def ts_forward(self) -> float | None:
        """The receiver's clock minus the echoed sender's clock, in seconds: forward delay and clock
        offset. None without timestamps."""
    @property
    def ts_backward(self) -> float | None:
        """The sender's clock minus the receiver's, in seconds: backward delay and clock offset."""

    @property
    def newly_delivered(self) -> int:
        """Segments that this acknowledgement newly says have arrived, selectively or not;
        duplicates have some as well. This and what follows: 0, False or None in the ns-2 profile.
        """
    @property
    def newly_lost(self) -> int:
        """Segments found lost since the last acknowledgement."""
    @property
    def newly_marked(self) -> int:
        """Of ``newly_delivered``, those that a congestion mark was echoed for."""
    @property
    def window_unused(self) -> bool:
        """The application or the receiver's window, not ``cwnd``, held the sender back."""
    @property
    def rate(self) -> RateSample | None:
        """What the path delivered lately. None: this acknowledgement allows no sample."""

class RateSample:
    """What was delivered between the sending of the newest segment that an acknowledgement covers,
    and the acknowledgement (draft-cheng-iccrg-delivery-rate-estimation-02, §3)."""

    @property
    def delivered(self) -> int:
        """Segments delivered in ``interval``."""
    @property
    def interval(self) -> float:
        """Seconds: the longer of the sampled flight's sending and its acknowledging; above 0."""
    @property
    def per_second(self) -> float:
        """Segments per second: the one over the other."""
    @property
    def prior_delivered(self) -> int:
        """Segments delivered in all as the sampled segment left. A round ends when this reaches the
        ``total_delivered`` of its start."""
    @property
    def total_delivered(self) -> int:
        """Segments delivered in all."""
    @property
    def prior_in_flight(self) -> int:
        """Segments in flight as the sampled segment left, itself included."""
    @property
    def lost(self) -> int:
        """Segments found lost between the sampled segment's sending and now."""
    @property
    def rtt(self) -> float:
        """The sampled segment's round-trip time in seconds; of its newest transmission."""
    @property
    def app_limited(self) -> bool:
        """The application, not the window, limited the flight."""

class LossEvent:
    """Loss recovery found a segment lost without the timer, and is about to send it again."""

    @property
    def now(self) -> float:
        """When it was found, in seconds of virtual time."""
    @property
    def evidence(self) -> str:
        """What showed it: ``duplicates`` (three duplicate acknowledgements, or selective ones that
        amount to them), ``fine_timeout`` (a duplicate found the segment overdue; Vegas), ``time``
        (a segment sent later arrived long enough ago; RACK), or ``mark`` (nothing was lost: a
        congestion mark was echoed)."""
    @property
    def lost(self) -> int:
        """The lost segment."""
    @property
    def sent_at(self) -> float | None:
        """When that segment was last sent, in seconds; None: never."""
    @property
    def transmissions(self) -> int:
        """How often that segment was sent so far."""
    @property
    def duplicates(self) -> int:
        """Duplicates in a row, the one that showed the loss included."""
    @property
    def window(self) -> int:
        """The window in use, in whole segments, the receiver's window applied."""

class TimeoutEvent:
    """The retransmission timer ran out."""

    @property
    def now(self) -> float:
        """When, in seconds of virtual time."""
    @property
    def window(self) -> int:
        """The window in use, in whole segments, the receiver's window applied."""

class Limits:
    """What the connection, not the algorithm, says about the window, in segments."""

    @property
    def initial_window(self) -> float:
        """The first congestion window."""
    @property
    def initial_ssthresh(self) -> float:
        """The first slow-start threshold: the receiver's window."""
    @property
    def max_cwnd(self) -> float | None:
        """A cap that the congestion window is to respect, if any."""
    @property
    def packet_octets(self) -> int:
        """Octets that a full segment takes on links."""

class Program:
    """A compiled P4 program."""

    @property
    def name(self) -> str:
        """The file's path, or the name given with a text."""
    @property
    def warnings(self) -> list[str]:
        """Diagnostics that did not stop the compiler, the source lines underlined."""
    @property
    def tables(self) -> list[str]:
        """Control-plane names of the tables."""
    @property
    def sha256(self) -> str:
        """Of the preprocessed text, in hexadecimal: changes with any file that is part of it."""
    @property
    def source(self) -> str:
        """The preprocessed text: the device config of a P4Runtime client."""
    @property
    def package(self) -> str:
        """The type of ``main``, such as ``V1Switch``; empty without ``main``."""
    @property
    def architecture(self) -> str:
        """``v1model``, ``psa``, ``tna`` or ``t2na``; empty for any other."""
    @property
    def refusal(self) -> str | None:
        """Why the switch cannot run the program: without ``main``, or for another architecture."""
    def dump(self) -> str:
        """The typed program, as text to read."""
    def p4info(self) -> str:
        """Its P4Info as protobuf text, equal to p4c's.

        Raises:
            CompileError: an ``@id`` that is used twice or has another kind's prefix; names that
                clash.
        """

def compile(
    path: str,
    *,
    text: str | None = None,
    include_dirs: Sequence[str] = (),
    defines: Mapping[str, str] = ...,
    color: bool = False,
    target_rules: bool = True,
) -> Program:
    """Compile a P4_16 program.

    Those without ``main`` and those for other architectures than v1model and PSA are checked, and
    cannot run: see :attr:`Program.refusal`.

    Args:
        path: the file; with ``text``, only the name that diagnostics give it. A name that ends in
            ``.json`` is p4c's BMv2 JSON of a program.
        text: the source text, instead of the file's.
        include_dirs: where ``#include`` looks, in this order. core.p4, v1model.p4,
            psa.p4, tna.p4 and t2na.p4 are built in.
        defines: preprocessor macros.
        color: whether diagnostics are coloured with terminal escapes.
        target_rules: whether what the hardware cannot do is an error, in a program for TNA or T2NA.

    Raises:
        CompileError: the program has errors.
        OSError: the file cannot be read.
    """

class StfReport(TypedDict):
    """What an STF script came to."""

    passed: bool
    packets: int
    """Packets sent into the switch."""
    expected: int
    """Packets and counters that the script expected."""
    failures: list[str]
    """What did not come as expected, with the script's line."""

def run_stf(program: Program, script: str, *, strict: bool = False) -> StfReport:
    """Run an STF packet script on a fresh switch.

    ``strict`` compares the packets of all ports, and not only of the ports that the script names.

    Raises:
        CompileError: the switch cannot run the program.
        ScriptError: the script cannot be read. A command that the program refuses is a failure.
    """

def grade_scripts(program: Program, scripts: list[tuple[str, str]]) -> str:
    """Run packet scripts (name and text), as one after another on a fresh switch.

    Returns:
        JSON with ``passed``, ``packets``, ``expected``, and ``failures``, each with its ``script``
        and ``line``, ``what`` is wrong, the comment above as ``test``, the ``fields`` that differ
        (``field``, ``expected``, ``found``), and the rows of both ``packets`` in hexadecimal.

    Raises:
        CompileError: the switch cannot run the program.
        ScriptError: a script cannot be read. A command that the program refuses is a failure.
    """

def trace_stf(program: Program, script: str, *, strict: bool = False) -> tuple[StfReport, str, str]:
    """As :func:`run_stf`, with the trace of all packets: as text, and as JSON (a list of steps).

    Raises:
        CompileError: the switch cannot run the program.
        ScriptError: the script cannot be read.
    """

class SettingDescription(TypedDict):
    """A setting of a compiled congestion control; :class:`waymark.controls.Setting` explains it."""

    name: str
    summary: str
    default: float | bool | None
    valid: tuple[float, float] | None

class ControlDescription(TypedDict):
    """A compiled congestion control, as its file in ``crates/congestion/src`` describes it."""

    name: str
    label: str
    summary: str
    source: str
    recovery: str
    """The loss recovery that it is used with in the ns-2 profile."""
    marks: list[Literal["AQT", "AVBW-S", "CI"]]
    needs: list[str]
    modern_only: bool
    """It needs what the ns-2 profile lacks."""
    settings: list[SettingDescription]

def controls() -> list[ControlDescription]:
    """The compiled congestion controls, in their order."""

def check_settings(name: str, settings: Mapping[str, float | bool]) -> None:
    """Refuse settings that a compiled congestion control does not have, or invalid values.

    Raises:
        ScenarioError: saying what is valid.
    """

def replay(description: str) -> str:
    """Run a description (JSON) of ``crates/netsim/src/replay`` and return the rows at its link.

    Raises:
        ScenarioError: the description does not hold together.
    """

def shadowing_loss(
    distance_m: float,
    *,
    path_loss_exponent: float,
    sigma_db: float,
    reference_m: float,
    transmit_w: float,
    frequency_hz: float,
    threshold_w: float,
) -> float:
    """:func:`waymark.shadowing_loss`, of values in range."""

class Labels(TypedDict):
    """A column of few different names."""

    names: list[str]
    codes: NDArray[np.uint8]
    """Each row's index into the names."""

class Trace(TypedDict):
    """A TCP sender's state after each change; NaN where a change brought no value."""

    time_s: NDArray[np.float64]
    change: Labels
    """``ack``, ``duplicate_ack``, ``sent``, ``resent`` or ``timeout``."""
    phase: Labels
    """``slow_start`` or ``avoidance``."""
    cwnd: NDArray[np.float64]
    """Congestion window, packets."""
    ssthresh: NDArray[np.float64]
    """Slow-start threshold, packets."""
    in_flight: NDArray[np.uint64]
    """Packets sent and not acknowledged."""
    acked: NDArray[np.uint64]
    """Packets acknowledged so far."""
    next: NDArray[np.uint64]
    """The number of the next packet to send."""
    rtt_s: NDArray[np.float64]
    base_rtt_s: NDArray[np.float64]
    diff: NDArray[np.float64]
    """Vegas' Diff of the last round, packets."""
    aqt_forward_s: NDArray[np.float64]
    aqt_backward_s: NDArray[np.float64]
    mrai: NDArray[np.uint8]
    """1 to 6; 0: no hop has spoken."""
    ci: NDArray[np.bool_]
    random_losses: NDArray[np.uint64]
    """Losses judged so, so far."""
    congestion_losses: NDArray[np.uint64]

class Truth(TypedDict):
    """What became of segments that a sender took for lost."""

    link: int
    """Lost on a link."""
    queue: int
    """Refused by a queue or a program."""
    none: int
    """Not lost."""

class Verdicts(TypedDict):
    """What a sender took its losses for, each with the truth."""

    random: Truth
    congestion: Truth

class PacketOctets(TypedDict):
    """The octets of the longest data packet that a TCP flow sent; all are 0 before the first."""

    link: int
    """What links charge for it."""
    feedback: int
    """Options among them that hops write into."""
    payload: int

class FlowRecord(TypedDict):
    """A TCP flow or a source. Arrays have one value per bin; octets are those that links charge."""

    sent_packets: NDArray[np.uint64]
    """Data packets handed to the host's queue, retransmissions included."""
    resent_packets: NDArray[np.uint64]
    lost_packets: NDArray[np.uint64]
    """Data packets dropped by a queue or a program, or lost on a link."""
    delivered_packets: NDArray[np.uint64]
    """Data packets that arrived, copies included."""
    delivered_octets: NDArray[np.uint64]
    trimmed_packets: NDArray[np.uint64]
    """Data packets that arrived trimmed by a switch: neither lost nor delivered."""
    goodput_octets: NDArray[np.uint64]
    """Payload octets that became available in order (a source: all that arrived)."""
    packet_octets: PacketOctets
    """Of what a full data packet consists (TCP)."""
    timeouts: int
    """Retransmission timeouts."""
    reported_marks: int
    """Data packets that the sender learnt to have been marked (ECN)."""
    finished_s: float | None
    """When all that a flow had to send was acknowledged, in seconds."""
    verdicts: Verdicts | None
    """Where the congestion control judges losses."""
    trace: Trace | None
    """Where the scenario asked for it."""

class AssociationTrace(TypedDict):
    """How an association's paths stood after each change, and the delay of each chunk."""

    time_s: NDArray[np.float64]
    path: NDArray[np.uint64]
    cwnd_octets: NDArray[np.float64]
    ssthresh_octets: NDArray[np.float64]
    outstanding_octets: NDArray[np.float64]
    rtt_s: NDArray[np.float64]
    """NaN where none was measured."""
    delay_time_s: NDArray[np.float64]
    """When a chunk arrived."""
    delay_s: NDArray[np.float64]
    """How long it was under way since its last transmission."""

class AssociationRecord(TypedDict):
    """An SCTP association."""

    flow: FlowRecord
    """Packets with DATA."""
    sent_on_path: list[NDArray[np.uint64]]
    """Packets with DATA sent on each path, per bin."""
    delay_ns: NDArray[np.uint64]
    """Delays of chunks from their last transmission to their first arrival, summed per bin."""
    delay_chunks: NDArray[np.uint64]
    """How many these are."""
    rtt_s: float
    """Round-trip times that the sender measured, summed."""
    rtt_samples: int
    """How many these are."""
    acked_chunks: int
    """DATA chunks acknowledged."""
    latency_s: float
    """Time from their last transmission to that, summed."""
    latency_s_squared: float
    """Its squares, summed."""
    switches: int
    """Of path, by SPC."""
    trace: AssociationTrace | None
    """Where the scenario asked for it."""

class LineRecord(TypedDict):
    """One direction of a link, and the queue in front of it. Arrays have one value per bin."""

    sent_packets: NDArray[np.uint64]
    """Packets whose first octet left in the bin."""
    sent_octets: NDArray[np.uint64]
    mean_waiting: NDArray[np.float64]
    """Time-weighted mean number of packets waiting, the one in service not counted."""
    max_waiting: NDArray[np.uint64]
    dropped_packets: NDArray[np.uint64]
    """Refused by a host's queue or by the traffic manager's capacity. What a P4 program drops is
    counted by its switch."""
    lost_packets: NDArray[np.uint64]
    """Lost on the link."""

class Samples(TypedDict):
    """The cells of an object at equal intervals: a row for each cell that is not what it was at the
    sample before. All are zero at first."""

    every_s: float
    count: int
    """Samples that were taken; sample ``k`` is taken after ``k + 1`` intervals."""
    sample: NDArray[np.uint64]
    index: NDArray[np.uint64]
    low: NDArray[np.uint64]
    """Packets, or the lower 64 bits of a register's cell."""
    high: NDArray[np.uint64]
    """Octets, or the higher 64 bits of a register's cell."""

class CounterRecord(TypedDict):
    """A counter of a P4 program at the end: its cells that are not zero."""

    size: int
    """Cells that there are."""
    index: NDArray[np.uint64]
    packets: NDArray[np.uint64]
    octets: NDArray[np.uint64]
    samples: Samples | None
    """Where the scenario asked for it."""

class CountedEntry(TypedDict):
    """An entry of a table with a direct counter."""

    matches: dict[str, str]
    """In the notation of P4, by key."""
    priority: int

class DirectCounterRecord(TypedDict):
    """A direct counter of a P4 program at the end."""

    table: str
    entries: list[CountedEntry]
    """In the order in which they were inserted."""
    packets: NDArray[np.uint64]
    """Of each entry in turn, then of misses."""
    octets: NDArray[np.uint64]
    samples: Samples | None
    """Where the scenario asked for it."""

class RegisterRecord(TypedDict):
    """A register of a P4 program at the end: its cells that are not zero."""

    size: int
    """Cells that there are."""
    width: int
    """Bits of a cell."""
    signed: bool
    index: NDArray[np.uint64]
    words: NDArray[np.uint64]
    """As many words of 64 bits for each cell as ``width`` takes, the least significant first."""
    samples: Samples | None
    """Where the scenario asked for it."""

class PortRecord(TypedDict):
    """A port of a switch."""

    line: str
    """The line out of it."""
    rx_packets: int
    rx_octets: int
    tx_packets: int
    tx_octets: int
    waiting: int
    """Packets in its queues."""
    drops: dict[str, int]
    """By cause."""

class SwitchRecord(TypedDict):
    """A switch."""

    program: str
    handled_packets: int
    """Packets that its program handled."""
    drops: dict[str, int]
    """Drops by cause: ``ingress`` and ``egress`` are the program's own (its counters say why)."""
    dropped_packets: dict[str, NDArray[np.uint64]]
    """The causes that occurred, with drops per bin."""
    cut_loops: int
    """Loops that were left because they took as many rounds as they may."""
    panic: str | None
    """The first panic of the engine."""
    snoop_resent: int
    """Packets that its Snoop agent sent again."""
    snoop_suppressed: int
    """Acknowledgements that its Snoop agent hid."""
    ports: dict[int, PortRecord]
    """Those that have a link, by number."""
    counters: dict[str, CounterRecord]
    """By control-plane name."""
    direct_counters: dict[str, DirectCounterRecord]
    registers: dict[str, RegisterRecord]

class CheckRecord(TypedDict):
    """Marks compared with the truth."""

    compared: int
    mismatches: int
    first: list[str]
    """The first mismatches, told in full."""

class Totals(TypedDict):
    """Counts of a whole run."""

    events: int
    packets: int
    """Packets that hosts sent."""
    packet_hops: int
    """Transmissions on links."""
    switch_packets: int
    """Packets handled by P4 programs."""
    stray_packets: int
    """Packets that reached a host which did not expect them, or could not be read there."""

class Results(TypedDict):
    """A run's records."""

    name: str
    seed: int
    end_s: float
    sample_s: float
    time_s: NDArray[np.float64]
    """The bins' beginnings, in seconds."""
    flows: dict[str, FlowRecord]
    """By name: given, or ``"flow0"``, ``"flow1"``, …"""
    associations: dict[str, AssociationRecord]
    sources: dict[str, FlowRecord]
    lines: dict[str, LineRecord]
    """By ``"from->to"``; of parallel links, all but the first are ``"from->to#2"``, …"""
    switches: dict[str, SwitchRecord]
    check_aqt: CheckRecord | None
    """Where the scenario asked for it."""
    check_ci: CheckRecord | None
    totals: Totals
    parts: int
    """Parts that the network was divided into while most events happened."""
    threads: int
    """Threads that ran them."""
    threads_limit: str | None
    """Why these were not as many as asked for."""

class EndedFlows(TypedDict):
    """Flows, counted over the whole run."""

    number: NDArray[np.uint64]
    """Of each among the scenario's."""
    finished_s: NDArray[np.float64]
    """When all was acknowledged; NaN: it was not."""
    sent_packets: NDArray[np.uint64]
    resent_packets: NDArray[np.uint64]
    lost_packets: NDArray[np.uint64]
    trimmed_packets: NDArray[np.uint64]
    timeouts: NDArray[np.uint64]
    packet_octets: NDArray[np.uint32]
    """Of the longest data packet, as links charge it; 0: none was sent."""
    payload_octets: NDArray[np.uint32]
    """Its payload."""

def simulate(
    scenario: str,
    programs: Mapping[str, Program],
    *,
    controls: Mapping[str, Callable[[], object]] = ...,
    pcap: str | None = None,
    progress: Callable[[float, int], None] | None = None,
    progress_ms: int = 100,
    ended: Callable[[EndedFlows], None] | None = None,
    threads: int = 1,
    parts: int | None = None,
) -> Results:
    """Run a scenario. The same arguments give the same results, to the octet.

    Args:
        scenario: JSON, as ``crates/netsim/src/scenario`` describes it.
        programs: the compiled programs that its switches name.
        controls: what makes the controls (:class:`waymark.CongestionControl`) that its flows name
            as ``control.factory``.
        pcap: where to write a capture (pcapng) of the links that the scenario's record names.
        progress: called about every ``progress_ms`` of wall time with the time reached, in seconds,
            and the packet-hops so far. What it raises stops the run and is raised again.
        progress_ms: milliseconds.
        ended: called with flows that have ended, where the scenario's record says
            ``flows_as_they_end``; at last with those that have not. What it raises stops the run.
        threads: among how many the network is divided, at most, while it has enough events for
            them. But for ``parts``, ``threads`` and ``threads_limit``, the results do not depend
            on it.
        parts: divides the network into so many parts, if it has them, from the start to the end;
            fewer ``threads`` run several of them in turn. This is for tests of the division.

    Raises:
        ScenarioError: the scenario is not valid, or an entry does not fit its program.
        ControlError: a control in Python failed.
        OSError: the capture cannot be written.
        KeyboardInterrupt: Ctrl-C.
    """

def run_switch(
    *,
    address: str,
    device_id: int,
    interfaces: Sequence[tuple[int, str]],
    rates_bps: Mapping[int, int],
    queue_packets: int,
    port_queues: Mapping[int, int],
    port_weights: Mapping[int, Sequence[int]],
    cpu_port: int | None,
    drop_port: int,
    deflection_port: int | None,
    generator: Sequence[GeneratorApp],
    seed: int,
    program: Program | None,
    target_rules: bool,
    captures: str | None,
    charge_ethernet: bool,
    gso: bool,
    senders: int,
    certificate: str | None,
    key: str | None,
    client_ca: str | None,
    max_metadata: int,
    ready: Callable[[str], object],
) -> None:
    """Run a switch on interfaces, with its P4Runtime server.

    :mod:`waymark.switch` explains the arguments. It ends by an exception only: one that a signal's
    handler raises, or one of these.

    Raises:
        SwitchError: it cannot run.
    """

def machine_code_is_forbidden() -> bool:
    """Whether the system forbids to execute machine code that the process writes.

    P4 programs are then interpreted. It is false on machines without a compiler of machine code.
    """

Line = tuple[int | None, int | None, float, float]
"""Rate in bit/s (None: none), ns-2's queue limit in packets (None: who sends keeps to the rate),
delay in seconds, loss from 0 to 1."""

def run_wires(
    wires: Sequence[tuple[tuple[str, str], tuple[Line, Line]]],
    *,
    seed: int,
    ready: Callable[[], object],
) -> None:
    """Join pairs of interfaces: frames that come in at one leave at the other.

    Args:
        wires: two interfaces each, and what happens to frames that came in at each.
        seed: of the draws of what is lost.
        ready: called once frames are carried.

    Ends by an exception only: one that a signal's handler raises, or one of these.

    Raises:
        SwitchError: no root, no such interface, one given twice.
    """

class HostState(TypedDict):
    """How a transfer stands; None where nothing told it."""

    time_s: float
    read_octets: int
    acked_octets: int
    resent: int
    cwnd: float | None
    rtt_s: float | None
    base_rtt_s: float | None
    aqt_forward_s: float | None
    aqt_backward_s: float | None
    mrai: int | None
    ci: int

class HostPlace(TypedDict):
    """Where a host lives; :class:`waymark.live.Place` explains it."""

    interface: str
    address: str
    prefix: int
    gateway: str | None
    gateway_mac: Sequence[int] | None
    mac: Sequence[int] | None

class Host:
    """A host on an interface, with one connection; :mod:`waymark.live` explains it.

    The methods that take seconds and :meth:`accept` run it meanwhile, and raise SwitchError when
    the connection is refused or ends early. Its clock shows zero until ``begins_in_s`` have passed.
    """

    def __init__(
        self,
        place: HostPlace,
        flow: str,
        *,
        loss: float,
        seed: int,
        trace_every_s: float | None,
        begins_in_s: float,
    ) -> None: ...
    def connect(self, address: str, port: int) -> None:
        """Begin to open a connection."""

    def wait_open(self, seconds: float) -> bool:
        """Wait at most so long until the connection is open; whether it is."""

    def accept(self, port: int) -> None: ...
    def send(self, seconds: float, octets: int | None) -> bool:
        """Send zeros for so long, or until so many were written; whether they were."""

    def receive(self, seconds: float) -> bool:
        """Read for so long; whether the other end has closed."""

    def close(self, *, abandon: bool) -> None:
        """Close this end of the connection.

        Args:
            abandon: drop what was written and never sent.
        """

    def wait_acknowledged(self, seconds: float) -> bool:
        """After ``close``: wait at most so long until all is acknowledged; whether it is."""

    def state(self) -> HostState: ...
    def trace(self) -> Trace | None: ...

class SourceState(TypedDict):
    """What a source has sent, and how much too late."""

    time_s: float
    packets: int
    octets: int
    late_mean_s: float
    late_max_s: float

class TrafficSource:
    """A source of datagrams on an interface: those of a scenario's source of this number and seed.

    Args:
        place: where it lives.
        source: JSON, as ``crates/netsim/src/scenario`` has it; its hosts are not looked at.
        seed, number: of what it draws.
        address, port: of the receiver; both ends have the same port.
        begins_in_s: its time begins so much later.

    Raises:
        SwitchError: no root, no such interface, datagrams longer than it carries.
        ScenarioError: the source's settings are not valid.
    """

    def __init__(
        self,
        place: HostPlace,
        source: str,
        *,
        seed: int,
        number: int,
        address: str,
        port: int,
        begins_in_s: float,
    ) -> None: ...
    def send(self, seconds: float) -> bool:
        """Send what is due for so long; whether the last datagram has left."""

    def state(self) -> SourceState: ...

class SinkState(TypedDict):
    """What has come."""

    time_s: float
    packets: int
    octets: int

class TrafficSink:
    """Who counts the datagrams to one port.

    Raises:
        SwitchError: no root, no such interface.
    """

    def __init__(self, place: HostPlace, *, port: int) -> None: ...
    def receive(self, seconds: float) -> None:
        """Count for so long."""

    def state(self) -> SinkState: ...
