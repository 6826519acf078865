"""A child in a process group of its own.

Twisted starts children in the service's group: to end that one would end the service.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

_NEW_GROUP = "import os, sys; os.setsid(); os.execv(sys.argv[1], sys.argv[2:])"


def in_own_group(argv: Sequence[str], name: str | None = None) -> list[str]:
    """The command that becomes C{argv} as the leader of a group.

    @param argv: the first word is an absolute path.
    @param name: what the program is told in the place of its path.
    """
    program, *words = argv
    known = program if name is None else name
    return [sys.executable, "-I", "-S", "-c", _NEW_GROUP, program, known, *words]
