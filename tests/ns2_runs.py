"""Random small networks, as descriptions for ``waymark replay`` and as scripts for ns-2."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

AGENTS = {
    "tahoe": "Agent/TCP",
    "reno": "Agent/TCP/Reno",
    "newreno": "Agent/TCP/Newreno",
    "sack": "Agent/TCP/Sack1",
    "fack": "Agent/TCP/Fack",
    "vegas": "Agent/TCP/Vegas",
}
"""ns-2's senders by the names of the controls."""

PROFILES: dict[str, dict[str, Any]] = {
    "trace": {"tick_s": 0.1, "min_rto_s": 0.0},
    "trace_vegas": {"tick_s": 0.1, "min_rto_s": 1.0},
    "srijith": {"tick_s": 0.1, "min_rto_s": 0.0, "initial_window": 2},
    "chan": {"min_rto_s": 1.0, "rfc2988": True},
    "stock": {"min_rto_s": 0.2, "rfc2988": True, "initial_window": 2, "limited_transmit": True},
}
PLAIN = {"tick_s": 0.01, "rfc2988": False, "initial_window": 1, "limited_transmit": False}

SEED_STEP = 1_000_003
"""Between seeds: after a small one ns-2's first draw is nearly 0, and its first packet lost."""

Description = dict[str, Any]
Row = tuple[float, int, int, bool]
"""When, the flow, the packet's number, whether it was dropped."""

SETTING = """
set ns [new Simulator]
# The clocks' phases are drawn when nodes are reset; a tick of nothing has phase 0.
Node instproc reset {} { set phases kept }
Agent/TCP set tcpTick_ 1e-300
Agent/TCP set rttvar_init_ 0
Agent/TCP set useHeaders_ false
Agent/TCP/Newreno set newreno_changes1_ 0
Agent/TCP/Newreno set partial_window_deflation_ 0
"""


def draw(variant: str, seed: int) -> Description:
    """A network of one to five flows over one bottleneck, the first of them of ``variant``.

    It varies rates, delays, queue limits, windows and profiles; chosen losses, also of resends and
    acknowledgements; congestion on the reverse path; finite transfers. Delays have seven digits, so
    that packets of several flows do not arrive at one instant, in an order that rounding decides.
    """
    rng = random.Random(f"{variant} {seed}")
    limit = rng.choice([3, 4, 5, 6, 8, 10, 15, 20, 50])
    bottleneck: dict[str, Any] = {
        "between": ["r1", "k1"],
        "rate_bps": rng.choice([400_000, 800_000, 1_000_000, 1_600_000, 2_000_000]),
        "delay_s": round(rng.uniform(0.001, 0.15), 4),
        "limit": limit,
    }
    crowd = rng.choice([1, 1, 2, 3, 5])
    both_ways = crowd > 1 and rng.random() < 0.3
    if both_ways:
        bottleneck["rate_back_bps"] = rng.choice([100_000, bottleneck["rate_bps"]])
        bottleneck["limit_back"] = rng.choice([3, 5, 8, 15])
    profile = rng.choice(list(PROFILES))
    links, flows, drops = [bottleneck], [], []
    for index in range(crowd):
        host = f"s{index + 1}"
        access = {"rate_bps": rng.choice([2_000_000, 8_000_000, 10_000_000])}
        delay_s = round(rng.uniform(0, 0.03), 7)
        links.append({"between": [host, "r1"], "delay_s": delay_s, **access})
        name = variant if index == 0 or rng.random() < 0.5 else rng.choice(list(AGENTS))
        ends = ("k1", host) if both_ways and index % 2 else (host, "k1")
        flows.append(_flow(rng, name, profile, ends))
        if ends[1] == "k1" and rng.random() < 0.6:
            drops.append({"flow": index, "packets": _losses(rng)})
            if rng.random() < 0.3:
                drops[-1]["acks"] = [n for n in range(150) if rng.random() < 0.06]
    return {
        "end_s": rng.choice([8.0, 15.0, 30.0]),
        "trace": {"link": ["r1", "k1"], "modulus": 1_000_000, "flow_column": True},
        "links": links,
        "flows": flows,
        "drops": drops,
    }


def _flow(rng: random.Random, name: str, profile: str, ends: tuple[str, str]) -> dict[str, Any]:
    window = rng.choice([4, 8, 10, 14, 15, 20, 28, 40, 60, 100, 1000])
    settings = PLAIN | PROFILES[profile] | {"window": window}
    if rng.random() < 0.15:
        settings["max_cwnd"] = rng.randint(2, 30)
    if name != "fack":
        settings["bugfix"] = rng.random() < 0.5
        settings["syn"] = rng.random() < 0.5
    if name in ("reno", "newreno", "sack"):
        settings["exact_halving"] = rng.random() < 0.5
    control: dict[str, Any] = {"name": name}
    flow: dict[str, Any] = {
        "from": ends[0],
        "to": ends[1],
        "start_s": round(rng.uniform(0, 2), 4),
        "connection": {"control": control, "profile": {"ns2": settings}},
    }
    if name == "vegas":
        settings["phantom_rtt"] = True
        alpha = rng.randint(1, 3)
        control |= {"alpha": alpha, "beta": alpha + rng.randint(0, 3)}
    # NewReno and Vegas resend there what comes after the last packet.
    elif name != "newreno" and rng.random() < 0.25:
        flow["segments"] = rng.choice([1, 2, 3, 5, 10, 12, 30, 60, 100])
    return flow


def _losses(rng: random.Random) -> list[int]:
    first, count = rng.randrange(60), rng.randint(1, 7)
    return sorted(
        rng.choice(
            [
                rng.sample(range(60), count),
                rng.sample(range(15), count),
                range(first, first + count),
                rng.sample(range(first, first + 20), count),
                [n for n in range(120) if rng.random() < 0.08],
            ]
        )
    )


TIMEOUT_S = 600


def simulate(script: str, folder: Path) -> str:
    """What ns-2 prints as it runs a script in a folder."""
    path = folder / "run.tcl"
    path.write_text(script)
    done = subprocess.run(
        ["ns", path],
        cwd=folder,
        env=os.environ | {"HOME": str(folder)},
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT_S,
    )
    return done.stdout


def script(description: Description, trace: Path) -> str:
    """The run in ns-2, which writes the events at the traced link to ``trace``."""
    lines = [SETTING]
    links = description["links"]
    for node in dict.fromkeys(node for link in links for node in link["between"]):
        lines.append(f"set n({node}) [$ns node]")
    for link in links:
        a, b = link["between"]
        back = link.get("rate_back_bps", link["rate_bps"]), link.get("limit_back")
        for x, y, rate, limit in (
            (a, b, link["rate_bps"], link.get("limit", 50)),
            (b, a, back[0], back[1] or link.get("limit", 50)),
        ):
            lines.append(f"$ns simplex-link $n({x}) $n({y}) {rate} {link['delay_s']!r} DropTail")
            lines.append(f"$ns queue-limit $n({x}) $n({y}) {limit}")
    a, b = description["trace"]["link"]
    lines += [f"set trace [open {trace} w]", f"$ns trace-queue $n({a}) $n({b}) $trace"]
    for index, flow in enumerate(description["flows"]):
        lines += _agents(index, flow)
    lines += _errors(description["drops"], "packets", f"$n({a}) $n({b})")
    lines += _errors(description["drops"], "acks", f"$n({b}) $n({a})")
    lines += [f'$ns at {description["end_s"]} "close $trace; exit 0"', "$ns run"]
    return "\n".join(lines)


def _agents(index: int, flow: dict[str, Any]) -> Iterable[str]:
    control, profile = flow["connection"]["control"], flow["connection"]["profile"]["ns2"]
    name = control["name"]
    vegas = int(name == "vegas")
    sink = "Agent/TCPSink/Sack1" if name in ("sack", "fack") else "Agent/TCPSink"
    yield f"Agent/TCP set window_ {profile['window']}"
    yield f"Agent/TCP set windowInit_ {profile['initial_window']}"
    # Vegas sends no SYN, with any value here, and has its initial window from the second ACK on.
    delayed = int(vegas or profile.get("syn", False))
    yield f"Agent/TCP set syn_ {delayed}; Agent/TCP set delay_growth_ {delayed}"
    yield f"set tcp [new {AGENTS[name]}]; set sink [new {sink}]; set ftp [new Application/FTP]"
    settings: dict[str, Any] = {
        "fid_": index + 1,
        "tcpTick_": profile["tick_s"],
        "minrto_": profile["min_rto_s"],
        "rfc2988_": int(profile["rfc2988"]),
        "singledup_": int(profile["limited_transmit"]),
        "bugFix_": int(profile.get("bugfix", False)),
        "precisionReduce_": int(profile.get("exact_halving", False)),
        "maxcwnd_": profile.get("max_cwnd", 0),
    }
    if vegas:
        settings |= {"v_alpha_": control["alpha"], "v_beta_": control["beta"]}
    for variable, value in settings.items():
        yield f"$tcp set {variable} {value}"
    yield f"$ns attach-agent $n({flow['from']}) $tcp; $ns attach-agent $n({flow['to']}) $sink"
    yield "$ns connect $tcp $sink; $ftp attach-agent $tcp"
    what = f"produce {flow['segments']}" if "segments" in flow else "start"
    yield f'$ns at {flow["start_s"]} "$ftp {what}"'


def _errors(drops: list[dict[str, Any]], kind: str, ends: str) -> Iterable[str]:
    chosen = [drop for drop in drops if drop.get(kind)]
    if not chosen:
        return
    yield f"set module [new ErrorModule Fid]; [$ns link {ends}] errormodule $module"
    for drop in chosen:
        numbers = " ".join(map(str, drop[kind]))
        yield f"set model [new ErrorModel/List]; $model droplist {{{numbers}}}"
        yield "$model drop-target [new Agent/Null]; $module insert $model"
        yield f"$module bind $model {drop['flow'] + 1}"
    yield "$module default pass"


def rows_of_ns2(trace: Path) -> list[Row]:
    """Data packets' events in a trace of ns-2, where a refused packet also joins before."""
    rows: list[Row] = []
    for line in trace.read_text().splitlines():
        kind, at, _, _, what, _, _, flow, _, _, number, _ = line.split()
        if kind in "+-d" and what != "ack":
            rows.append((float(at), int(flow) - 1, int(number), kind == "d"))
    refused = {row[:3] for row in rows if row[3]}
    return [row for row in rows if row[3] or row[:3] not in refused]


def rows_of_replay(csv: str) -> list[Row]:
    """The events that ``waymark replay`` writes."""
    fields = (line.split(",") for line in csv.splitlines()[1:])
    return [
        (float(at), int(flow), int(number), kind == "drop") for at, flow, number, kind in fields
    ]


def first_difference(
    description: Description, ns2: list[Row], other: list[Row]
) -> tuple[float, str] | None:
    """The first event that only one of the runs has, times within 20 us of each other, and when."""

    def forward(rows: list[Row]) -> list[Row]:
        flows = description["flows"]
        return sorted(row for row in rows if flows[row[1]]["to"] == "k1")

    ours, missing = forward(other), None
    for row in forward(ns2):
        near = (i for i, our in enumerate(ours[:64]) if our[1:] == row[1:])
        found = next((i for i in near if abs(ours[i][0] - row[0]) <= 20e-6), None)
        if found is None:
            missing = row
            break
        ours.pop(found)
    if missing:
        at_s = min(row[0] for row in (missing, *ours[:1]))
        return at_s, f"ns-2 has {missing}, the other goes on with {ours[:3]}"
    return (ours[0][0], f"ns-2 does not have {ours[0]}") if ours else None
