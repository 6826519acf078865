"""Command of an agent CLI that runs once: its limits, and what its end means."""

from __future__ import annotations

from collections.abc import Mapping

from tservice.core.process.child import ChildCommand, ChildResult
from tservice.core.process.environment_handover import make_restoring_command, rename_variables
from tservice.core.users.os_users import OsUser

TIME_LIMIT = 85.0
"""Maximum run time in seconds. The HTTP caller gets a response within 90 seconds."""

OUTPUT_LIMIT = 256 * 1024
"""Maximum bytes of standard output. A CLI that prints more is killed."""

ERRORS = 2_000
"""Number of bytes that are kept from the end of standard error."""


def make_oneshot_command(
    argv: tuple[str, ...], env: Mapping[str, str], folder: str, user: OsUser | None
) -> ChildCommand:
    """Return the command of a CLI. It has no data to lose, so it is ended by SIGKILL.

    @param folder: the working folder.
    @param user: OS user that runs the CLI; C{None} means the user of this process. The environment
        is passed so that other users cannot read it.
    """
    if user is not None:
        argv, env = make_restoring_command(env, argv), rename_variables(env)
    return ChildCommand(
        argv=argv,
        env=env,
        folder=folder,
        user=user,
        seconds=TIME_LIMIT,
        output_limit=OUTPUT_LIMIT,
        error_limit=ERRORS,
    )


def describe_failure(result: ChildResult) -> str | None:
    """Return the reason why a CLI has no answer; C{None} if it succeeded."""
    if result.is_stopped:
        return "the service stops"
    if result.is_timed_out:
        return f"it took longer than {TIME_LIMIT:g} s"
    if result.is_truncated:
        return "it printed too much"
    if result.status == 0:
        return None
    how = "a signal" if result.status is None else f"status {result.status}"
    return f"the CLI ended with {how}"
