"""``plan``, ``apply`` and ``watch``, and what they print."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.live import Live

from controller import apply as applying
from controller import config, metrics, view
from controller.apply import Plan, Wanted
from controller.client import Client, connected
from controller.config import Config
from controller.watch import Snapshot, Watcher
from waymark.errors import WaymarkError

EXIT_FAILED = 1
"""A switch could not be reached, or refused."""


def plan(file: Path) -> int:
    """Print what `apply` would change; the exit code."""
    _, wanted = _load(file, None)
    return asyncio.run(_each(wanted, applying.plan, done="to change"))


def apply(file: Path, election_id: int | None) -> int:
    """Bring every switch to its configuration, and print what changed; the exit code."""
    _, wanted = _load(file, election_id)
    return asyncio.run(_each(wanted, applying.apply, done="changed"))


def watch(file: Path, election_id: int | None, metrics_at: str, interval_s: float) -> None:
    """Keep every switch to its configuration until SIGINT or SIGTERM.

    Args:
        file: the configuration.
        election_id: instead of the configuration's.
        metrics_at: ``"PORT"`` or ``"HOST:PORT"``; port 0 takes any.
        interval_s: between two readings.
    """
    settings, wanted = _load(file, election_id)
    host, _, port = metrics_at.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise WaymarkError(f"--metrics: found {metrics_at!r}; valid: a port, or HOST:PORT")
    watchers = [
        Watcher(settings.switches[name], its, interval_s=interval_s) for name, its in wanted.items()
    ]
    at = metrics.serve(watchers, host or "127.0.0.1", int(port))
    print(f"counters: http://{host or '127.0.0.1'}:{at}/metrics", flush=True)
    asyncio.run(_watch(watchers))


def _load(file: Path, election_id: int | None) -> tuple[Config, dict[str, Wanted]]:
    settings = config.load(file)
    if election_id is not None:
        settings = settings.model_copy(update={"election_id": election_id})
    return settings, applying.wanted(settings, file.parent)


async def _each(
    wanted: Mapping[str, Wanted], act: Callable[[Client, Wanted], Awaitable[Plan]], *, done: str
) -> int:
    """Do ``act`` to every switch at once, then tell in order how each went; the exit code."""

    async def one(its: Wanted) -> Plan:
        async with connected(its.target) as client:
            return await act(client, its)

    results = await asyncio.gather(*map(one, wanted.values()), return_exceptions=True)
    code = 0
    for name, result in zip(wanted, results, strict=True):
        if isinstance(result, Plan):
            _tell(name, result, done)
        elif isinstance(result, WaymarkError):
            code = EXIT_FAILED
            print(f"error: {result}", file=sys.stderr)
        else:
            raise result
    return code


def _tell(name: str, plan: Plan, done: str) -> None:
    if plan.is_empty:
        print(f"{name}: nothing to do")
        return
    parts = ["the pipeline"] if plan.push is not None else []
    if plan.changes:
        parts.append(f"{len(plan.changes)} {'entry' if len(plan.changes) == 1 else 'entries'}")
    print(f"{name}: {' and '.join(parts)} {done}")
    if plan.push is not None:
        print(f"  ~ pipeline {plan.push}")
    for change in plan.changes:
        print(f"  {change}")


async def _watch(watchers: Sequence[Watcher]) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    console = Console()
    if console.is_terminal:
        showing = Live(get_renderable=lambda: view.screen(watchers), console=console)
    else:
        showing = nullcontext()
        for watcher in watchers:
            watcher.changed = _Log()
    tasks = [asyncio.create_task(watcher.run()) for watcher in watchers]
    ended = asyncio.create_task(stop.wait())
    with showing:
        await asyncio.wait([ended, *tasks], return_when=asyncio.FIRST_COMPLETED)
    for task in (ended, *tasks):
        task.cancel()
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(result, Exception):  # a bug, which a lost task would hide
            raise result


class _Log:
    """Without a terminal: a line whenever a switch's state changes."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, shot: Snapshot) -> None:
        told = f": {shot.told}" if shot.told else ""
        line = f"{shot.name}: {shot.state.value}{told}"
        if line != self._last:
            self._last = line
            print(line, flush=True)
