"""Compiles the programs for Tofino, and prints what they take of the switch.

    python p4src/tofino.py [-I DIR …]

Without bf-p4c or p4c-barefoot on PATH it says so and succeeds. An -I names a folder that has the
compiler's tna.p4 or core.p4, where it does not find them itself.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
COMPILERS = ("bf-p4c", "p4c-barefoot")
TARGETS = {"tna": "tofino", "t2na": "tofino2"}
MAINS = ("plain", "aqt", "drai", "ci", "red", "waymark")
STAGES = {"tna": 12, "t2na": 20}
"""Match-action stages of Tofino 1 and 2."""
MOST_ABOVE_PLAIN = 4
"""Stages that all marks and RED may add to those of plain.p4."""


def main() -> int:
    """Compile all. Returns the exit code: 0 all fit or no compiler, 1 one is refused."""
    parser = argparse.ArgumentParser(description="Compile the programs for Tofino.")
    parser.add_argument("-I", dest="includes", action="append", default=[], metavar="DIR")
    arguments = parser.parse_args()
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        print(f"tofino: skipped: not on PATH: {' or '.join(COMPILERS)}", file=sys.stderr)
        return 0
    print("| program | | stages | SRAM blocks | TCAM blocks | PHV bits |")
    print("| --- | --- | --- | --- | --- | --- |")
    refused: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for architecture in TARGETS:
            most = STAGES[architecture]
            for name in MAINS:
                out = Path(folder) / architecture / name
                said = _compile(compiler, arguments.includes, architecture, name, out)
                if said is not None:
                    refused.append(f"{architecture}/{name}.p4: {said}")
                    continue
                used = _resources(out)
                if name == "plain":
                    most = min(used[0] + MOST_ABOVE_PLAIN, STAGES[architecture])
                cells = " | ".join(map(str, used))
                print(f"| `{name}.p4` | {architecture.upper()} | {cells} |", flush=True)
                if used[0] > most:
                    refused.append(
                        f"{architecture}/{name}.p4: {used[0]} stages; at most {most} expected"
                    )
    print("\n".join(refused), end="\n" if refused else "", file=sys.stderr)
    return int(bool(refused))


def _compile(
    compiler: str, includes: list[str], architecture: str, name: str, out: Path
) -> str | None:
    """Compile a program into ``out``. Returns the compiler's errors if it refuses it."""
    out.mkdir(parents=True)
    command = [
        *(compiler, "--target", TARGETS[architecture], "--arch", architecture),
        *("-g", "--verbose", "-o", out, HERE / architecture / f"{name}.p4"),
        *(word for folder in includes for word in ("-I", folder)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    errors = [line for line in done.stderr.splitlines() if "error" in line.lower()]
    return "; ".join(errors[:3]) or f"{Path(compiler).name} ended with {done.returncode}"


def _resources(out: Path) -> tuple[int, int, int, int]:
    """Stages, blocks of SRAM and TCAM, and bits of PHV containers that a compiled program takes."""
    logs = out / "pipe" / "logs"
    stages: list[dict[str, Any]] = _read(logs / "resources.json")["resources"]["mau"]["mau_stages"]
    containers: list[dict[str, Any]] = _read(logs / "phv.json")["containers"]
    return (
        len(stages),
        sum(len(stage["rams"]["srams"]) for stage in stages),
        sum(len(stage["tcams"]["tcams"]) for stage in stages),
        sum(container["bit_width"] for container in containers),
    )


def _read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text())


if __name__ == "__main__":
    sys.exit(main())
