"""Making and linking cases: what comes of it, and that nothing comes of what fails."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred

from tests.runtime_harness import own_location, places_of
from tests.unit.cases.harness import CaseCase
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.cases.creation import CreatedFiles
from tservice.cases.interfaces import AgentMarker
from tservice.cases.model import MAX_CASES
from tservice.core.disk.disk_errors import DiskFull
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_failure_error
from tservice.store.database import Database


class WriteBreaker:
    """Makes one write below a folder fail, the C{at}-th, as a full disk does.

    @ivar seen: writes so far.
    """

    def __init__(self, test: CaseCase, at: int) -> None:
        self.at, self.seen = at, 0
        self._folder = str(test.machine.folder)
        for name in ("mkdir", "open", "fsync"):
            test.patch(os, name, self._wrapped(getattr(os, name)))
        test.patch(Database, "execute", self._database(Database.execute))
        test.patch(test.hooks, "error", None)
        if at == 0:
            test.hooks.error = OSError(errno.ENOSPC, "No space left on device")

    def _wrapped(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(target: Any, *args: Any, **kwargs: Any) -> Any:
            where = os.readlink(f"/proc/self/fd/{target}") if isinstance(target, int) else target
            if str(where).startswith(self._folder):
                self._count()
            return real(target, *args, **kwargs)

        return call

    def _database(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(database: Any, sql: str, *args: Any, **kwargs: Any) -> Any:
            if "INTO cases" in sql:
                self.seen += 1
                if self.seen == self.at:
                    raise DiskFull("the disk is full")
            return real(database, sql, *args, **kwargs)

        return call

    def _count(self) -> None:
        self.seen += 1
        if self.seen == self.at:
            raise OSError(errno.ENOSPC, "No space left on device")


class CaseCreationTests(CaseCase):
    def test_local_case_is_created_with_its_files(self) -> None:
        case = self.made("one", description="what it is for")
        path = self.folder / "one"
        self.assertEqual(
            {
                "name": "one", "path": str(path), "location": "local", "linked": False,
                "hasInstructions": True, "liveSessions": 0, "description": "what it is for",
                "createdAt": int(self.clock.seconds() * 1000),
            },
            case,
        )  # fmt: skip
        self.assertEqual([("case:created", case)], self.told())
        self.assertIn("CLAUDE.md", (path / "AGENTS.md").read_text())
        self.assertEqual("# one\n", (path / "CLAUDE.md").read_text()[:6])
        self.assertTrue((path / ".claude" / "settings.local.json").exists())
        self.assertEqual([case], self.good("GET"))
        self.assertEqual(case, self.good("GET", "/one"))
        self.assertEqual(case, self.good("GET", "/ONE"))

    def test_case_with_a_taken_name_is_refused(self) -> None:
        self.made("One")
        (self.folder / "two").mkdir()
        self.good("POST", "/link", {"name": "three", "path": str(self.outside)})
        for name in ("One", "one", "two", "TWO", "Three"):
            for path, body in (
                ("", {"name": name}),
                ("", {"name": name, "path": str(self.outside / "x")}),
                ("/link", {"name": name, "path": "/srv"}),
                ("/clone", {"name": name, "repository": "https://h/x"}),
            ):
                status, code, _ = self.refused("POST", path, body)
                self.assertEqual((409, "ALREADY_EXISTS"), (status, code), (name, path))

    def test_name_of_an_existing_file_is_refused(self) -> None:
        self.folder.mkdir()
        (self.folder / "one").write_text("mine")
        before = self.state()
        self.assertEqual("ALREADY_EXISTS", self.refused("POST", "", {"name": "one"})[1])
        self.assertEqual(before, self.state())

    def test_invalid_bodies_name_their_field(self) -> None:
        for body, named in (
            ({}, "name"), ({"name": ""}, "name"), ({"name": "a/b"}, "name"),
            ({"name": ".x"}, "name"),
            ({"name": "x" * 129}, "name"), ({"name": 5}, "name"), ({"name": "a", "x": 1}, "x"),
            ({"name": "a", "description": "x" * 1001}, "description"), ({"name": "a\n"}, "name"),
            ({"name": "a", "path": ""}, "path"), ({"name": "a", "path": "x"}, "path"),
        ):  # fmt: skip
            status, code, text = self.refused("POST", "", body)
            self.assertEqual((400, "INVALID_INPUT"), (status, code), body)
            self.assertTrue(text.startswith(f"{named}: "), text)

    def test_number_of_cases_is_bounded(self) -> None:
        sql = "INSERT INTO cases (owner, name, path, created_at) VALUES ('', ?, '/srv', 0)"
        with self.machine.database.transaction():
            self.machine.database.execute_many(sql, [(f"n{at}",) for at in range(MAX_CASES)])
        self.assertEqual(422, self.refused("POST", "", {"name": "more"})[0])
        self.assert_refused(ErrorCode.OPERATION_FAILED, self.cases.open_or_create("more", ADMIN))
        self.assertFalse(self.folder.exists())
        # Of those that somebody removed by hand nothing is kept then.
        self.machine.database.execute("UPDATE cases SET path = NULL WHERE name < 'n5'")
        self.made("more")
        found = self.machine.database.query_rows("SELECT count(*) FROM cases")
        self.assertEqual(556, found[0][0])

    def test_case_without_hooks_gets_no_hook_settings(self) -> None:
        """The real writer; that of other tests is played."""
        from tservice.agents.channels.decision_script import build_dialog_hook
        from tservice.agents.hooks.launch_preparation import HookPreparation
        from tservice.core.locations.workspace_bounds import FolderLimit
        from tservice.core.workers.worker_pool import SynchronousThreads

        machine, home = self.machine, self.machine.home
        place = own_location(home)
        preparation = HookPreparation(
            machine.settings,
            machine.clis,
            lambda: self.sessions,
            places_of(place),
            SynchronousThreads(),
            lambda owner, place: FolderLimit(machine.folder / (owner or "")),
            build_dialog_hook(),
        )
        file = Path(".claude") / "settings.local.json"
        for wanted in (True, False):
            machine.settings.change_settings({"workspaceHooksEnabled": wanted})
            folder = machine.folder / f"hooks-{wanted}"
            folder.mkdir()
            preparation.get_writer(place, None)(folder)
            self.assertEqual(wanted, (folder / file).exists())
            self.assertNotIn(
                "statusLine", json.loads((folder / file).read_text()) if wanted else ()
            )
        machine.settings.change_settings({"workspaceHooksEnabled": True})
        with self.assertRaisesRegex(OSError, "outside the workspace of this account"):
            preparation.get_writer(place, "ann")(machine.folder / "hooks-False")


class CustomFolderTests(CaseCase):
    def test_missing_custom_folder_is_created_and_linked(self) -> None:
        path = self.outside / "new"
        case = self.made("one", path=f"{self.outside}//./new/")
        self.assertEqual(
            (str(path), "linked", True), (case["path"], case["location"], case["linked"])
        )
        self.assertTrue((path / "CLAUDE.md").exists())
        self.assertFalse(self.folder.exists())

    def test_empty_custom_folder_is_filled(self) -> None:
        (self.outside / "empty").mkdir()
        self.made("one", path=str(self.outside / "empty"))
        self.assertTrue((self.outside / "empty" / "AGENTS.md").exists())

    def test_custom_folder_may_be_below_home(self) -> None:
        case = self.made("one", path="~/x")
        self.assertEqual(str(self.machine.home / "x"), case["path"])

    def test_unsuitable_custom_folder_is_refused(self) -> None:
        outside, home = self.outside, self.machine.home
        (outside / "file").write_text("x")
        (outside / "full").mkdir()
        (outside / "full" / "x").write_text("x")
        (outside / "link").symlink_to("full")
        (outside / "dangling").symlink_to("nowhere")
        (outside / "etc").symlink_to("/etc")
        (outside / "cases").symlink_to(self.folder)
        (outside / "home").symlink_to(home)
        (home / ".ssh").mkdir()
        before = self.state()
        for path, status, word in (
            (outside / "file", 400, "folder"), (outside / "link", 400, "link"),
            (outside / "dangling", 400, "link"), (outside / "etc" / "x", 400, "/etc"),
            (outside / "cases" / "x", 400, "cases"), (outside / "home", 400, "link"),
            (outside / "home" / ".ssh" / "x", 400, ".ssh"),
            (outside / "etc" / "no" / "x", 400, "/etc"),
            (outside / "file" / "x", 400, "folder"), (outside / "none" / "x", 404, "none"),
            (outside / "full", 409, "link it"), ("/etc/none/x", 400, "/etc"),
            (self.machine.config.data_dir / "x", 400, "own folder"),
            (self.folder / "x", 400, "cases"),
        ):  # fmt: skip
            found = self.refused("POST", "", {"name": "one", "path": str(path)})
            self.assertEqual(status, found[0], (path, found))
            self.assertIn(word, found[2])
        self.assertEqual(before, self.state())


class CaseLinkTests(CaseCase):
    def test_linking_a_folder_writes_nothing(self) -> None:
        (self.outside / "x").write_text("x")
        case = self.good("POST", "/link", {"name": "one", "path": str(self.outside)})["case"]
        self.assertEqual(("linked", False), (case["location"], case["hasInstructions"]))
        self.assertEqual(["x"], os.listdir(self.outside))
        self.assertEqual([("case:linked", case)], self.told())

    def test_unsuitable_folder_is_not_linked(self) -> None:
        (self.outside / "file").write_text("x")
        (self.outside / "link").symlink_to("/srv")
        for path, status in (
            (self.outside / "file", 400), (self.outside / "link", 400), ("/etc", 400),
            (self.outside / "none", 404), ("/etc/none", 400), (self.machine.home, 400),
        ):  # fmt: skip
            found = self.refused("POST", "/link", {"name": "one", "path": str(path)})
            self.assertEqual(status, found[0], (path, found))
        self.assertEqual([], self.good("GET"))

    def test_missing_linked_folder_is_unreachable(self) -> None:
        path = self.outside / "x"
        path.mkdir()
        self.good("POST", "/link", {"name": "one", "path": str(path)})
        path.rmdir()
        self.assertIs(True, self.good("GET", "/one")["unreachable"])


class UndoTests(CaseCase):
    """Each step fails in turn, and the tree is as before."""

    def every_step(self, ask: Callable[[], int], least: int) -> None:
        before = self.state()
        for at in range(100):
            breaker = WriteBreaker(self, at)
            status = ask()
            if status == 200:
                self.assertGreater(at, least)
                return
            self.assertEqual(422, status, at)
            self.assertEqual(before, self.state(), at)
            self.assertGreaterEqual(breaker.seen, at)
            self.assertNotIn("case:created", [name for name, _ in self.told()])
        self.fail("it never succeeded")

    def ask(self, **body: Any) -> Callable[[], int]:
        def ask() -> int:
            answer = self.api.post("/api/cases", {"name": "one", **body})
            if answer.status != 200:
                self.assertIn("disk is full", answer.error[2])
            return answer.status

        return ask

    def test_failed_local_case_is_rolled_back(self) -> None:
        self.every_step(self.ask(), 6)

    def test_failed_case_in_a_new_folder_is_rolled_back(self) -> None:
        self.every_step(self.ask(path=str(self.outside / "x")), 6)

    def test_failed_case_in_an_empty_folder_is_rolled_back(self) -> None:
        (self.outside / "x").mkdir()
        self.every_step(self.ask(path=str(self.outside / "x")), 5)
        self.assertTrue((self.outside / "x" / "CLAUDE.md").exists())

    def test_failed_quick_start_is_rolled_back(self) -> None:
        """Up to the start of the process."""
        before = self.state()
        self.patch(self.machine.mux, "create_pane", self.no_pane)
        asked = start_coroutine(self.sessions.quick_start(self.wanted(), ADMIN))
        self.assertIs(
            ErrorCode.OPERATION_FAILED, self.failureResultOf(asked, ServiceError).value.code
        )
        self.assertEqual(before, self.state())
        self.assertEqual(["case:created", "case:deleted"], [name for name, _ in self.told()])

    def test_quick_start_failing_at_each_step_is_rolled_back(self) -> None:
        def ask() -> int:
            asked = start_coroutine(
                self.cases.open_or_create("one", ADMIN, AgentMarker(created_at=1, created_by="x"))
            )
            told: list[int] = []
            asked.addCallbacks(
                lambda _: told.append(200), lambda why: told.append(why.value.status)
            )
            return told[0]

        self.every_step(ask, 7)

    def test_case_already_used_by_another_session_is_not_rolled_back(self) -> None:
        place = self.run_now(self.cases.open_or_create("one", ADMIN))
        session = self.create(case_name="one")
        self.run_now(place.undo())
        self.assertTrue((self.folder / "one" / "CLAUDE.md").exists())
        self.run_now(self.sessions.delete(session.id))
        self.run_now(place.undo())
        self.assertFalse((self.folder / "one").exists())

    async def no_pane(self, spec: object) -> None:
        raise make_failure_error("no pane")

    def wanted(self) -> Any:
        from tservice.sessions.life.quick_start import QuickStartRequest
        from tservice.sessions.record.requests import CreateRequest

        return QuickStartRequest(case_name="one", session=CreateRequest(mode="shell"))

    def test_roll_back_keeps_files_of_others(self) -> None:
        making = CreatedFiles()
        self.outside.joinpath("x").mkdir()
        making.make_folder(self.outside / "made")
        making.make_file(self.outside / "made" / "file", "x")
        self.assertRaises(FileExistsError, making.make_folder, self.outside / "x")
        (self.outside / "made" / "theirs").write_text("theirs")
        making.remove_created_paths()
        self.assertEqual(["theirs"], os.listdir(self.outside / "made"))

    def test_abandoned_work_is_rolled_back(self) -> None:
        """The thread is given up: whoever comes second takes it back."""
        late, early = CreatedFiles(), CreatedFiles()
        target = self.outside / "late"

        def work(making: CreatedFiles) -> None:
            making.make_folder(target)
            self.assertFalse(making.abandon_work())

        late.run_work(work)
        self.assertFalse(target.exists())
        early.run_work(lambda making: making.make_folder(target))
        self.assertTrue(early.abandon_work())
        early.remove_created_paths()
        self.assertFalse(target.exists())


class TogetherTests(CaseCase):
    def test_two_quick_starts_of_one_name_make_one_case(self) -> None:
        """The second waits for the first, and works in the same case."""
        gate: Deferred[None] = Deferred()
        real = self.cases._desk.create_files

        async def slow(*args: Any) -> CreatedFiles:
            await gate
            return await real(*args)

        self.patch(self.cases._desk, "create_files", slow)
        first, second, left = (
            start_coroutine(self.cases.open_or_create("one", ADMIN)) for _ in range(3)
        )
        self.assertNoResult(second)
        status, code, text = self.refused("POST", "", {"name": "One"})
        self.assertEqual((409, "CONFLICT"), (status, code), text)
        left.cancel()
        self.failureResultOf(left)
        gate.callback(None)
        made, found = self.successResultOf(first), self.successResultOf(second)
        self.assertEqual(made, found)
        self.run_now(found.undo())
        self.assertTrue((self.folder / "one").exists())
        self.run_now(made.undo())
        self.assertFalse((self.folder / "one").exists())
