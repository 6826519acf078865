"""Tests for L{tservice.clis.sign_in}."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred

from tests.unit.clis.harness import CliServiceCase
from tests.unit.os_user_harness import OsUserWorld
from tservice.clis import sign_in
from tservice.clis.sign_in import SignInReader, find_sign_in
from tservice.clis.stock_entries import load_stock_entries
from tservice.core.workers.reachability import AlwaysReachable
from tservice.core.workers.worker_pool import SynchronousThreads


class SignInTests(CliServiceCase):
    """Agents with a home folder of their own."""

    def write(self, path: str, content: object) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return file

    def states(self, admin: bool = False) -> dict[str, Any]:
        found = self.ok("GET", "/api/clis/sign-in", admin=admin)
        return {each["id"]: each["signedIn"] for each in found}

    def test_agents_without_credentials(self) -> None:
        self.assertEqual(
            {
                "primary": False, "codex": False,
                "opencode": None, "gemini": None, "antigravity": None, "pi": None,
                "copilot": None, "qwen": None,
            },
            self.states(),
        )  # fmt: skip

    def test_command_that_signs_in(self) -> None:
        found = self.ok("GET", "/api/clis/sign-in")
        commands = {each["id"]: each["command"] for each in found}
        self.assertEqual(("claude auth login", "codex login"),
                         (commands["primary"], commands["codex"]))  # fmt: skip

    def test_credentials_of_each_agent_are_found(self) -> None:
        secret = {"access_token": "hidden"}
        for path, content in (
            (".claude/.credentials.json", {"claudeAiOauth": secret}),
            (".codex/auth.json", {"OPENAI_API_KEY": None, "tokens": secret}),
            (".local/share/opencode/auth.json", {"anthropic": secret}),
            (".gemini/gemini-credentials.json", "an encrypted text"),
            (".pi/agent/auth.json", {"anthropic": secret}),
            (".qwen/oauth_creds.json", secret),
        ):
            self.write(path, content)
        states = self.states()
        self.assertIsNone(states.pop("antigravity"))
        self.assertIsNone(states.pop("copilot"))
        self.assertEqual({True}, set(states.values()), states)
        self.assertNotIn("hidden", json.dumps(self.ok("GET", "/api/clis/sign-in")))

    def test_credentials_that_were_removed_do_not_count(self) -> None:
        self.write(".claude/.credentials.json", {"mcpOAuth": {}})
        self.write(".claude.json", {"primaryApiKey": "", "projects": {}})
        self.write(".codex/auth.json", {"OPENAI_API_KEY": None, "tokens": None})
        self.write(".local/share/opencode/auth.json", {})
        states = self.states()
        self.assertEqual(
            [False, False, None], [states["primary"], states["codex"], states["opencode"]]
        )

    def test_key_in_the_settings_of_the_agent_counts(self) -> None:
        self.write(".claude/settings.json", {"env": {"ANTHROPIC_API_KEY": "x"}})
        self.assertTrue(self.states()["primary"])

    def test_unusable_files_are_unknown(self) -> None:
        self.write(".claude/.credentials.json", "{not json")
        (self.root / ".codex" / "auth.json").mkdir(parents=True)
        states = self.states()
        self.assertEqual([None, None], [states["primary"], states["codex"]])

    def test_large_file_is_not_read(self) -> None:
        self.patch(sign_in, "FILE_LIMIT", 100)
        self.write(".claude.json", {"primaryApiKey": "x" * 200})
        self.assertIsNone(self.states()["primary"])

    def test_variables_count_as_far_as_the_agent_gets_them(self) -> None:
        self.environ["ANTHROPIC_API_KEY"] = "x"
        self.environ["OPENAI_API_KEY"] = "x"
        self.start()
        states = self.states()
        self.assertEqual([True, False], [states["primary"], states["codex"]])

    def test_moved_configuration_is_read(self) -> None:
        self.write("moved/auth.json", {"tokens": {"id": "x"}})
        rules = load_stock_entries()["codex"].sign_in
        assert rules is not None
        moved = {"CODEX_HOME": str(self.root / "moved")}
        self.assertTrue(find_sign_in(rules, self.root, moved))
        self.assertFalse(find_sign_in(rules, self.root, {"CODEX_HOME": "moved"}))

    def test_files_of_an_os_user_are_read_as_that_user(self) -> None:
        self.write(
            ".claude/.credentials.json", {"claudeAiOauth": {"accessToken": "of the service"}}
        )
        world = OsUserWorld(self.root)
        world.add("ann", 4001)
        self.write("home-ann/.codex/auth.json", {"tokens": {"id": "x"}})
        reader = SignInReader(
            list_entries=self.registry.list_entries,
            locations=world.places(),
            threads=SynchronousThreads(),
            reach=AlwaysReachable(),
        )
        asked = Deferred.fromCoroutine(reader.read_sign_ins(world.caller("ann", "ann")))
        states = {each.id: each.signed_in for each in self.successResultOf(asked)}
        self.assertEqual([False, True], [states["primary"], states["codex"]])
        self.assertEqual({"ann"}, set(world.acted))
