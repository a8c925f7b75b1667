"""Scenario files: network, flows, other traffic, changes and measures as YAML.

``waymark run F.yaml`` runs them, ``waymark schema scenario`` prints their JSON Schema, and
``docs/own-experiments.md`` describes them.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, get_args

import numpy as np
from matplotlib.figure import Figure
from pydantic import ConfigDict, Field

from waymark import own, plots, topology_file, yaml_file
from waymark.addressing import derive, path
from waymark.congestion import Custom
from waymark.controls import BY_NAME
from waymark.errors import WaymarkError, suggestion
from waymark.experiment import Experiment, Row, Runs, Scale
from waymark.fields import Rate, Time
from waymark.result import Result
from waymark.scenario import LinkChange, Scenario
from waymark.topology import Topology
from waymark.topology_file import DELAY, LOSS, RATE, Settings, TopologyFile
from waymark.traffic import (
    PACKET_OCTETS,
    PROFILES,
    Algorithm,
    Cbr,
    Flow,
    ModernProfile,
    OnOff,
    Source,
    invalid_settings,
)
from waymark.units import TIME
from waymark.yaml_file import Document, Place, Problem

AT = f"a time in the run: {TIME}"
HOST = "a host of the network"
LINK = "a link in its direction, such as r1->r2"
PACKETS = Annotated[int, Field(strict=True, ge=1)]

Kind = Literal["cbr", "exponential", "pareto"]
Quantity = Literal[
    "throughput", "losses", "retransmissions", "timeouts", "queue", "queue p99", "queue peak"
]
_OF_QUEUES = ("queue", "queue p99", "queue peak")
_WITHIN = ("throughput", "queue", "queue p99")


class Traffic(Settings):
    """What goes from one host to another."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str = Field(alias="from", description=HOST)
    target: str = Field(alias="to", description=HOST)
    start: Time = Field(0.0, description=AT)
    stop: Time | None = Field(None, description=AT)


class FlowFile(Traffic):
    """A TCP connection."""

    name: str | None = Field(None, min_length=1, description="a name, such as first")
    control: str = Field(
        "vegas", description="a congestion control (waymark controls), or FILE.py[:Class]"
    )
    profile: Literal[tuple(PROFILES)] = Field(  # pyright: ignore[reportInvalidTypeForm]
        "stock", description=", ".join(PROFILES)
    )
    packets: PACKETS | None = Field(None, description="1 or more packets to send; none: no limit")
    settings: dict[str, bool | float] = Field(
        {}, description="settings of the control by name, such as alpha: 2 (docs/controls.md)"
    )


class SourceFile(Traffic):
    """Traffic that is not TCP: constant, or in bursts."""

    kind: Kind = Field("cbr", description="cbr, or bursts: exponential, pareto")
    rate: Rate = Field(description=f"{RATE}; for bursts: the rate while ON")
    on: Time | None = Field(None, description=f"mean length of a burst: {TIME}")
    off: Time | None = Field(None, description=f"mean idle time between bursts: {TIME}")
    load: float | None = Field(
        None,
        gt=0,
        description="instead of off: mean rate as a fraction of the slowest link's rate, e.g. 0.1",
    )
    shape: float = Field(1.5, gt=1, description="above 1: the shape of the Pareto distribution")
    packet: PACKETS = Field(PACKET_OCTETS, description="octets of a packet")


class ChangeFile(Settings):
    """A change of one direction of a link."""

    at: Time = Field(description=AT)
    link: str = Field(description=LINK)
    rate: Rate | None = Field(None, description=RATE)
    delay: Time | None = Field(None, description=DELAY)
    loss: float | None = Field(None, ge=0, le=1, description=LOSS)


class MeasureFile(Settings):
    """A row of the table."""

    quantity: Quantity = Field(description=", ".join(get_args(Quantity)))
    of: str = Field(description="the name of a flow (flow0 if it has none), or a link: r1->r2")
    start: Time | None = Field(None, alias="from", description=AT)
    stop: Time | None = Field(None, alias="to", description=AT)
    name: str | None = Field(None, min_length=1, description="the name of the row")


class ScenarioFile(TopologyFile):
    """A scenario file: its network, or the name of a topology file."""

    topology: str | None = Field(
        None, description="a topology file, relative to this one; or hosts, switches and links"
    )
    seconds: Time = Field(description=f"the duration of the run: {TIME}")
    seeds: PACKETS = Field(1, description="1 or more seeds")
    sample: Time = Field(0.1, gt=0, description=f"the width of bins over time: {TIME}")
    flows: tuple[FlowFile, ...] = Field((), description="a list of TCP connections")
    sources: tuple[SourceFile, ...] = Field((), description="a list of other traffic")
    changes: tuple[ChangeFile, ...] = Field((), description="a list of changes of links")
    measures: tuple[MeasureFile, ...] = Field((), description="a list of rows of the table")


def load(path: Path) -> Experiment:
    """The experiment that a scenario file describes.

    Raises:
        WaymarkError: all that is wrong, each with file, line, key, what was found, what is valid.
    """
    document = yaml_file.read(path)
    file = yaml_file.validate(ScenarioFile, document)
    topology = _topology(file, document)
    problems = list(_problems(file, topology))
    if problems:
        raise yaml_file.refused(document, problems)
    try:
        return _experiment(path, _Loaded(path, file, topology, _controls(file, document)))
    except WaymarkError as error:
        told = str(error)
        raise WaymarkError(told if told.startswith(str(path)) else f"{path}: {told}") from error


@dataclass(frozen=True)
class _Loaded:
    """A scenario file, with what it names."""

    path: Path
    file: ScenarioFile
    topology: Topology
    controls: Sequence[Algorithm | Custom]

    def names(self) -> list[str]:
        """The flows' names, in their order."""
        return _names(self.file)

    def scenario(self, seed: int) -> Scenario:
        """The run of one seed."""
        flows = tuple(
            Flow(
                flow.source,
                flow.target,
                control,
                PROFILES[flow.profile],
                start_s=flow.start,
                stop_s=flow.stop,
                segments=flow.packets,
                settings=flow.settings,
            )
            for flow, control in zip(self.file.flows, self.controls, strict=True)
        )
        return Scenario(
            self.path.name,
            self.topology,
            self.file.seconds,
            flows,
            tuple(_source(source, self.topology) for source in self.file.sources),
            seed=seed,
            sample_s=self.file.sample,
            changes=tuple(_change(change) for change in self.file.changes),
        )

    def measures(self) -> list[MeasureFile]:
        """What is measured; by default each flow's throughput, and the queues between switches."""
        if self.file.measures:
            return list(self.file.measures)
        switches = {switch.name for switch in self.topology.switches}
        links = [link for link in self.topology.links if {link.source, link.target} <= switches]
        return [
            *(MeasureFile(quantity="throughput", of=name) for name in self.names()),  # pyright: ignore[reportCallIssue]
            *(MeasureFile(quantity="queue", of=link.name) for link in links),  # pyright: ignore[reportCallIssue]
        ]

    def rows(self, runs: Runs) -> list[Row]:
        """A row per measure."""
        [several] = runs.values()
        return [
            Row.of(
                _title(one, self.file), UNITS[one.quantity], [self._value(one, r) for r in several]
            )
            for one in self.measures()
        ]

    def _value(self, one: MeasureFile, run: Result) -> float:
        from_s = 0.0 if one.start is None else one.start
        to_s = run.end_s if one.stop is None else one.stop
        if one.quantity in _OF_QUEUES:
            if one.quantity == "queue":
                return run.mean_waiting(one.of, from_s, to_s)
            queue = run.queues[one.of]
            if one.quantity == "queue peak":
                return queue.peak
            within = slice(round(from_s / run.sample_s), round(to_s / run.sample_s))
            return float(np.percentile(queue.waiting[within], 99))
        number = self.names().index(one.of)
        if one.quantity == "throughput":
            return run.throughput_bps(number, from_s, to_s) / 1e3
        return getattr(run.flows[number], one.quantity)

    def draw(self, runs: Runs, _table: Sequence[Row]) -> Figure:
        """The first seed: throughput of the flows, and the queues that are measured, over time."""
        [[run, *_]] = runs.values()
        queues = list(dict.fromkeys(m.of for m in self.measures() if m.quantity in _OF_QUEUES))
        figure = plots.new_figure(8.0, 4.2 if not queues else 6.0)
        above, *below = np.atleast_1d(figure.subplots(1 + bool(queues), 1, sharex=True))
        for number, name in enumerate(self.names()):
            above.plot(run.times_s, run.throughput_over_time_bps(number) / 1e3, label=name)
        lowest = below[0] if below else above
        for link in queues:
            lowest.plot(run.times_s, run.queues[link].waiting, label=link)
        for axes in (above, *below):
            for change in self.file.changes:
                axes.axvline(change.at, color=plots.COLOURS["model"], linestyle=":", linewidth=1)
            axes.set_xlim(0, run.end_s)
            axes.set_ylim(bottom=0)
        if below:
            plots.finish(lowest, title="", x="time (s)", y="packets waiting")
        title = self.file.description or "Throughput"
        plots.finish(above, title=title, x="" if below else "time (s)", y="throughput (kb/s)")
        return figure


UNITS: Mapping[str, str] = {
    "throughput": "kb/s",
    "losses": "packets",
    "retransmissions": "packets",
    "timeouts": "1",
    "queue": "packets",
    "queue p99": "packets",
    "queue peak": "packets",
}
"""Of each quantity."""


def _experiment(path: Path, loaded: _Loaded) -> Experiment:
    file = loaded.file
    name = re.sub(r"[^\w.+-]", "-", path.stem).lstrip(".+-") or "scenario"
    loaded.scenario(1)  # report what Scenario refuses before anything runs

    def scenarios(_scale: Scale, seed: int) -> Mapping[str, Scenario]:
        return {name: loaded.scenario(seed)}

    return Experiment(
        id=f"scenario/{name}",
        paper=f"Scenario {path.name}",
        claim=file.description.rstrip(".") or f"The scenario {path.name}",
        parameters=file.model_dump(mode="json", by_alias=True, exclude_unset=True),
        seeds={"quick": 1, "full": file.seeds},
        scenarios=scenarios,
        rows=loaded.rows,
        draw=loaded.draw,
    )


def _topology(file: ScenarioFile, document: Document) -> Topology:
    inline = [key for key in ("hosts", "switches", "links") if key in file.model_fields_set]
    if file.topology is not None and inline:
        told = f"found with topology; valid: one of topology and {', '.join(inline)}"
        raise yaml_file.refused(document, [Problem((inline[0],), told)])
    if file.topology is None:
        if not inline:
            told = f"missing; valid: {ScenarioFile.model_fields['topology'].description}"
            raise yaml_file.refused(document, [Problem(("topology",), told)])
        return topology_file.of_file(file, document)
    path = document.path.parent / file.topology
    if not path.is_file():
        told = f"found {file.topology!r}; valid: a file, relative to {document.path.parent}/"
        raise yaml_file.refused(document, [Problem(("topology",), told)])
    return Topology.load(path)


def _controls(file: ScenarioFile, document: Document) -> list[Algorithm | Custom]:
    found: list[Algorithm | Custom] = []
    for index, flow in enumerate(file.flows):
        if ".py" in flow.control:
            found.append(own.load_control(str(document.path.parent / flow.control)))
        elif flow.control in BY_NAME:
            found.append(flow.control)
        else:
            told = f"found {flow.control!r}; {suggestion(flow.control, list(BY_NAME))}"
            raise yaml_file.refused(document, [Problem(("flows", index, "control"), told)])
        is_modern = isinstance(PROFILES[flow.profile], ModernProfile)
        if not is_modern and flow.control in BY_NAME and BY_NAME[flow.control].is_modern_only:
            told = f"found {flow.profile!r}; {flow.control} needs: modern"
            raise yaml_file.refused(document, [Problem(("flows", index, "profile"), told)])
        told = invalid_settings(found[-1], flow.settings)
        if told is not None:
            raise yaml_file.refused(document, [Problem(("flows", index, "settings"), told)])
    return found


def _names(file: ScenarioFile) -> list[str]:
    return [flow.name or f"flow{index}" for index, flow in enumerate(file.flows)]


def _title(one: MeasureFile, file: ScenarioFile) -> str:
    if one.name is not None:
        return one.name
    title = f"{one.of}, {one.quantity}"
    if one.start is None and one.stop is None:
        return title
    stop = file.seconds if one.stop is None else one.stop
    return f"{title}, {one.start or 0:g}-{stop:g} s"


def _problems(file: ScenarioFile, topology: Topology) -> Iterator[Problem]:
    """What the parts of a file say of each other and of the network."""
    hosts = [host.name for host in topology.hosts]
    links = [link.name for link in topology.links]
    names = list(dict.fromkeys(_names(file)))
    if not file.flows and not file.sources:
        yield Problem(("flows",), "missing; valid: at least one flow or source")
    for kind, several in (("flows", file.flows), ("sources", file.sources)):
        for index, one in enumerate(several):
            place: Place = (kind, index)
            for key, host in (("from", one.source), ("to", one.target)):
                if host not in hosts:
                    yield Problem((*place, key), _no("host", host, hosts))
            if one.start >= file.seconds:
                yield _late((*place, "start"), one.start, file)
            if one.stop is not None and one.stop <= one.start:
                told = f"found {one.stop:g}; valid: after start, {one.start:g} s"
                yield Problem((*place, "stop"), told)
    for index, name in enumerate(_names(file)):
        if name in _names(file)[:index]:
            yield Problem(("flows", index, "name"), f"found {name!r}, which another flow has")
    for index, source in enumerate(file.sources):
        yield from _source_problems(source, ("sources", index))
    for index, change in enumerate(file.changes):
        place = ("changes", index)
        if change.link not in links:
            yield Problem((*place, "link"), _no("link", change.link, links))
        if change.at >= file.seconds:
            yield _late((*place, "at"), change.at, file)
        if change.rate is None and change.delay is None and change.loss is None:
            yield Problem(place, "changes nothing; valid: one or more of rate, delay, loss")
    titles: list[str] = []
    for index, one in enumerate(file.measures):
        place = ("measures", index)
        yield from _measure_problems(one, place, file, names, links)
        if (title := _title(one, file)) in titles:
            yield Problem(place, f"a second row {title!r}; valid: a unique name")
        titles.append(title)


def _source_problems(source: SourceFile, place: Place) -> Iterator[Problem]:
    bursts = {"on": source.on, "off": source.off, "load": source.load}
    if source.kind == "cbr":
        for key, value in bursts.items():
            if value is not None:
                yield Problem((*place, key), "found in cbr; valid: in exponential and pareto")
        return
    if not source.on:
        yield Problem(
            (*place, "on"), f"missing; valid: {SourceFile.model_fields['on'].description}"
        )
    if (source.off is None) == (source.load is None):
        yield Problem(place, "valid: one of off and load")


def _measure_problems(
    one: MeasureFile, place: Place, file: ScenarioFile, names: list[str], links: list[str]
) -> Iterator[Problem]:
    if one.quantity in _OF_QUEUES:
        if one.of not in links:
            yield Problem((*place, "of"), _no("link", one.of, links))
    elif one.of not in names:
        yield Problem((*place, "of"), _no("flow", one.of, names))
    for key, at in (("from", one.start), ("to", one.stop)):
        if at is None:
            continue
        bins = at / file.sample
        if one.quantity not in _WITHIN:
            told = f"found; {one.quantity} is of the whole run; valid: with {', '.join(_WITHIN)}"
            yield Problem((*place, key), told)
        elif at > file.seconds or not math.isclose(bins, round(bins), abs_tol=1e-6):
            told = (
                f"found {at:g}; valid: a whole number of samples of {file.sample:g} s, up to "
                f"{file.seconds:g} s"
            )
            yield Problem((*place, key), told)
    stop = file.seconds if one.stop is None else one.stop
    if (one.start or 0) >= stop:
        yield Problem((*place, "from"), f"found {one.start or 0:g}; valid: before {stop:g} s")


def _no(what: str, found: str, valid: Sequence[str]) -> str:
    return f"found {found!r}, no such {what}; {suggestion(found, valid or ['none'])}"


def _late(place: Place, at: float, file: ScenarioFile) -> Problem:
    return Problem(place, f"found {at:g}; valid: before the end, {file.seconds:g} s")


def _change(change: ChangeFile) -> LinkChange:
    source, _, target = change.link.partition("->")
    return LinkChange(change.at, source, target, change.rate, change.delay, change.loss)


def _source(source: SourceFile, topology: Topology) -> Source:
    ends = (source.source, source.target)
    if source.kind == "cbr":
        return Cbr(*ends, source.rate, source.packet, source.start, source.stop)
    assert source.on is not None
    if source.load is None:
        assert source.off is not None
        made = OnOff(*ends, source.rate, source.on, source.off, source.kind, source.shape)
    else:
        links = path(topology, derive(topology), *ends)
        made = OnOff.for_load(
            *ends,
            load=source.load,
            link_bps=min(link.rate_bps for link in links),
            rate_bps=source.rate,
            mean_on_s=source.on,
            distribution=source.kind,
            shape=source.shape,
        )
    return replace(made, packet_octets=source.packet, start_s=source.start, stop_s=source.stop)
