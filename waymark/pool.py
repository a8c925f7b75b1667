"""Many runs at once: in processes on this machine, or on a Dask cluster; kept ones are left out."""

import os
import pickle
import signal
import threading
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakValueDictionary

from waymark import own
from waymark.errors import WaymarkError
from waymark.result import Result
from waymark.running import run
from waymark.scenario import Scenario
from waymark.store import Store, code_sha256, key_of
from waymark.workers import Workers


class _Executor(Protocol):
    def submit(self, fn: Callable[..., Result], /, *args: Any) -> "Future[Result]": ...


class Pool:
    """Takes scenarios and gives futures of their results; see :func:`pool`."""

    def __init__(self, executor: _Executor, store: Store | None) -> None:
        self._executor = executor
        self._store = store
        # Weak: a result lives as long as somebody waits for it, however many there are.
        self._futures: WeakValueDictionary[str, Future[Result]] = WeakValueDictionary()

    def submit(self, scenario: Scenario, capture: Path | None = None) -> "Future[Result]":
        """The future result of a scenario; the same scenario twice is run once.

        Args:
            scenario: what to run.
            capture: where its packets go; None: nowhere. A run with a capture is always made, and
                so is one with a congestion control in Python, whose code no key has.

        Raises:
            WaymarkError: a congestion control in Python that cannot go to another process.
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
        kept = None if store is None else store.get(key)
        if kept is not None:
            found: Future[Result] = Future()
            found.set_result(kept)
            return found
        if store is None:
            return self._send(scenario, None)
        future: Future[Result] = Future()

        def keep(run: "Future[Result]") -> None:
            try:
                result = run.result()
                store.put(key, result)
            except Exception as error:
                future.set_exception(error)
            else:
                future.set_result(result)

        self._send(scenario, None).add_done_callback(keep)
        return future

    def _send(self, scenario: Scenario, capture: Path | None) -> "Future[Result]":
        files = own.registered()
        return self._executor.submit(_run, _sendable(scenario), capture, code_sha256(), files)


@contextmanager
def pool(
    jobs: int | None = None, scheduler: str | None = None, store: Store | None = None
) -> Generator[Pool]:
    """A pool that ends, with what it is still running, when the block is left.

    Args:
        jobs: processes on this machine; None: one per core.
        scheduler: instead of them, the address of a Dask scheduler, such as
            ``tcp://10.0.0.1:8786``. Its workers need this version of Waymark.
        store: where finished runs are kept and looked for; None: nowhere.

    Raises:
        WaymarkError: the scheduler cannot be reached, Dask is not installed, or this process is a
            worker of a pool itself.
    """
    if scheduler is not None:
        with _dask(scheduler) as executor:
            yield Pool(executor, store)
        return
    workers = Workers(max(1, jobs or os.cpu_count() or 1))
    # Without a handler, SIGTERM would leave the workers to finish their runs.
    with closing(workers), _handled(signal.SIGTERM, signal.default_int_handler):
        yield Pool(workers, store)


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
        executor = client.get_executor(pure=False)
        try:
            yield executor
        finally:
            executor.shutdown(wait=False)


def _has_custom(scenario: Scenario) -> bool:
    return any(not isinstance(flow.algorithm, str) for flow in scenario.flows)


def _sendable(scenario: Scenario) -> bytes:
    """A scenario for another process; controls in Python go by the names of their modules."""
    try:
        return pickle.dumps(scenario)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise WaymarkError(
            f"scenario {scenario.name} cannot go to another process: {error}; "
            "define its congestion controls at the top of a module"
        ) from error


def _run(sent: bytes, capture: Path | None, code: str, files: Mapping[str, str]) -> Result:
    if code_sha256() != code:
        raise WaymarkError("a worker has another version of Waymark than the one that asks it")
    own.register(files)
    try:
        scenario: Scenario = pickle.loads(sent)
    except (AttributeError, ImportError, OSError) as error:
        raise WaymarkError(
            f"a congestion control is not found in another process: {error}; "
            "define it at the top of a module that can be imported"
        ) from error
    return run(scenario, capture)


@contextmanager
def _handled(number: signal.Signals, handler: Any) -> Generator[None]:
    """While the block runs a signal has another handler, where this thread may set one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)
