"""Shell script of the hook that waits for a decision (protocol-hook-decision).

It posts the event once and prints the response, which is empty without a decision. Nothing else
reaches the agent: a service that is gone, restarts or knows no such route leaves the dialog as it
is. This module does no I/O.
"""

from __future__ import annotations

from tservice.agents.channels.held_hooks import HOLD_SECONDS
from tservice.agents.hooks.hook_config import CommandHook
from tservice.agents.hooks.hook_script import PATH, build_post, build_stdin_reader

DECISION_PATH = f"{PATH}/decision"
BOUND = HOLD_SECONDS + 30
"""Seconds until the hook gives up, after the service has released it."""

_START = '{"sessionId":"$SERVICE_SESSION_ID","data":'

_SCRIPT = """\
exec 2>/dev/null
@READfound=$(
@POST) || exit 0
case $found in
'{"hookSpecificOutput":'*) printf '%s\\n' "$found";;
esac
exit 0
"""


def build_dialog_hook() -> CommandHook:
    """Return the hook; the exit status of its command is always 0."""
    command = _SCRIPT.replace("@READ", build_stdin_reader()).replace(
        "@POST", build_post(DECISION_PATH, _START, bound=BOUND)
    )
    return CommandHook(command=command, timeout=int(BOUND) + 5)
