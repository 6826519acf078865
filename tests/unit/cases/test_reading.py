"""Lists, orders, browsing, and whose cases they are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from shutil import rmtree
from typing import Any
from urllib.parse import quote

from attrs import evolve
from pydantic import TypeAdapter

from tests.callers import make_caller
from tests.unit.cases.fake_cases import build_fake_cases
from tests.unit.cases.harness import CaseCase
from tests.unit.sessions.harness import ADMIN
from tservice.cases import folder_browsing, repository_search, service
from tservice.cases.folder_browsing import MAX_FOLDERS
from tservice.cases.interfaces import AgentMarker, CaseWorktreeRequest
from tservice.cases.repository_search import RepositoryFinder
from tservice.cases.routes.case_routes import CaseRoutes
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_failure_error
from tservice.core.kernel.events import EventAudience
from tservice.core.workers.reachability import PROBE_SECONDS
from tservice.http.operation_decorator import collect_operations
from tservice.sessions.record.requests import CreateRequest

ANN = make_caller(username="ann", admin=False, can_bypass_permissions=True)
ROOT = make_caller(username="root", admin=True)


class SilentFolders:
    """Folders that do not answer.

    @ivar crowded: those for which too much waits.
    @ivar asked: for how long they were given, by path.
    """

    def __init__(self, *paths: str) -> None:
        self.paths_ = set(paths)
        self.crowded: set[str] = set()
        self.asked: dict[str, float] = {}

    async def check_paths(
        self, os_user: str | None, paths: Iterable[str], place: str, seconds: float = PROBE_SECONDS
    ) -> None:
        for path in paths:
            self.asked[path] = seconds
            if path in self.paths_:
                raise make_failure_error(f"{path} does not answer")
            if path in self.crowded:
                raise ServiceError(ErrorCode.RATE_LIMITED, "too many requests wait")


class CaseListTests(CaseCase):
    def test_cases_are_listed_in_the_chosen_order(self) -> None:
        for name in ("b", "A", "c", "d"):
            self.made(name)
        self.assertEqual(["A", "b", "c", "d"], self.listed())
        order = self.good("PUT", "/order", {"order": ["d", "B"]})["order"]
        self.assertEqual(["d", "b"], order)
        self.assertEqual(["d", "b", "A", "c"], self.listed())
        self.assertEqual(("case:orderChanged", {"order": ["d", "b"]}), self.told()[-1])
        self.assertEqual(("d", "b"), self.machine.settings.get().case_order)
        self.machine.settings.change_settings({"caseOrder": ["c"]})
        self.assertEqual(["c", "A", "b", "d"], self.listed())
        self.good("DELETE", "/c")
        self.assertEqual(["A", "b", "d"], self.listed())
        for names, status in ((["none"], 404), (["b", "B"], 400), (["a/b"], 400), ("b", 400)):
            self.assertEqual(status, self.refused("PUT", "/order", {"order": names})[0], names)

    def test_folders_that_are_no_cases_are_not_listed(self) -> None:
        self.made("one")
        (self.folder / "file").write_text("x")
        (self.folder / "a b").mkdir()
        (self.folder / ".hidden").mkdir()
        (self.folder / "\u00fc").mkdir()
        (self.folder / "dangling").symlink_to("nowhere")
        (self.folder / "linked").symlink_to(self.outside)
        self.assertEqual(["linked", "one"], self.listed())

    def test_responses_match_the_openapi_document(self) -> None:
        self.made("one")
        self.run_now(
            self.cases.open_or_create("two", ADMIN, AgentMarker(created_at=5, created_by="claude"))
        )
        self.good("POST", "/one/worktree", {"branch": "b"})
        self.good("POST", "/link", {"name": "gone", "path": str(self.outside)})
        self.outside.rmdir()
        types = {
            f"{it.method} {it.path}": it.response_model
            for it in collect_operations(CaseRoutes(self.cases, RepositoryFinder(self.cases._desk)))
        }
        for path, name in (("", ""), ("/agent-created", "/agent-created"), ("/browse", "/browse"),
                           ("/two", "/{name}")):  # fmt: skip
            found = json.dumps(self.good("GET", path))
            TypeAdapter(types[f"GET /api/cases{name}"]).validate_json(found)

    def test_agent_created_cases_are_listed(self) -> None:
        for at, name in ((5, "old"), (9, "new")):
            parent = "p" if at > 5 else None
            marker = AgentMarker(created_at=at, created_by="claude", parent_session_id=parent)
            self.run_now(self.cases.open_or_create(name, ADMIN, marker))
        self.made("mine")
        self.shell(case_name="old")
        found = self.good("GET", "/agent-created")["cases"]
        self.assertEqual(
            [
                {"name": "new", "path": str(self.folder / "new"), "createdAt": 9,
                 "createdBy": "claude", "parentSessionId": "p", "inUse": False},
                {"name": "old", "path": str(self.folder / "old"), "createdAt": 5,
                 "createdBy": "claude", "inUse": True},
            ],
            found,
        )  # fmt: skip
        self.assertIs(True, self.good("GET", "/old")["agentCreated"])
        self.assertNotIn("agentCreated", self.good("GET", "/mine"))

    def test_hand_written_markers_are_ignored(self) -> None:
        self.made("one")
        marker = self.folder / "one" / ".service-agent-case.json"
        for text in (
            "", "[]", "{}", '{"createdAt": "x", "createdBy": "y"}', "null", "\udcff",
            '{"createdAt": true, "createdBy": "y"}', '{"createdAt": -1, "createdBy": "y"}',
            '{"createdAt": 1e999, "createdBy": "y"}', '{"createdAt": 5, "createdBy": "a\\u001bb"}',
            '{"createdAt": 5, "createdBy": 5}', '{"createdAt": 5, "createdBy": ""}',
            f'{{"createdAt": 5, "createdBy": "{"x" * 65}"}}', "[" * 4000, "x" * 5000,
        ):  # fmt: skip
            marker.write_bytes(text.encode("utf-8", "surrogateescape"))
            self.assertEqual([], self.good("GET", "/agent-created")["cases"], text)
        marker.unlink()
        os.mkfifo(marker)
        self.assertEqual([], self.good("GET", "/agent-created")["cases"])

    def test_missing_mount_is_unreachable_and_hides_no_case(self) -> None:
        """It is told of as unreachable, and hides nothing else."""
        self.made("one")
        silence = SilentFolders()
        machine = self.machine
        ground = machine.ground(reachability=silence)
        cases = build_fake_cases(ground, lambda: self.sessions).service
        dead = self.outside / "dead"
        for path in (dead, self.outside / "well"):
            path.mkdir()
            self.run_now(cases.link_folder(path.name, str(path), ADMIN))
        silence.paths_.add(str(dead))
        found = {case.name: case.unreachable for case in self.run_now(cases.list_cases(ADMIN))}
        self.assertEqual({"dead": True, "one": False, "well": False}, found)
        self.assertEqual({3.0}, set(silence.asked.values()))
        silence.crowded.add(silence.paths_.pop())
        found = {case.name: case.unreachable for case in self.run_now(cases.list_cases(ADMIN))}
        self.assertEqual({"dead": True, "one": False, "well": False}, found)
        silence.paths_.add(silence.crowded.pop())
        self.assert_refused(ErrorCode.OPERATION_FAILED, cases.open_or_create("dead", ADMIN))
        self.run_now(cases.open_or_create("well", ADMIN))
        parent = str(self.outside)
        silence.paths_.add(parent)
        text = self.assert_refused(
            ErrorCode.OPERATION_FAILED,
            cases.create_case("two", None, f"{parent}/x", ADMIN),
        )
        self.assertIn(f"{parent} does not answer", text)
        self.assertFalse((self.outside / "x").exists())
        silence.paths_.add(str(self.folder))
        self.assert_refused(ErrorCode.OPERATION_FAILED, cases.list_cases(ADMIN))

    def test_quick_start_finds_a_case_by_another_letter_case(self) -> None:
        self.made("One")
        place = self.run_now(self.cases.open_or_create("oNE", ADMIN))
        self.assertEqual(("One", str(self.folder / "One")), (place.name, place.path))
        self.assertEqual("One", self.create(case_name="one").case_name)
        self.good("POST", "/link", {"name": "Two", "path": str(self.outside)})
        session = self.create(case_name="two")
        self.assertEqual(("Two", str(self.outside)), (session.case_name, session.working_dir))

    def test_token_bound_to_sessions_lists_only_their_cases(self) -> None:
        self.made("one")
        self.made("two")
        session = self.create(case_name="two")
        self.as_user(evolve(ADMIN, sessions=frozenset({session.id})))
        self.assertEqual(["two"], self.listed())
        self.assertEqual(404, self.refused("GET", "/one")[0])


class BrowseTests(CaseCase):
    def shown(self, query: str = "") -> list[str]:
        return [each["name"] for each in self.good("GET", f"/browse{query}")["folders"]]

    def test_home_folder_is_browsed(self) -> None:
        home = self.machine.home
        for name in ("b", "A", ".hidden", "repo"):
            (home / name).mkdir()
        (home / "repo" / ".git").mkdir()
        (home / "file").write_text("x")
        (home / "link").symlink_to("b")
        (home / "dangling").symlink_to("nowhere")
        os.mkdir(os.fsencode(home) + b"/\xff")
        found = self.good("GET", "/browse")
        self.assertEqual((str(home), str(home.parent)), (found["path"], found["parent"]))
        self.assertEqual(["A", "b", "link", "repo"], [each["name"] for each in found["folders"]])
        repositories = [each["path"] for each in found["folders"] if each["isRepository"]]
        self.assertEqual([str(home / "repo")], repositories)
        self.assertEqual(["A", "b", "link", "repo", ".hidden"], self.shown("?showHidden=1"))
        self.assertEqual(["A", "b", "link", "repo"], self.shown("?path=~/"))
        self.assertIsNone(self.good("GET", "/browse?path=/")["parent"])

    def test_unreadable_and_relative_folders_are_not_browsed(self) -> None:
        (self.outside / "file").write_text("x")
        (self.outside / "kernel").symlink_to("/proc/self")
        for path, status in (
            (self.outside / "none", 404), (self.outside / "file", 400), ("relative", 400),
            ("/a/../b", 400), ("/a%00b", 400), (self.outside / "file" / "x", 400),
            ("/proc/self/fd", 400), ("/sys", 400), (self.outside / "kernel" / "cwd", 400),
        ):  # fmt: skip
            self.assertEqual(status, self.refused("GET", f"/browse?path={path}")[0], path)

    def repositories(self) -> list[str]:
        return [each["name"] for each in self.good("GET", "/repositories")["repositories"]]

    def make_repository(self, path: str, used_at: float = 1.0) -> Path:
        git = self.machine.home / path / ".git"
        git.mkdir(parents=True)
        (git / "index").write_text("x")
        for each in (git / "index", git):
            os.utime(each, (used_at, used_at))
        return git.parent

    def test_repositories_near_the_home_folder_are_found(self) -> None:
        self.make_repository("older", 10)
        self.make_repository("src/newer", 30)
        worktree = self.machine.home / "src" / "worktree"
        worktree.mkdir()
        (worktree / ".git").write_text("gitdir: /elsewhere")
        os.utime(worktree / ".git", (20, 20))
        for path in ("src/deep/er", ".hidden", "older/vendored"):
            self.make_repository(path, 40)
        (self.machine.home / "link").symlink_to("src")
        self.assertEqual(["newer", "worktree", "older"], self.repositories())
        [first, *_] = self.good("GET", "/repositories")["repositories"]
        self.assertEqual(str(self.machine.home / "src" / "newer"), first["path"])
        self.assertEqual(30_000, first["usedAt"])

    def test_search_for_repositories_is_bounded(self) -> None:
        self.patch(repository_search, "MAX_SEARCHED", 3)
        self.patch(repository_search, "MAX_FOUND", 2)
        for number in range(5):
            self.make_repository(f"r{number}")
        self.assertEqual(2, len(self.repositories()))
        search = repository_search.RepositorySearch(lambda: 0.0)
        search.run(str(self.machine.home))
        self.assertEqual(3, len(search.found))

    def test_search_ends_in_time(self) -> None:
        for number in range(5):
            self.make_repository(f"r{number}")
        seconds = iter((0.0, 0.1, 0.2, 5.0))
        search = repository_search.RepositorySearch(lambda: next(seconds))
        search.run(str(self.machine.home))
        self.assertEqual(2, len(search.found))

    def test_folder_that_does_not_answer_ends_the_search(self) -> None:
        self.make_repository("seen")
        real = repository_search.RepositorySearch.run

        def stuck(search: Any, top: str) -> None:
            real(search, top)
            raise make_failure_error("the file system does not answer")

        self.patch(repository_search.RepositorySearch, "run", stuck)
        self.assertEqual(["seen"], self.repositories())
        rmtree(self.machine.home / "seen")
        self.assertEqual(422, self.refused("GET", "/repositories")[0])

    def test_browsing_lists_at_most_the_bound(self) -> None:
        for number in range(MAX_FOLDERS + 1):
            (self.outside / f"n{number:04}").mkdir()
        found = self.good("GET", f"/browse?path={self.outside}")
        self.assertEqual((MAX_FOLDERS, True), (len(found["folders"]), found["truncated"]))

    def test_folder_that_does_not_answer_is_listed_by_name(self) -> None:
        real = folder_browsing.list_folders

        def stuck(*args: Any, look: bool, **named: Any) -> Any:
            if look:
                raise make_failure_error("the file system does not answer")
            return real(*args, look=look, **named)

        self.patch(service, "list_folders", stuck)
        (self.outside / "repo" / ".git").mkdir(parents=True)
        [found] = self.good("GET", f"/browse?path={self.outside}")["folders"]
        self.assertEqual(("repo", False), (found["name"], found["isRepository"]))


class CaseAccountTests(CaseCase):
    """With accounts."""

    def setUp(self) -> None:
        super().setUp()
        machine = self.machine
        machine.config = evolve(machine.config, multiuser=True)
        machine.boot()
        self.run_now(self.sessions.load_and_adopt_sessions())
        self.lay_api()
        self.as_user(ANN)

    def test_cases_of_each_account_have_their_own_folder_and_order(self) -> None:
        for who in (ANN, ROOT):
            self.as_user(who)
            for name in ("one", "two"):
                case = self.made(name)
                own = self.folder / ".accounts" / who.username
                self.assertEqual(str(own / name), case["path"])
        event = next(e for e in self.machine.events if e.name == "case:created")
        self.assertEqual((EventAudience.OWNER, "ann"), (event.name.audience, event.owner))
        self.good("PUT", "/order", {"order": ["two"]})
        self.assertEqual(["two", "one"], self.listed())
        self.as_user(ANN)
        self.assertEqual(["one", "two"], self.listed())
        self.assertEqual((), self.machine.settings.get().case_order)

    def test_custom_folders_are_for_admins_only(self) -> None:
        path = str(self.outside / "x")
        for where, body in (
            ("", {"name": "one", "path": path}),
            ("", {"name": "one", "path": "/etc"}),
            ("/clone", {"name": "one", "repository": "/srv/x"}),
            ("/clone", {"name": "one", "repository": "file:///srv/x"}),
        ):
            status, code, _ = self.refused("POST", where, body)
            self.assertEqual((403, "FORBIDDEN"), (status, code), body)
        self.assert_refused(ErrorCode.FORBIDDEN, self.cases.link_folder("one", path, ANN))
        self.assertFalse(self.outside.joinpath("x").exists())
        self.as_user(ROOT)
        self.made("one", path=path)

    def test_cases_linked_as_admin_are_closed_after_demotion(self) -> None:
        was = evolve(ANN, admin=True)
        (self.outside / "x").mkdir()
        self.run_now(self.cases.link_folder("far", str(self.outside / "x"), was))
        self.run_now(self.cases.make_worktree("far", CaseWorktreeRequest(branch="b"), was))
        self.assertEqual(
            ["far", "far-b"], [c.name for c in self.run_now(self.cases.list_cases(was))]
        )
        self.assertEqual([], self.listed())
        for name in ("far", "far-b"):
            self.assertEqual(404, self.refused("DELETE", f"/{name}?force=1")[0])
            self.assert_refused(ErrorCode.FORBIDDEN, self.cases.open_or_create(name, ANN))
        self.assertTrue((self.outside / "far-b").exists())

    def test_browsing_stays_inside_the_folder_of_the_account(self) -> None:
        self.made("one")
        own = self.folder / ".accounts" / "ann"
        (own / "out").symlink_to(self.outside)
        found = self.good("GET", "/browse")
        self.assertEqual((str(own), None), (found["path"], found["parent"]))
        self.assertEqual(str(own), self.good("GET", f"/browse?path={own}/one")["parent"])
        for path in ("/", self.outside, self.folder, own / "out", self.machine.home, "/none"):
            self.assertEqual(403, self.refused("GET", f"/browse?path={path}")[0], path)

    def test_user_creates_a_worktree_of_the_own_case(self) -> None:
        self.made("one")
        case = self.good("POST", "/one/worktree", {"branch": "b"})["case"]
        self.assertEqual(str(self.folder / ".accounts" / "ann" / "one-b"), case["path"])
        session = self.create(ANN, case_name="one", worktree=CaseWorktreeRequest(branch="c"))
        self.assertEqual(str(self.folder / ".accounts" / "ann" / "one-c"), session.working_dir)

    def test_user_creates_a_worktree_of_an_own_folder_that_is_no_case(self) -> None:
        self.made("one")
        own = self.folder / ".accounts" / "ann"
        folder = own / "one" / "sub repo"
        (folder / ".git").mkdir(parents=True)
        self.assertTrue(self.good("GET", f"/browse?path={quote(str(folder))}")["isRepository"])
        wish = CaseWorktreeRequest(branch="fix/x")
        session = self.create(ANN, working_dir=str(folder), worktree=wish)
        self.assertEqual(str(own / "one" / "sub-repo-fix-x"), session.working_dir)
        self.assertEqual("sub-repo-fix-x", session.case_name)
        [case] = [each for each in self.good("GET", "") if each["name"] == "sub-repo-fix-x"]
        self.assertEqual(str(folder), case["worktree"]["repository"])

    def test_worktree_needs_a_place_that_the_user_may_write_to(self) -> None:
        self.made("one")
        own = self.folder / ".accounts" / "ann"
        wish = CaseWorktreeRequest(branch="b")
        for folder in (own, self.outside):
            request = CreateRequest(mode="shell", working_dir=str(folder), worktree=wish)
            self.assert_refused(ErrorCode.FORBIDDEN, self.sessions.create(request, ANN))
        self.assertEqual([], self.git.orders)
        nowhere = CreateRequest(mode="shell", worktree=wish)
        for request in (nowhere, evolve(nowhere, working_dir=str(own / "one"), case_name="one")):
            self.assert_refused(ErrorCode.INVALID_INPUT, self.sessions.create(request, ANN))

    def test_link_in_the_own_cases_folder_leads_nowhere(self) -> None:
        self.made("one")
        (self.folder / ".accounts" / "ann" / "trap").symlink_to(self.outside)
        for name in ("trap",):
            self.assert_refused(ErrorCode.FORBIDDEN, self.cases.open_or_create(name, ANN))

    def test_cases_are_handled_as_the_os_user(self) -> None:
        world = self.machine.os_users
        user = world.add("a", 1001)
        caller = world.caller("ann", "a")
        self.as_user(caller)
        world.acted.clear()
        case = self.made("one")
        self.assertEqual(str(user.home / "service-cases" / "one"), case["path"])
        self.assertEqual({"a"}, set(world.acted))
        self.assertFalse(self.folder.exists())
        self.good("POST", "/one/worktree", {"branch": "b"})
        self.good("DELETE", "/one-b")
        self.good("DELETE", "/one")
        self.assertEqual({"a"}, {place.name for place in self.git.places})
        self.assertEqual({"ann"}, set(self.git.owners))
        self.assertEqual(str(user.home), self.good("GET", "/browse")["path"])
        [doomed] = self.machine.database.query_rows("SELECT os_user, os_uid FROM case_trash")
        self.assertEqual(("a", 1001), tuple(doomed))
        world.acted.clear()
        self.spend(7 * 24 * 3600)
        self.cases.start()
        self.assertEqual({"a"}, set(world.acted))
        self.assertEqual([], [*(Path(user.home) / "service-cases" / ".trash").iterdir()])
        self.successResultOf(self.cases.stop())

    def test_missing_os_user_is_an_error(self) -> None:
        world = self.machine.os_users
        world.add("a", 1001)
        caller = world.caller("ann", "a")
        world.remove("a")
        for work in (
            self.cases.list_cases(caller), self.cases.create_case("one", None, None, caller),
            self.cases.browse_folders(None, caller, hidden=False),
            self.cases.resolve_folder("/srv", caller),
        ):  # fmt: skip
            self.assertIn("osUser", self.assert_refused(ErrorCode.OPERATION_FAILED, work))
