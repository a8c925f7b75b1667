"""A summary of criterion's measurements: ``python waymark/bench.py`` after ``cargo bench``.

It needs only Python's standard library, so that measuring needs no environment.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def summary(folder: Path) -> Iterator[str]:
    """A line for each benchmark under criterion's ``folder``: its name, its rate, its time.

    The rate is the benchmark's own elements (packets, packet-hops) over criterion's estimate of
    the mean; a benchmark without elements has its time only.
    """
    for path in sorted(folder.glob("**/new/benchmark.json")):
        benchmark = _read(path)
        mean_ns = _read(path.with_name("estimates.json"))["mean"]["point_estimate"]
        throughput: dict[str, float] = benchmark.get("throughput") or {}
        elements = throughput.get("Elements")
        rate = f"{elements / mean_ns * 1e3:8.3f} M/s" if elements else " " * 12
        yield f"{benchmark['full_id']:50} {rate}  {mean_ns / 1e6:10.4f} ms"


def main() -> None:
    """Print the summary; exit with 1 if there is nothing to summarise."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else target / "criterion"
    lines = list(summary(folder))
    if not lines:
        print(f"error: no criterion results in {folder}; run cargo bench first", file=sys.stderr)
        sys.exit(1)
    print("\n".join(("", f"{'benchmark':50} {'elements':>12}  {'a round':>13}", *lines)))


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
