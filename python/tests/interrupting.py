"""Interrupts of work for tests, whatever the time that it takes if it goes on for ever."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

# Seconds after which an interrupt counts as lost, on the slowest machine.
HANGS = 60.0


def forever(act: Callable[[], Any]) -> Callable[[], None]:
    """Return what does the same again and again, however soon it ends."""

    def again() -> None:
        while True:
            act()

    return again


def interrupted(act: Callable[[], Any], delay: float) -> float:
    """Return the seconds between an interrupt and its exception.

    One that is lost is sent again, so that no test waits for ever.
    """
    sent = [0.0]
    ended = threading.Event()

    def send() -> None:
        ended.wait(delay)
        sent[0] = time.perf_counter()
        while not ended.is_set():
            os.kill(os.getpid(), signal.SIGINT)
            ended.wait(HANGS)

    sender = threading.Thread(target=send)
    try:
        sender.start()  # which may take longer than the delay
        act()
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    finally:
        ended.set()
        sender.join()
    raise AssertionError("ended before the interrupt")
