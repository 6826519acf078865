"""The conversation of an OS user's session: shown live to its account, and to no other one."""

from __future__ import annotations

import os
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.integration.agents.scripted_pi import FIRST, SECOND, write_scripted_pi
from tests.integration.osusers.harness import (
    ADMIN,
    MultiuserDaemon,
    OsUserFactory,
    run_as,
    wait_until,
)


class OsUserConversationTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.people = OsUserFactory()
        self.addCleanup(self.people.close)
        self.ann, self.ben = self.people.make(), self.people.make()
        programs = self.people.folder / "bin"
        programs.mkdir(mode=0o755)
        self.service = MultiuserDaemon(PATH=f"{programs}:{os.environ['PATH']}")
        self.addCleanup(self.service.close)
        self.service.account("ann", self.ann.name)
        self.service.account("ben", self.ben.name)
        write_scripted_pi(programs / "pi", str(self.ann.home / "work"))
        self.assertEqual(0, run_as(self.ann, "mkdir", "work").returncode)

    def said(self, page: dict[str, Any]) -> list[tuple[str, str]]:
        return [(each["role"], each["text"]) for each in page["items"]]

    def test_conversation_is_followed_as_its_user_and_closed_to_others(self) -> None:
        body = {"mode": "pi", "start": True, "workingDir": str(self.ann.home / "work")}
        session = self.service.good("ann", "POST", "/api/sessions", body)["session"]["id"]
        path = f"/api/sessions/{session}/conversation"

        def read(after: str = "") -> Any:
            return self.service.good("ann", "GET", f"{path}{after and f'?after={after}'}")

        wait_until(lambda: self.said(read()) == FIRST, "the first turn")
        page = read()
        self.assertTrue(page["live"])
        (kept,) = (self.ann.home / ".pi").rglob("*.jsonl")
        self.assertEqual(self.ann.uid, kept.stat().st_uid)
        with self.service.events("ann") as heard, self.service.events("ben") as others:
            run_as(self.ann, "touch", "work/again")
            heard.wait(session, "session:conversation", lambda each: each["changed"])
            wait_until(lambda: self.said(read(page["cursor"])) == SECOND, "the second turn")
            self.assertEqual([], others.of(session, "session:conversation"))
        after = read(page["cursor"])
        self.assertNotIn("reset", after)
        self.assertEqual([*FIRST, *SECOND], self.said(read()))
        self.assertEqual([*FIRST, *SECOND], self.said(self.service.good(ADMIN, "GET", path)))
        item = after["items"][0]["id"]
        for closed in (path, f"{path}/items/{item}"):
            self.assertEqual(404, self.service.ask("ben", "GET", closed).status, closed)
        stored = f"/api/history/sessions/{page['source']['id']}/conversation?mode=pi"
        self.assertEqual([*FIRST, *SECOND], self.said(self.service.good("ann", "GET", stored)))
        self.assertEqual(404, self.service.ask("ben", "GET", stored).status)
