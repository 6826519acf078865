"""Background coroutines whose errors are logged."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

_T = TypeVar("_T")


def spawn_logged(work: Coroutine[Any, Any, _T], log: Logger, what: str) -> Deferred[_T | None]:
    """Run C{work} in the background and log its failure; a cancellation is not a failure.

    @param what: describes the work in the log line of a failure.
    @return: fires with the result, or C{None} after a failure; never errbacks.
    """

    def log_failure(failure: Failure) -> None:
        if not failure.check(CancelledError):
            log.failure("{what} failed", failure, what=what)

    task: Deferred[_T | None] = Deferred.fromCoroutine(work)
    return task.addErrback(log_failure)
