"""How something slow is waited for without being deaf meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

ResultT = TypeVar("ResultT")


def in_background(work: Callable[[], ResultT]) -> Future[ResultT]:
    """Do something in a thread that does not keep the program from ending.

    The threads of an executor would: the interpreter waits for them.
    """
    result: Future[ResultT] = Future()

    def run() -> None:
        try:
            result.set_result(work())
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            result.set_exception(error)

    Thread(target=run, daemon=True).start()
    return result
