"""Clones: one at a time, told of, cancelled, and gone whole when they fail."""

from __future__ import annotations

from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred

from tests.unit.cases.fake_cases import FakeClone, folder_tree
from tests.unit.cases.harness import CaseCase
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.cases import clones
from tservice.cases.case_folders import move_folder
from tservice.cases.clones import MAX_CLONES, CaseCloneRequest
from tservice.core.callers.caller import Caller
from tservice.core.disk.disk_errors import DiskFull
from tservice.core.kernel.errors import ErrorCode, ServiceError

URL = "https://ann:secret@example.org/x.git"


class CloneTests(CaseCase):
    over = False
    """Whether the caller's right has ended."""

    def clone(self, name: str = "one", caller: Caller = ADMIN, **more: Any) -> Deferred[Any]:
        wish = CaseCloneRequest(name=name, **{"repository": URL, **more})
        return start_coroutine(
            self.cases.clone_repository(wish, evolve(caller, reauthorize=self.again))
        )

    def again(self) -> None:
        """Judges the caller once more."""
        if self.over:
            raise ServiceError(ErrorCode.FORBIDDEN, "not any more")

    @property
    def running(self) -> FakeClone:
        return self.git.clones[-1]

    def code(self, asked: Deferred[Any]) -> ErrorCode:
        code: ErrorCode = self.failureResultOf(asked, ServiceError).value.code
        return code

    def test_ended_right_starts_no_clone(self) -> None:
        self.over = True
        self.assertIs(ErrorCode.FORBIDDEN, self.code(self.clone()))
        self.assertEqual([], self.git.clones)

    def test_clone_is_listed_from_start_to_end(self) -> None:
        asked = self.clone(description="an api", ref="main", shallow=True)
        self.assertNoResult(asked)
        [case] = self.good("GET")
        self.assertEqual({"phase": "connecting", "percent": None}, case["cloning"])
        self.assertEqual(("one", "local"), (case["name"], case["location"]))
        order = self.running.order
        self.assertEqual(("main", True), (order.ref, order.shallow))
        self.assertNotIn("secret", order.source.url)
        self.running.progress("receiving", 42)
        self.clock.advance(1)
        progress = {"phase": "receiving", "percent": 42}
        self.assertEqual(progress, self.good("GET", "/one")["cloning"])
        self.assertEqual([("case:cloneProgress", {"name": "one", **progress})], self.told())
        self.running.finish("no submodules")
        _, result = self.successResultOf(asked)
        self.assertEqual(("https://example.org/x.git", "main"), (result.repository, "main"))
        self.assertEqual(("no submodules",), result.cloned.warnings)
        [case] = self.good("GET")
        self.assertNotIn("cloning", case)
        self.assertEqual("an api", case["description"])
        self.assertEqual(("case:created", case), self.told()[-1])
        self.assertEqual({"one": "/", "one/.git": "/"}, folder_tree(self.folder))
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_clone_progress_is_announced_at_most_four_times_a_second(self) -> None:
        self.clone()
        for percent in range(100):
            self.running.progress("receiving", percent)
            self.clock.advance(0.02)
        told = [data["percent"] for _, data in self.told()]
        self.assertTrue(7 <= len(told) <= 9, told)
        self.clock.advance(1)
        self.assertEqual(99, self.told()[-1][1]["percent"])
        self.running.progress("resolving", 1)
        self.running.finish()
        self.assertEqual([], self.clock.getDelayedCalls())

    def test_clones_run_one_at_a_time(self) -> None:
        first = self.clone()
        self.assertIs(ErrorCode.RATE_LIMITED, self.code(self.clone("two")))
        self.assertEqual(429, self.refused("POST", "/clone", {"name": "two", "repository": URL})[0])
        self.running.finish()
        self.successResultOf(first)
        self.clone("two")
        self.assertEqual(["one", "two"], self.listed())

    def test_failed_clone_leaves_nothing(self) -> None:
        before = self.state()
        asked = self.clone()
        self.running.fail("cannot connect to the host")
        self.assertIs(ErrorCode.OPERATION_FAILED, self.code(asked))
        self.assertEqual(before, self.state())
        self.assertEqual([], self.listed())

    def test_right_lost_during_the_clone_leaves_nothing(self) -> None:
        before = self.state()
        asked = self.clone()
        self.over = True
        self.running.finish()
        self.assertIs(ErrorCode.FORBIDDEN, self.code(asked))
        self.assertEqual(before, self.state())
        self.assertEqual([], self.listed())

    def test_right_lost_during_the_move_leaves_nothing(self) -> None:
        """The last wait is that for the folder's new place."""
        before = self.state()
        asked = self.clone()

        def move(*folders: str) -> None:
            move_folder(*folders)
            self.over = True

        self.patch(clones, "move_folder", move)
        self.running.finish()
        self.assertIs(ErrorCode.FORBIDDEN, self.code(asked))
        self.assertEqual(before, self.state())
        self.assertEqual([], self.listed())

    def test_clone_that_cannot_be_stored_leaves_nothing(self) -> None:
        before = self.state()
        asked = self.clone()

        def full(*_: object, **__: object) -> None:
            raise DiskFull("the disk is full")

        self.patch(self.cases._desk.store, "save_row", full)
        self.running.finish()
        self.assertIs(ErrorCode.OPERATION_FAILED, self.code(asked))
        self.assertEqual(before, self.state())

    def test_name_taken_during_the_clone_is_a_conflict(self) -> None:
        asked = self.clone()
        (self.folder / "one").mkdir()
        (self.folder / "one" / "mine").write_text("mine")
        self.running.finish()
        self.assertIs(ErrorCode.ALREADY_EXISTS, self.code(asked))
        self.assertEqual({"one": "/", "one/mine": "mine"}, folder_tree(self.folder))

    def test_cancelled_clone_leaves_nothing(self) -> None:
        before = self.state()
        asked = self.clone()
        self.assertEqual(404, self.refused("POST", "/clone/two/cancel")[0])
        self.assertEqual({}, self.good("POST", "/clone/ONE/cancel"))
        self.assertIs(ErrorCode.OPERATION_FAILED, self.code(asked))
        self.assertEqual(before, self.state())
        self.assertEqual(404, self.refused("POST", "/clone/one/cancel")[0])

    def test_clone_continues_when_the_caller_disconnects(self) -> None:
        asked = self.clone()
        asked.cancel()
        self.failureResultOf(asked)
        self.running.finish()
        self.assertEqual(["one"], self.listed())

    def test_stopped_service_ends_the_clone(self) -> None:
        asked = self.clone()
        stopped = self.cases.stop()
        self.successResultOf(stopped)
        self.failureResultOf(asked, ServiceError)
        self.assertEqual({}, folder_tree(self.folder))

    def test_clone_left_by_a_crash_is_removed_at_the_next_start(self) -> None:
        self.clone()
        self.assertEqual([".cloning-one", ".cloning-one/.git"], [*folder_tree(self.folder)])
        self.cases.start()
        self.assertEqual(2, len(folder_tree(self.folder)), "it is in use")
        self.machine.restart()
        self.cases.start()
        self.assertEqual({}, folder_tree(self.folder))

    def test_unfinished_clone_is_locked(self) -> None:
        self.clone()
        for work in (
            self.sessions.create(self.request(), ADMIN),
            self.cases.open_or_create("one", ADMIN),
            self.cases.delete_case("one", ADMIN, force=True),
        ):
            self.assertIs(ErrorCode.CONFLICT, self.refusal(work).code)

    def request(self) -> Any:
        from tservice.sessions.record.requests import CreateRequest

        return CreateRequest(mode="shell", case_name="one")

    def test_odd_clone_addresses_are_refused(self) -> None:
        for repository, status in (("ext::sh -c id", 400), ("-x", 400), ("x" * 2049, 400)):
            found = self.refused("POST", "/clone", {"name": "one", "repository": repository})
            self.assertEqual(status, found[0])
            self.assertTrue(found[2].startswith("repository: "), found[2])
        body = {"name": "one", "repository": URL, "ref": "--upload-pack=x"}
        self.assertTrue(self.refused("POST", "/clone", body)[2].startswith("ref: "))
        self.assertEqual([], self.git.clones)

    def test_clones_of_all_accounts_together_are_bounded(self) -> None:
        """With accounts each has one, and there are not more than the bound."""
        self.patch(self.cases._desk, "get_owner", lambda caller: caller.username)
        asked = [
            self.clone(f"n{number}", evolve(ADMIN, username=f"u{number}"))
            for number in range(MAX_CLONES + 1)
        ]
        self.assertIs(ErrorCode.RATE_LIMITED, self.code(asked.pop()))
        for clone in self.git.clones:
            clone.fail()
        for each in asked:
            self.assertIs(ErrorCode.OPERATION_FAILED, self.code(each))
