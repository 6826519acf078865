"""A case in a container whose account is removed: the next one of that name does not get it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from tests.integration.containers.case_harness import CaseTestCase
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
