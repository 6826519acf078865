"""What an account without the grant may have an agent do unasked: nothing that runs a command."""

from __future__ import annotations

import json
from pathlib import Path

from tests.security.fencecase import FenceCase
from tests.security.harness import SecurityAnswer
from tests.security.matrix_rows import JOB

AGENTS = ("primary", "opencode", "codex", "gemini", "antigravity")
"""Modes that need no grant by themselves."""
PROMPTS = ("!id", "! id > pwned", "  !id", "\n\t !id", "\u00a0!id", "\ufeff!id", "!!id")
KEYS = (
    *("great!", "a!id\r", "\x19", "\x1b[121;5u", "\x1b[0033u", "\x1b[3", "3;33u", "[33u", "\x1b["),
    *("!", "!id\r", " !id\r", "\x15!id\r", "\x1b[H!", "a\x7f!", "a\r!id\r"),
    *("\x1b[200~!id\x1b[201~", "\x1b[33u", "\x1b[33;2u", "\x1b[49;2u", "\x1b[49:33;2u"),
    "\x1b[27;2;33~",
)


class CommandPromptTests(FenceCase):
    """Prompts that an agent runs as commands of the shell."""

    def test_prompt_that_runs_a_command_needs_the_grant(self) -> None:
        for mode in AGENTS:
            session = self.made(mode=mode)
            pane = self.world.host.panes[session]
            for text in PROMPTS:
                for body in ({"input": text, "useMux": True}, {"input": f"{text}\r"}):
                    answer = self.call("POST", f"/api/sessions/{session}/input", body)
                    self.assert_forbidden(answer, "input")
            self.assertEqual(b"", bytes(pane.typed))

    def test_control_character_before_a_command_is_refused(self) -> None:
        session = self.made()
        for body in ({"input": "\x01!id", "useMux": True}, {"input": "\x01!id\r"}):
            answer = self.call("POST", f"/api/sessions/{session}/input", body)
            self.assertEqual((400, "INVALID_INPUT"), (answer.status, answer.error), answer.body)
        self.assertEqual(b"", bytes(self.world.host.panes[session].typed))

    def test_keys_that_can_begin_a_command_need_the_grant(self) -> None:
        session = self.made()
        pane = self.world.host.panes[session]
        for text in KEYS:
            body = {"input": text, "useMux": False}
            answer = self.call("POST", f"/api/sessions/{session}/input", body)
            self.assert_forbidden(answer, "input")
        self.assertEqual(b"", bytes(pane.typed))

    def test_sign_within_a_text_passes(self) -> None:
        session = self.made()
        for text in ("great", "\x1b", "\x1b[200~if (!x)\r!y\x1b[201~", "\x1b[I", "\x1b[A", "[3]"):
            with self.subTest(text=text):
                body = {"input": text, "useMux": False}
                answer = self.call("POST", f"/api/sessions/{session}/input", body)
                self.assertEqual(200, answer.status, answer.body)

    def test_key_that_puts_back_what_was_cut_needs_the_grant(self) -> None:
        """In Gemini CLI it also ends all questions."""
        session = self.made()
        for key, status in (("C-y", 403), ("C-c", 200), ("Escape", 200)):
            answer = self.call("POST", f"/api/sessions/{session}/send-key", {"key": key})
            self.assertEqual(status, answer.status, answer.body)

    def test_agent_opens_no_editor_without_the_grant(self) -> None:
        """From C{vi} any command runs."""
        for who, editor in (("kim", "false"), ("ann", None)):
            env = self.world.host.panes[self.made(who)].spec.env
            self.assertEqual({editor}, {env.get("EDITOR"), env.get("VISUAL")})

    def test_account_with_the_grant_and_its_shell_pass(self) -> None:
        for mode in ("primary", "shell"):
            session = self.made("ann", mode=mode)
            body = {"input": "!id\r", "useMux": False}
            answer = self.call("POST", f"/api/sessions/{session}/input", body, "ann")
            self.assertEqual(200, answer.status, answer.body)

    def test_jobs_and_timed_runs_that_begin_with_a_command_need_the_grant(self) -> None:
        folder = str(self.world.cases("kim"))
        job = {**JOB, "agentType": "primary", "workingDir": folder, "promptText": " ! id"}
        self.assert_forbidden(self.call("POST", "/api/cron/jobs", job), "promptText")
        run = {"prompt": "!id", "durationMinutes": 5, "workingDir": folder}
        self.assert_forbidden(self.call("POST", "/api/scheduled", run), "prompt")
        good = {**job, "promptText": "look !id"}
        self.assertEqual(200, self.call("POST", "/api/cron/jobs", good).status)

    def test_token_and_tool_of_mcp_have_no_more(self) -> None:
        session = self.made()
        token = self.world.token("kim", "sessions:input", "sessions:read")
        body = {"input": "!id", "useMux": True}
        refused = self.ask("POST", f"/api/sessions/{session}/input", body, headers=token)
        self.assert_forbidden(refused, "input")
        # Whose grant an agent's own token has not, whoever its owner is.
        self.world.good("root", "PUT", "/api/settings", {"agentTokens": True})
        parent = self.made("ann", mode="shell")
        file = self.world.folder / "agent-tokens" / parent
        own = {"Authorization": f"Bearer {file.read_text().strip()}"}
        made = self.ask("POST", "/api/sessions", {"mode": "primary", "start": True}, headers=own)
        child = json.loads(made.body)["data"]["session"]["id"]
        refused = self.ask("POST", f"/api/sessions/{child}/input", body, headers=own)
        self.assert_forbidden(refused, "input")


class ConfigurationFileTests(FenceCase):
    """Files that configure an agent, or git, to run something."""

    def put(self, session: str, path: str, who: str = "kim") -> SecurityAnswer:
        body = {"path": path, "content": "{}", "baseHash": None, "force": True}
        return self.call("PUT", f"/api/sessions/{session}/file-content", body, who)

    def folders(self, who: str = "kim") -> Path:
        """Make folders into which files are written."""
        root = self.world.cases(who)
        for name in (".claude/skills/a", ".git/hooks", ".codex", "a/.opencode/plugin", "src"):
            (root / name).mkdir(parents=True)
        return root

    def contents(self, root: Path) -> dict[str, bytes]:
        files = [file for file in root.rglob("*") if file.is_file() and not file.is_symlink()]
        return {str(file): file.read_bytes() for file in files}

    def test_configuration_of_an_agent_or_of_git_needs_the_grant(self) -> None:
        root, session = self.folders(), self.made()
        before = self.contents(root)
        (root / "plain").symlink_to(".claude/settings.json")
        (root / "linked").symlink_to(".git/hooks")
        for path in (
            *(".claude/settings.json", ".claude/settings.local.json", "src/../.mcp.json"),
            *(".claude/skills/a/SKILL.md", "a/.opencode/plugin/x.ts", "src/opencode.json"),
            *(".codex/config.toml", ".git/hooks/post-checkout", ".git/config", "src/.git"),
            *("plain", "linked/post-checkout", str(root / ".claude" / "settings.json")),
        ):
            self.assert_forbidden(self.put(session, path), "path")
        self.assertEqual(before, self.contents(root))

    def test_working_in_the_folder_of_the_configuration_is_no_way_around(self) -> None:
        root = self.folders()
        for folder, path in ((".claude", "settings.json"), (".git/hooks", "post-checkout")):
            session = self.made(workingDir=str(root / folder))
            self.assert_forbidden(self.put(session, path), "path")

    def test_other_files_and_accounts_with_the_grant_pass(self) -> None:
        self.folders()
        session = self.made()
        for path in ("src/a.py", "README.md", ".gitignore", "CLAUDE.md"):
            answer = self.put(session, path)
            self.assertEqual(200, answer.status, answer.body)
        self.folders("ann")
        for path in (".claude/settings.json", ".git/config"):
            answer = self.put(self.made("ann"), path, "ann")
            self.assertEqual(200, answer.status, answer.body)
