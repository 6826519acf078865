"""What an image has to have, looked for inside of a container (protocol-containers).  Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from attrs import frozen

LEAST_TMUX = (3, 2)
MOST_PROGRAMS = 20_000
"""Programs inside that are remembered; further ones are not found."""

SCRIPT = """
printf 'PATH=%s\\n' "$PATH"
command -v tmux >/dev/null 2>&1 && printf 'TMUX=%s\\n' "$(tmux -V)"
IFS=:
for folder in $PATH "$HOME/.local/bin" "$HOME/.npm-global/bin" /usr/local/bin; do
  for file in "$folder"/*; do
    [ -f "$file" ] && [ -x "$file" ] && printf '%s\\n' "$file"
  done
done
exit 0
"""
"""For a POSIX shell, with nothing but its own words."""

_TMUX = re.compile(r"tmux (?:next-|openbsd-)?(\d{1,4})\.(\d{1,4})", re.ASCII)


@frozen(kw_only=True)
class Inside:
    """What is inside of a container.

    @ivar path: its C{PATH}.
    @ivar programs: where the first program of a name is.
    @ivar paths: where there are programs.
    """

    path: str
    programs: Mapping[str, str]
    paths: frozenset[str]
    tmux: str | None

    @property
    def fault(self) -> str | None:
        """What it lacks to run a session; C{None}: nothing."""
        least = ".".join(map(str, LEAST_TMUX))
        if self.tmux is None:
            return f"the image has no tmux; sessions need {least} or later"
        found = _TMUX.match(self.tmux)
        if found is None or (int(found[1]), int(found[2])) < LEAST_TMUX:
            return f"the image has {self.tmux[:40]}; sessions need tmux {least} or later"
        return None


def read_inside(text: str) -> Inside:
    """From what L{SCRIPT} printed."""
    path, tmux = "", None
    programs: dict[str, str] = {}
    paths: set[str] = set()
    for line in text.splitlines()[: MOST_PROGRAMS + 2]:
        if line.startswith("PATH="):
            path = line.removeprefix("PATH=")
        elif line.startswith("TMUX="):
            tmux = line.removeprefix("TMUX=")
        elif line.startswith("/"):
            programs.setdefault(PurePosixPath(line).name, line)
            paths.add(line)
    return Inside(path=path, programs=programs, paths=frozenset(paths), tmux=tmux)
