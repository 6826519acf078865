"""The scheduling priority of a pane's process (wire 1.1, C{nice})."""

from __future__ import annotations

import os
from collections.abc import Callable

from twisted.logger import Logger

from tservice.core.errors import ServiceError, failed
from tservice.sessions.model import Nice

SetPriority = Callable[[int, int], None]
"""C{(pid, nice)}; raises L{OSError}."""

_log = Logger()


def set_process_priority(pid: int, nice: int) -> None:
    """Renice one process.  What it starts from then on inherits it; what runs already does not."""
    os.setpriority(os.PRIO_PROCESS, pid, nice)


def apply_now(set_priority: SetPriority, pid: int | None, nice: Nice) -> None:
    """Renice a running process to what a caller asked for.

    @raise ServiceError: 422: the system refused, as it does when somebody but root asks for more.
    """
    if pid is None:
        return
    try:
        set_priority(pid, nice.value if nice.enabled else 0)
    except OSError as error:
        raise failed(f"nice: the system refused: {error.strerror}") from error


def apply_at_start(set_priority: SetPriority, pid: int | None, nice: Nice) -> None:
    """Renice a process that was just started; it runs on when the system refuses."""
    if not nice.enabled:
        return
    try:
        apply_now(set_priority, pid, nice)
    except ServiceError as error:
        _log.warn("process {pid} keeps its priority: {error}", pid=pid, error=error)
