"""Runs the tests against a target, program by program.

    python -m ptf_tests [--target TARGET] [--main NAME …] [TEST …]

Tests have ptf's names: `aqt` or `aqt.AqtSaturates`. Logs, captures and configs are written to
`results/ptf/<target>/<main>/`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from ptf_tests import network
from ptf_tests.targets import (
    ADDRESS,
    DEVICE_ID,
    CannotRunError,
    Running,
    Target,
    hosts_of,
    main_of,
)
from ptf_tests.targets.bmv2 import Bmv2
from ptf_tests.targets.embedded import Embedded, EmbeddedWithP4c
from waymark.architecture import T2NA, TNA

HERE = Path(__file__).parent
TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Embedded(),
        Embedded("embedded-sender", senders=1),
        EmbeddedWithP4c(),
        Embedded("embedded-tna", TNA),
        Embedded("embedded-t2na", T2NA),
        Bmv2(),
    )
}

EVERY = ("forwarding", "packet_io", "admission")
MODULES = {
    "plain": EVERY,
    "aqt": (*EVERY, "aqt"),
    "drai": (*EVERY, "drai"),
    "ci": (*EVERY, "ci"),
    "red": (*EVERY, "red"),
    "ecn": (*EVERY, "ecn"),
    "l4s": (*EVERY, "l4s"),
    "trim": (*EVERY, "ecn", "trim"),
    "csig": (*EVERY, "csig"),
    "tcp_int": (*EVERY, "tcp_int"),
    "int": (*EVERY, "telemetry"),
    "fabric": (*EVERY, "aqt", "drai", "ci", "ecn", "ecmp"),
    "waymark": (*EVERY, "aqt", "drai", "ci", "red", "together"),
}
"""The modules of `tests/` for a program."""

EXIT_CANNOT_RUN = 2


def main() -> int:
    """Run the tests. Returns the exit code: 0 passed, 1 failed, 2 could not run."""
    arguments = _arguments()
    target = TARGETS[arguments.target]
    if arguments.inside:
        return _run_inside(target, arguments.main, arguments.tests, Path(arguments.results))
    if why := network.missing() or target.missing():
        print(f"ptf on {target.name}: skipped: {why}", file=sys.stderr)
        return 0 if arguments.if_possible else EXIT_CANNOT_RUN
    try:
        return network.enter("ptf_tests", ["--inside", *sys.argv[1:]])
    except KeyboardInterrupt:
        return 130


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m ptf_tests", description="Run the PTF tests of the P4 programs on a switch."
    )
    parser.add_argument(
        "--target", choices=TARGETS, default="embedded", help="the switch; default: %(default)s"
    )
    parser.add_argument(
        "--main",
        choices=MODULES,
        action="append",
        help="a program; can be repeated; default: all",
    )
    parser.add_argument(
        "--results", default="results/ptf", help="logs and captures; default: %(default)s"
    )
    parser.add_argument(
        "--if-possible",
        action="store_true",
        help="succeed if the tests cannot run on this machine",
    )
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument(
        "tests",
        nargs="*",
        metavar="TEST",
        help="a test, such as aqt or aqt.AqtSaturates; default: all",
    )
    return parser.parse_args()


def _run_inside(target: Target, mains: list[str] | None, tests: list[str], results: Path) -> int:
    try:
        network.set_up()
        failed = [main for main in mains or MODULES if not _passes(target, main, tests, results)]
    except (CannotRunError, OSError, subprocess.CalledProcessError) as error:
        print(f"ptf on {target.name}: {error}", file=sys.stderr)
        return EXIT_CANNOT_RUN
    except KeyboardInterrupt:
        return 130
    print(f"ptf on {target.name}: " + (f"failed: {', '.join(failed)}" if failed else "passed"))
    return bool(failed)


def _passes(target: Target, main: str, tests: list[str], results: Path) -> bool:
    wanted = [test for test in tests if test.split(".")[0] in MODULES[main]]
    if tests and not wanted:
        return True
    program = main_of(target.architecture, main)
    if not program.is_file():
        print(
            f"== {main} on {target.name}: skipped: there is no {program.name} for this target",
            flush=True,
        )
        return True
    folder = (results / target.name / main).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    print(f"== {main} on {target.name}; logs and captures: {folder}", flush=True)
    with target.start(program, folder) as running:
        return _ptf(target, running, wanted or list(MODULES[main]), folder)


def _ptf(target: Target, running: Running, tests: list[str], folder: Path) -> bool:
    params: dict[str, str | int] = {
        "address": ADDRESS,
        "device_id": DEVICE_ID,
        "p4info": str(running.p4info),
        "device_config": str(running.device_config),
        "held_missing": running.held_missing,
        "architecture": target.architecture.name,
    }
    interfaces = [f"{host.port}@{host.test_end}" for host in hosts_of(target.architecture)]
    command = [
        *(sys.executable, Path(sys.executable).with_name("ptf"), *tests),
        *("--test-dir", HERE / "tests", "--pypath", HERE.parent),
        *(word for interface in interfaces for word in ("--interface", interface)),
        *("--test-params", ";".join(f"{name}={value!r}" for name, value in params.items())),
        *("--log-file", folder / "ptf.log", "--qlen", "10000", "--quiet"),
    ]
    return subprocess.run(command, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
