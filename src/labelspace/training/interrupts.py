"""Ctrl-C: held off while something must not be left half done, and never for the workers, whom their parent ends."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

HELD = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let interrupts wait until the end of the block; processes that are started in it never see a Ctrl-C.

    Example:
        >>> import signal
        >>> try:
        ...     with undisturbed():
        ...         signal.raise_signal(signal.SIGINT)
        ...         print("done")
        ... except KeyboardInterrupt:
        ...     print("and stopped")
        done
        and stopped
    """
    came: list[int] = []
    handlers: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():  # handlers run there, and only there can they be set
        handlers = {number: signal.getsignal(number) for number in HELD if callable(signal.getsignal(number))}
        for number in handlers:
            signal.signal(number, lambda number, frame: came.append(number))
    try:
        with _kept_from_children():
            yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


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
