"""The first-run state of the primary CLI, where the user wants it put in place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.agents.harness import AgentHarnessCase
from tservice.agents.hooks.first_run import (
    FILE,
    NotSeededError,
    complete_first_run_state,
    seed_first_run,
)

KEY = "sk-ant-0123456789-abcdefghij-klmnop"
VALUES = st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5)


class FirstRunRuleTests(SynchronousTestCase):
    """L{complete_first_run_state}."""

    def test_missing_state_is_seeded(self) -> None:
        self.assertEqual({"hasCompletedOnboarding": True}, complete_first_run_state({}, ""))
        answers = {"approved": [KEY[-20:]], "rejected": []}
        self.assertEqual(answers, complete_first_run_state({}, KEY)["customApiKeyResponses"])

    def test_first_run_answers_of_the_user_are_kept(self) -> None:
        refused = {"customApiKeyResponses": {"approved": ["x"], "rejected": [KEY[-20:]]}}
        self.assertEqual(
            {**refused, "hasCompletedOnboarding": True}, complete_first_run_state(refused, KEY)
        )
        self.assertIs(
            False,
            complete_first_run_state({"hasCompletedOnboarding": False}, "")[
                "hasCompletedOnboarding"
            ],
        )

    def test_short_api_key_is_not_written_down(self) -> None:
        self.assertNotIn("customApiKeyResponses", complete_first_run_state({}, KEY[-20:]))

    @given(st.dictionaries(st.text(), VALUES))
    def test_seeding_keeps_other_state_and_is_idempotent(self, state: dict[str, Any]) -> None:
        after = complete_first_run_state(state, KEY)
        self.assertEqual(state, {name: after[name] for name in state})
        self.assertEqual(after, complete_first_run_state(after, KEY))

    def test_malformed_state_is_not_seeded(self) -> None:
        states: tuple[object, ...] = ([], "x", {"customApiKeyResponses": []})
        for state in states:
            self.assertRaises(NotSeededError, complete_first_run_state, state, KEY)
        self.assertRaises(
            NotSeededError,
            complete_first_run_state,
            {"customApiKeyResponses": {"approved": 1}},
            KEY,
        )


class FirstRunFileTests(SynchronousTestCase):
    """L{seed_first_run}."""

    def setUp(self) -> None:
        self.home = Path(self.mktemp()).absolute()
        self.home.mkdir()
        self.path = self.home / FILE

    def test_state_file_is_created_privately(self) -> None:
        seed_first_run(self.home, {})
        self.assertEqual({"hasCompletedOnboarding": True}, json.loads(self.path.read_text()))
        self.assertEqual(0o600, self.path.stat().st_mode & 0o7777)

    def test_unchanged_state_file_is_not_written(self) -> None:
        self.path.write_text('{"hasCompletedOnboarding":true}')
        seed_first_run(self.home, {})
        self.assertEqual('{"hasCompletedOnboarding":true}', self.path.read_text())

    def test_state_file_follows_the_config_folder(self) -> None:
        moved = self.home / "moved"
        seed_first_run(self.home, {"CLAUDE_CONFIG_DIR": str(moved)})
        self.assertEqual((True, False), ((moved / FILE).exists(), self.path.exists()))

    def test_broken_or_linked_state_file_is_left_alone(self) -> None:
        for text in ("{", "[]", '"\\ud800"'):
            self.path.write_text(text)
            self.assertRaises(NotSeededError, seed_first_run, self.home, {})
            self.assertEqual(text, self.path.read_text())
        self.path.rename(self.home / "other")
        self.path.symlink_to(self.home / "other")
        self.assertRaises(NotSeededError, seed_first_run, self.home, {})


class FirstRunPreparationTests(AgentHarnessCase):
    """Before a session starts."""

    def there(self) -> bool:
        return (self.machine.home / FILE).exists()

    def test_state_is_seeded_only_for_the_primary_agent_on_request(self) -> None:
        self.agent()
        self.assertFalse(self.there())
        self.change_settings(first_run_seed_enabled=True)
        self.agent(mode="codex")
        self.assertFalse(self.there())
        self.agent()
        self.assertTrue(self.there())

    def test_refused_state_does_not_prevent_the_start(self) -> None:
        (self.machine.home / FILE).write_text("{")
        self.change_settings(first_run_seed_enabled=True)
        self.assertIsNotNone(self.agent().pid)
