"""Removing cases: what goes where, what is refused, and the sweep of the trash."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from attrs import evolve
from twisted.internet.defer import Deferred, succeed

from tests.unit.cases.fake_cases import FakeGit, folder_tree
from tests.unit.cases.harness import CaseCase
from tests.unit.right_checks import deny_change
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tests.unit.store.failing_disk import FailingConnection
from tservice.cases import case_folders, trash
from tservice.cases.interfaces import CaseWorktreeRequest
from tservice.cases.model import Case, CaseContainer, CaseLocation
from tservice.cases.trash import MAX_PER_SWEEP, RETENTION_MS, SWEEP_SECONDS
from tservice.cases.worktrees import MAX_MAKING, CaseWorktreeMaker
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_failure_error
from tservice.core.locations.location import LocationId, LocationKind
from tservice.git.interfaces import WorktreeRequest
from tservice.store.database import Database

HOUR = 3600.0


class CaseRemovalTests(CaseCase):
    def test_local_case_is_moved_to_the_trash(self) -> None:
        self.made("one", description="x")
        now = int(self.clock.seconds() * 1000)
        self.assertEqual({}, self.good("DELETE", "/ONE"))
        self.assertEqual([], self.good("GET"))
        self.assertEqual(("case:deleted", {"name": "one"}), self.told()[-1])
        self.assertTrue((self.folder / ".trash" / f"one-{now}" / "CLAUDE.md").exists())
        self.assertNotIn("description", self.made("one"))
        self.assertEqual(404, self.refused("DELETE", "/two")[0])

    def test_linked_case_is_only_unlinked(self) -> None:
        (self.outside / "x").write_text("x")
        self.good("POST", "/link", {"name": "one", "path": str(self.outside)})
        self.git.lost = ("it has 1 uncommitted change",)
        self.good("DELETE", "/one")
        self.assertEqual(["x"], os.listdir(self.outside))
        self.assertEqual([], self.good("GET"))

    def test_case_with_live_sessions_is_not_removed(self) -> None:
        self.made("one")
        below = self.folder / "one" / "sub"
        below.mkdir()
        for fields in ({"case_name": "one"}, {"working_dir": str(self.folder / "one")},
                       {"working_dir": str(below)}):  # fmt: skip
            session = self.shell(**fields)
            self.assertEqual(1, self.good("GET", "/one")["liveSessions"])
            status, code, text = self.refused("DELETE", "/one?force=1")
            self.assertEqual((409, "SESSION_BUSY"), (status, code))
            self.assertIn("a session works in the case one", text)
            self.run_now(self.sessions.delete(session.id))
        self.create(case_name="one")
        self.assertEqual(0, self.good("GET", "/one")["liveSessions"])
        self.good("DELETE", "/one")

    def test_case_with_unsaved_work_is_removed_only_by_force(self) -> None:
        self.made("one")
        self.git.lost = tuple(f"r{number} has 1 unpushed commit" for number in range(7))
        before = self.state()
        status, code, text = self.refused("DELETE", "/one")
        self.assertEqual((409, "CONFLICT"), (status, code))
        self.assertIn("r0 has 1 unpushed commit", text)
        self.assertIn("and 2 more", text)
        self.assertIn("force=1", text)
        self.assertEqual(before, self.state())
        self.good("DELETE", "/one?force=1")

    def test_session_started_during_the_removal_check_is_refused(self) -> None:
        """It is refused: the name is the remover's until it is done."""
        self.made("one")
        looking: Deferred[tuple[str, ...]] = Deferred()

        async def unsaved(*asked: object) -> tuple[str, ...]:
            return await looking

        self.patch(self.git, "find_unsaved_work", unsaved)
        removing = start_coroutine(self.cases.delete_case("one", ADMIN, force=False))
        from tservice.sessions.record.requests import CreateRequest

        request = CreateRequest(mode="shell", case_name="one", start=True)
        self.assert_refused(ErrorCode.CONFLICT, self.sessions.create(request, ADMIN))
        by_path = CreateRequest(mode="shell", working_dir=str(self.folder / "one"), start=True)
        self.run_now(self.sessions.create(by_path, ADMIN))
        looking.callback(())
        error = self.failureResultOf(removing, ServiceError).value
        self.assertIs(ErrorCode.SESSION_BUSY, error.code)
        self.assertTrue((self.folder / "one").exists())

    def test_right_lost_during_the_removal_keeps_the_case(self) -> None:
        self.made("one")

        def again() -> None:
            raise ServiceError(ErrorCode.FORBIDDEN, "not any more")

        work = self.cases.delete_case("one", evolve(ADMIN, reauthorize=again), force=True)
        self.assert_refused(ErrorCode.FORBIDDEN, work)
        self.assertTrue((self.folder / "one").exists())

    def test_case_that_cannot_be_moved_stays(self) -> None:
        self.made("one")
        (self.folder / ".trash").write_text("a file")
        before = self.state()
        self.assertEqual(422, self.refused("DELETE", "/one")[0])
        self.assertEqual(before, self.state())

    def test_removal_continues_when_the_caller_disconnects(self) -> None:
        self.made("one")
        looking: Deferred[tuple[str, ...]] = Deferred()

        async def unsaved(*asked: object) -> tuple[str, ...]:
            return await looking

        self.patch(self.git, "find_unsaved_work", unsaved)
        removing = start_coroutine(self.cases.delete_case("one", ADMIN, force=False))
        removing.cancel()
        self.failureResultOf(removing)
        stopped = self.cases.stop()
        self.assertNoResult(stopped)
        looking.callback(())
        self.successResultOf(stopped)
        self.assertEqual([], self.listed())


class TrashSweepTests(CaseCase):
    def trash(self) -> list[str]:
        folder = self.folder / ".trash"
        return sorted(os.listdir(folder)) if folder.exists() else []

    def remove(self, *names: str) -> None:
        for name in names:
            self.made(name)
            self.good("DELETE", f"/{name}")

    def finish(self) -> None:
        self.successResultOf(self.cases.stop())
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_trash_is_emptied_after_seven_days(self) -> None:
        self.cases.start()
        self.remove("one")
        self.spend(RETENTION_MS / 1000 - 2 * HOUR)
        self.remove("two")
        self.assertEqual(2, len(self.trash()))
        self.spend(3 * HOUR)
        self.assertEqual(["two"], [name.partition("-")[0] for name in self.trash()])
        self.spend(RETENTION_MS / 1000)
        self.assertEqual([], self.trash())
        self.assertEqual([], self.state()[1])  # type: ignore[index]
        self.finish()

    def test_trash_is_emptied_after_a_restart(self) -> None:
        self.remove("one")
        self.machine.crash()
        self.clock.advance(RETENTION_MS / 1000)
        self.machine.boot()
        self.cases.start()
        self.assertEqual([], self.trash())
        self.finish()

    def test_sweep_removes_at_most_the_bound_at_a_time(self) -> None:
        self.patch(trash, "MAX_PER_SWEEP", 2)
        self.assertLess(2, MAX_PER_SWEEP)
        self.remove("one", "two", "three")
        self.spend(RETENTION_MS / 1000)
        self.cases.start()
        self.assertEqual(1, len(self.trash()))
        self.spend(SWEEP_SECONDS)
        self.assertEqual([], self.trash())
        self.finish()

    def test_folder_that_cannot_be_removed_is_retried_and_delays_no_other(self) -> None:
        self.remove("one", "two")
        self.spend(RETENTION_MS / 1000)
        real = case_folders.remove_tree

        def stuck(path: str) -> None:
            if "one-" in path:
                raise PermissionError("not now")
            real(path)

        self.patch(trash, "remove_tree", stuck)
        self.cases.start()
        self.assertEqual(["one"], [name.partition("-")[0] for name in self.trash()])
        self.patch(trash, "remove_tree", real)
        self.spend(SWEEP_SECONDS * 2)
        self.assertEqual([], self.trash())
        self.finish()

    def test_write_protected_tool_folders_are_removed(self) -> None:
        self.made("one")
        deep = self.folder / "one" / "pkg" / "mod"
        deep.mkdir(parents=True)
        (deep / "file").write_text("x")
        (deep / "link").symlink_to("/etc")
        deep.chmod(0o555)
        deep.parent.chmod(0o555)
        self.good("DELETE", "/one")
        self.spend(RETENTION_MS / 1000)
        self.cases.start()
        self.assertEqual([], self.trash())
        self.assertTrue(os.path.isdir("/etc"))
        self.finish()

    def test_stop_waits_for_a_running_removal(self) -> None:
        self.remove("one")
        self.spend(RETENTION_MS / 1000)
        removing: Deferred[None] = Deferred()
        self.patch(self.cases._trash._files, "run", lambda *_, **__: removing)
        self.cases.start()
        stopped = self.cases.stop()
        self.assertNoResult(stopped)
        removing.callback(None)
        self.successResultOf(stopped)
        self.assertEqual([], self.clock.getDelayedCalls())


class CaseWorktreeTests(CaseCase):
    def setUp(self) -> None:
        super().setUp()
        self.made("one")

    def make(self, branch: str = "fix/it", **more: Any) -> dict[str, Any]:
        body = {"branch": branch, **more}
        case: dict[str, Any] = self.good("POST", "/one/worktree", body)["case"]
        return case

    def test_ended_right_runs_no_git(self) -> None:
        """A hook of the repository would run, which cannot be taken back."""
        work = self.cases.make_worktree(
            "one", CaseWorktreeRequest(branch="b"), evolve(ADMIN, reauthorize=deny_change)
        )
        self.assert_refused(ErrorCode.FORBIDDEN, work)
        self.assertEqual([], self.git.orders)

    def test_worktree_is_created_next_to_the_case(self) -> None:
        case = self.make(**{"from": "v1"})
        path = str(self.folder / "one-fix-it")
        repository = str(self.folder / "one")
        self.assertEqual(
            ("one-fix-it", path, "linked", {"repository": repository, "branch": "fix/it"}),
            (case["name"], case["path"], case["location"], case["worktree"]),
        )
        order = self.git.orders[-1]
        self.assertEqual((repository, "fix/it", "v1"), (order.folder, order.branch, order.start))
        self.assertEqual(["one", "one-fix-it"], self.listed())
        self.assertEqual(("case:linked", case), self.told()[-1])

    def test_worktrees_created_at_a_time_are_limited(self) -> None:
        """Git may take minutes for each."""
        held: list[Deferred[Any]] = []

        async def add_worktree(order: WorktreeRequest) -> Any:
            held.append(Deferred())
            return await held[-1]

        self.patch(self.git, "add_worktree", add_worktree)

        def ask(branch: str) -> Deferred[Any]:
            wish = CaseWorktreeRequest(branch=branch)
            return Deferred.fromCoroutine(self.cases.make_worktree("one", wish, ADMIN))

        asked = [ask(str(number)) for number in range(MAX_MAKING)]
        error = self.failureResultOf(ask("more"), ServiceError).value
        self.assertIs(ErrorCode.RATE_LIMITED, error.code)
        for one, work in zip(asked, held, strict=True):
            work.errback(make_failure_error("git refuses"))
            self.failureResultOf(one, ServiceError)
        self.patch(self.git, "add_worktree", FakeGit().add_worktree)
        self.make("more")

    def test_similar_branches_created_together_get_different_folders(self) -> None:
        held: list[Deferred[Any]] = []

        async def add_worktree(order: WorktreeRequest) -> Any:
            held.append(Deferred())
            await held[-1]
            return await FakeGit().add_worktree(order)

        self.patch(self.git, "add_worktree", add_worktree)
        asked = [
            Deferred.fromCoroutine(
                self.cases.make_worktree("one", CaseWorktreeRequest(branch=branch), ADMIN)
            )
            for branch in ("fix/it", "fix-it")
        ]
        for each in held:
            each.callback(None)
        names = [self.successResultOf(each).name for each in asked]
        self.assertEqual("one-fix-it", names[0])
        self.assertRegex(names[1], "^one-fix-it-[0-9a-f]{8}$")

    def test_worktree_of_a_worktree_uses_the_main_repository(self) -> None:
        self.make("a")
        case = self.good("POST", "/one-a/worktree", {"branch": "b"})["case"]
        self.assertEqual(str(self.folder / "one-a-b"), case["path"])
        self.assertEqual(str(self.folder / "one"), case["worktree"]["repository"])

    def test_invalid_worktree_is_refused(self) -> None:
        self.make("a")
        (self.folder / "one-there").mkdir()
        (self.folder / "one-file").write_text("x")
        for branch, status, word in (
            ("a", 409, "one-a"), ("there", 409, "one-there"), ("file", 409, "one-file"),
            ("-x", 400, "branch"), ("a..b", 400, "branch"), ("HEAD", 400, "branch"),
            ("a\u202eb", 400, "branch"),
        ):  # fmt: skip
            found = self.refused("POST", "/one/worktree", {"branch": branch})
            self.assertEqual(status, found[0], (branch, found))
            self.assertIn(word, found[2])
        body = {"branch": "b", "from": "--x"}
        self.assertTrue(self.refused("POST", "/one/worktree", body)[2].startswith("from: "))
        self.assertEqual(404, self.refused("POST", "/none/worktree", {"branch": "b"})[0])
        self.git.error = make_failure_error("no repository")
        before = self.state()
        self.assertEqual(422, self.refused("POST", "/one/worktree", {"branch": "b"})[0])
        self.assertEqual(before, self.state())

    def test_worktree_of_a_case_elsewhere_is_refused(self) -> None:
        """Git would run here: in what a container can change, or in a folder of the same name."""
        inside = CaseContainer(host_id="box", engine="podman", name="c", workdir="/workspace")
        far = LocationId(kind=LocationKind.REMOTE, name="box")
        for case in (
            Case(name="a", path="/w", location=CaseLocation.CONTAINER, container=inside),
            Case(name="b", path="/w", location=CaseLocation.REMOTE, far=far),
        ):
            catalogue = SimpleNamespace(get_case=lambda name, caller, case=case: succeed(case))
            worktrees = CaseWorktreeMaker(cast(Any, None), cast(Any, catalogue), self.git)
            over = Deferred.fromCoroutine(
                worktrees.add_worktree("x", CaseWorktreeRequest(branch="b"), ADMIN)
            )
            error = self.failureResultOf(over, ServiceError).value
            self.assertIs(ErrorCode.OPERATION_FAILED, error.code)
        self.assertEqual([], self.git.orders)

    def test_worktree_with_unsaved_work_is_removed_only_by_force(self) -> None:
        self.make()
        self.git.lost = ("it has 1 uncommitted change",)
        self.assertEqual(409, self.refused("DELETE", "/one-fix-it")[0])
        self.git.lost = ()
        self.good("DELETE", "/one-fix-it")
        self.assertEqual(["one"], self.listed())
        self.assertFalse((self.folder / "one-fix-it").exists())

    def test_worktree_is_not_removed_when_a_full_disk_cannot_record_it(self) -> None:
        self.on_a_failing_disk()
        self.good("POST", "/one/worktree", {"branch": "b"})
        before = self.state()
        self.connection.fault = sqlite3.SQLITE_FULL
        self.assertIn("the disk is full", self.refused("DELETE", "/one-b?force=1")[2])
        self.assertEqual(before, self.state())
        self.connection.fault = None
        self.good("DELETE", "/one-b?force=1")

    def test_rolled_back_worktree_is_forgotten_once_the_disk_has_room(self) -> None:
        self.on_a_failing_disk()
        place = self.now(self.cases.add_worktree("one", CaseWorktreeRequest(branch="b"), ADMIN))
        self.connection.fault = sqlite3.SQLITE_FULL
        self.now(place.undo())
        self.assertEqual(("case:deleted", {"name": "one-b"}), self.told()[-1])
        self.connection.fault = None
        self.machine.database.deferred_writes.write_deferred()
        self.assertEqual(["one"], self.listed())

    def on_a_failing_disk(self) -> None:
        path = Path(self.mktemp())
        Database.open_file(path, clock=self.clock).close()
        self.connection = FailingConnection(path)
        self.addCleanup(self.connection.close)
        self.machine.database = Database(self.connection)
        self.machine.boot()
        self.lay_api()

    def test_repository_is_kept_while_it_has_worktrees(self) -> None:
        self.make()
        status, code, text = self.refused("DELETE", "/one?force=1")
        self.assertEqual((409, "CONFLICT"), (status, code))
        self.assertIn("one-fix-it", text)
        self.good("DELETE", "/one-fix-it")
        self.good("DELETE", "/one")

    def test_session_is_started_in_a_worktree(self) -> None:
        from tservice.cases.interfaces import CaseWorktreeRequest

        session = self.shell(case_name="one", worktree=CaseWorktreeRequest(branch="b"))
        self.assertEqual(
            ("one-b", str(self.folder / "one-b")), (session.case_name, session.working_dir)
        )
        self.assertEqual(1, self.good("GET", "/one-b")["liveSessions"])

    def test_worktree_used_by_another_session_is_not_rolled_back(self) -> None:
        from tservice.cases.interfaces import CaseWorktreeRequest

        place = self.run_now(self.cases.add_worktree("one", CaseWorktreeRequest(branch="b"), ADMIN))
        self.create(case_name="one-b")
        self.run_now(place.undo())
        self.assertTrue((self.folder / "one-b").exists())

    def test_refused_session_leaves_no_worktree(self) -> None:
        from tservice.cases.interfaces import CaseWorktreeRequest
        from tservice.sessions.life.quick_start import QuickStartRequest
        from tservice.sessions.record.requests import CreateRequest

        before = self.state()
        wish = CaseWorktreeRequest(branch="b")
        for fields, code in (
            ({"mode": "nope"}, ErrorCode.INVALID_INPUT),
            ({"case_name": None}, ErrorCode.INVALID_INPUT),
            ({"working_dir": str(self.folder)}, ErrorCode.INVALID_INPUT),
            ({"case_name": "none"}, ErrorCode.NOT_FOUND),
            ({"parent_session_id": "nobody"}, ErrorCode.NOT_FOUND),
        ):
            given: dict[str, Any] = {
                "mode": "shell", "case_name": "one", "worktree": wish, "start": True, **fields,
            }  # fmt: skip
            work = self.sessions.create(CreateRequest(**given), ADMIN)
            self.assert_refused(code, work)
            self.assertEqual(before, self.state())
        quick = QuickStartRequest(
            case_name="one", session=CreateRequest(mode="nope", worktree=wish)
        )
        self.assert_refused(ErrorCode.INVALID_INPUT, self.sessions.quick_start(quick, ADMIN))
        self.assertEqual(before, self.state())
        self.assertEqual(
            {"one": "/"}, {k: v for k, v in folder_tree(self.folder).items() if "/" not in k}
        )
