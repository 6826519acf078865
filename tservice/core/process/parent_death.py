"""Commands whose process is killed when this process ends, even if this process is killed."""

from __future__ import annotations


def make_parent_death_prefix(setpriv: str | None) -> list[str]:
    """Return a command prefix that kills the command when this process ends, even by SIGKILL.

    The prefix is empty without util-linux's C{setpriv}.  The command then outlives a killed
    service.

    @param setpriv: absolute path of the program; C{None} if it is not installed.
    """
    return [setpriv, "--pdeathsig", "KILL", "--"] if setpriv else []
