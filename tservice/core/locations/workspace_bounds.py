"""Folders in which an account's sessions may work, by the account's current rights
(protocol-create).

A folder is checked when a session is created.  It is checked again later, because its symbolic
links and the rights of the account may have changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from attrs import Factory, field, frozen

from tservice.core.disk.kernel_paths import is_kernel_path
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_failure_error,
    make_field_error,
)
from tservice.core.locations.location import OWN_LOCATION, LocationId

ACCOUNTS = ".accounts"
"""Name of the folder that holds one folder for each account, in the folder of local cases.  No case
can have this name.
"""
_NOBODY = "-"
"""Placeholder for the account id if an account of that name never existed."""


def get_account_folder(cases_dir: Path, account_id: str) -> Path:
    """Return the folder of an account's local cases, which is never used for another account."""
    return cases_dir / ACCOUNTS / account_id


@frozen(kw_only=True)
class AccountRights:
    """Rights in an account's record, independent of the caller.

    @ivar os_user: the OS user that the account's panes run as.  C{None} for the service's user.
    @ivar is_enabled: true if the user may sign in, and scheduled actions run for the account.
    @ivar may_bypass_permissions: true if agents may run without asking for permission.  By default
        only admins may.
    """

    is_admin: bool
    os_user: str | None = None
    is_enabled: bool = True
    may_bypass_permissions: bool = field(
        default=Factory(lambda account: account.is_admin, takes_self=True)
    )


@frozen
class FolderLimit:
    """Limit on the working directories of sessions.

    @ivar top: the folder that must contain them.  C{None} allows every folder except those of the
        kernel's file systems.
    """

    top: Path | None = None

    def resolve_top(self) -> bytes | None:
        """Return L{top} with symbolic links resolved; accesses the file system."""
        return None if self.top is None else os.fsencode(os.path.realpath(self.top))

    def check_folder(self, folder: str, named: str = "workingDir") -> None:
        """Refuse C{folder} if it resolves to a path outside of the limit.

        Accesses the file system, so run it in a worker thread.

        @param named: the name of the request's field, for the error text.
        @raise ServiceError: as for L{check_resolved_folder}; 422: a link changed during the check.
        """
        try:
            # Unlike Path.resolve, this does not raise for a loop of links.
            real = os.path.realpath(folder)
        except OSError as error:
            # A link was replaced during the lookup.
            raise make_failure_error(f"{named}: {error.strerror}") from error
        self.check_resolved_folder(real, named)

    def accepts_folder(self, folder: str) -> bool:
        """Return whether L{check_folder} accepts C{folder}."""
        try:
            self.check_folder(folder)
        except ServiceError:
            return False
        return True

    def check_resolved_folder(self, folder: str, named: str = "workingDir") -> None:
        """Refuse a path without symbolic links if it is outside of the limit.

        Accesses the file system to resolve L{top}.

        @param named: the name of the request's field, for the error text.
        @raise ServiceError: 400: the path is a kernel folder; 403: the path is outside.
        """
        if is_kernel_path(folder):
            raise make_kernel_folder_error(named)
        top = self.resolve_top()
        if top is None or Path(folder).is_relative_to(os.fsdecode(top)):
            return
        raise ServiceError(ErrorCode.FORBIDDEN, f"{named}: outside the workspace of this account")


ANYWHERE = FolderLimit()


def make_kernel_folder_error(named: str) -> ServiceError:
    """Return the 400 error for a folder in a kernel file system.

    @param named: the name of the request's field.
    """
    return make_field_error(named, "must not be in /proc, /sys or /dev, nor lead through them")


def make_user_changed_error() -> ServiceError:
    """Return the error for a session whose account now has another OS user than at its creation."""
    return make_failure_error("osUser: the account's OS user changed after the session was made")


@frozen(kw_only=True)
class WorkspaceBounds:
    """Rules that determine in which folders each account may work.

    @ivar cases_dir: the folder of local cases.
    @ivar account: returns the rights of an account by its name; C{None} if it was removed.
    @ivar account_id: returns the id of an account by its name, also of a removed one.
    """

    cases_dir: Path
    multiuser: bool
    account: Callable[[str], AccountRights | None]
    account_id: Callable[[str], str | None]

    def get_case_folder(self, owner: str) -> Path:
        """Return the folder of C{owner}'s local cases."""
        return get_account_folder(self.cases_dir, self.account_id(owner) or _NOBODY)

    def get_folder_limit(self, owner: str | None, place: LocationId) -> FolderLimit:
        """Return the limit on the folders of C{owner}'s sessions in the location C{place}.

        OS users are confined by the system, and admins may work anywhere.
        """
        if not self.multiuser or owner is None or place != OWN_LOCATION:
            return ANYWHERE
        account = self.account(owner)
        free = account is not None and account.is_admin
        return ANYWHERE if free else FolderLimit(self.get_case_folder(owner))

    def check_os_user(self, owner: str | None, place: LocationId) -> None:
        """Check that the account still has the OS user of the location C{place}.

        @raise ServiceError: 422 naming C{osUser}: the account has another OS user now.
        """
        account = None if owner is None else self.account(owner)
        if account is None or not place.is_on_this_machine:
            return
        if (account.os_user or "") != place.name:
            raise make_user_changed_error()
