"""Shell text that an agent's hook runs (protocol-hook-config). Pure.

It needs C{sh} and C{curl}; C{cat} and C{sleep} are used if present, and no event is lost without
them. All values that differ between panes come from the environment. So the same text serves every
session of a folder, and does nothing for an agent that the user started by hand.

- The secret reaches curl by a descriptor that only curl reads: it shows on no command line.
- C{-q} and C{--noproxy}: neither the user's curl settings nor a proxy sees it.
- A certificate is unchecked on loopback only, where another server's certificate would be useless;
the hook cannot know the name in the certificate.
- The agent waits for its hooks for at most half a second. A slower hook continues by itself, for at
most L{BOUND} seconds, detached from the agent. So hooks that the service answers in time keep their
order, and a stalled service blocks no agent.
"""

from __future__ import annotations

from tservice.agents.model import HookEvent

PATH = "/api/hook-event"
SECRET_VARIABLE = "SERVICE_HOOK_SECRET_FILE"  # noqa: S105
BOUND = 10
"""Seconds until a hook gives up (protocol-hook-config)."""
PATIENCE = 0.5
"""Maximum seconds that an agent waits for one hook."""
CONNECT = 1
"""Seconds for the connection: the service is on this machine, or on a nearby host."""

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


def build_stdin_reader() -> str:
    """Return text that sets C{body}, C{secret} and C{trust}, or exits if the service did not
    start the agent.
    """
    return _READ


def build_post(path: str, start: str, *, bound: float) -> str:
    """Return text that sends one request; its response goes to stdout.

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


def build_hook_command(event: HookEvent) -> str:
    """Return the command of a hook that reports C{event}; it is silent, and its status is always
    0.
    """
    start = f'{{"event":"{event}","sessionId":"$SERVICE_SESSION_ID","data":'
    return (
        _HOOK.replace("@READ", build_stdin_reader())
        .replace("@PATIENCE", f"{PATIENCE:g}")
        .replace("@POST", build_post(PATH, start, bound=BOUND))
    )


def is_own_hook(command: object) -> bool:
    """Return true if a command is one of ours, of any version."""
    return isinstance(command, str) and PATH in command and SECRET_VARIABLE in command
