"""Write what the page of the live lab starts from: presets and the P4 programs, as JSON.

A preset is an experiment of a paper: the scenarios that ``waymark run`` runs at seed 1, with the
paper's numbers and what the run gives. Nothing is typed by hand: scenarios, numbers and what a
slider changes all come from ``experiments/``.

    python web/presets.py FOLDER
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from waymark import controls, experiment, json_text, program, project, running
from waymark.experiment import Row
from waymark.result import Result
from waymark.scenario import Scenario, to_core
from waymark.topology import Link, Topology

SEED = 1


@dataclass(frozen=True)
class Measure:
    """A row of an experiment's table that the page measures again.

    Attributes:
        row: its quantity, as the table has it; ``{}`` stands for the run's name there.
        kind: ``throughput`` (kb/s of flow 0), ``whole`` (of packets in order, each once, with
            the options that hops write), or ``waiting`` (packets in front of ``link``).
        from_s, to_s: the time that it is about.
        link: the link of ``waiting``.
    """

    row: str
    kind: str
    from_s: float
    to_s: float
    link: str = ""

    def value(self, result: Result) -> float:
        """What a run gives."""
        if self.kind == "waiting":
            return result.mean_waiting(self.link, self.from_s, self.to_s)
        if self.kind == "whole":
            flow = result.flows[0]
            useful_bps = result.useful_bps(0, self.from_s, self.to_s)
            return useful_bps * flow.packet_octets / flow.counted_octets / 1e3
        return result.throughput_bps(0, self.from_s, self.to_s) / 1e3


@dataclass(frozen=True)
class Preset:
    """An experiment on the page.

    Attributes:
        names: the runs that it offers, and how the experiment's table calls each.
        pair: the two that are shown at first; None: one alone.
        bottleneck: the link that sliders change.
        watched: what to look at, in a sentence.
        mark: the mark by which packets are coloured at first: ``aqt``, ``drai`` or ``ci``.
    """

    experiment: str
    title: str
    names: Mapping[str, str]
    pair: tuple[str, str | None]
    bottleneck: tuple[str, str]
    watched: str
    measures: tuple[Measure, ...]
    mark: str = "aqt"


FIG3_6 = {"rovegas": "RoVegas", "vegas": "Vegas"}
TODAY = {
    "cubic": "CUBIC",
    "bbr": "BBR",
    "vegas": "Vegas",
    "rovegas": "RoVegas",
    "waymark": "Waymark",
    "dctcp": "DCTCP",
}
MUZHA = {f"{name}, B = 50": f"{name}, B = 50" for name in ("Muzha", "NewReno", "Vegas")}
RED = {f"{name}, 0.05": f"{name}, 0.05" for name in ("RedVegas", "Vegas", "Reno")}

PRESETS = (
    Preset(
        "chan/fig3.6",
        "Congested reverse path: RoVegas and Vegas",
        FIG3_6,
        ("rovegas", "vegas"),
        ("r1", "r2"),
        "From 50 s on, other traffic fills 90 % of the link r2→r1, which carries only "
        "acknowledgements. Vegas slows down; RoVegas reads AQT and keeps its rate.",
        (
            Measure("{}, 10-50 s", "throughput", 10, 50),
            Measure("{}, 50-200 s", "throughput", 50, 200),
        ),
    ),
    Preset(
        "beyond/fig1",
        "Congested reverse path: current transports",
        TODAY,
        ("waymark", "cubic"),
        ("r1", "r2"),
        "The same reverse path for CUBIC, BBR and DCTCP. CUBIC keeps its rate by filling the queue "
        "r1→r2; Waymark keeps it with a short queue.",
        (
            Measure("{}, 50-200 s", "throughput", 50, 200),
            Measure("{}, 50-200 s, waiting", "waiting", 50, 200, "r1->r2"),
        ),
    ),
    Preset(
        "lien/fig4.2",
        "One flow and its window: Muzha and NewReno",
        MUZHA,
        ("Muzha, B = 50", "NewReno, B = 50"),
        ("r1", "r2"),
        "Muzha reads DRAI, opens its window at once and stops; NewReno fills the buffer and loses "
        "packets.",
        (Measure("{}, throughput", "whole", 0, 30),),
        mark="drai",
    ),
    Preset(
        "chan/fig6.5",
        "Random loss: RedVegas and Reno",
        RED,
        ("RedVegas, 0.05", "Reno, 0.05"),
        ("r1", "r2"),
        "One data packet in 20 is lost at random. Reno takes each loss for congestion; RedVegas "
        "reads CI and keeps its window where no queue was full.",
        (),
        mark="ci",
    ),
    Preset(
        "kurata/fig2",
        "Five Reno and five Vegas flows share a buffer",
        {"drop-tail": ""},
        ("drop-tail", None),
        ("r1", "d"),
        "The queue rises until Reno loses packets and halves its windows; Vegas gets what Reno "
        "leaves.",
        (),
    ),
)


def core(scenario: Scenario) -> dict[str, Any]:
    """A scenario as the simulator reads it."""
    tables = {name: program.of_project(name).tables for name in scenario.programs}
    return to_core(scenario, tables)


def leaves(data: object, path: tuple[str | int, ...] = ()) -> dict[tuple[str | int, ...], object]:
    """The values in nested lists and dictionaries, by their paths."""
    if isinstance(data, dict):
        items = list(cast("dict[str | int, object]", data).items())
    elif isinstance(data, list):
        items = list(enumerate(cast("list[object]", data)))
    else:
        return {path: data}
    return {k: v for key, value in items for k, v in leaves(value, (*path, key)).items()}


def slider(
    scenario: Scenario,
    about: tuple[str, str, float],
    values: list[float],
    change: Callable[[Topology, float], Topology],
) -> dict[str, Any] | None:
    """A slider over values of a topology; None if they change more than numbers in the scenario.

    It holds what each value changes in the scenario that the simulator reads, found by comparing
    the scenarios of all values.

    Args:
        scenario: to change.
        about: name, unit, and how many units one of the value is.
        values: the slider's positions.
        change: gives the topology with a value.
    """
    every = [
        leaves(core(replace(scenario, topology=change(scenario.topology, value))))
        for value in values
    ]
    if any(each.keys() != every[0].keys() for each in every):
        return None
    changed = [path for path in every[0] if any(each[path] != every[0][path] for each in every)]
    name, unit, scale = about
    return {
        "name": name,
        "unit": unit,
        "values": [float(f"{value * scale:.4g}") for value in values],
        "paths": [
            {"path": list(path), "values": [each[path] for each in every]} for path in changed
        ],
    }


def sliders(scenario: Scenario, source: str, target: str) -> list[dict[str, Any]]:
    """Rate, delay and buffer of a link, and α and β of the first flows that have them."""

    def both(**settings: Any) -> Callable[[Topology, float], Topology]:
        ((key, make),) = settings.items()

        def change(topology: Topology, value: float) -> Topology:
            links = tuple(
                replace(link, **{key: make(value)}) if here(link) else link
                for link in topology.links
            )
            return replace(topology, links=links)

        return change

    def here(link: Link) -> bool:
        return {link.source, link.target} == {source, target}

    link = next(link for link in scenario.topology.links if here(link))
    factors = [2 ** (step / 4) for step in range(-8, 9)]
    rates = [link.rate_bps * factor for factor in factors]
    delays = [link.delay_s * factor for factor in factors]
    queues = sorted({max(2, round(link.queue_packets * factor)) for factor in factors})
    made = (
        slider(scenario, ("rate", "Mb/s", 1e-6), rates, both(rate_bps=float)),
        slider(scenario, ("delay", "ms", 1e3), delays, both(delay_s=float)),
        slider(scenario, ("buffer", "packets", 1.0), list(queues), both(queue_packets=round)),
    )
    start = {
        "rate": link.rate_bps * 1e-6,
        "delay": link.delay_s * 1e3,
        "buffer": link.queue_packets,
    }
    return [
        {
            **each,
            "about": f"of the link {source}–{target}, both ways",
            "value": min(each["values"], key=lambda v: abs(v - start[each["name"]])),
        }
        for each in made
        if each is not None
    ]


def thresholds(core_scenario: Mapping[str, Any], algorithm: str) -> list[dict[str, Any]]:
    """α and β of Vegas' family, in packets, for all flows of that algorithm."""
    given = [flow["connection"]["control"] for flow in core_scenario["flows"]]
    flows = [i for i, control in enumerate(given) if control["name"] == algorithm]
    values = [float(value) for value in range(1, 21)]
    return [
        {
            "name": {"alpha": "α", "beta": "β"}[key],
            "about": "packets of a flow that may wait in queues: at least α, at most β",
            "unit": "packets",
            "values": values,
            "value": given[flows[0]].get(key, default),
            "paths": [
                {"path": ["flows", i, "connection", "control", key], "values": values}
                for i in flows
            ],
        }
        for key, default in ALPHA_BETA.get(algorithm, {}).items()
    ]


def defaults() -> dict[str, dict[str, float]]:
    """α and β of the controls that have both, in the registry's words."""
    found: dict[str, dict[str, float]] = {}
    for control in controls.CONTROLS:
        values = {
            one.name: one.default for one in control.settings if one.name in ("alpha", "beta")
        }
        alpha, beta = values.get("alpha"), values.get("beta")
        if alpha is not None and beta is not None:
            found[control.name] = {"alpha": float(alpha), "beta": float(beta)}
    return found


def totals(result: Result) -> dict[str, Any]:
    """The final numbers of a run that the page must give as well, to the packet."""
    return {
        "packet_hops": result.packet_hops,
        "packets": result.packets,
        "flows": [
            {
                "sent": int(flow.sent.sum()),
                "delivered": int(flow.delivered.sum()),
                "lost": flow.losses,
                "resent": flow.retransmissions,
                "timeouts": flow.timeouts,
            }
            for flow in result.flows
        ],
    }


def written(preset: Preset) -> dict[str, Any]:
    """A preset as the page reads it."""
    (one,) = experiment.select([preset.experiment])
    scenarios = one.scenarios("quick", SEED)
    needed = scenarios if preset.measures else {name: scenarios[name] for name in preset.names}
    results = {name: running.run(scenario) for name, scenario in needed.items()}
    rows: dict[str, Row] = {}
    if preset.measures:
        rows = {row.quantity: row for row in one.rows({n: [r] for n, r in results.items()})}
    runs: list[dict[str, Any]] = []
    for name, label in preset.names.items():
        scenario = scenarios[name]
        written_scenario = core(scenario)
        measures: list[dict[str, Any]] = []
        for measure in preset.measures:
            row = rows[measure.row.format(label)]
            value = measure.value(results[name])
            if abs(value - row.waymark) > 1e-9 * abs(value):
                raise ValueError(f"{preset.experiment}: {row.quantity}: {value} is not the row's")
            measures.append(
                {**asdict(measure), "row": row.quantity, "unit": row.unit, "waymark": row.waymark,
                 "paper": row.paper, "ns2": row.ns2}
            )  # fmt: skip
        algorithm = written_scenario["flows"][0]["connection"]["control"]["name"]
        runs.append(
            {
                "name": name,
                "label": label or name,
                "scenario": written_scenario,
                "sliders": [
                    *sliders(scenario, *preset.bottleneck),
                    *thresholds(written_scenario, algorithm),
                ],
                "measures": measures,
                "totals": totals(results[name]),
            }
        )
    return {
        "id": preset.experiment,
        "title": preset.title,
        "paper": one.paper,
        "claim": one.claim,
        "watched": preset.watched,
        "mark": preset.mark,
        "pair": preset.pair,
        "runs": runs,
    }


def p4_files() -> dict[str, str]:
    """The programs for v1model and what they include, by their paths below ``p4src/``."""
    folder = project.program_path(".").resolve()
    return program.sources(folder, (f"v1model/{main.name}" for main in folder.glob("v1model/*.p4")))


def main() -> None:
    """Write ``presets.json``, a file for each preset, and ``p4src.json``."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    index: list[dict[str, Any]] = []
    for preset in PRESETS:
        data = written(preset)
        file = f"{preset.experiment.replace('/', '-')}.json"
        (folder / file).write_text(json_text.dumps(data), encoding="utf-8")
        index.append({"id": preset.experiment, "title": preset.title, "file": file})
    for name, data in (("presets.json", index), ("p4src.json", p4_files())):
        (folder / name).write_text(json_text.dumps(data), encoding="utf-8")


ALPHA_BETA = defaults()

if __name__ == "__main__":
    main()
