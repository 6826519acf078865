"""The shell text that an agent's hook runs (protocol-hook-config).  Pure.

It needs C{sh} and C{curl}; C{cat} and C{sleep} are used where they are, and their lack costs no
event.  Everything that differs from pane to pane comes from the environment, so the same text
serves every session of a folder, and does nothing for an agent that the user started by hand.

  - The secret reaches curl by a descriptor that only curl reads: no command line shows it.
  - C{-q} and C{--noproxy}: neither the user's curl settings nor a proxy gets to see it.
  - A certificate is not checked on loopback alone, where nobody else's would be of any use; the
    hook could not know the name that it is for.
  - The agent waits for its hooks.  It gets half a second: what is slower goes on by itself, for at
    most L{BOUND} seconds, with everything of the agent's let go.  Hooks that the service answers
    in time so keep their order, and a service that stands still stops no agent.
"""

from __future__ import annotations

from tservice.agents.model import HookEvent

PATH = "/api/hook-event"
SECRET_VARIABLE = "SERVICE_HOOK_SECRET_FILE"  # noqa: S105
BOUND = 10
"""Seconds until a hook gives up (protocol-hook-config)."""
PATIENCE = 0.5
"""Seconds that an agent waits for one hook at most."""
CONNECT = 1
"""Seconds for the connection: the service is on this machine, or on a host near it."""

_READ = """\
body=$(cat 2>/dev/null) || while IFS= read -r line || [ -n "$line" ]; do body="$body$line "; done
[ -n "$SERVICE_SESSION_ID" ] && [ -n "$SERVICE_API_URL" ] || exit 0
{ IFS= read -r secret <"$SERVICE_HOOK_SECRET_FILE"; } 2>/dev/null || [ -n "$secret" ] || exit 0
trust=no-insecure host=${SERVICE_API_URL#*://} host=${host%%/*}
case $host in
*@*) ;;
"[::1]"|"[::1]:"*|localhost|localhost:*) trust=insecure;;
*[!0-9.:]*) ;;
127.*) trust=insecure;;
esac
"""

_POST = """\
curl -q -s -g --noproxy "*" --@TRUST --connect-timeout @CONNECT -m @BOUND \
-K /dev/fd/3 --data-binary @- "$SERVICE_API_URL@PATH" 3<<HEADERS <<BODY
header = "Content-Type: application/json"
header = "Expect:"
header = "X-Service-Hook-Secret: $secret"
HEADERS
@START${body:-null}}
BODY
"""

_HOOK = """\
exec >/dev/null 2>&1
trap "" HUP
@READsleep @PATIENCE & waiter=$!
{
@POSTkill -0 "$$" && kill "$waiter"
} &
wait "$waiter"
exit 0
"""


def read_stdin() -> str:
    """Sets C{body}, C{secret} and C{trust}, or ends where the service did not start the agent."""
    return _READ


def post(path: str, start: str, *, bound: float) -> str:
    """One request; its answer goes to stdout.

    @param start: the JSON text up to the value that was read from stdin; C{sh} expands it.
    @param bound: seconds.
    """
    return (
        _POST.replace("@TRUST", "$trust")
        .replace("@CONNECT", str(CONNECT))
        .replace("@BOUND", f"{bound:g}")
        .replace("@PATH", path)
        .replace("@START", start)
    )


def hook_command(event: HookEvent) -> str:
    """The command of a hook that tells of C{event}; silent, and its status is always 0."""
    start = f'{{"event":"{event}","sessionId":"$SERVICE_SESSION_ID","data":'
    return (
        _HOOK.replace("@READ", read_stdin())
        .replace("@PATIENCE", f"{PATIENCE:g}")
        .replace("@POST", post(PATH, start, bound=BOUND))
    )


def is_own_hook(command: object) -> bool:
    """Whether a command is one of ours, whichever version wrote it."""
    return isinstance(command, str) and PATH in command and SECRET_VARIABLE in command
