"""Commands whose process is killed when this process ends, even if this process is killed."""

from __future__ import annotations

import shutil
from collections.abc import Mapping


def find_parent_death_prefix(environ: Mapping[str, str]) -> list[str]:
    """Return a command prefix that kills the command when this process ends, even by SIGKILL.

    Without util-linux's C{setpriv} the prefix is empty, and the command outlives a killed service.
    """
    return make_parent_death_prefix(shutil.which("setpriv", path=environ.get("PATH")))


def make_parent_death_prefix(setpriv: str | None) -> list[str]:
    """Return the command prefix of L{find_parent_death_prefix} for a given C{setpriv}.

    @param setpriv: absolute path of the program.  C{None} if it is not installed.
    """
    return [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
