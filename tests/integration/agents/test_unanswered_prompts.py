"""A prompt whose Enter is lost, by agents whose caret answers to no key: it blocks nothing.

The played agents know neither the keys that move a caret nor those that take a draft out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ClassVar

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.mock_tui.scenario import MockScenario
from tests.integration.agents.harness import PlayedSession, played_daemon
from tests.integration.harness import DaemonHarness
from tests.waiting import wait_until

LOST = "SAY: this one stays in the composer"
ROWS = "SAY: one row of it\nand another\nand the last"
MODES = ("primary", "codex", "gemini", "opencode", "pi")


@pytest.mark.long(minutes=4)
class UnansweringTests(SynchronousTestCase):
    """Every mode, on one daemon."""

    daemon: ClassVar[DaemonHarness]

    @classmethod
    def setUpClass(cls) -> None:
        cls.daemon = played_daemon()
        cls.addClassCleanup(cls.daemon.close)
        cls.daemon.start()
        cls.daemon.request("PUT", "/api/settings", {"primaryMode": "normal"}).data()

    def together(self, walks: Mapping[str, Callable[[], object]]) -> None:
        """Take several at once, for most of each is waiting."""
        with ThreadPoolExecutor(len(walks)) as pool:
            taken = {name: pool.submit(walk) for name, walk in walks.items()}
        for name, each in taken.items():
            self.assertIsNone(each.exception(), name)

    def lost(self, mode: str, text: str) -> PlayedSession:
        """A session with a prompt in its composer of which nobody is sure."""
        session = PlayedSession(self.daemon, mode, MockScenario(deaf="enter", trust=False))
        self.assertIn("not sure", session.refused(text))
        return session

    def next_one(self, session: PlayedSession) -> dict[str, Any]:
        """The agent takes an Enter from now on; the answer to another prompt."""
        session.release("enter")
        found: dict[str, Any] = session.prompt("SAY: next")
        wait_until("its turn", lambda: [turn.prompt for turn in session.turns()] == ["SAY: next"])
        return found

    def check(self, mode: str, text: str) -> None:
        found = self.next_one(self.lost(mode, text))
        self.assertEqual({"delivered": True, "putAside": True}, found)

    def test_next_prompt_is_typed_after_an_unanswering_agent(self) -> None:
        self.together({mode: partial(self.check, mode, LOST) for mode in MODES})

    def test_next_prompt_is_typed_after_an_unanswered_one_of_several_rows(self) -> None:
        self.together({mode: partial(self.check, mode, ROWS) for mode in MODES})

    def test_restarted_service_recognises_its_own_unsent_text(self) -> None:
        sessions = {mode: self.lost(mode, ROWS) for mode in ("primary", "codex")}
        self.daemon.kill()
        self.daemon.start()
        for session in sessions.values():
            self.assertEqual({"delivered": True, "putAside": True}, self.next_one(session))
