"""An account without the grant to bypass permissions, C{kim}, beside C{ann} who has it."""

from __future__ import annotations

import json
from typing import Any

from tests.security.attack_harness import AttackCase
from tests.security.harness import PASSWORD, SecurityAnswer
from tests.unit.clis.fakes import make_program
from tservice.clis.stock_entries import load_stock_entries


class FenceCase(AttackCase):
    """Programs that stand in for the agents are where the service looks for them."""

    def setUp(self) -> None:
        super().setUp()
        for entry in load_stock_entries().values():
            make_program(self.world.folder / ".local/bin", entry.binaries[0])
        body = {"username": "kim", "password": PASSWORD, "canBypassPermissions": False}
        self.world.good("root", "POST", "/api/admin/users", body)
        self.world.cookies["kim"] = self.world.sign_in("kim")
        for name in ("kim", "ann"):
            self.world.cases(name)

    def made(self, who: str = "kim", **fields: Any) -> str:
        wanted = {"mode": "primary", "start": True, "workingDir": str(self.world.cases(who))}
        made = self.world.good(who, "POST", "/api/sessions", {**wanted, **fields})
        found: str = made["session"]["id"]
        return found

    def call(self, method: str, path: str, body: Any = None, who: str = "kim") -> SecurityAnswer:
        return self.ask(method, path, body, headers=self.cookie(who))

    def assert_forbidden(self, answer: SecurityAnswer, field: str) -> None:
        self.assertEqual((403, "FORBIDDEN"), (answer.status, answer.error), answer.body)
        told = json.loads(answer.body)["error"]
        self.assertTrue(told.startswith(f"{field}: "), told)
        self.assertIn("grant to bypass permissions", told)
