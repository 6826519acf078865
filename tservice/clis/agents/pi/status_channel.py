"""Start of pi with an extension that writes the status of the agent to a file."""

from __future__ import annotations

from pathlib import Path

from tservice.clis.agents.server_channel import ServerChannel

EXTENSION = Path(__file__).with_name("status_extension.js")
VARIABLE = "TSERVICE_STATUS_FILE"

# A file of an earlier process would tell its last status.
_SCRIPT = f'rm -f -- "$1"; export {VARIABLE}="$1"; shift; exec "$@"'


def _build_argv(argv: tuple[str, ...], file: Path) -> tuple[str, ...]:
    return ("/bin/sh", "-c", _SCRIPT, "pi", str(file), *argv, "--extension", str(EXTENSION))


STATUS_CHANNEL = ServerChannel(since="1.0", build_argv=_build_argv, writes_file=True)
