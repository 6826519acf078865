"""Shell text that runs a check and ends all its processes, with what POSIX has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tservice.mux.remote.shell_quoting import (
    build_export_commands,
    join_shell_commands,
    quote_words,
)

TERM_SECONDS = 3
"""Seconds between SIGTERM and SIGKILL."""

VARIABLE = "TSERVICE_CHECK"
"""Variable in the environment of a check, by which its processes are found in C{/proc}."""

_SCRIPT = r"""
mark=$4
report() { printf '\n%s %s %s\n' "$mark" "$1" "$2" >&2; }
lead() {
    command -v setsid >/dev/null 2>&1 && exec setsid "$@"
    exec perl -e 'use POSIX; POSIX::setsid(); exec @ARGV; exit 127' "$@"
}
end() {
    kill -TERM "-$pid" 2>/dev/null
    (env VARIABLE="$mark" sleep TERM; kill -KILL "-$pid") </dev/null >/dev/null 2>&1 3<&- &
    forced=$!
}
cd -- "$1" 2>&1 || { report exit 126; exit 0; }
if ! command -v setsid >/dev/null 2>&1 && ! command -v perl >/dev/null 2>&1; then
    report missing setsid
    exit 0
fi
low="nice -n $5"
command -v nice >/dev/null 2>&1 || low=
why=exit forced=
trap : PIPE
exec 3<&0 </dev/null
lead env VARIABLE="$mark" $low sh -c "$2" 3<&- 2>&1 &
pid=$!
trap 'why=stop; end' USR1
trap 'why=timeout; end' USR2
(while read -r line; do :; done; kill -USR1 $$) <&3 >/dev/null 2>&1 3<&- &
reader=$!
(
    trap 'kill "$nap"; exit' TERM
    env VARIABLE="$mark" sleep "$3" &
    nap=$!
    wait "$nap"
    kill -USR2 $$
) </dev/null >/dev/null 2>&1 3<&- &
timer=$!
exec 3<&-
while :; do
    wait "$pid"
    status=$?
    kill -0 "$pid" 2>/dev/null || break
done
trap '' USR1 USR2
kill "$reader" "$timer" $forced 2>/dev/null
kill -KILL "-$pid" 2>/dev/null
for round in 1 2 3 4 5 6 7 8 9 10; do
    found=$(grep -lsF "VARIABLE=$mark" /proc/[0-9]*/environ 2>/dev/null)
    [ -n "$found" ] || break
    for each in $found; do
        each=${each#/proc/}
        kill -KILL "${each%/environ}" 2>/dev/null
    done
    sleep 0.05 2>/dev/null || sleep 1
done
wait
report "$why" "$status"
"""
"""Run a command as the leader of a session, in the background of a shell that supervises it.

The supervisor ends the whole process group at the time limit, and when its standard input ends:
that is how the service cancels, and what happens when the service or the connection ends. Where
there is C{/proc}, processes that made a session of their own are ended too. Its own messages must
not end it when nobody reads them any more; a check that is started gets the default of SIGPIPE.

The last line on standard error is the mark, followed by C{exit}, C{timeout} or C{stop} and the exit
status; or by C{missing} and the program without which no process group can be made.

Arguments: the folder, the command, the time limit, the mark, and the niceness.
"""

SCRIPT = _SCRIPT.replace("VARIABLE", VARIABLE).replace("sleep TERM", f"sleep {TERM_SECONDS}")


def build_program(env: Mapping[bytes, bytes], arguments: Sequence[bytes]) -> bytes:
    """Return the line of shell text that runs L{SCRIPT} with these variables and arguments.

    @raise ValueError: the name of a variable is not valid.
    """
    run = b"exec " + quote_words(b"sh", b"-c", SCRIPT.encode(), b"sh", *arguments)
    return join_shell_commands(build_export_commands(env), run)
