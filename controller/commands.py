"""The commands ``plan``, ``apply`` and ``watch``, and their output."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.live import Live

from controller import apply as applying
from controller import follow, metrics, view
from controller.apply import Plan, Wanted
from controller.client import Client, connected
from controller.config import SwitchConfig
from controller.follow import MOST_LINES, Follower
from controller.watch import Cause, Snapshot, Watcher
from waymark.errors import WaymarkError
from waymark.json_option import print_json

EXIT_FAILED = 1
"""A switch could not be reached, or refused a request."""

Results = Mapping[str, Plan | WaymarkError]
"""The result of each switch, by name."""


def plan(file: Path, *, as_json: bool = False) -> int:
    """Print what `apply` would change. Returns the exit code."""
    _, wanted = follow.load(file, None)
    return _show(asyncio.run(_each(wanted, applying.plan)), "to change", as_json=as_json)


def apply(file: Path, election_id: int | None, *, as_json: bool = False) -> int:
    """Configure every switch, and print what changed. Returns the exit code."""
    _, wanted = follow.load(file, election_id)
    return _show(asyncio.run(_each(wanted, applying.apply)), "changed", as_json=as_json)


def watch(file: Path, election_id: int | None, metrics_at: str, interval_s: float) -> None:
    """Keep every switch configured until SIGINT or SIGTERM.

    The file is read again when it changes, and on SIGHUP.

    Args:
        file: the configuration.
        election_id: overrides the configuration's.
        metrics_at: ``"PORT"`` or ``"HOST:PORT"``; port 0 selects a free port.
        interval_s: time between two readings.
    """
    host, _, port = metrics_at.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise WaymarkError(f"--metrics: found {metrics_at!r}; valid: PORT or HOST:PORT")
    asyncio.run(_watch(file, election_id, host or "127.0.0.1", int(port), interval_s))


async def _each(
    wanted: Mapping[str, Wanted], act: Callable[[Client, Wanted], Awaitable[Plan]]
) -> Results:
    """Apply ``act`` to all switches concurrently; their results, in the order of the file."""

    async def one(its: Wanted) -> Plan:
        async with connected(its.target) as client:
            return await act(client, its)

    outcomes = await asyncio.gather(*map(one, wanted.values()), return_exceptions=True)
    results: dict[str, Plan | WaymarkError] = {}
    for name, outcome in zip(wanted, outcomes, strict=True):
        if not isinstance(outcome, Plan | WaymarkError):
            raise outcome
        results[name] = outcome
    return results


def _show(results: Results, done: str, *, as_json: bool) -> int:
    """Print the result of each switch. Returns the exit code."""
    errors = {name: one for name, one in results.items() if isinstance(one, WaymarkError)}
    plans = {name: one for name, one in results.items() if isinstance(one, Plan)}
    if as_json:
        switches = {name: one.as_data() for name, one in plans.items()}
        refused = {name: str(error) for name, error in errors.items()}
        print_json({"switches": switches, "errors": refused})
    else:
        if not results:
            print("nothing to do: the file has no switches")
        for name, one in plans.items():
            _print(name, one, done)
        for error in errors.values():
            print(f"error: {error}", file=sys.stderr)
    return EXIT_FAILED if errors else 0


def _print(name: str, plan: Plan, done: str) -> None:
    if plan.is_empty:
        print(f"{name}: nothing to do")
        return
    print(f"{name}: {_written(plan)} {done}")
    if plan.push is not None:
        print(f"  ~ pipeline {plan.push}")
    for change in plan.changes:
        print(f"  {change}")


def _written(plan: Plan) -> str:
    """``the pipeline and 3 entries``."""
    parts = ["the pipeline"] if plan.push is not None else []
    if plan.changes:
        parts.append(f"{len(plan.changes)} {'entry' if len(plan.changes) == 1 else 'entries'}")
    return " and ".join(parts)


async def _watch(
    file: Path, election_id: int | None, host: str, port: int, interval_s: float
) -> None:
    console = Console()
    log = _Log(console)

    def make(switch: SwitchConfig, wanted: Wanted) -> Watcher:
        watcher = Watcher(switch, wanted, interval_s=interval_s)
        watcher.wrote = log.wrote
        if not console.is_terminal:
            watcher.changed = _States(log)
        return watcher

    follower = Follower(file, election_id, make, log)
    at = metrics.serve(follower.watchers, host, port)
    print(f"counters: http://{host}:{at}/metrics", flush=True)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)

    def on_hangup() -> None:
        """Stop if the terminal was closed; otherwise read the file again."""
        (stop if console.is_terminal and _is_gone() else follower.reread).set()

    loop.add_signal_handler(signal.SIGHUP, on_hangup)
    showing = nullcontext()
    if console.is_terminal:
        showing = Live(get_renderable=lambda: view.screen(follower.watchers), console=console)
    following = asyncio.create_task(follower.run())
    ended = asyncio.create_task(stop.wait())
    with showing:
        await asyncio.wait([ended, following], return_when=asyncio.FIRST_COMPLETED)
    for task in (ended, following):
        task.cancel()
    for result in await asyncio.gather(following, ended, return_exceptions=True):
        if isinstance(result, Exception):  # a bug: do not hide it
            raise result


def _is_gone() -> bool:
    """Whether the terminal was closed."""
    try:
        os.tcgetpgrp(sys.stdout.fileno())
    except OSError:
        return True
    return False


class _Log:
    """Prints lines with a timestamp; on a terminal, above the tables."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, message: str) -> None:
        line = f"{datetime.now().astimezone().isoformat(timespec='seconds')} {message}"
        if self._console.is_terminal:
            self._console.print(line, markup=False, highlight=False)
        else:
            print(line, flush=True)

    def wrote(self, name: str, cause: Cause, plan: Plan) -> None:
        """Print what was written to a switch, and why; after a new connection only the number."""
        lines = [f"{name}: {cause.value}, {_written(plan)} written"]
        if cause is not Cause.CONNECTED:
            lines += [f"  {change}" for change in plan.changes[:MOST_LINES]]
            if len(plan.changes) > MOST_LINES:
                lines.append(f"  and {len(plan.changes) - MOST_LINES} more")
        self("\n".join(lines))


class _States:
    """Without a terminal: prints a line whenever a switch's state changes."""

    def __init__(self, log: _Log) -> None:
        self._log, self._last = log, ""

    def __call__(self, shot: Snapshot) -> None:
        message = f": {shot.message}" if shot.message else ""
        line = f"{shot.name}: {shot.state.value}{message}"
        if line != self._last:
            self._last = line
            self._log(line)
