"""Where the runs of a sweep are computed: here, in processes, on a Ray cluster, or on Slurm.

An executor takes a function and tasks and yields ``(task number, result)`` as they finish. The function must survive
the death of a worker: a run resumes from its folder, so doing a task again costs only what was not saved.
"""

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from types import FrameType
from typing import Any, NamedTuple, Protocol, TypeVar, final

from labelspace import _checks

Task = TypeVar("Task")
Done = TypeVar("Done")  # what comes of a task
Work = Callable[[Task], Done]


class WorkerDied(NamedTuple):
    """What a task yields that could not be done."""

    reason: str


Outcome = tuple[int, Done | WorkerDied]


class Executor(Protocol):
    """Anything that can run tasks."""

    def run(self, work: Work[Task, Done], tasks: Sequence[Task]) -> Iterator[Outcome[Done]]:
        """Yield the number and the result of each task as it finishes."""


@final
class InProcess:
    """One after the other, in this process."""

    def run(self, work: Work[Task, Done], tasks: Sequence[Task]) -> Iterator[Outcome[Done]]:
        """Yield results in order."""
        for number, task in enumerate(tasks):
            yield number, work(task)


@final
class Processes:
    """Worker processes of one thread each; a task whose worker died is done again.

    Args:
        workers: how many; all cores by default.
        retries: how often a task may lose its worker.
    """

    def __init__(self, workers: int | None = None, retries: int = 3) -> None:
        """Keep the numbers."""
        self.workers = _cores() if workers is None else _checks.whole("Processes", "workers", workers, low=1)
        self.retries = _checks.whole("Processes", "retries", retries)
        self._keeps, self._idle = False, list[Any]()  # the pool that waits for the next tasks, where one does

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Let workers live from one ``run`` to the next in this block: to start one takes seconds."""
        self._keeps = True
        try:
            yield
        finally:
            self._keeps = False
            with undisturbed():
                while self._idle:
                    _close(self._idle.pop(), kill=False)

    def run(self, work: Work[Task, Done], tasks: Sequence[Task]) -> Iterator[Outcome[Done]]:
        """Yield results as they come; a task that kills every worker it meets yields a ``WorkerDied``."""
        waiting, suspects = dict(enumerate(tasks)), dict[int, Task]()
        while waiting:
            lost: list[int] = []
            for number, result in self._pool(work, waiting, self.workers, lost):
                del waiting[number]
                yield number, result
            # nobody says which of the tasks under way killed its worker: each of them is tried again alone
            suspects.update({number: waiting.pop(number) for number in lost})
        for number, task in suspects.items():
            yield number, self._alone(work, number, task)

    def _alone(self, work: Work[Task, Done], number: int, task: Task) -> Done | WorkerDied:
        for _ in range(self.retries):
            lost: list[int] = []
            for _, result in self._pool(work, {number: task}, 1, lost):
                return result
        return WorkerDied(f"its worker died {self.retries + 1} times; it may be out of memory (use fewer workers)")

    def _pool(
        self, work: Work[Task, Done], waiting: dict[int, Task], workers: int, lost: list[int]
    ) -> Iterator[tuple[int, Done]]:
        """Yield results until all are done or a worker dies; ``lost`` is then what was under way."""
        # joblib's own process pool, without Parallel: that runs tasks of a single worker in this very process
        from joblib.externals.loky import FIRST_COMPLETED, ProcessPoolExecutor, wait
        from joblib.externals.loky.process_executor import BrokenProcessPool

        queue = iter(list(waiting.items()))
        running: dict[Any, int] = {}
        usual = workers == self.workers
        if usual and self._idle:
            pool = self._idle.pop()
        else:
            _start_trackers()
            settings = {"env": {"OMP_NUM_THREADS": "1"}, "initializer": _die_with, "initargs": (os.getpid(),)}
            pool = ProcessPoolExecutor(max_workers=workers, **settings)
        done = False
        try:
            while not done:
                with _interrupted_once():
                    try:
                        # never more tasks under way than workers, so that a death has few suspects
                        with undisturbed():
                            for number, task in islice(queue, workers - len(running)):
                                running[pool.submit(_numbered, work, number, task)] = number
                        finished = wait(running, return_when=FIRST_COMPLETED).done
                    except BaseException:  # here, where a second one cannot come between
                        _close(pool, kill=True)
                        raise
                for future in finished:
                    result = future.result()
                    del running[future]
                    yield result
                done = not running
        except BrokenProcessPool:
            lost.extend(running.values())
        finally:
            with undisturbed():
                if done and usual and self._keeps:
                    self._idle.append(pool)
                else:
                    _close(pool, kill=not done)


@final
class RayTasks:
    """Tasks on a Ray cluster, which runs them again when a node is lost.

    Args:
        address: of the cluster; None starts or joins a local one.
        retries: how often a task may lose its worker.
    """

    def __init__(self, address: str | None = None, retries: int = 3) -> None:
        """Keep the address."""
        self.address, self.retries = address, retries

    def run(self, work: Work[Task, Done], tasks: Sequence[Task]) -> Iterator[Outcome[Done]]:
        """Yield results as they come."""
        try:
            import ray
        except ImportError as error:
            raise ImportError('Ray is not installed: pip install "labelspace[ray]".') from error
        ray.init(address=self.address, ignore_reinit_error=True, log_to_driver=False)
        remote = ray.remote(num_cpus=1, max_retries=self.retries)(_numbered)
        numbers = {remote.remote(work, number, task): number for number, task in enumerate(tasks)}
        while numbers:
            done, _ = ray.wait(list(numbers), num_returns=1)
            number = numbers.pop(done[0])
            try:
                yield ray.get(done[0])
            except ray.exceptions.RayError as error:  # one task that lost all of its workers must not end the others
                yield number, WorkerDied(str(error))


@final
class Slurm:
    """An array job on Slurm through submitit.

    Args:
        folder: where submitit keeps its logs, on a file system that all nodes share.
        parameters: of the job, for example ``{"timeout_min": 60, "slurm_partition": "cpu"}``.
        cluster: ``"slurm"``, or ``"local"`` to try it on this machine.
        retries: how often a task may lose its worker.
    """

    def __init__(
        self,
        folder: str,
        parameters: dict[str, object] | None = None,
        cluster: str | None = None,
        retries: int = 3,
    ) -> None:
        """Keep the parameters."""
        self.folder, self.parameters, self.cluster = folder, parameters or {}, cluster
        self.retries = _checks.whole("Slurm", "retries", retries)

    def run(self, work: Work[Task, Done], tasks: Sequence[Task]) -> Iterator[Outcome[Done]]:
        """Yield results as jobs finish."""
        try:
            import submitit
        except ImportError as error:
            raise ImportError('submitit is not installed: pip install "labelspace[slurm]".') from error
        executor = submitit.AutoExecutor(folder=self.folder, cluster=self.cluster)
        executor.update_parameters(**self.parameters)
        waiting, reasons = dict(enumerate(tasks)), {}
        for _ in range(self.retries + 1):
            jobs = executor.map_array(_numbered, [work] * len(waiting), list(waiting), list(waiting.values()))
            numbers = {job.job_id: number for number, job in zip(waiting, jobs, strict=True)}
            for job in submitit.helpers.as_completed(jobs):
                problem = job.exception()
                if problem is None:
                    yield job.result()
                    del waiting[numbers[job.job_id]]
                else:
                    reasons[numbers[job.job_id]] = str(problem)
            if not waiting:
                return
        for number in waiting:
            yield number, WorkerDied(reasons[number])


def kept(executor: Executor) -> AbstractContextManager[None]:
    """Return a block in which an executor that can keep its workers does so, between one ``run`` and the next."""
    keep: Callable[[], AbstractContextManager[None]] = getattr(executor, "kept", nullcontext)
    return keep()


def _start_trackers() -> None:
    """Start the processes that look after semaphores: on their first start they let interrupts through.

    They outlive a command that is stopped, tidy up what it left, and would warn of that on its screen.
    """
    import multiprocessing.resource_tracker

    from joblib.externals.loky.backend import resource_tracker

    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore"
    try:
        multiprocessing.resource_tracker.ensure_running()
        resource_tracker.ensure_running()
    finally:
        del os.environ["PYTHONWARNINGS"]
        if before is not None:
            os.environ["PYTHONWARNINGS"] = before


def _close(pool: Any, kill: bool) -> None:
    """End the workers of a pool: after their tasks, or at once; runs resume, so that nobody waits for them then."""
    if kill and pool._call_queue is not None:
        # a task larger than a pipe may be on its way to a worker that is about to end: without any reader left, the
        # thread that writes it ends too, instead of waiting for ever
        pool._call_queue._reader.close()
    silent = _ends_silently(pool._executor_manager_thread) if kill else nullcontext()
    with warnings.catch_warnings(), silent:
        warnings.simplefilter("ignore")  # of a machine without pgrep, where the workers are ended all the same
        pool.shutdown(wait=True, kill_workers=kill)


@contextmanager
def _ends_silently(thread: threading.Thread | None) -> Iterator[None]:
    """Let a thread end without a word: one that hands out tasks may miss those that are taken from it in between."""
    before = threading.excepthook
    threading.excepthook = lambda ended: None if ended.thread is thread else before(ended)
    try:
        yield
    finally:
        threading.excepthook = before


def _die_with(parent: int) -> None:
    """Let this worker end when its parent was killed: nobody would take its results, and its memory would stay."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C reaches workers too; the parent ends them

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _numbered(work: Work[Task, Done], number: int, task: Task) -> tuple[int, Done]:
    return number, work(task)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


HELD = (signal.SIGINT, signal.SIGTERM)
Handler = Callable[[int, FrameType | None], object]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let interrupts wait until the end of the block; processes that are started in it never see a Ctrl-C.

    Example:
        >>> import signal
        >>> before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let background jobs ignore it
        >>> try:
        ...     with undisturbed():
        ...         signal.raise_signal(signal.SIGINT)
        ...         print("done")
        ... except KeyboardInterrupt:
        ...     print("and stopped")
        done
        and stopped
        >>> _ = signal.signal(signal.SIGINT, before)
    """
    came: list[int] = []
    try:
        with _handled(lambda before, number, frame: came.append(number)), _kept_from_children():
            yield
    finally:
        if came:
            signal.raise_signal(came[0])


@contextmanager
def _interrupted_once() -> Iterator[None]:
    """Let one interrupt into the block; those after it, while the first is dealt with, are the same wish."""
    came: list[int] = []

    def first(before: Handler, number: int, frame: FrameType | None) -> None:
        if came:
            return
        came.append(number)
        before(number, frame)
        came.clear()  # it only took note of it: nothing is being dealt with

    with _handled(first):
        yield


@contextmanager
def _handled(handle: Callable[[Handler, int, FrameType | None], None]) -> Iterator[None]:
    """Let a function deal with interrupts in the block; it is handed what would have done so."""
    before: dict[int, Handler] = {}
    if threading.current_thread() is threading.main_thread():  # handlers run there, and only there can they be set
        found = {number: signal.getsignal(number) for number in HELD}
        before = {number: handler for number, handler in found.items() if callable(handler)}
        for number in before:
            signal.signal(number, lambda number, frame: handle(before[number], number, frame))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _kept_from_children() -> Iterator[None]:
    """Block SIGINT for this thread: a process inherits that from its first instant, before it could ignore it."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
