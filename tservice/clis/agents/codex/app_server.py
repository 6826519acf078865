"""Start of Codex with a server of its own, which takes the service as a second client.

The pane's shell starts the server, waits for its socket and becomes Codex. So the server has the
variables of the session, is in the pane's process group, and ends with the pane.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tservice.clis.agents.server_channel import ServerChannel
from tservice.core.disk.files import FileError, read_text
from tservice.core.values.value_limits import parse_toml

ALONE = "--no-daemon"
"""Argument of a start without a server."""

_WAITS = 200
"""Maximum number of looks for the socket, every 0.05 s; then Codex starts without the server."""

# Codex makes the socket in a folder of its own and links to it, and removes neither.
_SCRIPT = f"""\
program=$1 socket=$2 looks=0
shift 2
old=$(readlink -- "$socket") && case $old in
*/codex-daemon-*) rm -f -- "$old" "$old.lock";;
esac
rm -f -- "$socket"
"$program" app-server --listen "unix://$socket" </dev/null >/dev/null 2>&1 &
server=$!
until [ -S "$socket" ] || [ $looks -ge {_WAITS} ] || ! kill -0 $server 2>/dev/null; do
    looks=$((looks + 1))
    sleep 0.05
done
[ -S "$socket" ] && exec "$program" --remote "unix://$socket" "$@"
kill $server 2>/dev/null
exec "$program" {ALONE} "$@"
"""


def _build_argv(argv: tuple[str, ...], socket: Path) -> tuple[str, ...]:
    program, *rest = argv
    others = [word for word in rest if word != ALONE]
    return ("/bin/sh", "-c", _SCRIPT, "codex", program, str(socket), *others)


def is_folder_trusted(folder: Path, env: Mapping[str, str]) -> bool:
    """Return true if Codex would ask no question about a folder. This reads files.

    With a server Codex never asks, and is read-only in a folder without an answer.

    @param env: environment of the pane.
    """
    home = env.get("CODEX_HOME") or os.path.join(env.get("HOME", ""), ".codex")
    if not home.startswith("/"):
        return False
    try:
        config = parse_toml(read_text(Path(home, "config.toml")))
        real = Path(os.path.realpath(folder))
        root = next((each for each in (real, *real.parents) if (each / ".git").exists()), real)
    except (OSError, FileError, ValueError):
        return False
    projects = config.get("projects") if isinstance(config, dict) else None
    known = projects if isinstance(projects, dict) else {}
    found = [known[path] for path in {str(real), str(root)} if path in known]
    levels = [each.get("trust_level") if isinstance(each, dict) else None for each in found]
    return bool(levels) and all(level == "trusted" for level in levels)


SERVER_CHANNEL = ServerChannel(
    since="0.169",
    replaces=ALONE,
    build_argv=_build_argv,
    may_start=is_folder_trusted,
)
