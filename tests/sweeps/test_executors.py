"""Where tasks are done: every one once, and interrupts wait for what must not be left half done."""

import os
import signal
import threading

import pytest

from labelspace import InputError
from labelspace.sweeps import executors
from labelspace.sweeps.executors import (
    InProcess,
    Processes,
    RayTasks,
    Slurm,
    WorkerDied,
    _interrupted_once,
    kept,
    undisturbed,
)


def test_tasks_in_this_process_come_in_order() -> None:
    assert list(InProcess().run(lambda task: task * task, [3, 1, 2])) == [(0, 9), (1, 1), (2, 4)]


def test_numbers_are_checked() -> None:
    with pytest.raises(InputError, match="`workers` of Processes must be a whole number of at least 1. Got 0"):
        Processes(workers=0)
    with pytest.raises(InputError, match="`retries` of Slurm"):
        Slurm("logs", retries=-1)
    assert RayTasks().retries == 3
    assert WorkerDied("why").reason == "why"


def test_an_interrupt_waits_for_the_end_of_the_block() -> None:
    done: list[str] = []

    def interrupted() -> None:
        with undisturbed():
            signal.raise_signal(signal.SIGINT)
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert done == ["all of it"]


def test_a_second_interrupt_does_not_disturb_what_the_first_has_begun() -> None:
    done: list[str] = []

    def impatient() -> None:
        with _interrupted_once():
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                signal.raise_signal(signal.SIGINT)
                done.append("all is closed")
                raise

    with pytest.raises(KeyboardInterrupt):
        impatient()
    assert done == ["all is closed"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_workers_are_kept_for_a_block_and_replaced_where_one_died() -> None:
    executor = Processes(1)

    def worker() -> int:
        ((_, number),) = executor.run(abs, [-1])
        assert number == 1
        return next(iter(executor._idle[0]._processes)) if executor._idle else 0

    with executor.kept():
        first = worker()
        assert worker() == first
        os.kill(first, signal.SIGKILL)
        assert worker() != first
    assert worker() == 0, "outside the block nobody waits"


def test_only_an_executor_that_can_keeps_workers() -> None:
    with kept(InProcess()), kept(Processes(1)):
        pass


class Ending:
    """A pool whose thread misses a task that is taken from it while its workers are ended."""

    _call_queue = None

    def __init__(self) -> None:
        self._executor_manager_thread = threading.Thread(target={}.__getitem__, args=(1,))

    def shutdown(self, wait: bool, kill_workers: bool) -> None:
        self._executor_manager_thread.start()
        self._executor_manager_thread.join()


def test_a_pool_that_is_ended_at_once_says_nothing() -> None:
    said: list[object] = []
    before = threading.excepthook
    threading.excepthook = said.append
    try:
        executors._close(Ending(), kill=True)
        assert said == []
        executors._close(Ending(), kill=False)  # where nobody asked for an end, it is heard
        assert len(said) == 1
    finally:
        threading.excepthook = before
