"""Pull requests of a real repository, by played programs."""

from __future__ import annotations

import json

from attrs import evolve
from twisted.internet.defer import Deferred, gatherResults

from tests.unit.git.random_repositories import run_git
from tests.unit.review.forge.forge_harness import COMMENTS, ForgeTestCase
from tests.unit.review.forge.played_forge import make_pull, make_run
from tests.unit.review.review_harness import ANN, SESSION_ID
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.review.forge.model import (
    TEXT_LENGTH,
    ChecksState,
    PullRequestDraft,
    PullRequestState,
    ReviewDecision,
    UnavailableReason,
)
from tservice.review.forge.service import (
    FRESH_SECONDS,
    MAX_BACKOFF_SECONDS,
    MAX_STATES,
    PullRequestView,
    compose_suggestion,
)


class GitHubTests(ForgeTestCase):
    """The state of a pull request on GitHub."""

    async def test_open_pull_request_is_read_with_its_checks_and_comments(self) -> None:
        checks = [
            make_run("build", "SUCCESS"), make_run("lint", "FAILURE"),
            make_run("slow", "", "IN_PROGRESS"),
            {"__typename": "StatusContext", "context": "ci/old", "state": "ERROR",
             "targetUrl": "javascript:alert(1)", "startedAt": "2026-01-01T00:00:00Z"},
        ]  # fmt: skip
        comment = {
            "id": 11, "user": {"login": "bob"}, "body": "x" * (TEXT_LENGTH + 1), "path": "a",
            "line": 1, "side": "LEFT", "html_url": "https://github.com/ann/clock/pull/7#r11",
        }  # fmt: skip
        gone = {**comment, "id": 12, "line": None, "side": "RIGHT", "user": None, "body": "b"}
        self.install().play(
            pulls=[make_pull(statusCheckRollup=checks, reviewDecision="CHANGES_REQUESTED")],
            api={COMMENTS: [comment, gone]},
        )
        found = await self.read_found()
        self.assertEqual(
            (7, PullRequestState.OPEN, "main"), (found.number, found.state, found.base)
        )
        self.assertEqual("1" * 40, found.commit)
        self.assertIs(ReviewDecision.CHANGES_REQUESTED, found.review)
        summary = found.checks
        self.assertIs(ChecksState.FAILED, summary.state)
        self.assertEqual((1, 1, 2), (summary.passed, summary.running, summary.failed))
        self.assertEqual(["lint", "ci/old"], [each.name for each in summary.failures])
        self.assertEqual("", summary.failures[1].url)
        first, second = found.comments
        self.assertEqual(("bob", 1, True), (first.author, first.line, first.is_old_side))
        self.assertEqual(TEXT_LENGTH, len(first.text))
        self.assertEqual(("", None, False), (second.author, second.line, second.is_old_side))

    async def test_states_of_checks(self) -> None:
        gh = self.install()
        for checks, state in (
            ([], ChecksState.NONE),
            ([make_run("a", "SUCCESS"), make_run("b", "SKIPPED")], ChecksState.PASSED),
            ([make_run("a", "SUCCESS"), make_run("b", "", "QUEUED")], ChecksState.RUNNING),
        ):
            gh.play(pulls=[make_pull(statusCheckRollup=checks)], api={COMMENTS: []})
            self.world.clock.advance(FRESH_SECONDS)
            self.assertIs(state, (await self.read_found()).checks.state)

    async def test_draft_merged_and_closed_are_told_apart(self) -> None:
        gh = self.install()
        for fields, state in (
            ({"isDraft": True}, PullRequestState.DRAFT),
            ({"state": "MERGED"}, PullRequestState.MERGED),
            ({"state": "CLOSED", "isDraft": True}, PullRequestState.CLOSED),
        ):
            gh.play(pulls=[make_pull(**fields)], api={COMMENTS: []})
            self.world.clock.advance(FRESH_SECONDS)
            self.assertIs(state, (await self.read_found()).state)

    async def test_open_one_of_the_own_fork_is_chosen(self) -> None:
        self.install().play(
            pulls=[
                make_pull(9, headRepositoryOwner={"login": "mallory"}),
                make_pull(8, state="CLOSED"),
                make_pull(7),
                make_pull(6, state="MERGED"),
            ],
            api={COMMENTS: []},
        )
        self.assertEqual(7, (await self.read_found()).number)

    async def test_branch_without_a_pull_request_has_none(self) -> None:
        self.install()
        view = await self.read()
        self.assertEqual((None, "github", None), (view.reason, view.forge, view.pull_request))

    async def test_program_runs_outside_of_the_repository_and_gets_no_token_for_any_host(
        self,
    ) -> None:
        gh = self.install()
        await self.read()
        (call,) = gh.calls
        self.assertEqual("/", call["folder"])
        self.assertEqual("", call["env"]["GH_ENTERPRISE_TOKEN"])
        self.assertIn("github.com/ann/clock", call["words"])
        self.assertIn("--head=topic", call["words"])

    async def test_many_comments_are_bounded(self) -> None:
        comment = {"id": 1, "user": None, "body": "x", "path": "a", "line": 1, "side": "RIGHT"}
        self.install().play(pulls=[make_pull()], api={COMMENTS: [comment] * 100})
        found = await self.read_found()
        self.assertEqual((100, True), (len(found.comments), found.has_more_comments))


class AbsenceTests(ForgeTestCase):
    """Nothing is wrong without a forge, a program or a sign-in."""

    async def expect_reason(self, reason: UnavailableReason) -> PullRequestView:
        view = await self.read()
        self.assertEqual((reason, None), (view.reason, view.pull_request))
        return view

    async def test_program_that_is_not_installed(self) -> None:
        await self.expect_reason(UnavailableReason.NOT_INSTALLED)
        error = await self.refuse(422, self.create())
        self.assertIn("install gh", error.message)

    async def test_program_that_is_not_signed_in(self) -> None:
        gh = self.install()
        gh.play(signed_in=False)
        await self.expect_reason(UnavailableReason.NOT_SIGNED_IN)
        error = await self.refuse(422, self.create())
        self.assertIn("sign in", error.message)

    async def test_detached_head_has_no_branch(self) -> None:
        run_git(self.folder, "checkout", "-q", "--detach")
        self.install()
        await self.expect_reason(UnavailableReason.NO_BRANCH)

    async def test_repository_without_a_forge(self) -> None:
        run_git(self.folder, "remote", "set-url", "origin", "/srv/ann/clock.git")
        gh = self.install()
        await self.expect_reason(UnavailableReason.NO_REMOTE)
        self.assertEqual([], gh.calls)

    async def test_odd_output_is_said(self) -> None:
        self.install().play(pulls=[{**make_pull(), "number": "seven"}])
        view = await self.expect_reason(UnavailableReason.FAILED)
        self.assertIn("number", view.message)

    async def test_unknown_host_is_asked_by_the_program_that_is_signed_in_there(self) -> None:
        run_git(self.folder, "remote", "set-url", "origin", "https://code.example/ann/clock")
        self.install().play(signed_in=False)
        glab = self.install("glab")
        glab.play(api={"projects/ann%2Fclock/merge_requests?source_branch=topic&state=all"
                       "&per_page=20": []})  # fmt: skip
        view = await self.read()
        self.assertEqual((None, "gitlab"), (view.reason, view.forge))

    async def test_caller_without_the_grant_is_refused(self) -> None:
        gh = self.install()
        user = evolve(ANN, admin=False, can_bypass_permissions=False)
        view = await self.read(user)
        self.assertIs(UnavailableReason.NO_GRANT, view.reason)
        draft = PullRequestDraft(title="x", body="", is_draft=False, base=None)
        await self.refuse(403, self.service.create(SESSION_ID, None, draft, user))
        self.world.sessions.may_drive = False
        await self.refuse(403, self.read())
        await self.refuse(403, self.create())
        self.assertEqual([], gh.calls)

    async def test_right_that_ends_while_the_program_is_looked_for_starts_nothing(self) -> None:
        gh = self.install()
        asked: list[int] = []

        def reauthorize() -> None:
            asked.append(1)
            if len(asked) > 1:
                raise ServiceError(ErrorCode.FORBIDDEN, "revoked")

        caller = evolve(ANN, reauthorize=reauthorize)
        await self.refuse(403, self.read(caller))
        self.assertEqual([], gh.calls)


class PollingTests(ForgeTestCase):
    """A branch is read once for everybody who looks."""

    async def test_state_is_reused_and_read_again_later(self) -> None:
        gh = self.install()
        await self.read()
        await self.read()
        self.assertEqual(1, len(gh.calls))
        self.world.clock.advance(FRESH_SECONDS)
        await self.read()
        self.assertEqual(2, len(gh.calls))

    async def test_simultaneous_reads_share_one_command(self) -> None:
        gh = self.install()
        await gatherResults([Deferred.fromCoroutine(self.read()) for _ in range(5)])
        self.assertEqual(1, len(gh.calls))

    async def test_known_states_are_passed_on_and_failures_change_none(self) -> None:
        gh = self.install()
        gh.play(pulls=[make_pull()], api={COMMENTS: []})
        found = await self.read_found()
        self.assertEqual([(SESSION_ID, ".", found)], self.known)
        gh.play(pulls=[{**make_pull(), "number": None}])
        self.world.clock.advance(FRESH_SECONDS)
        await self.read()
        await self.read(evolve(ANN, admin=False, can_bypass_permissions=False))
        self.assertEqual(1, len(self.known))
        run_git(self.folder, "checkout", "-q", "--detach")
        await self.read()
        self.assertEqual((SESSION_ID, ".", None), self.known[-1])

    async def test_failures_are_repeated_less_and_less(self) -> None:
        gh = self.install()
        gh.play(pulls=[{**make_pull(), "number": None}])
        await self.read()
        self.world.clock.advance(FRESH_SECONDS)
        await self.read()
        self.assertEqual(1, len(gh.calls))
        for count in range(2, 12):
            self.world.clock.advance(MAX_BACKOFF_SECONDS)
            await self.read()
            self.assertEqual(count, len(gh.calls))

    async def test_remembered_states_are_bounded(self) -> None:
        gh = self.install()
        await self.read()
        known = self.service._known
        ((key, state),) = known.items()
        for number in range(MAX_STATES):
            known[evolve(key, owner=f"u{number}")] = state
        self.world.clock.advance(FRESH_SECONDS)
        await self.read()
        self.assertEqual((MAX_STATES, 2), (len(known), len(gh.calls)))


class CreationTests(ForgeTestCase):
    """Creation of pull requests."""

    async def test_pull_request_is_created_and_its_state_answered(self) -> None:
        gh = self.install()
        post = "POST repos/ann/clock/pulls"
        gh.play(
            pulls=[make_pull(isDraft=True)], api={COMMENTS: [], post: {"number": 7}}
        )  # fmt: skip
        view = await self.create(is_draft=True, base="next")
        assert view.pull_request is not None
        self.assertIs(PullRequestState.DRAFT, view.pull_request.state)
        sent = json.loads(gh.calls[0]["stdin"])
        expected = {
            "title": "Mend it", "body": "Because.", "draft": True, "head": "topic", "base": "next",
        }  # fmt: skip
        self.assertEqual(expected, sent)

    async def test_reviewers_and_teams_are_asked(self) -> None:
        gh = self.install()
        top = "POST repos/ann/clock/pulls"
        gh.play(pulls=[make_pull()], api={
            COMMENTS: [], top: {"number": 7}, f"{top}/7/requested_reviewers": {"number": 7},
        })  # fmt: skip
        await self.create(base="main", reviewers=["bob", "acme/keepers"])
        sent = json.loads(gh.calls[1]["stdin"])
        self.assertEqual({"reviewers": ["bob"], "team_reviewers": ["keepers"]}, sent)

    async def test_refused_reviewers_leave_the_pull_request_open(self) -> None:
        gh = self.install()
        self.assertIsNone((await self.read()).pull_request)
        top = "POST repos/ann/clock/pulls"
        text = "Reviews may only be requested from collaborators."
        refusal = {"message": "Validation Failed", "errors": [text]}
        gh.play(pulls=[make_pull()], api={
            COMMENTS: [], top: {"number": 7}, f"{top}/7/requested_reviewers": refusal,
        })  # fmt: skip
        error = await self.refuse(422, self.create(base="main", reviewers=["mallory"]))
        self.assertIn("was opened, but without reviewers", error.message)
        self.assertIn("only be requested", error.message)
        self.assertEqual(7, (await self.read_found()).number)

    async def test_default_branch_is_the_base_and_a_fork_names_its_owner(self) -> None:
        self.add_remote("git@github.com:top/clock.git", "upstream")
        gh = self.install()
        gh.play(
            api={"repos/top/clock": {"default_branch": "trunk"},
                 "POST repos/top/clock/pulls": {"number": 1}},
        )  # fmt: skip
        await self.create()
        sent = json.loads(gh.calls[1]["stdin"])
        self.assertEqual(("ann:topic", "trunk"), (sent["head"], sent["base"]))

    async def test_refusal_of_the_forge_is_said(self) -> None:
        text = "A pull request already exists for ann:topic."
        refusal = {"message": "Validation Failed", "errors": [{"message": text}]}
        self.install().play(api={"POST repos/ann/clock/pulls": refusal})
        error = await self.refuse(422, self.create(base="main"))
        self.assertIn("HTTP 422", error.message)
        self.assertIn("already exists", error.message)

    async def test_refusal_of_gitlab_is_said(self) -> None:
        run_git(self.folder, "remote", "set-url", "origin", "https://gitlab.com/ann/clock")
        refusal = {"message": ["Another open merge request already exists"]}
        post = "POST projects/ann%2Fclock/merge_requests"
        self.install("glab").play(api={post: refusal})
        error = await self.refuse(422, self.create(base="main"))
        self.assertIn("already exists", error.message)

    async def test_odd_fields_are_refused(self) -> None:
        for fields in ({"base": "--x"}, {"base": "a b"}, {"body": "\x1b[2J"}):
            await self.refuse(400, self.create(**fields))

    async def test_created_one_is_seen_at_once(self) -> None:
        gh = self.install()
        self.assertIsNone((await self.read()).pull_request)
        gh.play(pulls=[make_pull()], api={COMMENTS: [], "POST repos/ann/clock/pulls": {"id": 1}})
        await self.create(base="main")
        self.assertEqual(7, (await self.read_found()).number)


class SuggestionTests(ForgeTestCase):
    """Titles and descriptions that need no model."""

    async def test_commits_of_the_branch_are_listed(self) -> None:
        for name in ("one", "two"):
            self.write("a", name)
            run_git(self.folder, "commit", "-q", "-a", "-m", f"Do {name}")
        found = await self.service.suggest(SESSION_ID, None)
        self.assertEqual(("n", "* Do one\n* Do two"), (found.title, found.body))

    async def test_single_commit_is_the_title(self) -> None:
        self.write("a", "one")
        run_git(self.folder, "commit", "-q", "-a", "-m", "Do one")
        found = await self.service.suggest(SESSION_ID, None)
        self.assertEqual(("Do one", ""), (found.title, found.body))

    def test_nothing_is_known(self) -> None:
        found = compose_suggestion("", [])
        self.assertEqual(("", ""), (found.title, found.body))
