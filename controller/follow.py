"""Keep the switches of a configuration file as the file has them, through changes of the file."""

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
"""Between two looks at the file."""

SETTLE_S = 0.2
"""How long a file that changes has to stay as it is before it is read."""

MOST_LINES = 20
"""Of changes that are named each."""

Make = Callable[[SwitchConfig, Wanted], Watcher]


def load(file: Path, election_id: int | None) -> tuple[Config, dict[str, Wanted]]:
    """The configuration in ``file``, and what each switch is to hold.

    Args:
        file: the configuration.
        election_id: instead of the file's.

    Raises:
        WaymarkError: the file cannot be used.
        waymark._core.CompileError: a program has errors.
    """
    settings = config.load(file)
    if election_id is not None:
        settings = settings.model_copy(update={"election_id": election_id})
    return settings, apply.wanted(settings, file.parent)


class Follower:
    """One watcher per switch of a file; more, fewer or other ones once the file has changed.

    Args:
        file: the configuration.
        election_id: instead of the file's.
        make: makes a watcher.
        log: takes a line about the file.

    Attributes:
        watchers: in the order of the file. The list is changed in place.
        reread: set it to have the file read again, and the programs that it names.

    Raises:
        WaymarkError: the file cannot be used.
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
        """Go on until cancelled."""
        try:
            for watcher in self.watchers:
                self._start(watcher)
            while True:
                await self._changed()
                await self._read()
        finally:
            await self._end(*self._tasks)

    async def _changed(self) -> None:
        """Until the file is another, or is to be read again."""
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
            self._log(f"{self._file.name} is not used, what it said before holds: {error}")
            return
        before = {watcher.snapshot.name: watcher for watcher in self.watchers}
        told = _differences({name: w.wanted for name, w in before.items()}, wanted)
        self._log(f"{self._file.name} was read again: {told or 'nothing changed'}")
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
            if isinstance(result, Exception):  # a bug, which a lost task would hide
                raise result

    def _raise_failures(self) -> None:
        """A watcher never ends by itself: what ended it is a bug."""
        for task in self._tasks.values():
            if task.done():
                task.result()

    def _signature(self) -> tuple[int, ...]:
        """What tells one state of the file from another."""
        try:
            stat = self._file.stat()
        except OSError:
            return ()
        return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _differences(before: dict[str, Wanted], after: dict[str, Wanted]) -> str:
    """What differs between two configurations, by switch; empty: nothing."""
    parts = [f"{name} is not in it any more" for name in before if name not in after]
    for name, its in after.items():
        old = before.get(name)
        if old is None:
            parts.append(f"{name} is new")
            continue
        if old.target != its.target:
            parts.append(f"{name} is reached in another way")
        if old.pipeline.cookie != its.pipeline.cookie:
            parts.append(f"{name} has another program, {its.pipeline.name}")
        changes = diff.changes(its.entries, old.entries)
        parts += [f"{name}: {change}" for change in changes[:MOST_LINES]]
        if len(changes) > MOST_LINES:
            parts.append(f"{name}: and {len(changes) - MOST_LINES} more")
    return "".join(f"\n  {part}" for part in parts)
