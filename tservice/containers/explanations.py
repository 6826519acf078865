"""Error texts that explain to clients why a container cannot be used (protocol-containers)."""

from __future__ import annotations

import os
import re

from tservice.containers.command_runner import EngineCommandResult
from tservice.containers.engine_output import ContainerSnapshot
from tservice.containers.model import ContainerCase
from tservice.containers.procfs import find_process_shortage
from tservice.core.kernel.errors import make_failure_error

MISSING_PROGRAM_STATUSES = (126, 127)
"""Exit codes with which a shell, an engine or a container's main process reports a missing program.
"""

NO_SHELL = "the image has no POSIX shell (sh)"

_NO_SHELL = re.compile(r"not found|no such file", re.IGNORECASE)


def explain_early_end(case: ContainerCase, seen: ContainerSnapshot | None, words: str) -> str:
    """Explain why a container ended right after its start.

    @param words: error output from inside the container.
    """
    if seen is None:
        return f"the container {case.container} was removed right after its start"
    if seen.exit_code in MISSING_PROGRAM_STATUSES or _NO_SHELL.search(words):
        return NO_SHELL
    ended = f"the container {case.container} exited after its start with status {seen.exit_code}"
    return f"{ended}: {words}" if words else ended


def explain_process_shortage(container: str, first: int) -> str | None:
    """Explain that a container has reached its limit of processes; C{None} if it has not.

    @param first: process id of the container's main process on this machine.
    """
    found = find_process_shortage(first) if first else None
    if found is None:
        return None
    now, most = found
    return (
        f"the container {container} has {now} of the {most} processes that it may have: end some "
        "inside, or raise resources.pids of its host and recreate the container"
    )


def explain_missing_output(container: str, first: int, told: EngineCommandResult) -> str:
    """Explain why a command run in the container printed no result.

    @param first: process id of the container's main process on this machine.
    """
    full = explain_process_shortage(container, first)
    if full is not None:
        return f"{full} ({told.error_text or told.status})"
    if told.status in MISSING_PROGRAM_STATUSES and _NO_SHELL.search(told.error_text):
        return NO_SHELL
    return f"the container {container} does not answer: {told.error_text or told.status}"


def require_usable_owner(case: ContainerCase, user: int) -> None:
    """Fail if this service cannot run processes as the owner of a case's workspace.

    @param user: user id of the owner.
    @raise ServiceError: 422: the service does not run as root, nor as that user.
    """
    own = os.geteuid()
    if own not in (0, user):
        raise make_failure_error(
            f"the workspace {case.path} belongs to user {user}, and this service is not root: "
            f"choose a folder of user {own}"
        )


def explain_changed_owner(case: ContainerCase, owner: int, user: int, *, made: bool) -> str:
    """Explain that a container runs as another user than the owner of its workspace.

    @param owner: user id of the workspace's owner.
    @param user: user id of the container's processes.
    @param made: true if the container was just created, so that recreating it would not help.
    """
    what_to_do = f"choose a folder of user {user}" if made else "recreate the container"
    return (
        f"the workspace {case.path} belongs to user {owner}, and the user inside the container "
        f"{case.container} is user {user} of this machine: {what_to_do}"
    )


def explain_changed_workspace(case: ContainerCase) -> str:
    """Explain that the container's mounted workspace is not the folder that was checked."""
    return (
        f"the workspace {case.path} is not the folder that the container {case.container} mounts: "
        "recreate the container"
    )
