"""Creation of the first admin, and checks of the accounts, at the start (protocol-startup)."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from twisted.logger import Logger

from tservice.access.accounts.accounts import AccountService
from tservice.core.kernel.errors import ServiceError, StartError

_log = Logger()


def make_first_admin(
    accounts: AccountService, username: str, password: str | None, out: TextIO | None = None
) -> None:
    """Create the first admin if there is no account yet.

    If no password is configured, a one-time password is printed as one line on stdout.  The
    password is not logged, because logs are kept and read by others.

    @param out: the stream for that line.  C{None} for the process's stdout, which C{twistd}
        replaces by its log.
    @raise StartError: the name or the password is invalid, or the line would not be visible.
    """
    if accounts.list_accounts():
        return
    out = sys.__stdout__ if out is None else out
    if password is None and (out is None or _is_null_device(out)):
        raise StartError(
            "multiuser: the first admin's one-time password would not be visible: set "
            "SERVICE_PASSWORD, or start once with --nodaemon"
        )
    try:
        once = accounts.create_first_admin(username, password)
    except ServiceError as error:
        raise StartError(f"multiuser: the first admin: {error.message}") from None
    if once is not None and out is not None:
        print(f"One-time password for {username}: {once}", file=out, flush=True)


def warn_about_shared_user(accounts: AccountService) -> None:
    """Log a warning if several accounts have no OS user, because they can access each
    other's data.
    """
    shared = sum(account.os_user is None for account in accounts.list_accounts())
    if shared > 1:
        _log.warn(
            "multiuser: {shared} accounts have no OS user: they are one user with several"
            " passwords. What runs for one of them can read and change what the others have, and"
            " the service itself",
            shared=shared,
        )


def _is_null_device(out: TextIO) -> bool:
    """Return whether the stream is the null device, as a daemon's stdout is."""
    try:
        return os.path.samestat(os.fstat(out.fileno()), os.stat(os.devnull))
    except (OSError, ValueError):
        return False
