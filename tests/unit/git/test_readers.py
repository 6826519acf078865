"""As whom workspaces are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred, succeed
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from tests.runtime_harness import NoWorkerPools, build_test_runtime
from tests.unit.os_user_harness import OsUserWorld
from tservice.core.kernel.errors import ServiceError
from tservice.core.locations.location import (
    OWN_LOCATION,
    Location,
    LocationId,
    LocationKind,
    make_os_user_location,
)
from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.core.users.os_users import OsUser
from tservice.core.workers.worker_pool import IThreads
from tservice.git.build import build_git
from tservice.git.model import ChangeKind, GitOptions, GitRepository
from tservice.git.process.runner import GitActor, GitError, choose_actor
from tservice.git.process.user_settings import UserSettings
from tservice.git.readers import MAX_READERS, GitReaderRegistry
from tservice.git.service import GitWorkspace


class NamedReader:
    """Tells who it is."""

    def __init__(self, place: Location) -> None:
        self.place = place

    async def get_status(self, workspace: GitWorkspace, options: GitOptions) -> dict[str, Any]:
        return {"by": self.place.id.name}

    def make_unsupported_response(self, reason: str) -> dict[str, Any]:
        return {"by": reason}

    async def get_diff(self, workspace: GitWorkspace, *more: object) -> dict[str, Any]:
        return await self.get_status(workspace, GitOptions())


class ReadersTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.world = OsUserWorld(Path(self.mktemp()).absolute())
        self.made: list[str] = []
        far: Any = None
        self.readers = GitReaderRegistry(self.make, self.world.places(), far)

    def make(self, place: Location, owner: str | None) -> Any:
        self.made.append(place.id.name)
        return NamedReader(place)

    def by(self, user: OsUser | None) -> object:
        place = OWN_LOCATION if user is None else make_os_user_location(user.name, user.uid)
        workspace = GitWorkspace(inside=ANYWHERE, folder="/w", place=place)
        asked = self.readers.get_status(workspace, GitOptions())
        found = self.successResultOf(Deferred.fromCoroutine(asked))
        diff = self.readers.get_diff(workspace, "r", "p", ChangeKind.STAGED, GitOptions())
        self.assertEqual(found, self.successResultOf(Deferred.fromCoroutine(diff)))
        return found["by"]

    def test_each_os_user_has_a_reader(self) -> None:
        ann, ben = self.world.add("ann", 1001), self.world.add("ben", 1002)
        for os_user, by in ((None, ""), (ann, "ann"), (ben, "ben"), (ann, "ann")):
            self.assertEqual(by, self.by(os_user))
        self.assertEqual(["", "ann", "ben"], self.made)

    def test_each_account_has_a_reader(self) -> None:
        """What hangs for one of them takes no turn of another."""
        for owner in ("ann", "ben", "ann"):
            asked = self.readers.get_status(
                GitWorkspace(inside=ANYWHERE, folder="/w", owner=owner), GitOptions()
            )
            self.successResultOf(Deferred.fromCoroutine(asked))
        self.assertEqual(3, len(self.made))

    def test_readers_are_bounded(self) -> None:
        """The one asked least lately is forgotten."""
        users = [self.world.add(f"u{number}", 1000 + number) for number in range(MAX_READERS + 1)]
        for user in users[:MAX_READERS]:
            self.by(user)
        self.by(users[0])
        self.by(users[MAX_READERS])
        self.made.clear()
        self.by(users[0])
        self.assertEqual([], self.made)
        self.by(users[1])
        self.assertEqual(["u1"], self.made)

    def test_remote_and_container_workspaces_are_unsupported(self) -> None:
        for kind, reason in ((LocationKind.REMOTE, "remote"), (LocationKind.CONTAINER, "docker")):
            workspace = GitWorkspace(
                inside=ANYWHERE, folder="/w", place=LocationId(kind=kind, name="h")
            )
            asked = Deferred.fromCoroutine(self.readers.get_status(workspace, GitOptions()))
            self.assertEqual({"by": reason}, self.successResultOf(asked))
            diff = self.readers.get_diff(workspace, "r", "p", ChangeKind.STAGED, GitOptions())
            why = self.failureResultOf(Deferred.fromCoroutine(diff), ServiceError).value
            self.assertEqual(f"id: no diffs of {reason} sessions", why.message)
        self.assertEqual([""], self.made)


class RightsTests(SynchronousTestCase):
    """What a reader of an OS user does, it does as that user."""

    def test_files_are_read_as_the_os_user(self) -> None:
        world = OsUserWorld(Path(self.mktemp()).absolute())
        user = world.add("ann", 1001)
        (user.home / "w").mkdir()

        @implementer(IThreads)
        class NotActing:
            """The reactor's own thread keeps its rights."""

            def run(this, work: Callable[[], Any], **told: str | None) -> Any:
                self.assertIsNone(world.acting)
                return succeed(work())

        sessions: Any = NoSessions()
        ground = build_test_runtime(
            world.folder, worker_pools=NoWorkerPools(files=NotActing()), os_users=world
        )
        git = build_git(ground, sessions=sessions)
        workspace = GitWorkspace(
            inside=ANYWHERE,
            folder=str(user.home / "w"),
            place=make_os_user_location(user.name, user.uid),
        )
        asked = git.service.readers.get_status(workspace, GitOptions())
        found = self.successResultOf(Deferred.fromCoroutine(asked))
        self.assertEqual("not-a-repo", found["state"])
        # The workspace is resolved, then the search runs, which resolves the home.
        self.assertEqual(["ann"] * 2, world.acted)

    def test_git_reads_only_repositories_of_the_os_user(self) -> None:
        """The user's own repositories are read as the user, other people's are refused."""
        folder = Path(self.mktemp()).absolute()
        (folder / ".git").mkdir(parents=True)
        root, control = str(folder).encode(), str(folder / ".git").encode()
        repository = GitRepository(root=root, control=control, common=control)
        settings = UserSettings(core={}, safe=frozenset())
        owner = folder.stat().st_uid
        itself = GitActor(uid=owner, gid=5)
        chosen = choose_actor(repository, settings, owner, lambda uid: 1, itself)
        self.assertEqual(itself, chosen)
        self.assertRaises(
            GitError, choose_actor, repository, settings, owner + 1, lambda uid: 1, itself
        )


class NoSessions:
    """There are none."""

    def list(self) -> list[object]:
        return []
