"""Environment for another user's program, which does not affect programs that root runs before it.

The dynamic loader obeys variables such as C{LD_PRELOAD}.  While the process is still root, the
variables have neutral names.  A shell that already runs as the user restores the names.  No value
appears on a command line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_MARK = "TSERVICE_GIVEN_"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OF_SHELLS = frozenset({"UID", "EUID", "PPID", "SHELLOPTS", "BASHOPTS", "BASH_VERSINFO"})
"""Variables that some shells do not allow scripts to set."""


def rename_variables(env: Mapping[str, str]) -> dict[str, str]:
    """Return C{env} under neutral names, without variables that a shell could not restore."""
    names = [name for name in env if _NAME.fullmatch(name) and name not in _OF_SHELLS]
    return {f"{_MARK}{name}": env[name] for name in names}


def make_restoring_command(env: Mapping[str, str], argv: Sequence[str]) -> tuple[str, ...]:
    """Return the command that restores the names changed by L{rename_variables} and then runs
    C{argv}.

    @param env: the original environment.
    @param argv: the command; its program is an absolute path.
    """
    names = [name.removeprefix(_MARK) for name in rename_variables(env)]
    back = "".join(
        f'export {name}="${_MARK}{name}"; unset {_MARK}{name}\n' for name in sorted(names)
    )
    return ("/bin/sh", "-c", f'{back}exec "$@"', "sh", *argv)
