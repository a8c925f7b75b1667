"""Record the runs of ns-2 that ``ns2.rs`` compares with: ``python record.py``, with ``ns``.

``python record.py FOLDER FIRST LAST`` records those with random losses of other seeds there;
``SCTP_RUNS=FOLDER cargo test -p transport --test sctp random`` compares them."""

import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent

SINGLES = "12 30 31 80 81 82 83 200"
RUNS = {
    "one_path": ("1", "8", "1", "20", "50", "-1"),
    "one_path_full_queue": ("1", "30", "1", "20", "15", "-1"),
    "one_path_losses": ("1", "20", "1", "20", "50", "-1", SINGLES),
    "two_paths_loss": ("2", "20", "1", "20", "50", "-1", "12"),
    "two_paths_losses": (
        *("2", "30", "1", "20", "50", "-1"),
        f"{SINGLES} 300 301 302 303 304 305 306 307 308",
    ),
    "two_paths_full_queue": ("2", "40", "1", "20", "15", "-1"),
    "two_paths_change": ("2", "20", "1", "20", "50", "3"),
    "two_paths_timeouts": (
        *("2", "40", "1", "20", "50", "-1"),
        " ".join(str(number) for number in range(40, 72)),
    ),
}
"""The arguments of ``path.tcl``."""

RANDOM_SEEDS = range(1, 9)
LONG = {28: 30, 40: 200, 60: 200, 71: 200, 75: 200}
"""Seeds of longer runs, whose primary path changes at 20 s, and when they end, in seconds."""
SET_UP_PACKETS = (3, 1)
"""Packets that leave on each path before data, at least."""


def main() -> None:
    """Run each and write its table."""
    if len(sys.argv) > 1:
        folder, first, last = sys.argv[1:]
        _record_random(Path(folder), range(int(first), int(last) + 1))
        return
    for name, arguments in RUNS.items():
        _write(HERE / f"{name}.csv", _run(arguments))
    _record_random(HERE, RANDOM_SEEDS)


def _record_random(folder: Path, seeds: Sequence[int]) -> None:
    """Runs with a share of all packets lost on both paths, and a table of them."""
    folder.mkdir(exist_ok=True)
    table = ["name,paths,delay_ms,queue,change_s,end_s,losses"]
    for seed in seeds:
        rng = random.Random(seed)
        paths = rng.choice((1, 2, 2, 2))
        delay_ms, queue = rng.choice((5, 20, 30)), rng.choice((10, 50))
        rate = rng.choice((0.01, 0.03, 0.05, 0.1, 0.15))
        change_s = rng.choice((-1, 5)) if paths == 2 else -1
        drops = [_losses(rng, rate, path, 4_000) for path in range(paths)]
        settings = (paths, delay_ms, queue, change_s, 40)
        table.append(_record_losses(folder, f"random_{seed}", settings, drops))
    if folder == HERE:
        for seed, end_s in LONG.items():
            rng = random.Random(seed)
            rate = rng.choice((0.02, 0.05, 0.1, 0.15, 0.2))
            drops = [_losses(rng, rate, path, 40_000) for path in range(2)]
            settings = (2, 30, 50, 20, end_s)
            table.append(_record_losses(folder, f"long_{seed}", settings, drops))
    (folder / "random.csv").write_text("\n".join([*table, ""]))


def _losses(rng: random.Random, rate: float, path: int, packets: int) -> str:
    """Numbers of packets to lose, of the given number."""
    first = SET_UP_PACKETS[path] + 1
    return " ".join(str(n) for n in range(first, packets) if rng.random() < rate)


def _record_losses(folder: Path, name: str, settings: tuple[int, ...], drops: Sequence[str]) -> str:
    """Records a run; its line in the table."""
    paths, delay_ms, queue, change_s, end_s = settings
    arguments = (paths, end_s, 1, delay_ms, queue, change_s)
    events = _run((*(str(argument) for argument in arguments), *drops))
    losses = " ".join(f"{tsn}.{time}" for tsn, time in _lost(events))
    _write(folder / f"{name}.csv", events)
    return f"{name},{paths},{delay_ms},{queue},{change_s},{end_s},{losses}"


def _run(arguments: Sequence[str]) -> list[list[str]]:
    """What a run's trace shows of DATA on the sender's links; its interfaces have even numbers."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["ns", HERE / "path.tcl", *arguments], cwd=folder, check=True)
        trace = (Path(folder) / "out.tr").read_text()
    events = [line.split() for line in trace.splitlines()]
    return [event for event in events if event[6].endswith("D") and int(event[2]) % 2 == 0]


def _write(file: Path, events: list[list[str]]) -> None:
    """When each DATA chunk joined the sender's queue, on which path, and its TSN."""
    sent = [event for event in events if event[0] == "+"]
    start = float(sent[0][1])
    rows = [
        f"{float(event[1]) - start:.6f},{(int(event[2]) - 2) // 2},{int(event[11]) - 1}"
        for event in sent
    ]
    file.write_text("\n".join(["time_s,path,tsn", *rows, ""]))


def _lost(events: list[list[str]]) -> list[tuple[int, int]]:
    """TSN of what was lost behind the queue, and which transmission of it."""
    dropped = {event[12] for event in events if event[0] == "d"}
    left = {event[12] for event in events if event[0] == "-"}
    times: dict[int, int] = {}
    lost: list[tuple[int, int]] = []
    for event in events:
        packet, tsn = event[12], int(event[11]) - 1
        if event[0] != "+" or (packet in dropped and packet not in left):
            continue
        times[tsn] = times.get(tsn, 0) + 1
        if packet in dropped:
            lost.append((tsn, times[tsn]))
    return lost


if __name__ == "__main__":
    main()
