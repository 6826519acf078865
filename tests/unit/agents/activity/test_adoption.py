"""What an agent does that was taken up: its state decides, for events may have been missed."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

from tests.unit.agents.harness import (
    BUSY_TITLE,
    COMPOSER,
    IDLE_TITLE,
    PERMISSION,
    SPINNER,
    AgentHarnessCase,
)
from tservice.agents.activity.submission_end import UNANSWERED
from tservice.sessions.interfaces import Session


class TakenUpTests(AgentHarnessCase):
    """After a restart of the service the first look decides."""

    def again(self) -> None:
        self.machine.events.clear()
        self.machine.restart()

    def test_adopted_turn_continues_and_its_end_is_seen(self) -> None:
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.show(session, SPINNER, BUSY_TITLE)
        self.again()
        self.assertEqual("busy", self.status(session)[0])
        self.spend(1)
        self.assert_signals([])
        self.hook(session, "stop")
        self.assert_signals(["stop", "idle"])

    def test_turn_that_ended_during_the_restart_is_signalled(self) -> None:
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.show(session, COMPOSER, IDLE_TITLE)
        self.again()
        self.spend(3)
        self.assert_signals(["stop", "idle"])
        self.hook(session, "prompt_submitted")
        self.hook(session, "stop")
        self.assert_signals(["working", "stop", "idle"])

    def test_dialog_opened_during_the_restart_is_signalled(self) -> None:
        session = self.ready()
        self.hook(session, "prompt_submitted")
        self.show(session, PERMISSION, IDLE_TITLE)
        self.again()
        self.spend(3)
        self.assert_signals(["blocked"])

    def submitted(self) -> Session:
        """An agent to which a prompt was submitted, of which nothing was seen yet."""
        session = self.ready()
        typed = self.type(session, "go\r", client_id="c", seq=1)
        while not bytes(self.pane(session).typed).endswith(b"\r"):
            self.spend(0.01)
        self.assertNoResult(typed)
        self.assertTrue(self.sessions.get(session.id).turn_open)
        self.again()
        return session

    def test_adopted_prompt_is_over_once_its_answer_exists(self) -> None:
        session = self.submitted()
        told = {"type": "assistant", "message": {"content": [{"type": "text", "text": "done"}]}}
        self.keep(session, {**told, "timestamp": _iso(self.clock.seconds())})
        self.spend(3)
        self.assert_signals(["working", "stop", "idle"])
        self.assertFalse(self.sessions.get(session.id).turn_open)
        self.again()
        self.spend(20)
        self.assert_signals([])

    def test_adopted_prompt_without_an_answer_may_still_begin(self) -> None:
        session = self.submitted()
        self.spend(3)
        self.assert_signals([])
        self.show(session, SPINNER, BUSY_TITLE)
        self.spend(1)
        self.assert_signals(["working"])

    def test_adopted_command_has_no_answer(self) -> None:
        self.submitted()
        self.spend(UNANSWERED + 1)
        self.assert_signals(["idle"])

    def keep(self, session: Session, *lines: dict[str, object]) -> None:
        """The agent writes these lines of its conversation."""
        name = re.sub("[^A-Za-z0-9]", "-", str(self.work))
        folder = self.machine.home / ".claude" / "projects" / name
        path = folder / "0b6e5b0e-98f5-4a59-a69b-9f80b5a20f62.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.hook(session, "teammate_idle", transcript_path=str(path))

    def test_turn_begun_during_the_restart_is_signalled(self) -> None:
        session = self.ready()
        self.show(session, SPINNER, BUSY_TITLE)
        self.again()
        self.spend(1)
        self.assert_signals(["working"])


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
