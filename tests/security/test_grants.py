"""Accounts without the grant: what they may hand to an agent that is started for them.

C{kim} is one.  Programs that stand in for the agents are where the service looks for them.
"""

from __future__ import annotations

import json
from typing import Any

from attrs import evolve

from tests.security.attack_harness import AttackCase
from tests.security.harness import PASSWORD, SecurityAnswer
from tests.unit.clis.fakes import make_program
from tests.unit.clis.hostile_variables import HOSTILE
from tservice.clis.stock_entries import load_stock_entries
from tservice.http.operations import AccessRule

OPEN = ("primary", "opencode", "codex", "gemini", "antigravity")
"""Modes that need no grant by themselves."""
LAUNCHES = ("/api/sessions", "/api/quick-start")
"""Every route whose body reaches a pane's environment;
L{GrantRefusalTests.test_every_route_with_variables_or_parameters_is_tested} looks.
"""
MCP = json.dumps({"mcp": {"m": {"type": "local", "command": ["touch", "/tmp/owned"]}}})


class GrantRefusalTests(AttackCase):
    """What is refused, by every route that starts something."""

    def setUp(self) -> None:
        super().setUp()
        for entry in load_stock_entries().values():
            make_program(self.world.folder / ".local/bin", entry.binaries[0])
        body = {"username": "kim", "password": PASSWORD, "canBypassPermissions": False}
        self.world.good("root", "POST", "/api/admin/users", body)
        self.world.cookies["kim"] = self.world.sign_in("kim")
        self.before = self.world.snapshot()

    def launch(self, path: str, who: str = "kim", **body: Any) -> SecurityAnswer:
        return self.ask("POST", path, {"mode": "primary", **body}, headers=self.cookie(who))

    def assert_forbidden(self, answer: SecurityAnswer, named: str) -> None:
        self.assertEqual((403, "FORBIDDEN"), (answer.status, answer.error), answer.body)
        self.assertIn(named, json.loads(answer.body)["error"])

    def test_command_in_a_variable_is_refused(self) -> None:
        """Opencode starts the servers of C{OPENCODE_CONFIG_CONTENT} before anybody says a word."""
        wanted: dict[str, Any] = {
            "mode": "opencode",
            "envOverrides": {"OPENCODE_CONFIG_CONTENT": MCP},
        }
        for path in LAUNCHES:
            refused = self.launch(path, **wanted)
            self.assert_forbidden(refused, "envOverrides.OPENCODE_CONFIG_CONTENT")
            self.assertNotIn("touch", refused.body)
        self.assertNoEffect()
        self.assertEqual(200, self.launch(LAUNCHES[0], "ann", **wanted).status)

    def test_hostile_variables_of_every_mode_are_refused(self) -> None:
        for mode in OPEN:
            for name, value in HOSTILE[mode].items():
                for path in LAUNCHES:
                    refused = self.launch(path, mode=mode, envOverrides={name: value})
                    self.assert_forbidden(refused, f"envOverrides.{name}")
        self.assertNoEffect()

    def test_always_forbidden_variables_are_invalid_input(self) -> None:
        for who in ("kim", "ann"):
            for name in ("PATH", "LD_PRELOAD", "NODE_OPTIONS", "SERVICE_API_URL"):
                refused = self.launch(LAUNCHES[0], who, envOverrides={name: "x"})
                self.assertEqual((400, "INVALID_INPUT"), (refused.status, refused.error), name)
        self.assertNoEffect()

    def test_harmless_variables_pass(self) -> None:
        overrides = {"DISABLE_TELEMETRY": "1", "MAX_THINKING_TOKENS": "1000", "MCP_TIMEOUT": "9"}
        self.assertEqual(200, self.launch(LAUNCHES[0], envOverrides=overrides).status)
        self.assertEqual(200, self.launch(LAUNCHES[0], model="opus", effort="low").status)

    def test_revoked_grant_starts_nothing_more(self) -> None:
        """The session was made while its owner had the grant, and has not run since."""
        made = self.launch(
            LAUNCHES[0], "ann", envOverrides={"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}
        )
        session = json.loads(made.body)["data"]["session"]["id"]
        accounts = self.world.accounts
        assert accounts is not None
        accounts._save_account(evolve(accounts.get_account("ann"), can_bypass_permissions=False))
        self.world.cookies["ann"] = self.world.sign_in("ann")
        for name in ("start", "interactive", "shell"):
            refused = self.ask(
                "POST", f"/api/sessions/{session}/{name}", headers=self.cookie("ann")
            )
            self.assert_forbidden(refused, "envOverrides.ANTHROPIC_BASE_URL")
        self.assertNotIn(session, self.world.host.panes)

    def test_gated_modes_need_the_grant(self) -> None:
        for mode in ("shell", "pi"):
            for path in LAUNCHES:
                self.assert_forbidden(self.launch(path, mode=mode), "grant")
        self.assertNoEffect()

    def test_every_route_with_variables_or_parameters_is_tested(self) -> None:
        """A route that takes variables or parameters stands in L{LAUNCHES}, or this fails."""
        found = set()
        for operation in self.world.operations:
            if operation.access is AccessRule.ADMIN:
                continue  # an admin chooses the command line itself
            schema = json.dumps(operation.body.model_json_schema()) if operation.body else ""
            if "envOverrides" in schema or '"params"' in schema:
                found.add(operation.path)
        self.assertEqual(set(LAUNCHES), found)

    def test_values_that_look_like_options_are_refused(self) -> None:
        words: tuple[dict[str, Any], ...] = (
            {"model": "--dangerously-skip-permissions"},
            {"model": "-x"},
            {"params": {"model": "-p"}},
            {"params": {"effort": "--settings"}},
            {"resumeSessionId": "-"},
            {"resumeSessionId": "--fork-session"},
        )
        for fields in words:
            refused = self.launch(LAUNCHES[0], **fields)
            self.assertEqual((400, "INVALID_INPUT"), (refused.status, refused.error), fields)
        self.assertNoEffect()

    def test_session_names_reach_no_command_line(self) -> None:
        """Session, origin and case are text for people; the words of the command are the same."""
        plain = self._argv(sessionName="a", caseName="a", agentOrigin="b")
        odd = self._argv(
            sessionName="--settings={} $(id) #(id)", caseName="--settings", agentOrigin="-x"
        )
        self.assertEqual(plain, odd)

    def _argv(self, **body: Any) -> tuple[str, ...]:
        made = self.launch("/api/quick-start", **body)
        self.assertEqual(200, made.status, made.body)
        session = json.loads(made.body)["data"]["sessionId"]
        return tuple(self.world.host.panes[session].spec.argv)
