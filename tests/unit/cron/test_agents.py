"""Agents get their prompt only when they can take it, and no run is without an end or a reason."""

from __future__ import annotations

from typing import Any

from tests.unit.agents.harness import COMPOSER, PERMISSION, TRUST
from tests.unit.cron.harness import CronHarnessCase
from tests.unit.sessions.harness import ADMIN
from tservice.cron.model import PROMPT_FILE_BYTES, CronJob, CronRun, PromptMode, RunStatus


class JobReadinessTests(CronHarnessCase):
    """Jobs of the primary agent."""

    def begin(self, **fields: Any) -> tuple[CronJob, CronRun]:
        job = self.make(agent_type="primary", **fields)
        run, _ = self.run_by_hand(job)
        self.assertEqual(RunStatus.SESSION_STARTED, run.status)
        return job, run

    def show_in(self, run: CronRun, text: str) -> None:
        self.show(self.sessions.get(run.session_id or ""), text)

    def test_job_waits_for_the_composer(self) -> None:
        job, run = self.begin()
        self.show_in(run, "starting up")
        self.spend(20)
        self.assertEqual("", self.typed(run))
        self.show_in(run, COMPOSER)
        self.spend(5)
        self.assertEqual("make all\r", self.typed(run))
        self.assertEqual(["prompt_sent"], self.statuses(job))

    def test_trust_dialog_is_answered_before_the_prompt(self) -> None:
        _, run = self.begin()
        screen = self.screen(self.sessions.get(run.session_id or ""))
        screen.answers = {b"\r": COMPOSER}
        self.show_in(run, TRUST)
        self.spend(10)
        self.assertEqual("\rmake all\r", self.typed(run))

    def test_a_folder_that_is_asked_about(self) -> None:
        (self.work / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "x"}}}')
        job = self.make(agent_type="primary")
        self.run_by_hand(job)
        (found,) = self.runs(job)
        self.assertEqual(RunStatus.FAILED, found.status)
        self.assertIn("inbox", found.error_message or "")

    def test_prompt_is_never_typed_blindly(self) -> None:
        for shown, part in (("starting up", "composer"), (PERMISSION, "dialog (permission)")):
            job, run = self.begin()
            self.show_in(run, shown)
            self.spend(70)
            (found,) = self.runs(job)
            self.assertEqual(RunStatus.FAILED, found.status)
            self.assertIn("within 60 s", found.error_message or "")
            self.assertIn(part, found.error_message or "")
            self.assertEqual("", self.typed(run))
            self.assertIsNotNone(found.finished_at)

    def test_session_closed_before_the_prompt_fails_the_run(self) -> None:
        for how in ("delete", "stop"):
            job, run = self.begin()
            if how == "delete":
                self.run_now(self.sessions.delete(run.session_id or ""))
            else:
                self.run_now(self.sessions.stop(run.session_id or "", "enough"))
            self.spend(5)
            (found,) = self.runs(job)
            self.assertEqual((RunStatus.SESSION_STARTED, None), (found.status, found.finished_at))
            self.assertIn("closed", found.error_message or "")

    def test_agent_that_ends_before_its_prompt_fails_the_run(self) -> None:
        job, run = self.begin()
        self.pane(self.sessions.get(run.session_id or "")).exit_program(1)
        self.spend(5)
        self.assertEqual(["failed"], self.statuses(job))

    def test_restart_during_the_start_still_types_the_prompt(self) -> None:
        """The next service waits for the composer as well."""
        job, run = self.begin()
        self.show_in(run, "starting up")
        self.spend(3)
        self.restart()
        self.spend(5)
        self.assertEqual("", self.typed(run))
        self.show_in(run, COMPOSER)
        self.spend(5)
        self.assertEqual("make all\r", self.typed(run))
        self.assertEqual(["prompt_sent"], self.statuses(job))

    def test_restart_before_the_trust_dialog_still_types_the_prompt(self) -> None:
        """The next service answers it, and types only then."""
        job, run = self.begin()
        self.restart()
        screen = self.screen(self.sessions.get(run.session_id or ""))
        screen.answers = {b"\r": COMPOSER}
        self.spend(2)
        self.show_in(run, TRUST)
        self.spend(10)
        self.assertEqual("\rmake all\r", self.typed(run))
        self.assertEqual(["prompt_sent"], self.statuses(job))

    def test_job_deleted_during_the_start_types_nothing(self) -> None:
        job, run = self.begin()
        self.cron.delete_job(job.id, ADMIN)
        self.show_in(run, COMPOSER)
        self.spend(10)
        self.assertEqual("", self.typed(run))
        self.assertIsNotNone(self.sessions.get(run.session_id or "").pid)


class PromptFileTests(CronHarnessCase):
    """Read when the job fires."""

    def fire(self, path: str) -> CronRun:
        job = self.make(prompt_mode=PromptMode.FILE, prompt_file_path=path)
        self.run_by_hand(job)
        self.spend(5)
        return self.runs(job)[0]

    def assert_failed(self, path: str, part: str) -> None:
        run = self.fire(path)
        self.assertEqual(RunStatus.FAILED, run.status)
        self.assertIn(part, run.error_message or "")
        self.assertIsNone(run.session_id)

    def test_prompt_file_is_read_when_the_job_fires(self) -> None:
        path = self.file("prompt", "old")
        job = self.make(prompt_mode=PromptMode.FILE, prompt_file_path=str(path))
        path.write_text("first\nsecond\n")
        run, _ = self.run_by_hand(job)
        path.write_text("too late")
        self.spend(5)
        self.assertEqual("first\nsecond\r", self.typed(run))

    def test_prompt_file_link_inside_the_folder_is_followed(self) -> None:
        self.file("real", "linked")
        (self.work / "link").symlink_to("real")
        run = self.fire(str(self.work / "link"))
        self.assertEqual("linked\r", self.typed(run))

    def test_prompt_file_link_out_of_the_folder_is_refused(self) -> None:
        secret = self.machine.folder / "secret"
        secret.write_text("secret")
        (self.work / "link").symlink_to(secret)
        (self.work / "folder").symlink_to(self.machine.folder)
        self.assert_failed(str(self.work / "link"), "leads out")
        self.assert_failed(str(self.work / "folder" / "secret"), "leads out")

    def test_unusable_prompt_file_fails_the_run(self) -> None:
        import os

        (self.work / "sub").mkdir()
        os.mkfifo(self.work / "pipe")
        self.assert_failed(str(self.work / "missing"), "No such file")
        self.assert_failed(str(self.work / "sub"), "not a regular file")
        self.assert_failed(str(self.work / "pipe"), "not a regular file")
        self.assert_failed(str(self.file("blank", " \n")), "empty")
        self.assert_failed(str(self.file("bytes", b"\xff\xfe")), "UTF-8")
        self.assert_failed(str(self.file("large", b"x" * (PROMPT_FILE_BYTES + 1))), "larger")

    def test_longest_prompt_is_typed_whole(self) -> None:
        run = self.fire(str(self.file("long", b"x" * PROMPT_FILE_BYTES)))
        self.assertEqual(RunStatus.PROMPT_SENT, run.status)
        self.assertEqual(PROMPT_FILE_BYTES + 1, len(self.typed(run)))
