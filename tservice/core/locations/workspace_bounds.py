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

from tservice.core.errors import ErrorCode, ServiceError, invalid_field, operation_failed
from tservice.core.kernel_paths import is_kernel_path
from tservice.core.locations.location import OWN_LOCATION, LocationId

ACCOUNTS = ".accounts"
"""In the folder of local cases: one folder for each account.  No case is called so."""
_NOBODY = "-"
"""In place of an id where there never was such an account."""


def account_folder(cases_dir: Path, account_id: str) -> Path:
    """Return the folder of an account's local cases: nothing but that account ever has it."""
    return cases_dir / ACCOUNTS / account_id


@frozen(kw_only=True)
class AccountRights:
    """Rights in an account's record, independent of the caller.

    @ivar os_user: the OS user that its panes run as, if any.
    @ivar enabled: true if it may sign in and actions run in its name.
    @ivar granted: true if it may bypass permissions; admins may, others only if their record says
        so.
    """

    is_admin: bool
    os_user: str | None = None
    is_enabled: bool = True
    may_bypass_permissions: bool = field(
        default=Factory(lambda account: account.is_admin, takes_self=True)
    )


@frozen
class FolderLimit:
    """Limit on folders.

    @ivar top: the folder that must contain them; C{None}: anywhere but in the kernel's folders.
    """

    top: Path | None = None

    def resolve_top(self) -> bytes | None:
        """Return L{top} with links resolved; accesses the file system."""
        return None if self.top is None else os.fsencode(os.path.realpath(self.top))

    def check_folder(self, folder: str, named: str = "workingDir") -> None:
        """Refuse C{folder} if its current target is outside; accesses the file system, so run it in
        a worker thread.

        @raise ServiceError: as L{check_resolved_folder}; 422: it changes during the check.
        """
        try:
            # Unlike Path.resolve, this does not raise for a loop of links.
            real = os.path.realpath(folder)
        except OSError as error:
            # A link was replaced during the lookup.
            raise operation_failed(f"{named}: {error.strerror}") from error
        self.check_resolved_folder(real, named)

    def accepts_folder(self, folder: str) -> bool:
        """Return whether L{check_folder} accepts C{folder}."""
        try:
            self.check_folder(folder)
        except ServiceError:
            return False
        return True

    def check_resolved_folder(self, folder: str, named: str = "workingDir") -> None:
        """Refuse a link-free path that is outside; accesses the file system for L{top}.

        @raise ServiceError: 400: it is a kernel folder; 403: it is outside.
        """
        if is_kernel_path(folder):
            raise kernel_folder_error(named)
        top = self.resolve_top()
        if top is None or Path(folder).is_relative_to(os.fsdecode(top)):
            return
        raise ServiceError(ErrorCode.FORBIDDEN, f"{named}: outside the workspace of this account")


ANYWHERE = FolderLimit()


def kernel_folder_error(named: str) -> ServiceError:
    """Return the error for a folder in a kernel file system."""
    return invalid_field(named, "must not be in /proc, /sys or /dev, nor lead through them")


def os_user_changed_error() -> ServiceError:
    """Return the error for a session whose account no longer has the OS user that it was made
    with.
    """
    return operation_failed("osUser: the account's OS user changed after the session was made")


@frozen(kw_only=True)
class WorkspaceBounds:
    """Rules on the folders of each account.

    @ivar cases_dir: the folder of local cases.
    @ivar account: returns the rights of an account; C{None} if it was removed.
    @ivar account_id: returns the id of an account, also of a removed one.
    """

    cases_dir: Path
    multiuser: bool
    account: Callable[[str], AccountRights | None]
    account_id: Callable[[str], str | None]

    def folder_of(self, owner: str) -> Path:
        """Return the folder of C{owner}'s local cases."""
        return account_folder(self.cases_dir, self.account_id(owner) or _NOBODY)

    def get_folder_limit(self, owner: str | None, place: LocationId) -> FolderLimit:
        """Return the limit on the folders of C{owner}'s sessions in C{place}.

        OS users are confined by the system, and admins may work anywhere.
        """
        if not self.multiuser or owner is None or place != OWN_LOCATION:
            return ANYWHERE
        account = self.account(owner)
        free = account is not None and account.is_admin
        return ANYWHERE if free else FolderLimit(self.folder_of(owner))

    def check_os_user(self, owner: str | None, place: LocationId) -> None:
        """Check that the account still has the OS user with whose rights a folder is accessed.

        @raise ServiceError: 422 naming C{osUser}: its OS user is not that of C{place}.
        """
        account = None if owner is None else self.account(owner)
        if account is None or not place.is_on_this_machine:
            return
        if (account.os_user or "") != place.name:
            raise os_user_changed_error()
