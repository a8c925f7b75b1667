"""Congestion controls in Python, which run in the simulator like the compiled ones.

A congestion control is a class derived from :class:`CongestionControl`.
``docs/congestion-control.md`` is a tutorial, and ``examples/`` has complete ones.
"""

import copy
import inspect
from collections.abc import Callable
from typing import Any, ClassVar, Literal, get_args

from waymark._core import AckEvent, Limits, LossEvent, TimeoutEvent
from waymark.errors import WaymarkError, check_choice, suggestion
from waymark.mark import Mark, check_marks

Recovery = Literal["tahoe", "reno", "newreno", "sack", "fack", "vegas"]
"""The loss recovery, which is independent of the congestion control's reaction."""

MARKS = ("aqt", "avbw", "ci", "timestamps")
"""The attributes that select the marks that packets carry."""


class CongestionControl:
    """A congestion control: receives events, and sets the window.

    Derive from it, and set ``self.cwnd`` (and ``self.ssthresh``) in the methods; they return
    nothing. The connection reads both after every call, and sends while less than ``cwnd`` is in
    flight. Loss recovery decides which segment to send again and when; the control decides what
    that means for the window. Names are those of the Rust trait ``congestion::Controller``.

    Times are in seconds of virtual time, windows in segments (fractions accumulate; whole segments
    are sent). Segments are numbered from 0 in the order in which they are first sent.

    Attributes:
        cwnd: congestion window, segments, 0 to 1e9; from :meth:`on_start` on.
        ssthresh: slow-start threshold, segments, 0 or more, infinity allowed; from
            :meth:`on_start` on.
        pacing_rate: maximum sending rate, in segments per second; None: derived from the window. A
            transport that does not pace (the ns-2 profile) ignores it.
        base_rtt: propagation delay in seconds, for traces only; None: unknown.
        diff: segments of its own waiting in queues, for traces only; None: unknown.
        recovery: the loss recovery to go with it.
        aqt, avbw, ci, timestamps: the marks that its packets carry for hops and receivers to fill
            in; the :class:`waymark.AckEvent` has their values.
        marks: further marks that you declare; ``event.marks`` has their values.
    """

    recovery: ClassVar[Recovery] = "newreno"
    aqt: ClassVar[bool] = False
    avbw: ClassVar[bool] = False
    ci: ClassVar[bool] = False
    timestamps: ClassVar[bool] = False
    marks: ClassVar[tuple[Mark, ...]] = ()

    cwnd: float
    ssthresh: float
    pacing_rate: float | None = None
    base_rtt: float | None = None
    diff: float | None = None

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Reject methods that look like callbacks but are never called."""
        super().__init_subclass__(**keywords)
        known = [name for name in vars(CongestionControl) if name.startswith("on_")]
        for name in dir(cls):
            if name.startswith("on_") and name not in known and callable(getattr(cls, name)):
                raise WaymarkError(
                    f"{cls.__name__}.{name} is never called; {suggestion(name, known)}"
                )

    def on_start(self, limits: Limits) -> None:
        """The connection begins. Takes ``cwnd`` and ``ssthresh`` from the limits; extend it."""
        self.cwnd = limits.initial_window
        self.ssthresh = limits.initial_ssthresh

    def on_sent(self, now: float, segment: int) -> None:
        """A segment is sent or retransmitted."""

    def on_ack(self, event: AckEvent) -> None:
        """New data was acknowledged: usually the window grows. No segment has been sent in response
        yet."""

    def on_partial_ack(self, event: AckEvent) -> None:
        """New data was acknowledged, but not enough to end the current recovery."""

    def on_duplicate_ack(self, event: AckEvent) -> None:
        """A duplicate acknowledgement arrived; its marks are valid, independent of recovery."""

    def on_departure(self, now: float) -> None:
        """A duplicate after the fast retransmit: one more segment has left the network.

        Only ``vegas`` recovery calls it, and leaves the inflation of the window to the control;
        other recoveries inflate it themselves.
        """

    def on_loss(self, event: LossEvent) -> None:
        """A loss was detected without the timer; the segment is about to be retransmitted."""

    def on_congestion_mark(self, event: LossEvent) -> None:
        """A congestion mark (ECN) was echoed, without a loss. Calls :meth:`on_loss` by default."""
        self.on_loss(event)

    def on_recovered(self, now: float) -> None:
        """The first new acknowledgement after a recovery; :meth:`on_ack` follows."""

    def on_timeout(self, event: TimeoutEvent) -> None:
        """The retransmission timer expired: all unacknowledged segments are retransmitted."""


Custom = CongestionControl | Callable[[], CongestionControl]
"""A control for a flow: the class, another callable without arguments that returns a control
(``functools.partial(MyControl, beta=2)``), or an instance, which each run copies."""


def start(custom: Custom) -> CongestionControl:
    """A new control.

    Raises:
        WaymarkError: ``custom`` returns no control, or its ``recovery`` or marks are invalid.
    """
    if isinstance(custom, CongestionControl):
        made: Any = copy.deepcopy(custom)
    else:
        made = _make(custom) if callable(custom) else custom
    if not isinstance(made, CongestionControl):
        raise WaymarkError(
            f"{name(custom)} gives {made!r}; expected an algorithm's name, a class derived from "
            "waymark.CongestionControl, or what makes one"
        )
    _check(made)
    return made


def _make(factory: Callable[[], object]) -> object:
    try:
        inspect.signature(factory).bind()
    except TypeError as error:
        raise WaymarkError(
            f"{name(factory)}: {error}; expected a control that is made without arguments: give "
            "each parameter a default"
        ) from error
    except ValueError:  # a built-in callable has no signature
        pass
    return factory()


def _check(control: CongestionControl) -> None:
    where = type(control).__name__
    check_choice(f"{where}.recovery", control.recovery, get_args(Recovery))
    for mark in MARKS:
        value: object = getattr(control, mark)
        if not isinstance(value, bool):
            raise WaymarkError(f"{where}.{mark}: found {value!r}; valid: True, False")
    check_marks(f"{where}.marks", control.marks, 8 * control.aqt + 4 * control.avbw)


def name(custom: Any) -> str:
    """The class's or function's name, for messages and traces."""
    named: Any = getattr(custom, "func", custom)  # functools.partial
    if inspect.isclass(named) or inspect.isroutine(named):
        return named.__name__
    return type(named).__name__
