"""Record the runs of ns-2 that ``ns2.rs`` compares with: ``python record.py``, with ``ns``."""

import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

SINGLES = "12 30 31 80 81 82 83 200"
RUNS = {
    "one_path": ("1", "8", "1", "20", "50", "", "-1"),
    "one_path_full_queue": ("1", "30", "1", "20", "15", "", "-1"),
    "one_path_losses": ("1", "20", "1", "20", "50", SINGLES, "-1"),
    "two_paths_loss": ("2", "20", "1", "20", "50", "12", "-1"),
    "two_paths_losses": (
        *("2", "30", "1", "20", "50"),
        f"{SINGLES} 300 301 302 303 304 305 306 307 308",
        "-1",
    ),
    "two_paths_full_queue": ("2", "40", "1", "20", "15", "", "-1"),
    "two_paths_change": ("2", "20", "1", "20", "50", "", "3"),
    "two_paths_timeouts": (
        *("2", "40", "1", "20", "50"),
        " ".join(str(number) for number in range(40, 72)),
        "-1",
    ),
}
"""The arguments of ``path.tcl``."""


def main() -> None:
    """Run each and write its table."""
    for name, arguments in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["ns", HERE / "path.tcl", *arguments], cwd=folder, check=True)
            trace = (Path(folder) / "out.tr").read_text()
        sent = [chunk for line in trace.splitlines() for chunk in _sent(line.split())]
        start = sent[0][0]
        rows = [f"{time - start:.6f},{path},{tsn - 1}" for time, path, tsn in sent]
        (HERE / f"{name}.csv").write_text("\n".join(["time_s,path,tsn", *rows, ""]))


def _sent(event: list[str]) -> list[tuple[float, int, int]]:
    """Time, path and TSN of a DATA chunk that joins the queue of the sender, whose interfaces have
    even numbers."""
    kind, time, source, flags, tsn = event[0], event[1], int(event[2]), event[6], event[11]
    if kind != "+" or not flags.endswith("D") or source % 2:
        return []
    return [(float(time), (source - 2) // 2, int(tsn))]


if __name__ == "__main__":
    main()
