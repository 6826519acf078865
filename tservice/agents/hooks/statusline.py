"""Shell command of the status line that is added to an agent (protocol-telemetry)."""

from __future__ import annotations

import shlex

from tservice.agents.hooks.hook_script import SECRET_VARIABLE, build_post, build_stdin_reader

PATH = "/api/status-telemetry"
BOUND = 2
"""Maximum seconds of the request, because the footer appears after its response."""
OWN_LINE = 4
"""Maximum seconds of the user's own status line command (protocol-telemetry)."""

_START = '{"sessionId":"$SERVICE_SESSION_ID","data":'

_ALONE = """\
exec 2>/dev/null
@READ@POSTexit 0
"""

# The user's own status line runs first, independent of the service, because it matters most to the
# user. Without timeout(1), only its shell can be ended in time.
_BOTH = """\
exec 2>/dev/null
body=$(cat)
own() {
exec sh -c @LINE <<INPUT
$body
INPUT
}
if command -v timeout >/dev/null; then
timeout @SECONDS sh -c @LINE <<INPUT
$body
INPUT
else
own & own=$!
{ sleep @SECONDS; kill -0 "$$" && kill "$own"; } >/dev/null &
wait "$own"
fi
(
exec >/dev/null
trap "" HUP
@READ@POST) <<INPUT &
$body
INPUT
exit 0
"""


def build_status_command(own: str | None, seconds: float = OWN_LINE) -> str:
    """Return the command of the C{statusLine} entry, whose exit status is always 0.

    @param own: the user's own command, whose output is shown; C{None} to show the service's line.
    @param seconds: time limit for the user's own command.
    """
    text = _ALONE if own is None else _BOTH
    return (
        text.replace("@READ", build_stdin_reader())
        .replace("@POST", build_post(PATH, _START, bound=BOUND))
        .replace("@SECONDS", f"{seconds:g}")
        .replace("@LINE", shlex.quote(own or ""))
    )


def is_own_status(command: object) -> bool:
    """Return true if any version of the service wrote the command."""
    return isinstance(command, str) and PATH in command and SECRET_VARIABLE in command
