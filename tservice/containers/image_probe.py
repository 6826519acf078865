"""Probe, run inside a container, for the programs that sessions need (protocol-containers)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from attrs import frozen

from tservice.containers.folders import CREDENTIALS
from tservice.containers.isolation import HOME
from tservice.core.process.program_folders import (
    format_shell_patterns,
    join_path,
    sort_program_folders,
)
from tservice.mux.terminfo import ENTRIES, FALLBACK, FOLDERS, TERMINAL
from tservice.mux.tmux_version import MIN_TMUX, MIN_TMUX_TEXT

MAX_PROGRAMS = 20_000
"""Maximum number of programs in the container that are recorded."""

MARK = "tservice-begins\n"
"""Line that precedes the results.

The C{sh} of an image may print something before it.
"""

_FOLDERS = format_shell_patterns()
_FILES = " ".join(f"{folder}/{entry}" for folder in FOLDERS for entry in ENTRIES)
_CREDENTIALS = " ".join(f"{HOME}/{name}" for name in CREDENTIALS)
SCRIPT = f"""
echo tservice-begins
printf 'PATH=%s\\n' "$PATH"
command -v tmux >/dev/null 2>&1 && printf 'TMUX=%s\\n' "$(tmux -V)"
for folder in {_FOLDERS}; do
  [ -d "$folder" ] && printf 'FOLDER=%s\\n' "$folder"
done
printf 'HOME=%s\\n' "$HOME"
for file in {_CREDENTIALS}; do
  [ ! -e "$file" ] || [ -r "$file" ] || printf 'CLOSED=%s\\n' "$file"
done
for file in {_FILES}; do
  [ -f "$file" ] && printf 'TERM=%s\\n' "${{file##*/}}"
done
IFS=:
for folder in $PATH {_FOLDERS}; do
  for file in "$folder"/*; do
    [ -f "$file" ] && [ -x "$file" ] && printf '%s\\n' "$file"
  done
done
exit 0
"""
"""Script for a POSIX shell.  It uses only builtin commands."""

_MAX_HEADER_LINES = 3 + len(CREDENTIALS) + len(FOLDERS) * len(ENTRIES)
"""Maximum number of lines that precede those with programs."""
_TMUX = re.compile(r"tmux (?:next-|openbsd-)?(\d{1,4})\.(\d{1,4})", re.ASCII)


@frozen(kw_only=True)
class ContainerContents:
    """Programs and settings found inside a container.

    @ivar path: folders of the container's C{PATH}, followed by usual folders of programs.
    @ivar programs: path of the first program of each name.
    @ivar paths: paths of all programs.
    @ivar closed: credential files that the container's user cannot read.
    @ivar unlimited: names of resource limits that the engine does not enforce.
    @ivar terminal: value of C{TERM} for panes in the container.
    """

    path: str
    programs: Mapping[str, str]
    paths: frozenset[str]
    tmux: str | None
    closed: tuple[str, ...] = ()
    unlimited: tuple[str, ...] = ()
    terminal: str = FALLBACK

    @property
    def warnings(self) -> tuple[str, ...]:
        """Differences from the requested configuration, as sentences."""
        found = [
            f"{path}, the agent's credentials, cannot be read inside: set mountCredentials to "
            '"copy" or false, and recreate the container'
            for path in self.closed
        ]
        if self.unlimited:
            limits = ", ".join(self.unlimited)
            found.append(f"there is no limit on {limits}: the engine enforces none (docker info)")
        return tuple(found)

    @property
    def unusable_reason(self) -> str | None:
        """Reason why it cannot run a session; C{None}: it can."""
        if self.tmux is None:
            return f"the image has no tmux; sessions need {MIN_TMUX_TEXT} or later"
        found = _TMUX.match(self.tmux)
        if found is None or (int(found[1]), int(found[2])) < MIN_TMUX:
            return f"the image has {self.tmux[:40]}; sessions need tmux {MIN_TMUX_TEXT} or later"
        return None


def parse_contents(text: str) -> ContainerContents:
    """Parse the output of L{SCRIPT}."""
    _, _, answer = text.partition(MARK)
    said: dict[str, str] = {}
    folders: list[str] = []
    files: list[str] = []
    closed: list[str] = []
    entries: set[str] = set()
    for line in answer.splitlines()[: MAX_PROGRAMS + _MAX_HEADER_LINES]:
        name, _, value = line.partition("=")
        if line.startswith("/"):
            files.append(line)
        elif name == "FOLDER":
            folders.append(value)
        elif name == "CLOSED":
            closed.append(value)
        elif name == "TERM":
            entries.add(value)
        else:
            said.setdefault(name, value)
    path = said.get("PATH", "")
    usual = sort_program_folders(folders, said.get("HOME", ""))
    order = [str(PurePosixPath(folder)) for folder in (*path.split(":"), *usual)]
    ranks = {folder: rank for rank, folder in enumerate(reversed(order))}
    # Programs of the newest version come first.
    files.sort(key=lambda file: -ranks.get(str(PurePosixPath(file).parent), -1))
    programs: dict[str, str] = {}
    for file in files:
        programs.setdefault(PurePosixPath(file).name, file)
    return ContainerContents(
        path=join_path(path, *usual) if path else "",
        programs=programs,
        paths=frozenset(files),
        tmux=said.get("TMUX"),
        closed=tuple(closed),
        terminal=TERMINAL if TERMINAL in entries else FALLBACK,
    )
