"""Assembly of the OS users that accounts name (protocol-os-users)."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import frozen

from tservice.access.hook_secret import OsUserSecrets, load_hook_secret
from tservice.core.locations.location import HookAccess
from tservice.core.users.file_identity import SETGROUPS, call_as_user
from tservice.core.users.os_users import NO_ROOT, OsUser, OsUsers, OsUserSupport, make_user_prefix
from tservice.core.users.shared_folder import SharedFolder
from tservice.core.workers.user_directory import UserDirectory
from tservice.mux.tmux.setup import OsUserSetups

PYTHONS = ("/usr/local/bin/python3", "/usr/bin/python3")
"""Python interpreters for a pane's keeper process, used if its user cannot access the service's
interpreter.
"""


@frozen
class OsUserWiring:
    """Objects through which the service uses OS users.

    @ivar users: looks up and checks OS users.
    @ivar directory: the user database that C{users} queries.  Queries run in the caller's thread
        until the directory gets a worker pool.
    @ivar hooks: returns the data with which a user's hooks reach the service.
    @ivar prefix: returns the command prefix that runs a program as a user.
    @ivar setups: returns the setups of users' tmux servers, given the path of tmux.  C{None} if
        tmux cannot run for other users.
    """

    users: OsUsers
    directory: UserDirectory
    hooks: Callable[[OsUser], HookAccess]
    prefix: Callable[[OsUser], Sequence[str]]
    setups: Callable[[str], OsUserSetups | None]


def build_os_users(
    data_dir: Path, environ: Mapping[str, str], hide: Callable[[str], object]
) -> OsUserWiring:
    """Create the objects through which the service uses OS users.

    Apart from a lookup of programs on C{PATH}, nothing is queried yet.

    @param hide: called with each hook secret, so that logs do not show it.
    """
    path = environ.get("PATH")
    setpriv, setsid = (shutil.which(name, path=path) for name in ("setpriv", "setsid"))
    directory = UserDirectory()
    users = OsUsers(
        find_os_user_support(os.geteuid(), setpriv, setsid, directory), directory.refresh_entry
    )
    shared = SharedFolder(data_dir)

    def make_setups(tmux: str) -> OsUserSetups | None:
        if users.host.obstacle is not None:
            return None
        return OsUserSetups(shared=shared, tmux=tmux, pythons=(sys.executable, *PYTHONS))

    def make_prefix(user: OsUser) -> list[str]:
        if setsid is None or setpriv is None:
            raise OSError("setpriv and setsid of util-linux are missing")
        return make_user_prefix(setsid, setpriv, user)

    kept = OsUserSecrets(
        secret=lambda: load_hook_secret(data_dir, secrets.token_bytes), shared=shared, hide=hide
    )
    return OsUserWiring(
        users=users,
        directory=directory,
        hooks=kept.get_hook_access,
        prefix=make_prefix,
        setups=make_setups,
    )


def find_os_user_support(
    euid: int, setpriv: str | None, setsid: str | None, directory: UserDirectory
) -> OsUserSupport:
    """Return the ability of this process to act as other users.

    @param euid: effective user id of this process.
    @param setpriv: absolute path of the program; C{None} if it is not installed.
    @param setsid: absolute path of the program; C{None} if it is not installed.
    """
    if euid != 0:
        return NO_ROOT
    if setpriv is None or setsid is None:
        return OsUserSupport(
            obstacle="setpriv and setsid of util-linux are missing", act=call_as_user
        )
    if SETGROUPS is None:
        return OsUserSupport(obstacle="not supported on this processor", act=call_as_user)
    return OsUserSupport(
        obstacle=None, act=call_as_user, entry=directory.get_entry, groups=directory.get_groups
    )
