"""Tests with cases, sessions in them, and the routes of cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.event_helpers import to_wire
from tests.unit.cases.fake_cases import FakeGit, FakeHooks, folder_tree
from tests.unit.http.site_driver import ApiHarness, OpenGate, ParsedAnswer
from tests.unit.sessions.harness import ADMIN, SessionCase
from tservice.cases.repository_search import RepositoryFinder
from tservice.cases.routes.case_routes import CaseRoutes
from tservice.cases.service import CaseService
from tservice.core.callers.identity import Identity
from tservice.http.operation_decorator import collect_operations


class CaseCase(SessionCase):
    """On real folders, a fake git and a clock."""

    def setUp(self) -> None:
        super().setUp()
        self.lay_api()

    def lay_api(self) -> None:
        """Serve the cases of the machine as it is now."""
        self.gate = OpenGate(ADMIN)
        self.api = ApiHarness(
            collect_operations(CaseRoutes(self.cases, RepositoryFinder(self.cases._desk))),
            gate=self.gate,
            clock=self.clock,
        )
        self.addCleanup(self.api.close)

    @property
    def cases(self) -> CaseService:
        return self.machine.cases

    @property
    def git(self) -> FakeGit:
        return self.machine.git

    @property
    def hooks(self) -> FakeHooks:
        return self.machine.hooks

    @property
    def folder(self) -> Path:
        """Of the local cases."""
        return self.machine.config.cases_dir

    @property
    def outside(self) -> Path:
        """A folder where cases may be linked."""
        found = self.machine.folder / "outside"
        found.mkdir(exist_ok=True)
        return found

    def good(self, method: str, path: str = "", body: Any = None) -> Any:
        """The payload of what must succeed."""
        answer = self.api.request(method, f"/api/cases{path}", body)
        self.assertEqual(200, answer.status, answer)
        return answer.data

    def refused(self, method: str, path: str = "", body: Any = None) -> tuple[int, str, str]:
        """Status, code and text of what must not."""
        answer: ParsedAnswer = self.api.request(method, f"/api/cases{path}", body)
        self.assertNotEqual(200, answer.status, answer)
        return answer.error

    def made(self, name: str, **more: Any) -> dict[str, Any]:
        """A new case."""
        found: dict[str, Any] = self.good("POST", "", {"name": name, **more})["case"]
        return found

    def listed(self) -> list[str]:
        """Names, in order."""
        return [case["name"] for case in self.good("GET")]

    def told(self) -> list[tuple[str, Any]]:
        """The events of cases so far."""
        return [
            (event.name, to_wire(event))
            for event in self.machine.events
            if event.name.startswith("case:")
        ]

    def state(self) -> object:
        """All that is kept of cases, in memory aside."""
        tables = ("cases", "case_trash", "case_orders")
        query = self.machine.database.query_rows
        rows = [tuple(row) for table in tables for row in query(f"SELECT * FROM {table}")]
        return folder_tree(self.machine.folder), rows

    def as_user(self, identity: Identity) -> None:
        """Ask as somebody else from now on."""
        self.gate.identity = identity
