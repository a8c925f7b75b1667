"""Processes of this machine that run scenarios, one at a time each.

Messages between them and this process are pickled: both belong to the same user and run this
package. Results in files are not pickled (:mod:`waymark.result_file`).
"""

import multiprocessing
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import spawn
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, TypeVar

from waymark.errors import WaymarkError

_T = TypeVar("_T")

_IN_WORKER = "WAYMARK_WORKER"
"""Set in the environment of workers, which start no workers themselves."""

_START = """\
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its workers
from multiprocessing.connection import Connection
pipe = Connection(int(sys.argv[1]))
sys.path[:] = pipe.recv()
from waymark.workers import serve
serve(pipe)
"""

_KEPT_OCTETS = 8192
"""Octets of a worker's standard error that are kept for the message about its end."""


class WorkerError(Exception):
    """The cause of an exception that was raised in a worker: its traceback there, as text."""


class Workers:
    """Runs functions in up to ``limit`` processes, which start when there is work for them.

    Raises:
        WaymarkError: this process is a worker itself.
    """

    def __init__(self, limit: int) -> None:
        if _IN_WORKER in os.environ:
            raise WaymarkError(
                "a worker cannot start workers: put code that runs scenarios "
                "in the main module under "
                'if __name__ == "__main__":'
            )
        self._limit = limit
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._running: set[_Worker] = set()
        self._refusal: BaseException | None = None

    def submit(self, fn: Callable[..., _T], /, *args: Any) -> "Future[_T]":
        """The future result of a call. Calls begin in the order of submission.

        The future raises what the call raises, and a :class:`WaymarkError` if the worker ends
        before it returns, or if workers cannot start.
        """
        job = _Job(fn, args, Future[Any]())
        self._jobs.put(job)
        if len(self._threads) < self._limit:
            self._threads.append(threading.Thread(target=self._tend, daemon=True))
            self._threads[-1].start()
        return job.future

    def close(self) -> None:
        """End all workers, even during a call; pending calls fail."""
        self._refuse(WaymarkError("the pool is closed"))
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def interrupt(self) -> None:
        """End all workers; from now on futures without a result raise :class:`KeyboardInterrupt`.

        Not for handlers of signals, which may have stopped a thread that holds the lock.
        """
        self._refuse(KeyboardInterrupt())

    def _refuse(self, refusal: BaseException) -> None:
        with self._lock:
            self._refusal = self._refusal or refusal
            for worker in self._running:
                worker.process.kill()

    def _tend(self) -> None:
        """Run jobs in one worker after another; a job ends at most one worker."""
        worker: _Worker | None = None
        while (job := self._jobs.get()) is not None:
            if not job.future.set_running_or_notify_cancel():
                continue
            try:
                if worker is None:
                    worker = self._start()
                settle = job.future.set_result
                outcome: Any = worker.call(job.function, job.arguments)
            except _EndedError as ended:
                with self._lock:
                    self._running.discard(ended.worker)
                worker = None
                outcome = self._refusal or WaymarkError(ended)
                settle = job.future.set_exception
            except BaseException as error:
                settle, outcome = job.future.set_exception, error
            try:
                settle(outcome)
            except BaseException:  # a callback's, which may even be SystemExit
                with suppress(OSError):
                    traceback.print_exc()
        if worker is not None:
            worker.end()

    def _start(self) -> "_Worker":
        with self._lock:
            if self._refusal is not None:
                raise self._refusal
            try:
                worker = _Worker()
            except OSError as error:
                raise WaymarkError(f"a worker cannot start: {error}") from error
            self._running.add(worker)
        try:
            worker.wait_until_ready()
        except _EndedError as ended:
            # So would the next ones.
            with self._lock:
                self._refusal = self._refusal or WaymarkError(ended)
            raise
        return worker


@dataclass(frozen=True)
class _Job:
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    future: Future[Any]


class _EndedError(Exception):
    """A worker ended before it answered; the message says how."""

    def __init__(self, worker: "_Worker", message: str) -> None:
        super().__init__(message)
        self.worker = worker


class _Worker:
    """A process and the pipe to it. Only ``process.kill`` may be called by several threads."""

    def __init__(self) -> None:
        self._pipe, theirs = multiprocessing.Pipe()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=os.environ | {_IN_WORKER: "1"},
            )
        assert self.process.stderr is not None
        self._stderr = self.process.stderr
        self._said = b""
        self._is_ready = False

    def wait_until_ready(self) -> None:
        """Wait until it has imported this package and the main module.

        Raises:
            _EndedError: it cannot.
        """
        preparation = spawn.get_preparation_data("worker")
        preparation.pop("authkey", None)  # which multiprocessing alone may pickle
        # This very package, even if the path leads to another copy of it first: that of an
        # experiment's checkout, for one.
        package = str(Path(__file__).resolve().parents[1])
        try:
            self._pipe.send([package, *preparation["sys_path"]])
            self._pipe.send(preparation)
            self._answer()
        except (EOFError, OSError) as error:
            raise _EndedError(self, f"a worker cannot start ({self.end()})") from error
        self._is_ready = True

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """The result of the function in the worker.

        Raises:
            _EndedError: the process ended first.
            Exception: what the function raised.
        """
        try:
            self._pipe.send((function, arguments))
            result, error, message = self._answer()
        except (EOFError, OSError) as lost:
            raise _EndedError(self, f"a worker ended before its run did ({self.end()})") from lost
        if error is None:
            return result
        if isinstance(error, WaymarkError):
            raise error
        raise error from WorkerError(f"\n{message}")

    def end(self) -> str:
        """End it unless it has ended; returns how it ended, and the last line of its output."""
        self._pipe.close()
        try:
            # A process that fails by itself closes its end of the pipe first.
            code = self.process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        os.set_blocking(self._stderr.fileno(), False)
        with suppress(BlockingIOError):  # a process that it started has it as well
            while self._hear():
                pass
        self._stderr.close()
        how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        lines = [line.strip() for line in self._said.decode(errors="replace").split("\n")]
        last = next((line for line in reversed(lines) if line), None)
        return how if last is None else f"{how}: {last}"

    def _answer(self) -> Any:
        sources: list[Any] = [self._pipe, self._stderr]
        while True:
            ready: list[Any] = wait(sources)
            if self._stderr in ready and not self._hear():
                sources.remove(self._stderr)
            if self._pipe in ready:
                return self._pipe.recv()

    def _hear(self) -> bool:
        """Read its standard error, and pass it on unless it is a failure to start.

        Returns whether there may be more.
        """
        said = os.read(self._stderr.fileno(), 65536)
        self._said = (self._said + said)[-_KEPT_OCTETS:]
        if self._is_ready:
            with suppress(OSError, ValueError, AttributeError):  # ours is closed, or not read
                sys.stderr.write(said.decode(errors="replace"))
                sys.stderr.flush()
        return bool(said)


def serve(pipe: Connection) -> None:
    """The main loop of a worker: it answers each call from its pipe with a result or an
    exception."""
    spawn.prepare(pipe.recv())
    pipe.send(None)
    with suppress(EOFError, OSError):  # the parent has gone
        while True:
            function, arguments = pipe.recv()
            try:
                answer = (function(*arguments), None, "")
            except BaseException as error:  # a panic of the core is not an Exception
                answer = (None, _sendable(error), traceback.format_exc())
            pipe.send(answer)


def _sendable(error: BaseException) -> Exception:
    """The exception, if it can be pickled; otherwise one with the same message."""
    if isinstance(error, Exception):
        with suppress(Exception):
            pickle.loads(pickle.dumps(error))
            return error
    return RuntimeError(f"{type(error).__name__}: {error}")
