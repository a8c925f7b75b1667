"""Topology files, runtime files of the P4 tutorials and controller configurations, mutated.

    fuzz/topology.py --seconds 10 [--seed N]    mutate the project's own files
    fuzz/topology.py FILE …                     try files that failed again

Each file must be read, or refused with a message that begins with its path. Each topology must be
planned or refused. Anything else is a bug, and the file is written to ``artifacts/topology``.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from controller import config, entries, pipeline
from topologies import tutorial
from topologies.plan import plan
from waymark import Topology, WaymarkError

ROOT = Path(__file__).resolve().parents[1]
EXERCISE = ROOT / "tests" / "topology_files" / "exercise"
ARTIFACTS = Path(__file__).resolve().parent / "artifacts" / "topology"
TIMEOUT_S = 10.0
"""Timeout for one file."""

MOST_OCTETS = 2048
"""Maximum size of a topology to start from: YAML takes 0.1 s for 10,000 octets."""

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 509, 510, 511, 65535, 65536, 2**31, 2**63, 2**64, 2**200),
    *(0.5, -0.0, 1e-320, 1e308, float("inf"), float("-inf"), float("nan")),
    *(
        "",
        " ",
        "0",
        "-1",
        "1.2.3",
        "nan",
        "inf",
        "1e999 Mb/s",
        "1e999 s",
        "10 ms",
        "5 Mb/s",
        "\u0000",
    ),
    *(
        "10.0.0.1",
        "10.0.0.1/33",
        "10.0.0.0/8",
        "::1",
        "::1/64",
        "ff:ff:ff:ff:ff:ff",
        "s1-p1",
        "s1-p0",
    ),
    *(
        "s1-p99999999999999999999",
        "r1:2",
        "r1:\u0662",
        "a" * 300,
        "../../x",
        "/",
        "\u00fc",
        "[",
        "{",
    ),
    *([], [1], [1, 2], ["10.0.0.1", 32], [[]], {}, {"a": 1}, {1: 2}, {None: None}, {"": {}}),
)
"""Values that are unexpected in most places of a file."""


class FailureError(Exception):
    """A failure, described by the message."""


def read_topology(path: Path) -> None:
    """Read the file like ``waymark up``."""
    network = _told(path, lambda: Topology.load(path))
    try:
        plan(network)
    except WaymarkError:
        return


def read_runtime(path: Path) -> None:
    """Read the file like ``waymark up`` for a switch of the tutorials."""
    _told(path, lambda: tutorial.settings(tutorial.read(path), SCHEMA))


def read_configuration(path: Path) -> None:
    """Read the file like ``waymark controller``."""
    settings = _told(path, lambda: config.load(path))
    for switch in settings.switches.values():
        try:
            entries.held_by(switch, TABLES)
        except WaymarkError:
            continue


Read = Callable[[Path], None]

SCHEMA = pipeline.make("star", *pipeline.compiled(EXERCISE / "star.p4")).schema
TABLES = [
    *(
        "ipv4_route",
        "neighbour",
        "punt",
        "port_queue",
        "port_feedback",
        "drai",
        "red",
        "red_weight",
    ),
    "ecn",
]


class _RefusedError(Exception):
    """The file was refused correctly."""


def _told(path: Path, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except WaymarkError as error:
        if not str(error).startswith(str(path)):
            raise FailureError(f"refused without its place: {error}") from error
        raise _RefusedError from error


def seeds() -> list[tuple[Path, Read]]:
    """The project's own files, and the reader of each."""
    topologies = sorted((ROOT / "topologies").glob("*.yaml"))
    return [
        *((path, read_topology) for path in topologies if path.stat().st_size < MOST_OCTETS),
        (ROOT / "tests/topology_files/tutorial.json", read_topology),
        (EXERCISE / "pods/topology.json", read_topology),
        (EXERCISE / "pods/s1-runtime.json", read_runtime),
        *(
            (path, read_configuration)
            for path in sorted((ROOT / "controller/examples").glob("*.yaml"))
        ),
    ]


def attempt(path: Path, read: Read) -> bool:
    """Whether a file is read; False if it is refused with its place.

    Raises:
        FailureError: neither.
    """
    started = time.monotonic()
    try:
        read(path)
    except _RefusedError:
        return False
    except FailureError:
        raise
    except BaseException as error:
        raise FailureError(traceback.format_exc()) from error
    if time.monotonic() - started > TIMEOUT_S:
        raise FailureError(f"takes more than {TIMEOUT_S:g} s")
    return True


def mutate(text: str, random: random.Random) -> str:
    """The text with some values, or some characters, changed."""
    if random.random() < 0.3:
        return _mutate_text(text, random)
    tree = copy.deepcopy(_tree(text))
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        tree = _mutate_tree(tree, random)
    return json.dumps(tree).replace("NaN", ".nan").replace("Infinity", ".inf")  # in YAML's notation


_TREES: dict[str, Any] = {}


def _tree(text: str) -> Any:
    if text not in _TREES:
        _TREES[text] = YAML(typ="safe", pure=True).load(text)
    return _TREES[text]


def _mutate_text(text: str, random: random.Random) -> str:
    start = random.randrange(len(text))
    end = min(len(text), start + random.choice((0, 1, 1, 5, 40)))
    other = random.choice(
        ("", text[start:end] * 2, random.choice("\t\n \"'{}[]:,&*!|>%@`#-\u0000\u00a0"), "9" * 30)
    )
    return text[:start] + other + text[end:]


def _mutate_tree(tree: Any, random: random.Random) -> Any:
    """The tree with one random change."""
    keys = (
        list(tree)
        if isinstance(tree, dict)
        else list(range(len(tree)))
        if isinstance(tree, list)
        else []
    )
    if not keys or random.random() < 0.05:
        return copy.deepcopy(random.choice(ODD))
    key = random.choice(keys)
    match random.randrange(10):
        case 0:
            del tree[key]
        case 1 if isinstance(tree, dict):
            name = random.choice([*map(str, keys), "", "x" * 40, *map(str, ODD[:8])])
            tree[name] = tree.pop(key)
        case 1:
            tree.append(copy.deepcopy(tree[key]))
        case 2:
            tree[key] = copy.deepcopy(tree[random.choice(keys)])
        case _:
            tree[key] = _mutate_tree(tree[key], random)
    return tree


def run(seed: int, seconds: float = float("inf"), cases: int = sys.maxsize) -> tuple[int, int]:
    """Mutate and read files. Returns how many were read and how many refused.

    Raises:
        FailureError: a file was neither; it is written to ``artifacts/topology``.
    """
    chance = random.Random(seed)
    files = [(path.read_text(encoding="utf-8"), path.suffix, read) for path, read in seeds()]
    until = time.monotonic() + seconds
    read_count = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        while read_count + refused < cases and time.monotonic() < until:
            text, suffix, read = chance.choice(files)
            case = Path(folder) / f"case{suffix}"
            case.write_text(mutate(text, chance), encoding="utf-8", errors="surrogatepass")
            try:
                if attempt(case, read):
                    read_count += 1
                else:
                    refused += 1
            except FailureError as failure:
                ARTIFACTS.mkdir(parents=True, exist_ok=True)
                kept = ARTIFACTS / f"{read.__name__}-{seed}-{read_count + refused}{suffix}"
                kept.write_bytes(case.read_bytes())
                raise FailureError(f"{kept}: {failure}") from failure
    return read_count, refused


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Read mutated topology files.")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    given = parser.parse_args()
    readers = {read.__name__: read for _, read in seeds()}
    try:
        for file in given.files:
            name = file.name.partition("-")[0]
            was_read = attempt(file, readers.get(name, read_topology))
            print(f"{file}: {'read' if was_read else 'refused'}")
        if not given.files:
            read, refused = run(given.seed, given.seconds)
            print(f"seed {given.seed}: {read} files read, {refused} refused")
    except FailureError as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
