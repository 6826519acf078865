"""Failed checks of a pull request on their way to the agent."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from tests.unit.review.forge.forge_harness import COMMENTS, ForgeTestCase
from tests.unit.review.forge.played_forge import PlayedForge, make_pull, make_run
from tests.unit.review.review_harness import ANN, SESSION_ID
from tservice.core.kernel.errors import ErrorCode
from tservice.review.forge.mending import (
    MAX_LOGS,
    PROMPT_CHARS,
    CheckMender,
    MendRequest,
    format_failed_checks,
)
from tservice.review.forge.model import TEXT_LENGTH, FailedCheck, PullRequest, PullRequestState
from tservice.sessions.interfaces import InputDelivery

LOG = """\
2026-01-01T00:00:00.1234567Z ##[group]Run pytest
2026-01-01T00:00:01.1234567Z \x1b[31mE  assert 1 == 2\x1b[0m
2026-01-01T00:00:02.1234567Z ##[error]Process completed with exit code 1.
2026-01-01T00:00:03.1234567Z Cleaning up orphan processes
"""


class MendingTestCase(ForgeTestCase):
    """A pull request with one failed check of GitHub Actions and one of another service."""

    def setUp(self) -> None:
        super().setUp()
        sessions: Any = self.world.sessions
        self.mender = CheckMender(self.service, sessions)
        self.gh: PlayedForge = self.install()
        self.play()

    def play(self, log: Any = LOG, **more: Any) -> None:
        checks = [
            make_run("11", "FAILURE"),
            {"__typename": "StatusContext", "context": "ci/old", "state": "ERROR",
             "targetUrl": "https://ci.example/1"},
            make_run("12", "SUCCESS"),
        ]  # fmt: skip
        fields = {"statusCheckRollup": checks, **more}
        self.gh.play(
            pulls=[make_pull(**fields)],
            api={COMMENTS: [], "repos/ann/clock/actions/jobs/11/logs": log},
        )

    async def mend(self, caller: Any = ANN, **fields: Any) -> InputDelivery:
        wanted = MendRequest(**fields)
        return (await self.mender.send_failures(SESSION_ID, None, wanted, caller))[0]

    @property
    def prompts(self) -> list[str]:
        return [request.text for request in self.world.sessions.inputs]


class LogTests(MendingTestCase):
    """Logs of failed checks."""

    async def test_log_ends_where_the_job_failed(self) -> None:
        found = await self.service.read_log(SESSION_ID, None, "11", ANN)
        self.assertEqual(
            "##[group]Run pytest\nE  assert 1 == 2\n##[error]Process completed with exit code 1.",
            found.text,
        )

    async def test_long_log_is_cut_at_its_beginning(self) -> None:
        self.play("line\n" * 100_000 + "last\n")
        text = (await self.service.read_log(SESSION_ID, None, "11", ANN)).text
        self.assertEqual((TEXT_LENGTH, True), (len(text), text.endswith("last")))

    async def test_jobs_other_than_failed_ones_are_not_read(self) -> None:
        for job in ("12", "13", ""):
            await self.refuse(404, self.service.read_log(SESSION_ID, None, job, ANN))
        self.assertFalse([call for call in self.gh.calls if "jobs" in " ".join(call["words"])])

    async def test_job_of_another_project_is_none(self) -> None:
        run = {**make_run("11", "FAILURE"),
               "detailsUrl": "https://github.com/mallory/clock/actions/runs/1/job/11"}  # fmt: skip
        self.play(statusCheckRollup=[run])
        await self.refuse(404, self.service.read_log(SESSION_ID, None, "11", ANN))

    async def test_missing_log_is_said(self) -> None:
        self.play(None)
        error = await self.refuse(422, self.service.read_log(SESSION_ID, None, "11", ANN))
        self.assertIn("HTTP 404", error.message)


class SendingTests(MendingTestCase):
    """The prompt."""

    async def test_failed_checks_are_sent_with_the_ends_of_their_logs(self) -> None:
        self.assertTrue((await self.mend()).delivered)
        (prompt,) = self.prompts
        first = f"2 checks of pull request 7 at commit {'1' * 10} failed. Please repair the cause."
        self.assertEqual(first, prompt.split("\n")[0])
        self.assertIn("E  assert 1 == 2", prompt)
        self.assertIn("Check ci/old, https://ci.example/1", prompt)
        self.assertNotIn("orphan", prompt)
        self.assertNotIn("\x1b", prompt)

    async def test_same_failures_are_typed_once_unless_they_are_sent_anew(self) -> None:
        await self.mend()
        self.assertTrue((await self.mend()).duplicate)
        self.assertTrue((await self.mend(request_id="again")).delivered)
        self.assertTrue((await self.mend(request_id="again")).duplicate)
        self.assertEqual(2, len(self.prompts))

    async def test_check_without_a_readable_log_is_named(self) -> None:
        self.play(None)
        await self.mend()
        self.assertNotIn("End of its log", self.prompts[0])
        self.assertIn(
            "Check 11, https://github.com/ann/clock/actions/runs/1/job/11", self.prompts[0]
        )

    async def test_busy_agent_is_not_interrupted_unasked(self) -> None:
        self.world.sessions.set_busy()
        error = await self.refuse(409, self.mend())
        self.assertIs(ErrorCode.SESSION_BUSY, error.code)
        self.assertEqual([], self.gh.calls)
        await self.mend(even_while_busy=True)
        self.assertEqual(1, len(self.prompts))

    async def test_nothing_is_sent_without_failures(self) -> None:
        self.play(statusCheckRollup=[])
        await self.refuse(409, self.mend())
        self.world.clock.advance(60)
        self.gh.play()
        await self.refuse(404, self.mend())

    async def test_caller_without_the_grant_is_refused(self) -> None:
        user = evolve(ANN, admin=False, can_bypass_permissions=False)
        await self.refuse(403, self.mend(user))
        await self.refuse(403, self.service.read_log(SESSION_ID, None, "11", user))
        self.world.sessions.may_drive = False
        await self.refuse(403, self.mend())
        self.assertEqual([], self.gh.calls)

    async def test_host_out_of_reach_is_said(self) -> None:
        self.world.sessions.delivery = InputDelivery(delivered=False, dropped=True)
        await self.refuse(422, self.mend())

    def test_logs_share_the_room_and_stay_in_their_marks(self) -> None:
        pull = PullRequest(
            number=7, title="", url="", state=PullRequestState.OPEN, base="main", commit=""
        )
        count = MAX_LOGS + 1
        failures = [FailedCheck(name=f"c{number}\n", url="") for number in range(count)]
        logs = [("x" * 50 + "\n```\n") * 1000] * MAX_LOGS
        text = format_failed_checks(pull, failures, logs)
        self.assertLess(len(text), PROMPT_CHARS + 1000)
        self.assertEqual(2 * MAX_LOGS, text.count("````"))
        self.assertTrue(text.endswith(f"Check c{MAX_LOGS}"))
        self.assertIn("...", format_failed_checks(pull, failures[:1], ["y" * 1000]))
