"""Jobs of accounts that name an OS user."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from attrs import evolve

from tests.unit.cron.harness import CronHarnessCase
from tservice.cron import runner
from tservice.cron.model import PromptMode, RunStatus
from tservice.cron.prompt_file import read_prompt


class OsUserJobTests(CronHarnessCase):
    multiuser = True

    def setUp(self) -> None:
        super().setUp()
        self.machine.config = evolve(self.machine.config, multiuser=True)
        self.restart()
        self.world = self.machine.os_users
        self.user = self.world.add("a", 1001)
        self.ann = self.world.caller("ann", "a")
        self.accounts["ann"] = self.ann

    def test_run_uses_the_rights_of_the_os_user(self) -> None:
        """The folder is looked at, the prompt file read and the session started as the user."""
        (self.work / "p.txt").write_text("make all")
        readers: list[str | None] = []

        def note(folder: str, path: str) -> str:
            readers.append(self.world.acting)
            return read_prompt(folder, path)

        path = str(self.work / "p.txt")
        by_file: dict[str, Any] = {
            "prompt_mode": PromptMode.FILE,
            "prompt_text": None,
            "prompt_file_path": path,
        }
        job = self.make(self.ann, **by_file)
        with patch.object(runner, "read_prompt", note):
            run, _ = self.run_by_hand(job)
        self.assertEqual(["a"], readers)
        assert run.session_id is not None
        self.assertEqual(self.user, self.host[run.session_id].spec.place.user)

    def test_removed_os_user_fails_the_run(self) -> None:
        job = self.make(self.ann)
        self.world.remove("a")
        self.run_by_hand(job)
        self.assertIs(RunStatus.FAILED, self.runs(job)[-1].status)
        self.assertIn("osUser: there is no OS user", self.runs(job)[-1].error_message or "")
