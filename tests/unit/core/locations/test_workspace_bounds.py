"""Tests for L{tservice.core.locations.workspace_bounds}: where an account may work now."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.runtime_harness import bounds_of
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.locations.location import (
    OWN_LOCATION,
    LocationId,
    LocationKind,
    make_os_user_location,
)
from tservice.core.locations.workspace_bounds import ANYWHERE, AccountRights, FolderLimit

CASES = Path("/c")
ACCOUNTS = {
    "ann": AccountRights(is_admin=True),
    "bob": AccountRights(is_admin=False),
    "cid": AccountRights(is_admin=False, os_user="c"),
}
AS_C = make_os_user_location("c", 1003)


class LocationBoundTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.bounds = bounds_of(CASES, ACCOUNTS.get)

    def test_admins_work_anywhere_and_accounts_in_their_cases(self) -> None:
        self.assertEqual(ANYWHERE, self.bounds.get_folder_limit("ann", OWN_LOCATION))
        self.assertEqual(
            FolderLimit(CASES / ".accounts" / "bob"),
            self.bounds.get_folder_limit("bob", OWN_LOCATION),
        )
        self.assertEqual(ANYWHERE, self.bounds.get_folder_limit("cid", AS_C))

    def test_removed_account_is_confined_to_its_cases(self) -> None:
        self.assertEqual(
            FolderLimit(CASES / ".accounts" / "dan"),
            self.bounds.get_folder_limit("dan", OWN_LOCATION),
        )
        self.bounds.check_os_user("dan", AS_C)

    def test_link_changed_during_the_check_is_refused(self) -> None:
        def readlink(path: str) -> str:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

        link = Path(self.mktemp()).absolute()
        link.symlink_to("/")
        self.patch(os, "readlink", readlink)
        error = self.assertRaises(ServiceError, ANYWHERE.check_folder, str(link))
        self.assertIs(ErrorCode.OPERATION_FAILED, error.code)

    def test_single_user_works_anywhere(self) -> None:
        alone = bounds_of(CASES)
        for owner in (None, "somebody"):
            self.assertEqual(ANYWHERE, alone.get_folder_limit(owner, OWN_LOCATION))
            alone.check_os_user(owner, OWN_LOCATION)

    def test_rights_the_account_still_has_are_accepted(self) -> None:
        self.bounds.check_os_user("bob", OWN_LOCATION)
        self.bounds.check_os_user("cid", AS_C)
        self.bounds.check_os_user("cid", LocationId(kind=LocationKind.REMOTE, name="box"))

    def test_rights_the_account_lost_are_refused(self) -> None:
        for owner, place in (
            ("cid", OWN_LOCATION),
            ("bob", AS_C),
            ("cid", make_os_user_location("d", 1004)),
        ):
            with self.assertRaises(ServiceError) as refused:
                self.bounds.check_os_user(owner, place)
            self.assertEqual(ErrorCode.OPERATION_FAILED, refused.exception.code)
            self.assertIn("osUser", refused.exception.message)


class InsideBoundTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).absolute()
        (self.folder / "real" / "w").mkdir(parents=True)
        (self.folder / "top").symlink_to("real")

    def refusal(self, inside: FolderLimit, folder: Path | str) -> ErrorCode:
        with self.assertRaises(ServiceError) as refused:
            inside.check_folder(str(folder))
        self.assertTrue(refused.exception.message.startswith("workingDir: "))
        code: ErrorCode = refused.exception.code
        return code

    def test_folder_and_bound_are_resolved_through_links(self) -> None:
        for top in ("top", "real"):
            for folder in ("top/w", "real/w", "real/new"):
                FolderLimit(self.folder / top).check_folder(str(self.folder / folder))

    def test_path_that_leads_out_is_refused(self) -> None:
        os.symlink("/", self.folder / "real" / "out")
        os.symlink("loop", self.folder / "loop")
        for folder in ("top/out", "top/..", "real/../rea", "loop"):
            found = self.refusal(FolderLimit(self.folder / "top"), self.folder / folder)
            self.assertEqual(ErrorCode.FORBIDDEN, found)

    def test_kernel_folders_are_refused(self) -> None:
        os.symlink("/proc/self", self.folder / "me")
        for folder in (self.folder / "me", "/proc", "/sys/kernel", "/dev"):
            self.assertEqual(ErrorCode.INVALID_INPUT, self.refusal(ANYWHERE, folder))
