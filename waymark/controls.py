# ruff: noqa: E501
"""The compiled congestion controls: what each does, its source, and what it needs.

``waymark controls`` and the table of ``docs/controls.md`` show these. The code is one file each in
``crates/congestion/src``.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from waymark.errors import WaymarkError, suggestion

Mark = Literal["AQT", "AVBW-S", "CI"]
"""What hops write: accumulated queueing time; the least DRAI, in the AVBW-S option; congestion
indication."""


@dataclass(frozen=True)
class Control:
    """A congestion control.

    Attributes:
        name: for ``Flow(algorithm=…)``.
        title: its name as the papers print it.
        summary: what it does.
        source: the paper or RFC.
        recovery: the loss recovery in the ns-2 profiles; empty: it needs the modern profile, which
            has its own (RACK-TLP).
        marks: the switches' marks that it reads.
        needs: what else it needs.
    """

    name: str
    title: str
    summary: str
    source: str
    recovery: str
    marks: tuple[Mark, ...] = ()
    needs: str = ""


_LA = "La, Walrand and Anantharam 1999"
_PARSA = "Parsa and Garcia-Luna-Aceves 1999"

CONTROLS = (
    Control("tahoe", "Tahoe", "falls to one segment after any loss", "Jacobson 1988", "Tahoe"),
    Control("reno", "Reno", "additive increase, halving", "RFC 5681", "Reno"),
    Control("newreno", "NewReno", "Reno that stays in recovery over partial ACKs", "RFC 6582", "NewReno"),
    Control("sack", "SACK", "Reno with selective acknowledgements", "RFC 6675", "SACK"),
    Control("fack", "FACK", "SACK that counts what is in flight by forward acknowledgement", "Mathis and Mahdavi 1996", "FACK"),
    Control("vegas", "Vegas", "keeps α to β segments of its own queued", "Brakmo and Peterson 1995; Chan 2004, §2.2", "Vegas"),
    Control("rovegas", "RoVegas", "Vegas on propagation delay and forward queueing alone", "Chan 2004, ch. 3", "Vegas", ("AQT",)),
    Control("enhancedvegas", "Enhanced Vegas", "RoVegas' measure from timestamps instead of marks", "Chan 2004, ch. 4", "Vegas", needs="timestamps"),
    Control("quickvegas", "Quick Vegas", "Vegas for long fat paths", "Chan 2004, §5.3", "Vegas"),
    Control("redvegas", "RedVegas", "Vegas that tells random losses from congestion", "Chan 2004, §6.3", "Vegas", ("CI",)),
    Control("waymark", "Waymark", "RoVegas' measure, Muzha's pace, losses judged as by RedVegas", "this project", "Vegas", ("AQT", "AVBW-S", "CI")),
    Control("vegasa", "Vegas-A", "Vegas whose thresholds adapt", "Srijith et al., §IV", "Vegas"),
    Control("vegasplus", "Vegas⁺", "Vegas that turns into Reno where it meets Reno", "Hasegawa, Kurata and Murata 2000", "Vegas"),
    Control("reroutingvegas", "La's Vegas", "Vegas that takes a lasting rise of the RTT as a new route", _LA, "Vegas"),
    Control("card", "CARD", "shrinks when the delay rose with the window, grows when it fell", "Jain 1989", "NewReno"),
    Control("dual", "DUAL", "Reno that cuts by 1/8 when the RTT is above the middle of those seen", "Wang and Crowcroft 1992", "NewReno"),
    Control("tris", "Tri-S", "grows while one more segment brings more throughput", "Wang and Crowcroft 1991", "NewReno"),
    Control("santacruz", "Santa Cruz", "keeps n segments queued, by relative one-way delays", _PARSA, "NewReno", needs="timestamps"),
    Control("zhangtsaoussidis", "Zhang–Tsaoussidis", "Reno that slows down before the queue is full", "Zhang and Tsaoussidis 2003", "NewReno"),
    Control("fast", "FAST", "keeps α segments queued, in steps proportional to the error", "Jin, Wei and Low 2004", "NewReno"),
    Control("westwood", "Westwood", "after a loss, the window is bandwidth · least RTT", "Mascolo et al. 2001", "NewReno"),
    Control("westwoodplus", "Westwood+", "Westwood with the bandwidth measured once per RTT", "Grieco and Mascolo 2004", "NewReno"),
    Control("highspeed", "HighSpeed", "growth and cut depend on the window's size", "RFC 3649", "SACK"),
    Control("scalable", "Scalable", "exponential growth", "Kelly 2003", "SACK"),
    Control("cubic", "CUBIC", "a cubic function of the time since the last loss", "RFC 9438", "SACK"),
    Control("dctcp", "DCTCP", "cuts by the share of ECN-marked segments", "RFC 8257", "", needs="modern profile, ECN"),
    Control("bbr", "BBR", "a model of the path's bandwidth and delay, version 1", "draft-cardwell-iccrg-bbr-congestion-control-00", "", needs="modern profile, pacing"),
    Control("muzha", "Muzha", "changes the window as the switches' index says", "Lien and Chung, §III", "Reno", ("AVBW-S",)),
    Control("rbcc", "RBCC", "the window follows the RTT's distance from a threshold", "Dahal 2007, ch. 3, 4", "NewReno", needs="timestamps"),
    Control("rbccwl", "RBCC-WL", "RBCC for wireless links", "Dahal 2007, ch. 5", "NewReno", needs="timestamps"),
)  # fmt: skip


def select(patterns: tuple[str, ...]) -> tuple[Control, ...]:
    """The controls with one of these names or patterns (``'*vegas'``); all of them without any.

    Raises:
        WaymarkError: a pattern that none has.
    """
    names = [control.name for control in CONTROLS]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise WaymarkError(f"no control matches {pattern!r}; {suggestion(pattern, names)}")
    chosen = {name for name in names for pattern in patterns or "*" if fnmatchcase(name, pattern)}
    return tuple(control for control in CONTROLS if control.name in chosen)


def markdown() -> str:
    """The table of ``docs/controls.md``."""
    lines = ["| name | control | source | recovery | marks | needs |", "| --- " * 6 + "|"]
    lines += [
        f"| `{c.name}` | {c.summary} | {c.source} | {c.recovery} | {', '.join(c.marks)} | {c.needs} |"
        for c in CONTROLS
    ]
    return "\n".join(lines) + "\n"
