"""Folders in which an account's sessions may work, by the account's current rights
(protocol-create).

A folder is checked when a session is made.  Later its symbolic links, and the rights of the
account, may have changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from attrs import Factory, field, frozen

from tservice.core.errors import ErrorCode, ServiceError, failed, invalid
from tservice.core.kernelfiles import in_kernel
from tservice.core.places.place import OWN, PlaceId

ACCOUNTS = ".accounts"
"""In the folder of local cases: one folder for each account.  No case is called so."""
_NOBODY = "-"
"""In place of an id where there never was such an account."""


def account_folder(cases_dir: Path, account_id: str) -> Path:
    """Return the folder of an account's local cases: nothing but that account ever has it."""
    return cases_dir / ACCOUNTS / account_id


@frozen(kw_only=True)
class Standing:
    """Rights in an account's record, independent of the caller.

    @ivar os_user: the OS user that its panes run as, if any.
    @ivar enabled: true if it may sign in and actions run in its name.
    @ivar granted: true if it may bypass permissions; admins may, others only if their record says
        so.
    """

    admin: bool
    os_user: str | None = None
    enabled: bool = True
    granted: bool = field(default=Factory(lambda account: account.admin, takes_self=True))


@frozen
class Inside:
    """Limit on folders.

    @ivar top: the folder that must contain them; C{None}: anywhere but in the kernel's folders.
    """

    top: Path | None = None

    def real_top(self) -> bytes | None:
        """Return L{top} with links resolved; accesses the file system."""
        return None if self.top is None else os.fsencode(os.path.realpath(self.top))

    def check(self, folder: str, named: str = "workingDir") -> None:
        """Refuse C{folder} if its current target is outside; accesses the file system, so run it in
        a worker thread.

        @raise ServiceError: as L{check_real}; 422: it changes during the check.
        """
        try:
            # Unlike Path.resolve, this does not raise for a loop of links.
            real = os.path.realpath(folder)
        except OSError as error:
            # A link was replaced during the lookup.
            raise failed(f"{named}: {error.strerror}") from error
        self.check_real(real, named)

    def holds(self, folder: str) -> bool:
        """Return whether L{check} accepts C{folder}."""
        try:
            self.check(folder)
        except ServiceError:
            return False
        return True

    def check_real(self, folder: str, named: str = "workingDir") -> None:
        """Refuse a link-free path that is outside; accesses the file system for L{top}.

        @raise ServiceError: 400: it is a kernel folder; 403: it is outside.
        """
        if in_kernel(folder):
            raise in_kernels(named)
        top = self.real_top()
        if top is None or Path(folder).is_relative_to(os.fsdecode(top)):
            return
        raise ServiceError(ErrorCode.FORBIDDEN, f"{named}: outside the workspace of this account")


ANYWHERE = Inside()


def in_kernels(named: str) -> ServiceError:
    """Return the error for a folder in a kernel file system."""
    return invalid(named, "must not be in /proc, /sys or /dev, nor lead through them")


def other_os_user() -> ServiceError:
    """Return the error for a session whose account no longer has the OS user that it was made
    with.
    """
    return failed("osUser: the account's OS user changed after the session was made")


@frozen(kw_only=True)
class WorkspaceBounds:
    """Rules on the folders of each account.

    @ivar cases_dir: the folder of local cases.
    @ivar account: returns the rights of an account; C{None} if it was removed.
    @ivar account_id: returns the id of an account, also of a removed one.
    """

    cases_dir: Path
    multiuser: bool
    account: Callable[[str], Standing | None]
    account_id: Callable[[str], str | None]

    def folder_of(self, owner: str) -> Path:
        """Return the folder of C{owner}'s local cases."""
        return account_folder(self.cases_dir, self.account_id(owner) or _NOBODY)

    def inside(self, owner: str | None, place: PlaceId) -> Inside:
        """Return the limit on the folders of C{owner}'s sessions in C{place}.

        OS users are confined by the system, and admins may work anywhere.
        """
        if not self.multiuser or owner is None or place != OWN:
            return ANYWHERE
        account = self.account(owner)
        free = account is not None and account.admin
        return ANYWHERE if free else Inside(self.folder_of(owner))

    def judge(self, owner: str | None, place: PlaceId) -> None:
        """Check that the account still has the OS user with whose rights a folder is accessed.

        @raise ServiceError: 422 naming C{osUser}: its OS user is not that of C{place}.
        """
        account = None if owner is None else self.account(owner)
        if account is None or not place.on_this_machine:
            return
        if (account.os_user or "") != place.name:
            raise other_os_user()
