"""Commands that run in a separate process group.

Twisted starts children in the service's group; killing that group would kill the service.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

_NEW_GROUP = "import os, sys; os.setsid(); os.execv(sys.argv[1], sys.argv[2:])"


def make_group_command(argv: Sequence[str], name: str | None = None) -> list[str]:
    """Return the command that runs C{argv} as the leader of a new process group.

    @param argv: the command; its program is an absolute path.
    @param name: the C{argv[0]} that the program sees.  C{None} for its path.
    """
    program, *words = argv
    known = program if name is None else name
    return [sys.executable, "-I", "-S", "-c", _NEW_GROUP, program, known, *words]
