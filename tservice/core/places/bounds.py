"""Where the sessions of an account may work, as the account is now (protocol-create).

A folder is judged when a session is made; what it leads to, and what the account may do, can be
another thing later.
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
    """What the record of an account says, whoever calls.

    @ivar os_user: the OS user that its panes run as, if any.
    @ivar enabled: it may sign in, and things are done in its name.
    @ivar granted: it may bypass permissions; admins may, others only where it is said.
    """

    admin: bool
    os_user: str | None = None
    enabled: bool = True
    granted: bool = field(default=Factory(lambda account: account.admin, takes_self=True))


@frozen
class Inside:
    """What folders must be in.

    @ivar top: C{None}: they may be anywhere but in the kernel's folders.
    """

    top: Path | None = None

    def real_top(self) -> bytes | None:
        """L{top} without links on the way; asks the file system."""
        return None if self.top is None else os.fsencode(os.path.realpath(self.top))

    def check(self, folder: str, named: str = "workingDir") -> None:
        """Judge what C{folder} leads to now; asks the file system, in a thread that may wait.

        @raise ServiceError: as L{check_real}; 422: it changes while it is looked at.
        """
        try:
            # Unlike Path.resolve it takes a loop of links as it is.
            real = os.path.realpath(folder)
        except OSError as error:
            # What was a link a moment ago is none.
            raise failed(f"{named}: {error.strerror}") from error
        self.check_real(real, named)

    def holds(self, folder: str) -> bool:
        """Whether L{check} would let C{folder} pass."""
        try:
            self.check(folder)
        except ServiceError:
            return False
        return True

    def check_real(self, folder: str, named: str = "workingDir") -> None:
        """Judge a folder on whose way there is no link; asks the file system about L{top}.

        @raise ServiceError: 400: it is the kernel's; 403: it is outside.
        """
        if in_kernel(folder):
            raise in_kernels(named)
        top = self.real_top()
        if top is None or Path(folder).is_relative_to(os.fsdecode(top)):
            return
        raise ServiceError(ErrorCode.FORBIDDEN, f"{named}: outside the workspace of this account")


ANYWHERE = Inside()


def in_kernels(named: str) -> ServiceError:
    """The refusal of a folder of the kernel's."""
    return invalid(named, "must not be in /proc, /sys or /dev, nor lead through them")


def other_os_user() -> ServiceError:
    """The refusal of what a session was made with and its account has no more."""
    return failed("osUser: the account has another one than when the session was made")


@frozen(kw_only=True)
class WorkspaceBounds:
    """The rules.

    @ivar cases_dir: where local cases are.
    @ivar account: what is known of an account; C{None}: it is gone.
    @ivar account_id: the id of an account, also of one that is gone.
    """

    cases_dir: Path
    multiuser: bool
    account: Callable[[str], Standing | None]
    account_id: Callable[[str], str | None]

    def folder_of(self, owner: str) -> Path:
        """Return the folder of C{owner}'s local cases."""
        return account_folder(self.cases_dir, self.account_id(owner) or _NOBODY)

    def inside(self, owner: str | None, place: PlaceId) -> Inside:
        """What the folders of C{owner}'s sessions in C{place} must be in.

        As an OS user the system keeps them apart, and an admin works anywhere.
        """
        if not self.multiuser or owner is None or place != OWN:
            return ANYWHERE
        account = self.account(owner)
        free = account is not None and account.admin
        return ANYWHERE if free else Inside(self.folder_of(owner))

    def judge(self, owner: str | None, place: PlaceId) -> None:
        """Make sure that the account still has the rights with which a folder is looked at.

        @raise ServiceError: 422 naming C{osUser}: it names another one than C{place}.
        """
        account = None if owner is None else self.account(owner)
        if account is None or not place.on_this_machine:
            return
        if (account.os_user or "") != place.name:
            raise other_os_user()
