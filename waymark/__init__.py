"""Waymark: networks whose P4 switches report to senders what happened to their packets.

Declare a network (:class:`Topology`), traffic (:class:`Flow`, :class:`OnOff`, :class:`Cbr`) and a
:class:`Scenario`. :func:`run` processes every packet in the switches' P4 programs, in virtual time,
and returns a :class:`Result` with numpy arrays::

    from waymark import Flow, Host, Scenario, Switch, Topology, duplex, run

    network = Topology(
        hosts=(Host("a"), Host("b")),
        switches=(Switch("r"),),
        links=(*duplex("a", "r", 10e6, 0.001), *duplex("r", "b", 1.6e6, 0.02)),
    )
    result = run(Scenario("first", network, end_s=20, flows=(Flow("a", "b", "rovegas"),)))
    print(result.throughput_bps(0, from_s=10, to_s=20))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from waymark import criteria, plots, trace
    from waymark._core import AckEvent, Limits, LossEvent, RateSample, TimeoutEvent
    from waymark.congestion import CongestionControl
    from waymark.entry import Entry
    from waymark.errors import WaymarkError
    from waymark.experiment import (
        Choice,
        Expectation,
        Experiment,
        OnInterfaces,
        Row,
        Runs,
        Scale,
        Span,
        all_of,
        at_scale,
    )
    from waymark.frame import Table
    from waymark.mark import Field, Mark
    from waymark.networks import chain, dumbbell
    from waymark.red import ConstantDrop, Red
    from waymark.result import (
        Check,
        FlowResult,
        QueueResult,
        Result,
        SourceResult,
        Truth,
        Verdicts,
        mean_sd,
    )
    from waymark.running import run
    from waymark.runs import Results, run_all, summary, sweep
    from waymark.scenario import Clock, LinkChange, Scenario
    from waymark.sctp import (
        DAHAL_SCTP,
        NS2_SCTP,
        Association,
        AssociationProfile,
        AssociationResult,
        AssociationTrace,
    )
    from waymark.switch_result import (
        Count,
        CountedEntry,
        CounterResult,
        DirectCounterResult,
        PortResult,
        RegisterResult,
        Samples,
        SwitchResult,
    )
    from waymark.topology import Host, Link, Medium, Switch, Topology, duplex
    from waymark.trace import Trace
    from waymark.traffic import (
        CHAN,
        DAHAL,
        MODERN,
        SRIJITH,
        STOCK,
        Algorithm,
        Cbr,
        Flow,
        ModernProfile,
        Ns2Profile,
        OnOff,
        Profile,
        Source,
        Tracing,
    )
    from waymark.wireless import shadowing_loss, simple_medium

__all__ = [
    "CHAN",
    "DAHAL",
    "DAHAL_SCTP",
    "MODERN",
    "NS2_SCTP",
    "SRIJITH",
    "STOCK",
    "AckEvent",
    "Algorithm",
    "Association",
    "AssociationProfile",
    "AssociationResult",
    "AssociationTrace",
    "Cbr",
    "Check",
    "Choice",
    "Clock",
    "CongestionControl",
    "ConstantDrop",
    "Count",
    "CountedEntry",
    "CounterResult",
    "DirectCounterResult",
    "Entry",
    "Expectation",
    "Experiment",
    "Field",
    "Flow",
    "FlowResult",
    "Host",
    "Limits",
    "Link",
    "LinkChange",
    "LossEvent",
    "Mark",
    "Medium",
    "ModernProfile",
    "Ns2Profile",
    "OnInterfaces",
    "OnOff",
    "PortResult",
    "Profile",
    "QueueResult",
    "RateSample",
    "Red",
    "RegisterResult",
    "Result",
    "Results",
    "Row",
    "Runs",
    "Samples",
    "Scale",
    "Scenario",
    "Source",
    "SourceResult",
    "Span",
    "Switch",
    "SwitchResult",
    "Table",
    "TimeoutEvent",
    "Topology",
    "Trace",
    "Tracing",
    "Truth",
    "Verdicts",
    "WaymarkError",
    "all_of",
    "at_scale",
    "chain",
    "criteria",
    "dumbbell",
    "duplex",
    "mean_sd",
    "plots",
    "run",
    "run_all",
    "shadowing_loss",
    "simple_medium",
    "summary",
    "sweep",
    "trace",
]

# A name is imported when it is first used: importing numpy and its users takes longer than many #
# commands take to run.
_HOMES = {
    name: module
    for module, names in {
        "waymark._core": "AckEvent Limits LossEvent RateSample TimeoutEvent",
        "waymark.congestion": "CongestionControl",
        "waymark.entry": "Entry",
        "waymark.errors": "WaymarkError",
        "waymark.experiment": (
            "Choice Expectation Experiment OnInterfaces Row Runs Scale Span all_of at_scale"
        ),
        "waymark.frame": "Table",
        "waymark.mark": "Field Mark",
        "waymark.networks": "chain dumbbell",
        "waymark.red": "ConstantDrop Red",
        "waymark.result": "Check FlowResult QueueResult Result SourceResult Truth Verdicts mean_sd",
        "waymark.running": "run",
        "waymark.runs": "Results run_all summary sweep",
        "waymark.scenario": "Clock LinkChange Scenario",
        "waymark.sctp": (
            "DAHAL_SCTP NS2_SCTP Association AssociationProfile AssociationResult AssociationTrace"
        ),
        "waymark.switch_result": (
            "Count CountedEntry CounterResult DirectCounterResult PortResult RegisterResult "
            "Samples SwitchResult"
        ),
        "waymark.topology": "Host Link Medium Switch Topology duplex",
        "waymark.trace": "Trace",
        "waymark.traffic": (
            "CHAN DAHAL MODERN SRIJITH STOCK Algorithm Cbr Flow ModernProfile Ns2Profile OnOff "
            "Profile Source Tracing"
        ),
        "waymark.wireless": "shadowing_loss simple_medium",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    if name in ("criteria", "plots", "trace"):
        return import_module(f"waymark.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'waymark' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
