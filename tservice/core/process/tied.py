"""Children that end together with this process, also where nobody could end them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping


def tied(environ: Mapping[str, str]) -> list[str]:
    """The words before a command that has it end together with this process, even by SIGKILL.

    Where util-linux' C{setpriv} is missing there are none, and a killed service leaves it behind.
    """
    return tied_by(shutil.which("setpriv", path=environ.get("PATH")))


def tied_by(setpriv: str | None) -> list[str]:
    """As L{tied}.

    @param setpriv: absolute path of the program.
    """
    return [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
