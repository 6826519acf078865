"""Tests for L{tservice.core.locations.workspace_bounds}: where an account's sessions may work now."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.runtime_harness import bounds_of
from tservice.core.errors import ErrorCode, ServiceError
from tservice.core.locations.location import (
    OWN_LOCATION,
    LocationId,
    LocationKind,
    location_of_os_user,
)
from tservice.core.locations.workspace_bounds import ANYWHERE, AccountRights, FolderLimit

CASES = Path("/c")
ACCOUNTS = {
    "ann": AccountRights(is_admin=True),
    "bob": AccountRights(is_admin=False),
    "cid": AccountRights(is_admin=False, os_user="c"),
}
AS_C = location_of_os_user("c", 1003)


class RuleTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.bounds = bounds_of(CASES, ACCOUNTS.get)

    def test_who_works_where(self) -> None:
        self.assertEqual(ANYWHERE, self.bounds.get_folder_limit("ann", OWN_LOCATION))
        self.assertEqual(
            FolderLimit(CASES / ".accounts" / "bob"),
            self.bounds.get_folder_limit("bob", OWN_LOCATION),
        )
        self.assertEqual(ANYWHERE, self.bounds.get_folder_limit("cid", AS_C))

    def test_whose_account_is_gone(self) -> None:
        self.assertEqual(
            FolderLimit(CASES / ".accounts" / "dan"),
            self.bounds.get_folder_limit("dan", OWN_LOCATION),
        )
        self.bounds.check_os_user("dan", AS_C)

    def test_what_changes_while_it_is_looked_at(self) -> None:
        def readlink(path: str) -> str:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

        link = Path(self.mktemp()).absolute()
        link.symlink_to("/")
        self.patch(os, "readlink", readlink)
        error = self.assertRaises(ServiceError, ANYWHERE.check_folder, str(link))
        self.assertIs(ErrorCode.OPERATION_FAILED, error.code)

    def test_one_user(self) -> None:
        alone = bounds_of(CASES)
        for owner in (None, "somebody"):
            self.assertEqual(ANYWHERE, alone.get_folder_limit(owner, OWN_LOCATION))
            alone.check_os_user(owner, OWN_LOCATION)

    def test_rights_that_the_account_still_has(self) -> None:
        self.bounds.check_os_user("bob", OWN_LOCATION)
        self.bounds.check_os_user("cid", AS_C)
        self.bounds.check_os_user("cid", LocationId(kind=LocationKind.REMOTE, name="box"))

    def test_rights_that_it_has_no_more(self) -> None:
        for owner, place in (
            ("cid", OWN_LOCATION),
            ("bob", AS_C),
            ("cid", location_of_os_user("d", 1004)),
        ):
            with self.assertRaises(ServiceError) as refused:
                self.bounds.check_os_user(owner, place)
            self.assertEqual(ErrorCode.OPERATION_FAILED, refused.exception.code)
            self.assertIn("osUser", refused.exception.message)


class InsideTests(SynchronousTestCase):
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

    def test_both_by_way_of_links(self) -> None:
        for top in ("top", "real"):
            for folder in ("top/w", "real/w", "real/new"):
                FolderLimit(self.folder / top).check_folder(str(self.folder / folder))

    def test_what_leads_out(self) -> None:
        os.symlink("/", self.folder / "real" / "out")
        os.symlink("loop", self.folder / "loop")
        for folder in ("top/out", "top/..", "real/../rea", "loop"):
            found = self.refusal(FolderLimit(self.folder / "top"), self.folder / folder)
            self.assertEqual(ErrorCode.FORBIDDEN, found)

    def test_the_kernel_s_folders(self) -> None:
        os.symlink("/proc/self", self.folder / "me")
        for folder in (self.folder / "me", "/proc", "/sys/kernel", "/dev"):
            self.assertEqual(ErrorCode.INVALID_INPUT, self.refusal(ANYWHERE, folder))
