"""Shell script that an agent's hook runs (protocol-hook-config).

The script needs C{sh} and C{curl}. It uses C{cat} and C{sleep} if present, and loses no event
without them. All values that differ between panes come from the environment. So the same script
serves every session of a folder, and does nothing for an agent that the user started by hand. This
module does no I/O.

- The secret reaches curl by a descriptor that only curl reads, so no command line shows it.
- C{-q} and C{--noproxy} keep the secret from the curl settings of the user and from proxies.
- Only on loopback the certificate is not checked. Another server's certificate would be useless
there, and the hook cannot know the name in the certificate.
- The agent waits at most half a second for each hook. A slower hook continues for at most L{BOUND}
seconds, detached from the agent. So hooks that the service answers in time keep their order, and a
stalled service blocks no agent.
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
"""Maximum seconds for the connection, because the service is on this machine or on a nearby host.
"""

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
    """Return the start of the script, which sets C{body}, C{secret} and C{trust}.

    The script exits there if the service did not start the agent.
    """
    return _READ


def build_post(path: str, start: str, *, bound: float) -> str:
    """Return the part of the script that sends one request; its response goes to stdout.

    @param start: the JSON text before the value that was read from stdin; C{sh} expands it.
    @param bound: time limit of the request in seconds.
    """
    return (
        _POST.replace("@TRUST", "$trust")
        .replace("@CONNECT", str(CONNECT))
        .replace("@BOUND", f"{bound:g}")
        .replace("@PATH", path)
        .replace("@START", start)
    )


def build_hook_command(event: HookEvent) -> str:
    """Return the command of a hook that reports C{event}.

    The command prints nothing, and its exit status is always 0.
    """
    start = f'{{"event":"{event}","sessionId":"$SERVICE_SESSION_ID","data":'
    return (
        _HOOK.replace("@READ", build_stdin_reader())
        .replace("@PATIENCE", f"{PATIENCE:g}")
        .replace("@POST", build_post(PATH, start, bound=BOUND))
    )


def is_own_hook(command: object) -> bool:
    """Return true if any version of the service wrote the command."""
    return isinstance(command, str) and PATH in command and SECRET_VARIABLE in command
