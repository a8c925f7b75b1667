"""Reconcile switches with a configuration file, and follow the file's changes."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from controller import apply, config, diff
from controller.apply import Wanted
from controller.config import Config, SwitchConfig
from controller.watch import Watcher
from waymark import _core
from waymark.errors import WaymarkError

POLL_S = 0.5
"""Time between two checks of the file."""

SETTLE_S = 0.2
"""Time without changes before a changed file is read."""

MOST_LINES = 20
"""Maximum number of changes that are listed."""

Make = Callable[[SwitchConfig, Wanted], Watcher]


def load(file: Path, election_id: int | None) -> tuple[Config, dict[str, Wanted]]:
    """The configuration in ``file``, and the desired state of each switch.

    Args:
        file: the configuration.
        election_id: overrides the file's.

    Raises:
        WaymarkError: the file is invalid.
        waymark._core.CompileError: a program has errors.
    """
    settings = config.load(file)
    if election_id is not None:
        settings = settings.model_copy(update={"election_id": election_id})
    return settings, apply.wanted(settings, file.parent)


class Follower:
    """Runs one watcher per switch of a file, and adjusts them when the file changes.

    Args:
        file: the configuration.
        election_id: overrides the file's.
        make: creates a watcher.
        log: prints a line about the file.

    Attributes:
        watchers: in the order of the file. The list is changed in place.
        reread: set it to read the file and the programs that it names again.

    Raises:
        WaymarkError: the file is invalid.
    """

    def __init__(
        self, file: Path, election_id: int | None, make: Make, log: Callable[[str], None]
    ) -> None:
        self.watchers: list[Watcher] = []
        self.reread = asyncio.Event()
        self._file, self._election_id = file, election_id
        self._make, self._log = make, log
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._seen = self._signature()
        settings, wanted = load(file, election_id)
        self.watchers[:] = [make(settings.switches[name], its) for name, its in wanted.items()]

    async def run(self) -> None:
        """Run until cancelled."""
        try:
            for watcher in self.watchers:
                self._start(watcher)
            while True:
                await self._changed()
                await self._read()
        finally:
            await self._end(*self._tasks)

    async def _changed(self) -> None:
        """Wait until the file has changed, or `reread` is set."""
        while not self.reread.is_set() and self._signature() == self._seen:
            self._raise_failures()
            try:
                async with asyncio.timeout(POLL_S):
                    await self.reread.wait()
            except TimeoutError:
                continue
        self.reread.clear()
        while (now := self._signature()) != self._seen:
            self._seen = now
            await asyncio.sleep(SETTLE_S)

    async def _read(self) -> None:
        try:
            settings, wanted = await asyncio.to_thread(load, self._file, self._election_id)
        except (WaymarkError, _core.CompileError) as error:
            self._log(
                f"{self._file.name} is invalid; its last valid version stays in effect: {error}"
            )
            return
        before = {watcher.snapshot.name: watcher for watcher in self.watchers}
        differences = _differences({name: w.wanted for name, w in before.items()}, wanted)
        self._log(f"{self._file.name} was read again: {differences or 'nothing changed'}")
        after: list[Watcher] = []
        for name, its in wanted.items():
            watcher = before.get(name)
            if watcher is not None and watcher.wanted.target == its.target:
                watcher.adopt(settings.switches[name], its)
            else:
                await self._end(name)
                watcher = self._make(settings.switches[name], its)
                self._start(watcher)
            after.append(watcher)
        await self._end(*(name for name in before if name not in wanted))
        self.watchers[:] = after

    def _start(self, watcher: Watcher) -> None:
        self._tasks[watcher.snapshot.name] = asyncio.create_task(watcher.run())

    async def _end(self, *names: str) -> None:
        ended = [self._tasks.pop(name) for name in names if name in self._tasks]
        for task in ended:
            task.cancel()
        for result in await asyncio.gather(*ended, return_exceptions=True):
            if isinstance(result, Exception):  # a bug: do not hide it
                raise result

    def _raise_failures(self) -> None:
        """Raise the error of a watcher that ended: watchers never end by themselves."""
        for task in self._tasks.values():
            if task.done():
                task.result()

    def _signature(self) -> tuple[int, ...]:
        """A value that changes when the file changes."""
        try:
            stat = self._file.stat()
        except OSError:
            return ()
        return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _differences(before: dict[str, Wanted], after: dict[str, Wanted]) -> str:
    """The differences between two configurations, by switch; empty if there are none."""
    parts = [f"{name} was removed" for name in before if name not in after]
    for name, its in after.items():
        old = before.get(name)
        if old is None:
            parts.append(f"{name} was added")
            continue
        if old.target != its.target:
            parts.append(f"{name}: the connection settings changed")
        if old.pipeline.cookie != its.pipeline.cookie:
            parts.append(f"{name}: the program changed, {its.pipeline.name}")
        changes = diff.changes(its.entries, old.entries)
        parts += [f"{name}: {change}" for change in changes[:MOST_LINES]]
        if len(changes) > MOST_LINES:
            parts.append(f"{name}: and {len(changes) - MOST_LINES} more")
    return "".join(f"\n  {part}" for part in parts)
