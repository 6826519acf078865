"""Merge requests of a real repository, by a played glab."""

from __future__ import annotations

import json
from typing import Any

from tests.unit.git.random_repositories import run_git
from tests.unit.review.forge.forge_harness import ForgeTestCase
from tests.unit.review.review_harness import ANN, SESSION_ID
from tservice.review.forge.model import ChecksState, PullRequestState


class GitLabTests(ForgeTestCase):
    """Merge requests of GitLab."""

    TOP = "projects/top%2Fsub%2Fclock"

    def setUp(self) -> None:
        super().setUp()
        run_git(self.folder, "remote", "set-url", "origin", "git@gitlab.com:top/sub/clock.git")
        self.glab = self.install("glab")

    def play_request(self, pipeline: Any = None, **more: Any) -> None:
        query = "source_branch=topic&state=all&per_page=20"
        request = {
            "iid": 3, "title": "Mend", "web_url": "https://gitlab.com/top/sub/clock/-/3",
            "state": "opened", "draft": True, "target_branch": "main", "head_pipeline": pipeline,
        }  # fmt: skip
        top = self.TOP
        self.glab.play(
            api={
                f"{top}/merge_requests?{query}": [
                    {"iid": 4, "state": "closed"}, {"iid": 3, "state": "opened"},
                ],
                f"{top}/merge_requests/3": request,
                f"{top}/merge_requests/3/discussions?per_page=100": [],
                f"POST {top}/merge_requests": request,
                top: {"id": 42, "default_branch": "trunk"},
                **more,
            }
        )  # fmt: skip

    async def test_merge_request_is_read_with_its_jobs_and_notes(self) -> None:
        jobs = [
            {"name": "test", "status": "failed", "web_url": "https://gitlab.com/j/1"},
            {"name": "hint", "status": "failed", "allow_failure": True},
            {"name": "build", "status": "running"},
        ]
        position = {"new_path": "a", "old_path": "a", "new_line": 2, "old_line": None}
        note = {"id": 5, "body": "Why?", "author": {"username": "bob"}, "position": position}
        removed = {**note, "id": 6, "position": {**position, "new_line": None, "old_line": 1}}
        notes = [
            note, removed, {**note, "resolved": True}, {**note, "system": True},
            {**note, "position": None},
        ]  # fmt: skip
        self.play_request(
            {"id": 9, "status": "failed"},
            **{
                f"{self.TOP}/pipelines/9/jobs?per_page=100": jobs,
                f"{self.TOP}/merge_requests/3/discussions?per_page=100": [{"notes": notes}],
            },
        )
        found = await self.read_found()
        self.assertEqual((3, PullRequestState.DRAFT), (found.number, found.state))
        checks = found.checks
        self.assertEqual((1, 1, 1), (checks.passed, checks.running, checks.failed))
        self.assertEqual("test", checks.failures[0].name)
        places = [(each.line, each.is_old_side) for each in found.comments]
        self.assertEqual([(2, False), (1, True)], places)
        self.assertTrue(found.comments[0].url.endswith("#note_5"))
        self.assertEqual("", self.glab.calls[0]["env"]["GITLAB_TOKEN"])

    async def test_pipeline_may_fail_without_a_job(self) -> None:
        jobs = f"{self.TOP}/pipelines/9/jobs?per_page=100"
        self.play_request({"id": 9, "status": "failed"}, **{jobs: []})
        self.assertIs(ChecksState.FAILED, (await self.read_found()).checks.state)

    async def test_reviewers_are_named_by_their_ids(self) -> None:
        self.play_request(**{"users?username=bob": [{"id": 5}], "users?username=nobody": []})
        await self.create(reviewers=["bob"])
        posted = [json.loads(call["stdin"]) for call in self.glab.calls if call["stdin"]]
        self.assertEqual([5], posted[0]["reviewer_ids"])
        error = await self.refuse(422, self.create(reviewers=["bob", "nobody"]))
        self.assertIn("gitlab.com has no user nobody", error.message)
        self.assertEqual(1, sum(bool(call["stdin"]) for call in self.glab.calls))

    async def test_log_of_a_failed_job_is_read(self) -> None:
        jobs = [{"id": 31, "name": "test", "status": "failed"}]
        trace = "section_start:1:step\r\x1b[0Kpytest\n\x1b[31mAssertionError\x1b[0m\n"
        self.play_request(
            {"id": 9, "status": "failed"},
            **{
                f"{self.TOP}/pipelines/9/jobs?per_page=100": jobs,
                f"{self.TOP}/jobs/31/trace": trace,
            },
        )
        found = await self.service.read_log(SESSION_ID, None, "31", ANN)
        self.assertEqual(("test", "pytest\nAssertionError"), (found.check.name, found.text))

    async def test_merge_request_is_created(self) -> None:
        self.play_request()
        view = await self.create(is_draft=True)
        assert view.pull_request is not None
        posted = [json.loads(call["stdin"]) for call in self.glab.calls if call["stdin"]]
        expected = {
            "title": "Draft: Mend it", "description": "Because.", "source_branch": "topic",
            "target_branch": "trunk", "target_project_id": 42,
        }  # fmt: skip
        self.assertEqual([expected], posted)
