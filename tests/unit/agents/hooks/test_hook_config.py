"""The hook configuration: what is put into a workspace's settings, and how
(protocol-hook-config).
"""

from __future__ import annotations

import copy
import json
import os
import stat
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.agents.harness import AgentHarnessCase
from tservice.agents.channels.decision_script import build_dialog_hook
from tservice.agents.channels.held_hooks import HOLD_SECONDS
from tservice.agents.hooks.hook_config import (
    HOOKS,
    UnusableSettingsError,
    find_own_status_line,
    merge_settings,
)
from tservice.agents.hooks.hook_config_writer import (
    FILE,
    FOLDER,
    FileRefusedError,
    HookConfigWriter,
)
from tservice.agents.hooks.hook_script import is_own_hook
from tservice.agents.hooks.statusline import is_own_status
from tservice.core.locations.workspace_bounds import ANYWHERE, FolderLimit

OLD = 'curl -H "X: $(cat $SERVICE_HOOK_SECRET_FILE)" $SERVICE_API_URL/api/hook-event'
OLD_LINE = "curl -K $SERVICE_HOOK_SECRET_FILE $SERVICE_API_URL/api/status-telemetry"

hooks = st.fixed_dictionaries(
    {"type": st.just("command"), "command": st.sampled_from(["mine", "say done", OLD])}
)
groups = st.fixed_dictionaries(
    {"hooks": st.lists(hooks, max_size=3)}, optional={"matcher": st.sampled_from(["", "Bash"])}
)
events = st.sampled_from(["Stop", "Notification", "PreToolUse"])
lines = st.sampled_from(["my-line", OLD_LINE]).map(lambda c: {"type": "command", "command": c})
files = st.fixed_dictionaries(
    {},
    optional={
        "hooks": st.dictionaries(events, st.lists(groups, max_size=3), max_size=3),
        "statusLine": lines,
        "permissions": st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    },
)


def commands(found: Any) -> list[tuple[str, str]]:
    """Every command of a settings file, in order."""
    return [
        (event, hook["command"])
        for event, there in found.get("hooks", {}).items()
        for group in there
        for hook in group["hooks"]
    ]


def tidy(found: Any) -> Any:
    """Without events that have no hooks: of those nobody can tell who made them."""
    kept = {event: there for event, there in found.get("hooks", {}).items() if there}
    return {**found, "hooks": kept}


def of_user(found: Any) -> list[tuple[str, str]]:
    return sorted(each for each in commands(found) if not is_own_hook(each[1]))


class HookSettingsMergeTests(SynchronousTestCase):
    """L{merge_settings}."""

    @settings(max_examples=example_count(400))
    @given(files, st.booleans(), st.booleans())
    def test_merge_keeps_the_hook_entries_of_the_user(
        self, found: Any, wanted: bool, telemetry: bool
    ) -> None:
        before = copy.deepcopy(found)
        merged = merge_settings(found, hooks=wanted, telemetry=telemetry)
        self.assertEqual(before, found, "the argument is not changed")
        self.assertEqual(of_user(before), of_user(merged))
        self.assertEqual(before.get("permissions"), merged.get("permissions"))
        if find_own_status_line(before):
            self.assertEqual(before["statusLine"], merged["statusLine"])
        else:
            self.assertEqual(telemetry, "statusLine" in merged)

    @settings(max_examples=example_count(400))
    @given(files, st.booleans(), st.booleans())
    def test_merging_settings_again_changes_nothing(
        self, found: Any, wanted: bool, telemetry: bool
    ) -> None:
        once = merge_settings(found, hooks=wanted, telemetry=telemetry)
        self.assertEqual(once, merge_settings(once, hooks=wanted, telemetry=telemetry))

    @settings(max_examples=example_count(400))
    @given(files)
    def test_own_hooks_are_added_once_and_removed_without_trace(self, found: Any) -> None:
        merged = merge_settings(found, hooks=True, telemetry=True)
        ours = [each for each in commands(merged) if is_own_hook(each[1])]
        self.assertEqual(len(HOOKS), len(ours))
        self.assertNotIn(OLD, [command for _, command in ours])
        clean = merge_settings(found, hooks=False, telemetry=False)
        again = merge_settings(merged, hooks=False, telemetry=False)
        self.assertEqual(tidy(clean), tidy(again))

    def test_merged_hooks_have_events_and_matchers(self) -> None:
        merged = merge_settings({}, hooks=True, telemetry=False)["hooks"]
        matchers = [group["matcher"] for group in merged["Notification"]]
        self.assertEqual(6, len(set(matchers)))
        for event in ("PermissionRequest", "Elicitation", "Stop", "StopFailure", "SessionEnd"):
            self.assertNotIn("matcher", merged[event][0])
        self.assertIn('"event":"stop"', merged["StopFailure"][0]["hooks"][0]["command"])

    def test_dialog_hook_waits_for_a_decision_if_the_channel_is_on(self) -> None:
        dialog = build_dialog_hook()
        plain = merge_settings({}, hooks=True, telemetry=False)
        waiting = merge_settings(plain, hooks=True, telemetry=False, dialog_hook=dialog)
        (group,) = waiting["hooks"]["PermissionRequest"]
        (hook,) = group["hooks"]
        self.assertEqual(dialog.command, hook["command"])
        self.assertGreater(hook["timeout"], HOLD_SECONDS)
        self.assertEqual(plain, merge_settings(waiting, hooks=True, telemetry=False))
        self.assertEqual({}, merge_settings(waiting, hooks=False, telemetry=False))

    def test_malformed_settings_are_unusable(self) -> None:
        found: Any
        for found in ([], "x", None, {"hooks": []}, {"hooks": {"Stop": {}}}):
            with self.assertRaises(UnusableSettingsError):
                merge_settings(found, hooks=True, telemetry=True)

    def test_merge_leaves_malformed_groups_alone(self) -> None:
        strange = {"hooks": {"Stop": ["x", {"hooks": "y"}, {"hooks": ["z", {"command": 5}]}]}}
        merged = merge_settings(strange, hooks=True, telemetry=False)
        self.assertEqual(strange["hooks"]["Stop"], merged["hooks"]["Stop"][:3])

    def test_status_line_of_another_shape_is_left_alone(self) -> None:
        for line in ("text", {"type": "static", "text": "x"}, {"command": ["a"]}):
            merged = merge_settings({"statusLine": line}, hooks=False, telemetry=True)
            self.assertEqual(line, merged["statusLine"])


class HookConfigFileTests(SynchronousTestCase):
    """L{HookConfigWriter}."""

    def setUp(self) -> None:
        self.work = Path(self.mktemp()).absolute()
        self.home = self.work / "home"
        self.home.mkdir(parents=True)
        self.folder = self.work / FOLDER
        self.path = self.folder / FILE
        self.config = HookConfigWriter(self.home)

    def write(self, *, hooks: bool = True, telemetry: bool = False, **environ: str) -> Any:
        self.config.write_config(
            self.work, hooks=hooks, telemetry=telemetry, environ=environ, inside=ANYWHERE
        )
        return json.loads(self.path.read_text()) if self.path.exists() else None

    def refused(self) -> str:
        with self.assertRaises(FileRefusedError) as caught:
            self.write(telemetry=True)
        return str(caught.exception)

    def test_new_settings_file_is_written(self) -> None:
        self.assertEqual(len(HOOKS), len(commands(self.write())))
        self.assertEqual(0o644, stat.S_IMODE(self.path.stat().st_mode))
        self.assertEqual([FILE], os.listdir(self.folder))

    def test_no_settings_file_is_created_without_entries(self) -> None:
        self.assertIsNone(self.write(hooks=False))
        self.assertFalse(self.folder.exists())
        self.folder.mkdir()
        self.assertIsNone(self.write(hooks=False))

    def test_outdated_hooks_are_refreshed_and_the_file_mode_kept(self) -> None:
        self.folder.mkdir()
        mine = {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}
        old = {"hooks": [{"type": "command", "command": OLD}]}
        self.path.write_text(json.dumps({"hooks": {"Stop": [mine, old]}, "other": "é"}))
        self.path.chmod(0o600)
        found = self.write()
        self.assertNotIn(OLD, self.path.read_text())
        self.assertEqual(mine, found["hooks"]["Stop"][0])
        self.assertEqual(0o600, stat.S_IMODE(self.path.stat().st_mode))
        self.assertIn('"é"', self.path.read_text())

    def test_unchanged_hook_settings_are_not_written(self) -> None:
        self.write()
        before = self.path.stat()
        self.write()
        self.assertEqual(before.st_ino, self.path.stat().st_ino)

    def test_disabled_hooks_are_removed_from_the_file(self) -> None:
        self.write(telemetry=True)
        self.assertEqual({}, self.write(hooks=False))

    def test_unparsable_settings_are_left_alone(self) -> None:
        self.folder.mkdir()
        for text in ("{", '{"hooks": []}', "[]", '{"n": 1e999}', "{'a': 1}", "// x\n{}"):
            self.path.write_text(text)
            self.refused()
            self.assertEqual(text, self.path.read_text())

    def test_status_line_of_a_foreign_folder_is_not_copied(self) -> None:
        """A link in the workspace is not followed; the user's own file may be one."""
        line = {"statusLine": {"type": "command", "command": "secret-line"}}
        outside = self.work / "outside.json"
        outside.write_text(json.dumps(line))
        self.folder.mkdir()
        settings = self.folder / "settings.json"
        settings.symlink_to(outside)
        self.assertNotIn("secret-line", json.dumps(self.write(telemetry=True)))
        settings.unlink()
        os.mkfifo(settings)
        self.assertNotIn("secret-line", json.dumps(self.write(telemetry=True)))
        settings.unlink()
        own = self.home / FOLDER
        own.mkdir()
        (own / "settings.json").symlink_to(outside)
        self.write(telemetry=False)
        self.assertIn("secret-line", json.dumps(self.write(telemetry=True)))

    def test_workspace_outside_its_root_is_not_written(self) -> None:
        inside = FolderLimit(self.work.parent / "another")
        with self.assertRaises(FileRefusedError) as caught:
            self.config.write_config(
                self.work, hooks=True, telemetry=False, environ={}, inside=inside
            )
        self.assertIn("outside the workspace of this account", str(caught.exception))
        self.assertEqual(["home"], os.listdir(self.work))

    def test_hook_settings_behind_links_are_refused(self) -> None:
        outside = self.work / "outside"
        outside.mkdir()
        (outside / FILE).write_text("{}")
        self.folder.symlink_to(outside)
        self.refused()
        self.folder.unlink()
        self.folder.mkdir()
        self.path.symlink_to(outside / FILE)
        self.assertIn("symbolic link", self.refused())
        self.path.unlink()
        self.path.symlink_to(outside / "nothing")
        self.refused()
        self.assertEqual("{}", (outside / FILE).read_text())
        self.assertFalse((outside / "nothing").exists())

    def test_settings_path_that_is_no_file_is_refused(self) -> None:
        self.folder.write_text("a file")
        self.refused()
        self.folder.unlink()
        self.path.mkdir(parents=True)
        self.refused()
        self.path.rmdir()
        os.mkfifo(self.path)
        self.refused()

    def test_workspace_reached_through_a_link_is_written(self) -> None:
        link = self.work.with_name("link")
        link.symlink_to(self.work)
        self.config.write_config(link, hooks=True, telemetry=False, environ={}, inside=ANYWHERE)
        self.assertTrue(self.path.exists())

    def test_status_line_of_the_user_is_run_too(self) -> None:
        (self.home / ".claude").mkdir()
        (self.home / ".claude" / "settings.json").write_text(
            json.dumps({"statusLine": {"type": "command", "command": "echo 'my line'"}})
        )
        command = self.write(telemetry=True)["statusLine"]["command"]
        self.assertTrue(is_own_status(command))
        self.assertIn("my line", command)
        moved = self.home / "elsewhere"
        moved.mkdir()
        command = self.write(telemetry=True, CLAUDE_CONFIG_DIR=str(moved))["statusLine"]["command"]
        self.assertNotIn("my line", command)
        (self.folder / "settings.json").write_text(
            json.dumps({"statusLine": {"type": "command", "command": "project"}})
        )
        self.assertIn("project", self.write(telemetry=True)["statusLine"]["command"])


class HookPreparationTests(AgentHarnessCase):
    """Before a session starts."""

    def file(self) -> Any:
        path = self.work / FOLDER / FILE
        return json.loads(path.read_text()) if path.exists() else None

    def test_primary_agent_gets_hooks(self) -> None:
        session = self.agent()
        self.assertEqual(len(HOOKS), len(commands(self.file())))
        self.assertNotIn("statusLine", self.file())
        self.assertTrue(self.sessions.get(session.id).hooks_available)

    def test_other_agents_and_shells_get_no_hooks(self) -> None:
        self.agent(mode="codex")
        self.create(mode="shell", working_dir=str(self.work), start=True)
        self.assertIsNone(self.file())

    def test_hooks_are_written_only_when_the_agent_starts(self) -> None:
        self.create(mode="primary", working_dir=str(self.work))
        self.assertIsNone(self.file())

    def test_hooks_are_removed_when_switched_off(self) -> None:
        self.agent()
        self.change_settings(workspace_hooks_enabled=False)
        session = self.agent()
        self.assertEqual({}, self.file())
        self.assertFalse(self.sessions.get(session.id).hooks_available)

    def test_status_line_is_written_by_setting_or_by_request(self) -> None:
        self.agent(statusline_telemetry=True)
        self.assertIn("statusLine", self.file())
        self.agent()
        self.assertNotIn("statusLine", self.file())
        self.change_settings(show_plan_usage_limits=True)
        self.agent()
        self.assertIn("statusLine", self.file())

    def test_refused_settings_do_not_prevent_the_start(self) -> None:
        (self.work / FOLDER).write_text("a file")
        session = self.agent()
        self.assertFalse(session.hooks_available)
        self.assertIsNotNone(session.pid)
