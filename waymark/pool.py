"""Many runs at once, in processes on this machine or on a Dask cluster; stored runs are reused."""

import os
import pickle
import signal
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Protocol, TypeVar, cast
from weakref import WeakValueDictionary, ref

from waymark import own
from waymark.errors import WaymarkError, os_errors
from waymark.result import Result
from waymark.running import run
from waymark.scenario import Scenario
from waymark.store import Store, code_sha256, key_of
from waymark.workers import Workers


@dataclass(frozen=True)
class _Kept:
    """A run whose result a worker has put into the store.

    Attributes:
        threads, threads_limit: as in :class:`Result`.
    """

    threads: int
    threads_limit: str | None


_T = TypeVar("_T")


class _Executor(Protocol):
    def submit(self, fn: "Callable[..., _T]", /, *args: Any) -> "Future[_T]": ...


RECENT, RECENT_OCTETS = 256, 8 << 20
"""Maximum number, and total octets, of results that stay in memory although a store has them."""

WORKERS_WITHIN_S = 60
"""Timeout for a Dask cluster to have a worker."""

NOTICE_AFTER_S = 10
"""How long a Dask cluster is without workers until a message says so."""


class _Recent:
    """The results that were last read or computed."""

    def __init__(self) -> None:
        self._octets = 0
        self._results: deque[tuple[Result, int]] = deque()
        self._lock = threading.Lock()

    def add(self, result: Result, octets: int) -> None:
        with self._lock:
            self._results.append((result, octets))
            self._octets += octets
            while self._octets > RECENT_OCTETS or len(self._results) > RECENT:
                _, gone = self._results.popleft()
                self._octets -= gone


class _Stored(Future[Result]):
    """A run whose result is in a store. ``result`` reads it from there if it is no longer in
    memory."""

    def __init__(self, store: Store, key: str, recent: _Recent) -> None:
        super().__init__()
        self._store = store
        self._key = key
        self._recent = recent
        self._in_memory: Callable[[], Result | None] = lambda: None

    def finish(self, result: Result | None = None) -> None:
        """The store has the result from now on; it stays in memory only if it is given."""
        if result is not None:
            self._remember(result)
        # The future itself has no result, which would stay in memory.
        self.set_result(cast("Result", None))

    def _remember(self, result: Result) -> None:
        self._in_memory = ref(result)
        self._recent.add(result, self._store.octets(self._key))

    def result(self, timeout: float | None = None) -> Result:
        """The result.

        Raises:
            WaymarkError: the store has lost it.
        """
        super().result(timeout)
        result = self._in_memory()
        if result is not None:
            return result
        result = self._store.get(self._key)
        if result is None:
            raise WaymarkError(
                f"the result of a finished run is no longer in {self._store.folder}; "
                "repeat the command to run it again"
            )
        self._remember(result)
        return result


class Pool:
    """Takes scenarios and gives futures of their results; see :func:`pool`.

    Args:
        executor: executes the runs.
        store: stores results; None: they are not stored.
        threads: maximum per run.
        drafts: a folder in the store. The executor's processes write results there, and then move
            them to their place. None: they are on other machines, and return the results.

    Attributes:
        limits: how many runs used fewer threads than asked for, by how many and why.
    """

    def __init__(
        self,
        executor: _Executor,
        store: Store | None,
        threads: int = 1,
        drafts: Path | None = None,
    ) -> None:
        self._executor = executor
        self._store = store
        self._drafts = drafts
        self._threads = threads
        self.limits: Counter[tuple[int, str]] = Counter()
        # Weak: a result lives only as long as a caller waits for it.
        self._futures: WeakValueDictionary[str, Future[Result]] = WeakValueDictionary()
        self._recent = _Recent()

    def submit(self, scenario: Scenario, capture: Path | None = None) -> "Future[Result]":
        """The future result of a scenario; the same scenario twice is run once.

        Args:
            scenario: the run.
            capture: file for its packets; None: no capture. Runs with a capture are never reused,
                nor are runs with a congestion control in Python, whose code is not in the key.

        Raises:
            WaymarkError: a congestion control in Python cannot be pickled for another process.
        """
        if capture is not None or _has_custom(scenario):
            return self._send(scenario, capture)
        key = key_of(scenario)
        future = self._futures.get(key)
        if future is None:
            future = self._futures[key] = self._start(scenario, key)
        return future

    def _start(self, scenario: Scenario, key: str) -> "Future[Result]":
        store = self._store
        if store is None:
            return self._send(scenario, None)
        future = _Stored(store, key, self._recent)
        kept = store.get(key)
        if kept is not None:
            future.finish(kept)
            return future

        def settle(run: "Future[Result] | Future[_Kept]") -> None:
            try:
                made = run.result()
                if isinstance(made, Result):
                    store.put(key, made)
                else:
                    store.made(key)
            except BaseException as error:
                future.set_exception(error)
                return
            future.finish(made if isinstance(made, Result) else None)

        if self._drafts is None:
            self._send(scenario, None).add_done_callback(settle)
        else:
            place = (store.folder.absolute(), key, self._drafts)
            run = self._executor.submit(_run_and_keep, place, *self._call(scenario, None))
            run.add_done_callback(self._count)
            run.add_done_callback(settle)
        return future

    def _send(self, scenario: Scenario, capture: Path | None) -> "Future[Result]":
        future = self._executor.submit(_run, *self._call(scenario, capture))
        future.add_done_callback(self._count)
        return future

    def _call(self, scenario: Scenario, capture: Path | None) -> tuple[Any, ...]:
        """The arguments of :func:`_run` in another process."""
        return _sendable(scenario), capture, code_sha256(), own.registered(), self._threads

    def _count(self, run: "Future[Result] | Future[_Kept]") -> None:
        if run.cancelled() or run.exception() is not None:
            return
        result = run.result()
        if result.threads_limit is not None:
            self.limits[result.threads, result.threads_limit] += 1


@contextmanager
def pool(
    jobs: int | None = None,
    scheduler: str | None = None,
    store: Store | None = None,
    threads: int = 1,
) -> Generator[Pool]:
    """A pool that ends when the block is left, including its unfinished runs.

    Args:
        jobs: processes on this machine; None: as many as there are cores for their threads.
        scheduler: instead of them, the address of a Dask scheduler, such as
            ``tcp://10.0.0.1:8786``. Its workers need this version of Waymark. While it has none any
            more, runs wait, and a message on stderr says so.
        store: where finished runs are kept and looked for; None: nowhere.
        threads: among how many each run's network is divided, at most.

    Raises:
        WaymarkError: the scheduler cannot be reached or has no workers, Dask is not installed, or
            this process is a worker of a pool itself.
    """
    if scheduler is not None:
        with _dask(scheduler) as executor:
            yield Pool(executor, store, threads)
        return
    workers = Workers(jobs or max(1, (os.cpu_count() or 1) // threads))

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        # Python drops an exception that is raised while it frees an object. The futures that
        # somebody waits for raise it once more.
        threading.Thread(target=workers.interrupt).start()
        raise KeyboardInterrupt

    # Without a handler, SIGTERM would leave the workers to finish their runs.
    with (
        _drafts(store) as drafts,
        closing(workers),
        _handled(signal.SIGINT, interrupt),
        _handled(signal.SIGTERM, interrupt),
    ):
        yield Pool(workers, store, threads, drafts)


@contextmanager
def _dask(address: str) -> Generator[_Executor]:
    try:
        from distributed import Client
    except ImportError as error:
        raise WaymarkError("a Dask cluster needs: pip install 'waymark[cluster]'") from error
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise WaymarkError(f"no Dask scheduler at {address}: {error}") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=WORKERS_WITHIN_S)
        except TimeoutError as error:
            raise WaymarkError(
                f"the Dask scheduler at {address} has no workers; start one: dask worker {address}"
            ) from error
        executor = client.get_executor(pure=False)
        over = threading.Event()
        threading.Thread(target=_watch, args=(client, address, over), daemon=True).start()
        try:
            yield executor
        finally:
            over.set()
            executor.shutdown(wait=False)


def _watch(client: Any, address: str, over: threading.Event) -> None:
    """Say on stderr that a cluster has lost its workers, once until it has some again."""
    without_s, told = 0.0, False
    while not over.wait(step_s := NOTICE_AFTER_S / 10):
        try:
            workers = client.scheduler_info()["workers"]
        except Exception:
            continue  # Dask reports a scheduler that is gone; at the end the client is closed
        without_s = 0.0 if workers else without_s + step_s
        if told != (without_s >= NOTICE_AFTER_S):
            told = not told
            state = (
                f"no workers; waiting for one: dask worker {address}"
                if told
                else "workers again; the runs continue"
            )
            print(f"warning: the Dask scheduler at {address} has {state}", file=sys.stderr)


@contextmanager
def _drafts(store: Store | None) -> Generator[Path | None]:
    """A folder in the store for the files of workers, which killed workers leave unfinished."""
    if store is None:
        yield None
        return
    with os_errors(store.folder):
        store.folder.mkdir(parents=True, exist_ok=True)
        folder = TemporaryDirectory(
            prefix="unfinished-", dir=store.folder, ignore_cleanup_errors=True
        )
    with folder as path:
        yield Path(path).absolute()


def _has_custom(scenario: Scenario) -> bool:
    return any(not isinstance(flow.algorithm, str) for flow in scenario.flows)


def _sendable(scenario: Scenario) -> bytes:
    """A scenario for another process; controls in Python are passed by the names of their
    modules."""
    try:
        return pickle.dumps(scenario)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise WaymarkError(
            f"scenario {scenario.name} cannot be sent to another process: {error}; "
            "define its congestion controls at the top of a module"
        ) from error


def _run_and_keep(place: tuple[Path, str, Path], *call: Any) -> _Kept:
    folder, key, drafts = place
    result = _run(*call)
    Store(folder).put(key, result, drafts)
    return _Kept(result.threads, result.threads_limit)


def _run(
    sent: bytes, capture: Path | None, code: str, files: Mapping[str, str], threads: int
) -> Result:
    if code_sha256() != code:
        raise WaymarkError("a worker has a different version of Waymark than this process")
    own.register(files)
    try:
        scenario: Scenario = pickle.loads(sent)
    except (AttributeError, ImportError, OSError) as error:
        raise WaymarkError(
            f"a congestion control is not found in another process: {error}; "
            "define it at the top of a module that can be imported"
        ) from error
    return run(scenario, capture, threads)


@contextmanager
def _handled(number: signal.Signals, handler: Any) -> Generator[None]:
    """During the block, a signal has another handler, if this thread may set one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)
