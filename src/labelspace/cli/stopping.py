"""Ctrl-C and SIGTERM end a command within two seconds, its workers with it, in one line; a second one changes nothing.

The first signal raises ``Stopped`` and the others are ignored, so that tidying up is not disturbed. A thread waits
beside it: where the process is still there after ``GRACE`` seconds, deep in a computation that Python cannot
interrupt, the thread ends it. Runs go on from what is on disk either way.
"""

import atexit
import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
GRACE = 1.5  # seconds

_unsaid = threading.Lock()
_stopped = threading.Event()
_lost = threading.Event()  # set while nothing of the work is on disk


class Stopped(KeyboardInterrupt):
    """The command was told to stop, by the signal of this number."""


def exit_code(stopped: KeyboardInterrupt) -> int:
    """Return what shells expect of a command that a signal has ended: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + int(stopped.args[0] if isinstance(stopped, Stopped) else signal.SIGINT)


def farewell(text: str | None = None) -> str:
    """Return what is said of a command that was stopped; nothing if it has been said.

    Args:
        text: what there is to say, if it is not how to go on.
    """
    if not _unsaid.acquire(blocking=False):
        return ""
    again = " without --fresh" if "--fresh" in sys.argv else ""
    how = "begins anew: nothing was kept yet." if _lost.is_set() else "goes on from here."
    return f"labelspace: stopped; {text or f'the same command{again} {how}'}"


def kept(something: bool) -> None:
    """Note whether anything of the work is on disk, so that the farewell tells the truth.

    Args:
        something: False when work begins that has left nothing yet.
    """
    if something:
        _lost.clear()
    else:
        _lost.set()


def stop_on_signals() -> None:
    """Let the first signal stop this process, from now on; call it in the main thread of a process of our own."""
    ears, mouth = os.pipe()
    os.set_blocking(mouth, False)
    signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
    threading.Thread(target=_end_the_hard_way, args=(ears,), daemon=True).start()
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, and what shells start in the background
            signal.signal(number, _stop)


def leave_if_stopped(code: int) -> None:
    """End this process if a signal did: Python would take its time to let go of every module first."""
    if _stopped.is_set():
        atexit._run_exitfuncs()
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _stop(number: int, frame: FrameType | None) -> None:
    if _stopped.is_set():  # blocks that were left meanwhile have put this handler back
        return
    _stopped.set()
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(number)


def _end_the_hard_way(ears: int) -> None:
    """Wait for a signal, which comes here even while Python cannot handle it, and then for the process to end."""
    number = os.read(ears, 1)[0]
    while number not in SIGNALS:
        number = os.read(ears, 1)[0]
    time.sleep(GRACE)
    for child in multiprocessing.active_children():
        if child.pid is not None:
            with contextlib.suppress(OSError):
                os.kill(child.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    text = farewell()
    if text:
        os.write(2, f"{text}\n".encode())
    os._exit(128 + number)
