"""Tests for L{tservice.files.workers}: with whose rights, and where nobody works."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from unittest import mock

from attrs import evolve
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from tests.runtime_harness import bounds_of, build_test_runtime
from tests.unit.files.harness import AtOnce, WorkspaceCase
from tests.unit.os_user_harness import OsUserWorld
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.locations.location import (
    OWN_LOCATION,
    LocationId,
    LocationKind,
    make_os_user_location,
)
from tservice.core.locations.workspace_bounds import AccountRights
from tservice.files.build import build_files
from tservice.files.model import UPLOADS
from tservice.files.reading import file_tree
from tservice.files.service import FILES
from tservice.files.workers import WorkspaceWorkers


class WorkersTests(WorkspaceCase):
    def test_work_runs_with_the_rights_of_the_location(self) -> None:
        world = OsUserWorld(self.above)
        ann = world.add("ann", 1001)
        workspace = evolve(self.workspace, place=make_os_user_location("ann", ann.uid))
        workers = WorkspaceWorkers(self.door, world.places(), bounds_of(world.folder))
        worker = self.successResultOf(Deferred.fromCoroutine(workers.get_worker(workspace)))
        self.assertEqual((ann, str(self.folder)), (worker.place.user, worker.folder))

    def test_account_with_another_os_user_is_refused(self) -> None:
        """Rights that it has no more are used for nobody."""
        world = OsUserWorld(self.above)
        ann = world.add("ann", 1001)
        before = make_os_user_location("ann", ann.uid)
        for place, named in ((OWN_LOCATION, "ann"), (before, "bob"), (before, None)):
            account = AccountRights(is_admin=False, os_user=named)
            bounds = bounds_of(self.above, {"a": account}.get)
            workers = WorkspaceWorkers(self.door, world.places(), bounds)
            workspace = evolve(self.workspace, place=place, owner="a")
            asked = Deferred.fromCoroutine(workers.get_worker(workspace))
            refused = self.failureResultOf(asked, ServiceError).value
            self.assertEqual(ErrorCode.OPERATION_FAILED, refused.code)
            self.assertIn("osUser: the account's OS user changed", refused.message)

    def test_files_of_remote_and_container_sessions_are_unreachable(self) -> None:
        for kind, reason in ((LocationKind.REMOTE, "remote"), (LocationKind.CONTAINER, "docker")):
            workspace = evolve(self.workspace, place=LocationId(kind=kind, name="h"))
            asked = Deferred.fromCoroutine(self.workers.get_worker(workspace))
            refused = self.failureResultOf(asked, ServiceError).value
            self.assertEqual(f"id: {reason}: files of the session are not accessible yet",
                             refused.message)  # fmt: skip
        self.assertEqual([], self.door.places)


class OutOfReachTests(WorkspaceCase):
    """Everything that the service does with files."""

    def test_unreachable_session_is_refused_before_any_file_access(self) -> None:
        nobody = mock.Mock()
        ground = build_test_runtime(
            self.above, reactor=Clock(), worker_pools=mock.Mock(files=AtOnce())
        )
        feature = build_files(ground, sessions=nobody, clis=nobody, audit=nobody, words=nobody)
        workspace = evolve(self.workspace, place=LocationId(kind=LocationKind.REMOTE, name="h"))
        service, read = feature.service, mock.Mock()
        works: list[Awaitable[object]] = [
            service.get_tree(workspace, file_tree.TreeRequest()),
            service.open_entry(workspace, "a"),
            service.receive_upload(
                workspace, "multipart/form-data; boundary=x", read, FILES, account="ann"
            ),
            anext(service.follow_file(workspace, "a", 1)),
        ]
        for work in works:
            refused = self.failureResultOf(_begun(work), ServiceError).value
            self.assertIn("remote: ", refused.message)
        read.assert_not_called()
        self.assertFalse((self.folder / UPLOADS).exists())
        self.assertFalse(Path(ground.config.data_dir / "upload-folders.json").exists())
        self.assertEqual((0, 0), (service.transfer_count, service.stream_count))


def _begun(work: Awaitable[object]) -> Deferred[object]:
    async def wait() -> object:
        return await work

    return Deferred.fromCoroutine(wait())
