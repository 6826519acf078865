"""Children that die together with this process, even if it cannot kill them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping


def find_parent_death_prefix(environ: Mapping[str, str]) -> list[str]:
    """Return the words that precede a command to kill it when this process ends, even by SIGKILL.

    Without util-linux's C{setpriv} the result is empty, and the command outlives a killed service.
    """
    return parent_death_prefix(shutil.which("setpriv", path=environ.get("PATH")))


def parent_death_prefix(setpriv: str | None) -> list[str]:
    """Return the same words as L{find_parent_death_prefix} for a given C{setpriv}.

    @param setpriv: absolute path of the program.
    """
    return [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
