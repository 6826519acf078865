"""The two routes at the edge."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.non_empty import require_items
from tests.runtime_harness import bounds_of, build_test_runtime
from tests.unit.sessions.harness import start_coroutine
from tservice.cases.interfaces import ResolvedCase
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ServiceError
from tservice.core.locations.location import LocationId, LocationKind
from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.git.build import GitFeature, build_git
from tservice.git.case_routes import CaseGitRoutes
from tservice.git.model import ChangeKind, GitOptions
from tservice.git.routes import GitDiffQuery, GitRoutes, GitStatusQuery, GitStatusResponse
from tservice.git.service import GitWorkspace
from tservice.git.workspaces import CaseWorkspaces, SessionWorkspaces
from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import AccessRule, OperationCall
from tservice.http.validation.body import read_query
from tservice.runtime.feature import FeatureRegistration
from tservice.sessions.record.model import NameSource, Session, SessionLocationKind

SESSION = Session(
    id="s",
    mode="shell",
    name="n",
    name_source=NameSource.MANUAL,
    working_dir="/w",
    created_at=1,
    last_activity_at=1,
)


class LocationSessions:
    """Three sessions, one for each place."""

    sessions = {
        "l": SESSION,
        "c": evolve(SESSION, location=SessionLocationKind.CONTAINER, working_dir="/c"),
        "r": evolve(SESSION, location=SessionLocationKind.REMOTE),
    }

    def get(self, session_id: str) -> Session:
        return self.sessions[session_id]

    def list(self) -> list[Session]:
        return [*self.sessions.values()]


class GitQueryTests(SynchronousTestCase):
    """Clamped, defaulted, or refused."""

    def options(self, **args: Any) -> GitOptions:
        raw = {
            name.encode(): [
                text.encode() for text in ([value] if isinstance(value, str) else value)
            ]
            for name, value in args.items()
        }
        return read_query(raw, GitStatusQuery).to_options()

    def test_max_repos_is_clamped(self) -> None:
        for text, wanted in (
            ("", 12), ("x", 12), ("7", 7), ("0", 1), ("-3", 1), ("51", 50), ("9" * 200, 50),
            (" 8 ", 8), ("8\x1f", 8), ("1e3", 12), ("nan", 12), ("4.9", 4), ("\u0663", 12),
            ("12a", 12), ("9" * 5000, 50), ("-" + "9" * 5000, 1), (["7", "7"], 12),
            (["7", "8"], 12),
        ):  # fmt: skip
            self.assertEqual(wanted, self.options(maxRepos=text).max_repos, text)

    def test_timeout_is_clamped(self) -> None:
        for texts, wanted in (
            ("", 30), ("x", 30), ("60", 60), ("1", 5), ("121", 120), ("5.5", 5.5), ("inf", 30),
            (["60", "60"], 30), (["60", "70"], 30), ("9" * 5000, 120),
        ):  # fmt: skip
            self.assertEqual(wanted, self.options(timeout=texts).timeout, texts)

    def test_absent_options_have_defaults(self) -> None:
        self.assertEqual(GitOptions(max_repos=12, timeout=30, fresh=False), self.options())

    def test_fresh_is_a_flag(self) -> None:
        self.assertTrue(self.options(fresh="1").fresh)
        self.assertFalse(self.options(fresh="0").fresh)
        self.assertRaises(ServiceError, self.options, fresh="yes")

    @settings(deadline=None)
    @given(st.text(st.characters(codec="utf-8"), max_size=20))
    def test_options_are_always_in_range(self, text: str) -> None:
        options = self.options(maxRepos=text, timeout=text)
        self.assertTrue(1 <= options.max_repos <= 50)
        self.assertTrue(5 <= options.timeout <= 120)

    def test_diff_query_is_parsed(self) -> None:
        whole = {b"repo": [b"/r"], b"path": [b"p"], b"kind": [b"staged"]}
        self.assertEqual(ChangeKind.STAGED, read_query(whole, GitDiffQuery).kind)
        for name in whole:
            less = {key: value for key, value in whole.items() if key != name}
            error = self.assertRaises(ServiceError, read_query, less, GitDiffQuery)
            self.assertEqual(f"{name.decode()}: is required", error.message)
        error = self.assertRaises(
            ServiceError, read_query, {**whole, b"kind": [b"ignored"]}, GitDiffQuery
        )
        self.assertEqual(400, error.status)
        self.assertIn("kind", error.message)


class FakeService:
    """Keeps what was asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    async def get_status(self, *asked: Any) -> dict[str, Any]:
        self.asked.append(asked)
        return {"state": "ok", "repos": [], "reposTruncated": False, "checkedAt": 1}

    async def get_diff(self, *asked: Any) -> dict[str, Any]:
        self.asked.append(asked)
        return {"diff": "", "truncated": False, "binary": False}


class GitRouteTests(SynchronousTestCase):
    """From a call to the service."""

    def setUp(self) -> None:
        self.service = FakeService()
        workspaces = SessionWorkspaces(cast(Any, LocationSessions()), bounds_of(Path("/cases")))
        self.routes = GitRoutes(cast(Any, self.service), workspaces.get_workspace)

    def call(self, number: int, session: str, query: Any) -> Any:
        operation = collect_operations(self.routes)[number]
        call = SimpleNamespace(id=session, query=query)
        return self.successResultOf(
            Deferred.fromCoroutine(cast(Any, operation.handler(cast(OperationCall, call))))
        )

    def test_status_is_asked_for_the_location_of_the_session(self) -> None:
        self.call(0, "l", GitStatusQuery())
        self.call(0, "c", GitStatusQuery())
        self.call(0, "r", GitStatusQuery())
        places = [workspace for workspace, _ in self.service.asked]
        kinds = (LocationKind.LOCAL, LocationKind.CONTAINER, LocationKind.REMOTE)
        wanted = list(zip(kinds, ("/w", "/c", "/w"), strict=True))
        self.assertEqual(wanted, [(each.place.kind, each.folder) for each in places])

    def test_diff_is_asked_for_the_given_file(self) -> None:
        self.call(1, "l", GitDiffQuery(repo="/r", path="p", kind=ChangeKind.STAGED))
        wanted = (
            GitWorkspace(inside=ANYWHERE, folder="/w"),
            "/r",
            "p",
            ChangeKind.STAGED,
            GitOptions(),
        )
        self.assertEqual([wanted], self.service.asked)

    def test_routes_are_for_the_owner(self) -> None:
        for operation in require_items(collect_operations(self.routes)):
            self.assertEqual(("GET", AccessRule.OWNER), (operation.method, operation.access))


class GitFeatureTests(SynchronousTestCase):
    """The parts fit."""

    def build(self) -> FeatureRegistration[GitFeature]:
        ground = build_test_runtime(Path("/h"))
        sessions = cast(Any, LocationSessions())
        return build_git(ground, sessions=sessions, containers=lambda: ["/more"])

    def test_built_feature_has_its_operations(self) -> None:
        git = self.build()
        paths = [operation.path for operation in git.operations]
        self.assertEqual(["git-status", "git-diff"], [path.rsplit("/")[-1] for path in paths])
        git.close()

    def test_containers_of_both_kinds_are_excluded(self) -> None:
        """Those of sessions, and those that nobody works in now."""
        git = self.build()
        self.assertEqual({"/c", "/more"}, set(git.service.readers._own._containers()))

    def test_git_status_answer_has_the_documented_form(self) -> None:
        git = self.build()
        asked = git.service.readers.get_status(
            GitWorkspace(inside=ANYWHERE, folder="/w", place=LocationId(kind=LocationKind.REMOTE)),
            GitOptions(),
        )
        answer = self.successResultOf(Deferred.fromCoroutine(asked))
        self.assertEqual("unsupported", GitStatusResponse.model_validate(answer).state)

    def test_working_copies_elsewhere_are_refused(self) -> None:
        git = self.build()
        for kind in (LocationKind.REMOTE, LocationKind.CONTAINER):
            workspace = GitWorkspace(inside=ANYWHERE, folder="/w", place=LocationId(kind=kind))
            asked = Deferred.fromCoroutine(git.service.readers.open_working_copies(workspace))
            error = self.failureResultOf(asked, ServiceError).value
            self.assertEqual(400, error.status)


class CaseStatusRouteTests(SynchronousTestCase):
    """A case's folder is asked for with the rights of whoever asks."""

    def test_case_status_uses_the_rights_of_the_caller(self) -> None:
        ann = Identity(username="ann", admin=False, os_user="a")
        asked: list[Any] = []

        class Git:
            async def get_status(
                self, workspace: GitWorkspace, options: GitOptions
            ) -> dict[str, Any]:
                asked.append((workspace, options.fresh))
                return {
                    "state": "not-a-repo",
                    "repos": [],
                    "repos_truncated": False,
                    "checked_at": 1,
                }

        class Cases:
            async def resolve_case(self, name: str, caller: Identity) -> ResolvedCase:
                asked.append((name, caller))
                return ResolvedCase(name=name, path=f"/cases/{name}")

        class Places:
            async def refresh_location(self, known: LocationId) -> None:
                asked.append(known)

            def get_caller_location(self, caller: Identity) -> Any:
                return SimpleNamespace(id=evolve(caller.location_id, uid=1000))

        bounds = bounds_of(Path("/cases"))
        workspaces = CaseWorkspaces(cast(Any, Cases()), bounds, cast(Any, Places()))
        status = CaseGitRoutes(cast(Any, Git()), workspaces.get_workspace)
        (operation,) = collect_operations(status)
        call = SimpleNamespace(path={"name": "shop"}, caller=ann, query=GitStatusQuery(fresh=True))
        answer = self.successResultOf(start_coroutine(operation.handler(cast(OperationCall, call))))
        assert isinstance(answer, GitStatusResponse)
        self.assertEqual("not-a-repo", answer.state)
        workspace = GitWorkspace(
            inside=ANYWHERE,
            folder="/cases/shop",
            place=evolve(ann.location_id, uid=1000),
            owner="ann",
        )
        self.assertEqual([("shop", ann), ann.location_id, (workspace, True)], asked)
