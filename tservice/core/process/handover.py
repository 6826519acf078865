"""An environment for a program of another user's, that nothing of root's reads on the way.

The loader does what variables such as C{LD_PRELOAD} say.  What still is root, before it becomes
that user, is given them by names that mean nothing, and a shell that is that user already gives
them back.  No value is on a command line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_MARK = "TSERVICE_GIVEN_"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OF_SHELLS = frozenset({"UID", "EUID", "PPID", "SHELLOPTS", "BASHOPTS", "BASH_VERSINFO"})
"""What some shells let nobody set."""


def given(env: Mapping[str, str]) -> dict[str, str]:
    """C{env} by names that mean nothing; without what a shell could not give back."""
    names = [name for name in env if _NAME.fullmatch(name) and name not in _OF_SHELLS]
    return {f"{_MARK}{name}": env[name] for name in names}


def taken(env: Mapping[str, str], argv: Sequence[str]) -> tuple[str, ...]:
    """What becomes C{argv} with C{env}, when it is started with what L{given} makes of that.

    @param argv: the first word is an absolute path.
    """
    names = [name.removeprefix(_MARK) for name in given(env)]
    back = "".join(
        f'export {name}="${_MARK}{name}"; unset {_MARK}{name}\n' for name in sorted(names)
    )
    return ("/bin/sh", "-c", f'{back}exec "$@"', "sh", *argv)
