"""Scheduling priority of a pane's process (protocol-session, C{nice})."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

from twisted.logger import Logger

from tservice.core.kernel.errors import ServiceError, make_failure_error
from tservice.core.locations.location import OWN_LOCATION, LocationId
from tservice.core.users.os_users import find_process_owner
from tservice.sessions.record.model import ProcessPriority

SetPriority = Callable[[int, int], None]
"""Function that sets a process's priority; called with pid and nice value. Raises L{OSError}."""

_log = Logger()


def set_process_priority(pid: int, nice: int) -> None:
    """Set the nice value of one process. Its later children inherit the value; running children do
    not.
    """
    os.setpriority(os.PRIO_PROCESS, pid, nice)


def confine_to_location(set_priority: SetPriority, place: LocationId) -> SetPriority:
    """Limit C{set_priority} to processes in C{place}, because the pane's user controls the reported
    pid.

    Only root may set a value below 0. The pid of a process on another machine is refused, because
    it means another process here.
    """
    if place == OWN_LOCATION:
        return set_priority

    def renice_checked(pid: int, nice: int) -> None:
        theirs = place.is_on_this_machine and find_process_owner(pid) == place.uid
        if nice < 0 or not theirs:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))
        set_priority(pid, nice)

    return renice_checked


def set_running_priority(set_priority: SetPriority, pid: int | None, nice: ProcessPriority) -> None:
    """Set the priority of a running process, as a caller requested.

    @raise ServiceError: 422: the system refused; only root may raise a priority.
    """
    if pid is None:
        return
    try:
        set_priority(pid, nice.value if nice.enabled else 0)
    except OSError as error:
        raise make_failure_error(f"nice: the system refused: {error.strerror}") from error


def set_priority_after_start(
    set_priority: SetPriority, pid: int | None, nice: ProcessPriority
) -> None:
    """Set the priority of a process that was just started. Ignore the error if the system
    refuses.
    """
    if not nice.enabled:
        return
    try:
        set_running_priority(set_priority, pid, nice)
    except ServiceError as error:
        _log.warn("process {pid} keeps its priority: {error}", pid=pid, error=error)
