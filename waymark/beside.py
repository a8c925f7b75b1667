"""Runs on interfaces compared with the same runs in virtual time: table, picture, record."""

import csv
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich import box

from waymark import _core, json_text, plots, trace
from waymark.errors import WaymarkError, os_errors
from waymark.experiment import Experiment, OnInterfaces, Scale, Span
from waymark.measure import on_architecture
from waymark.running import run
from waymark.scenario import Scenario
from waymark.tables import NumberTable
from waymark.traffic import Flow, Profile

if TYPE_CHECKING:
    import pyarrow as pa

    from topologies.live import Hosts, Live
    from waymark.result import Result

NOT_COMPARABLE = {
    "bmv2": (
        "BMv2's queues have rates in packets per second, so that an ACK takes as long as a data "
        "packet: rates and times are not comparable. This run shows that the controller's "
        "settings are in effect and the marks arrive."
    )
}
"""Why a target's numbers differ from those of virtual time, by target."""

COLUMNS = (
    "part",
    "quantity",
    "unit",
    "live",
    "simulated",
    "difference_percent",
    "ns2_profile",
    "paper",
)

BIN_S = 1.0
"""Width of the picture's bins."""


@dataclass(frozen=True)
class Run:
    """One run in three ways.

    Attributes:
        scenario: the same on interfaces and in virtual time.
        live: the result on interfaces.
        simulated: the result in virtual time.
        ns2: the result in virtual time with the profile of the paper's simulator.
    """

    scenario: Scenario
    live: "Live"
    simulated: "Result"
    ns2: "Result"

    @property
    def flow(self) -> Flow:
        """Its flow."""
        return self.scenario.flows[0]


@dataclass(frozen=True)
class Row:
    """A quantity of a part of the runs: means over the seeds; None if it was not measured."""

    part: str
    quantity: str
    unit: str
    live: float
    simulated: float | None
    ns2_profile: float | None
    paper: float | None = None

    @property
    def difference_percent(self) -> float | None:
        """The difference of live from simulated, in percent of simulated."""
        return 100 * (self.live / self.simulated - 1) if self.simulated else None


@dataclass(frozen=True)
class Beside:
    """An experiment that was run on interfaces and in virtual time.

    Attributes:
        hosts: whose TCP the flows had: ``"waymark"`` or ``"kernel"``.
        runs: by label, one per seed.
        load_average: of the machine over the last minute, at the start and the end.
    """

    experiment: Experiment
    scale: Scale
    runner: str
    target: str
    hosts: "Hosts"
    seeds: Sequence[int]
    runs: Mapping[str, Sequence[Run]]
    rows: Sequence[Row]
    load_average: tuple[float, float]
    wall_s: float

    @property
    def notes(self) -> str:
        """Why live and simulated differ."""
        here = _on_interfaces(self.experiment)
        notes = here.kernel_notes if self.hosts == "kernel" else here.notes
        return NOT_COMPARABLE.get(self.target) or notes

    @property
    def where(self) -> str:
        """A short description of what the live runs used."""
        linux = ", hosts with Linux TCP" if self.hosts == "kernel" else ""
        return f"{self.runner}, {self.target} switches{linux}"


def measure(
    experiment: Experiment,
    scale: Scale,
    seeds: Sequence[int],
    runner: str,
    target: str,
    hosts: "Hosts",
    run_live: Callable[[Scenario], "Live"],
    architecture: str | None = None,
) -> Beside:
    """Run each scenario of an experiment on interfaces, one after the other, and in virtual time.

    Args:
        experiment: one that has ``on_interfaces``.
        scale: its scale.
        seeds: of the scenarios.
        runner, target: for the report.
        hosts: whose TCP the flows have; virtual time has that profile too.
        run_live: runs a scenario on interfaces.
        architecture: its programs replace those that the experiment names, in both.

    Raises:
        WaymarkError: a run fails.
    """
    from topologies import linux_flows

    started, load = time.monotonic(), os.getloadavg()[0]
    here = _on_interfaces(experiment)
    runs: dict[str, list[Run]] = {}
    for seed in seeds:
        for label, scenario in here.scenarios(scale, seed).items():
            if architecture is not None:
                scenario = on_architecture(scenario, architecture)
            wanted = trace.traced(linux_flows.paced(scenario) if hosts == "kernel" else scenario)
            in_ns2 = _in_profile(wanted, here.profile)
            one = Run(wanted, run_live(wanted), run(wanted), run(in_ns2))
            runs.setdefault(label, []).append(one)
    rows = [
        row
        for label, several in runs.items()
        for row in _rows(label, several, here.spans(scale), target)
    ]
    ended = time.monotonic() - started
    load_average = (load, os.getloadavg()[0])
    return Beside(
        experiment, scale, runner, target, hosts, list(seeds), runs, rows, load_average, ended
    )


def _on_interfaces(experiment: Experiment) -> OnInterfaces:
    if experiment.on_interfaces is None:
        raise WaymarkError(f"{experiment.id} runs in virtual time only")
    return experiment.on_interfaces


def _in_profile(scenario: Scenario, profile: Profile) -> Scenario:
    flows = tuple(replace(flow, profile=profile) for flow in scenario.flows)
    return replace(scenario, flows=flows)


def _rows(label: str, runs: Sequence[Run], spans: Sequence[Span], target: str) -> Iterator[Row]:
    name = plots.NAMES.get(label, label)
    for span in spans:
        part = f"{name}, {span.from_s:g}-{span.to_s:g} s"
        paper = None if target in NOT_COMPARABLE else span.paper_kbps.get(label)
        for quantity, unit, measured in _QUANTITIES:
            values = [
                [measured(_columns(table), run, span) for table in _tables(run)] for run in runs
            ]
            if np.isnan(values).any():
                continue
            live, simulated, ns2 = (float(mean) for mean in np.mean(values, axis=0))
            printed = paper if quantity == "throughput" else None
            yield Row(part, quantity, unit, live, simulated, ns2, printed)
    for number in range(len(runs[0].scenario.sources)):
        yield from _of_source(f"{name}, cross traffic", runs, number)


def _of_source(part: str, runs: Sequence[Run], number: int) -> Iterator[Row]:
    sent = [run.live.sent[number] for run in runs]
    simulated = [run.simulated.sources[number] for run in runs]
    ns2 = [run.ns2.sources[number] for run in runs]
    yield Row(
        part, "sent", "",
        _mean(one.packets for one in sent),
        _mean(one.sent.sum() for one in simulated),
        _mean(one.sent.sum() for one in ns2),
    )  # fmt: skip
    yield Row(
        part, "arrived", "",
        _mean(run.live.arrived[number].packets for run in runs),
        _mean(one.delivered.sum() for one in simulated),
        _mean(one.delivered.sum() for one in ns2),
    )  # fmt: skip
    for which in ("mean", "max"):
        late_us = _mean(getattr(one, f"late_{which}_s") * 1e6 for one in sent)
        yield Row(part, f"late, {which}", "µs", late_us, None, None)


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _tables(run: Run) -> "tuple[pa.Table, pa.Table, pa.Table]":
    return run.live.traces[0], run.simulated.trace(0), run.ns2.trace(0)


Columns = Mapping[str, NDArray[Any]]


def _columns(table: "pa.Table") -> Columns:
    """The measured values, as numpy arrays; NaN where there is no value."""
    wanted = ("time_s", "acked", "rtt_s", "aqt_forward_s", "aqt_backward_s")
    columns: dict[str, NDArray[Any]] = {
        name: table.column(name).to_numpy().astype(np.float64) for name in wanted
    }
    names: Any = table.column("change")
    change = names.to_pylist()
    # Controls in Linux see no segment leave.
    resent = [one == "resent" if "sent" in change else np.nan for one in change]
    return columns | {"resent": np.array(resent, np.float64)}


def _within(columns: Columns, span: Span) -> NDArray[np.bool_]:
    return (columns["time_s"] >= span.from_s) & (columns["time_s"] < span.to_s)


def _acked(columns: Columns, at_s: float) -> float:
    """Segments acknowledged by then."""
    before = columns["acked"][columns["time_s"] < at_s]
    return float(before[-1]) if before.size else 0.0


def _throughput(columns: Columns, run: Run, span: Span) -> float:
    segments = _acked(columns, span.to_s) - _acked(columns, span.from_s)
    # Packets on interfaces have the simulated ones' octets.
    octets = run.simulated.flows[0].counted_octets
    return segments * octets * 8 / (span.to_s - span.from_s) / 1e3


def _mean_ms(name: str) -> "Callable[[Columns, Run, Span], float]":
    def mean(columns: Columns, _run: Run, span: Span) -> float:
        values = columns[name][_within(columns, span)]
        known = values[~np.isnan(values)]
        return float(known.mean()) * 1e3 if known.size else float("nan")

    return mean


def _least_rtt_ms(columns: Columns, _run: Run, span: Span) -> float:
    values = columns["rtt_s"][_within(columns, span)]
    known = values[~np.isnan(values)]
    return float(known.min()) * 1e3 if known.size else float("nan")


def _marked(columns: Columns, _run: Run, span: Span) -> float:
    """Acknowledgements with an AQT above zero in either direction; NaN without the option."""
    there, back = (
        columns[f"aqt_{way}_s"][_within(columns, span)] for way in ("forward", "backward")
    )
    if np.isnan(there).all() and np.isnan(back).all():
        return float("nan")
    return float(np.count_nonzero((np.nan_to_num(there) > 0) | (np.nan_to_num(back) > 0)))


def _resent(columns: Columns, _run: Run, span: Span) -> float:
    """NaN where the trace does not have them."""
    return float(columns["resent"][_within(columns, span)].sum())


_QUANTITIES: "Sequence[tuple[str, str, Callable[[Columns, Run, Span], float]]]" = (
    ("throughput", "kb/s", _throughput),
    ("round trip, minimum", "ms", _least_rtt_ms),
    ("round trip, mean", "ms", _mean_ms("rtt_s")),
    ("AQT forward, mean", "ms", _mean_ms("aqt_forward_s")),
    ("AQT backward, mean", "ms", _mean_ms("aqt_backward_s")),
    ("ACKs with AQT above 0", "", _marked),
    ("segments resent", "", _resent),
)


def terminal_table(measured: Beside) -> NumberTable:
    """The table as the terminal shows it."""
    where = f"live: {measured.where}"
    table = NumberTable(
        title=f"{measured.experiment.id}: {measured.experiment.paper}; {where}",
        title_justify="left",
        caption=measured.notes,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
    )
    table.add_words()
    for heading in ("live", "simulated", "", "as ns-2", "paper"):
        table.add_numbers(heading)
    for part, rows in groupby(measured.rows, lambda row: row.part):
        table.add_section()
        table.add_row(part)
        for row in rows:
            percent = row.difference_percent
            table.add_row(
                f"  {row.quantity} ({row.unit})" if row.unit else f"  {row.quantity}",
                *(_shown(number) for number in (row.live, row.simulated)),
                "" if percent is None else f"{percent:+.1f} %",
                *(_shown(number) for number in (row.ns2_profile, row.paper)),
            )
    return table


def draw(measured: Beside) -> Figure:
    """Throughput and round-trip times over time, live and simulated, of the first seed."""
    figure = plots.new_figure(8.0, 6.0)
    above, below = figure.subplots(2, 1, sharex=True)
    end_s = 0.0
    for label, several in measured.runs.items():
        one, colour = several[0], plots.COLOURS.get(label, plots.COLOURS["model"])
        end_s = one.scenario.end_s
        edges = np.arange(0, end_s + BIN_S / 2, BIN_S)
        live, simulated, _ = (_columns(table) for table in _tables(one))
        ways: Sequence[tuple[str, Columns, dict[str, Any]]] = (
            ("live", live, {"linewidth": 1.6}),
            ("simulated", simulated, {"linewidth": 1.1, "linestyle": (0, (2, 1.5)), "alpha": 0.8}),
        )
        for way, columns, style in ways:
            spans = [Span(a, b) for a, b in pairwise(edges)]
            middle = edges[:-1] + BIN_S / 2
            name = f"{plots.NAMES.get(label, label)}, {way}"
            kbps = [_throughput(columns, one, span) for span in spans]
            above.plot(middle, kbps, color=colour, label=name, **style)
            rtts = [_mean_ms("rtt_s")(columns, one, span) for span in spans]
            below.plot(middle, rtts, color=colour, label=name, **style)
    where = f"{measured.where}, seed {measured.seeds[0]}"
    plots.finish(
        above, title=f"{measured.experiment.id} live ({where})", x="", y="throughput (kb/s)"
    )
    below.set_ylabel("round-trip time (ms)")
    below.set_xlabel("time (s)")
    above.set_ylim(0, None)
    below.set_ylim(0, None)
    above.set_xlim(0, end_s)
    return figure


def write(measured: Beside, folder: Path, command: Sequence[str]) -> list[Path]:
    """``table.csv``, pictures and ``run.json``; the files' paths."""
    with plots.style():
        pictures = plots.save(draw(measured), folder)
    return [_write_table(measured.rows, folder), *pictures, _record(measured, folder, command)]


def _write_table(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "table.csv"
    with os_errors(path), path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            numbers = (getattr(row, name) for name in COLUMNS[3:])
            writer.writerow((row.part, row.quantity, row.unit, *(_digits(n, 6) for n in numbers)))
    return path


def _record(measured: Beside, folder: Path, command: Sequence[str]) -> Path:
    """Write everything that is needed to repeat the runs, as far as the wall clock permits."""
    experiment, here = measured.experiment, _on_interfaces(measured.experiment)
    firsts = {label: several[0] for label, several in measured.runs.items()}
    record: dict[str, Any] = {
        "id": experiment.id,
        "paper": experiment.paper,
        "command": list(command),
        "runner": measured.runner,
        "target": measured.target,
        "transport": measured.hosts,
        "scale": measured.scale,
        "seeds": list(measured.seeds),
        "parameters": dict(experiment.parameters)
        | {
            "profile": next(iter(firsts.values())).flow.profile.by_family(),
            "ns2_profile": here.profile.by_family(),
            "spans_s": [(span.from_s, span.to_s) for span in here.spans(measured.scale)],
            "end_s": {label: run.scenario.end_s for label, run in firsts.items()},
        },
        "hosts": {label: list(run.live.commands) for label, run in firsts.items()},
        "rows": [
            asdict(row) | {"difference_percent": row.difference_percent} for row in measured.rows
        ],
        "sources": {
            label: [[asdict(sent) for sent in run.live.sent] for run in several]
            for label, several in measured.runs.items()
        },
        "notes": measured.notes,
        "machine": {
            "kernel": platform.release(),
            "processors": os.cpu_count(),
            "load_average": list(measured.load_average),
        },
        "versions": {
            "waymark": version("waymark"),
            "core": _core.__version__,
            "python": platform.python_version(),
        },
        "wall_s": round(measured.wall_s, 3),
    }
    path = folder / "run.json"
    with os_errors(path):
        path.write_text(json_text.dumps(record, indent=2) + "\n", encoding="utf-8")
    return path


def _digits(number: float | None, digits: int) -> str:
    return "" if number is None else f"{number:.{digits}g}"


def _shown(number: float | None) -> str:
    """Four digits; larger numbers without decimals, small ones without an exponent."""
    if number is None or 0.01 <= abs(number) < 1000:
        return _digits(number, 4)
    return f"{number:.0f}" if abs(number) >= 1000 or number == 0 else f"{number:.4f}"
