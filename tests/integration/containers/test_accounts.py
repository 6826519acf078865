"""Cases in containers and accounts: what an account gets of a container, and its next namesake."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any, ClassVar

from tests.integration.agents.scripted_pi import CONVERSATION, write_scripted_pi
from tests.integration.containers.case_harness import USER, CaseTestCase, own_by
from tests.unit.http.gate_harness import basic_headers
from tests.waiting import wait_until

WORD = "long enough"
ADMIN, BOB = basic_headers("admin", WORD), basic_headers("bob", WORD)


class NamesakeTests(CaseTestCase):
    """@cvar who: asks."""

    who: ClassVar[dict[str, str]] = ADMIN

    @classmethod
    def signed_in(cls, home: Path) -> None:
        super().signed_in(home)
        cls.daemon.environment |= {"SERVICE_MULTIUSER": "1", "SERVICE_PASSWORD": WORD}

    @classmethod
    def ask(cls, method: str, path: str, body: Any = None) -> Any:
        return cls.daemon.request(method, path, body, cls.who).data()

    def as_admin(self, method: str, path: str, body: Any = None) -> Any:
        return self.daemon.request(method, path, body, ADMIN).data()

    def make(self) -> None:
        body = {"username": "bob", "password": WORD, "role": "admin"}
        self.as_admin("POST", "/api/admin/users", body)

    def test_container_of_a_removed_account_is_nobody_s_and_works_on(self) -> None:
        self.make()
        self.patch(NamesakeTests, "who", BOB)
        case = self.case()
        session = self.session(case)
        self.until_shown(session, "$ ")
        self.patch(NamesakeTests, "who", ADMIN)
        self.ask("DELETE", "/api/admin/users/bob")
        self.daemon.restart()
        self.type(session, "echo still-$((6*7))", 1)
        self.until_shown(session, "still-42")
        self.type(session, "exit", 2)
        wait_until("its end", lambda: self.told(session)["pid"] is None)
        self.ask("POST", f"/api/sessions/{session}/start", {})
        self.type(session, "echo again-$((6*7))", 3)
        self.until_shown(session, "again-42")
        self.ask("DELETE", f"/api/sessions/{session}")
        self.make()
        self.patch(NamesakeTests, "who", BOB)
        self.assertEqual([], self.ask("GET", "/api/cases"))
        self.ask("POST", "/api/cases", {"name": case})
        (found,) = self.ask("GET", "/api/cases")
        self.assertEqual((case, "local"), (found["name"], found["location"]))
        self.assertNotIn("container", found)

    def test_conversation_in_a_container_is_not_read(self) -> None:
        """A link inside could lead anywhere, and so could the variable that moves the agent's
        folder: on the machine it names another one.
        """
        self.as_admin("POST", "/api/admin/users", {"username": "cy", "password": WORD})
        name = f"c{uuid.uuid4().hex[:8]}"
        home = self.daemon.data / f"containers/service-case-{name}/home"
        write_scripted_pi(home / ".local/bin/pi", "/workspace")
        own_by(USER, home)
        folder = self.daemon.folder / self.case(name=name)
        beside = self.write_beside(str(folder))
        inside = home / ".pi/agent/sessions/--workspace--"
        for moved in ({}, {"PI_CODING_AGENT_DIR": str(beside)}):
            body = {"mode": "pi", "caseName": name, "start": True, "envOverrides": moved}
            path = f"/api/sessions/{self.ask('POST', '/api/sessions', body)['session']['id']}"
            wait_until("its transcript", lambda: list(inside.glob("*")))
            page = self.ask("GET", f"{path}/conversation")
            self.assertEqual(([], None, False), (page["items"], page["source"], page["live"]))
            closed = self.daemon.request(
                "GET", f"{path}/conversation", None, basic_headers("cy", WORD)
            )
            self.assertEqual(404, closed.status)
            self.ask("DELETE", path)

    def write_beside(self, folder: str) -> Path:
        """A conversation of the service's user, in the folder as the machine calls it."""
        beside = self.daemon.folder / "beside"
        kept = beside / "sessions" / f"--{folder.strip('/').replace('/', '-')}--"
        kept.mkdir(parents=True)
        said = {"role": "user", "content": [{"type": "text", "text": "of the service's user"}]}
        lines = (
            {"type": "session", "version": 3, "id": CONVERSATION, "cwd": folder},
            {"type": "message", "message": said},
        )
        moment = {"timestamp": "2038-01-01T00:00:00Z"}
        text = "".join(json.dumps({**each, **moment}) + "\n" for each in lines)
        (kept / f"2038_{CONVERSATION}.jsonl").write_text(text)
        for each in (beside, *beside.rglob("*")):
            each.chmod(0o755)
        return beside
