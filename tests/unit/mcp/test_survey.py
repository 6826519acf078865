"""Files on a real disk: what is written, and what is left alone."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from tests.unit.mcp.harness import KEYED, RUN, SyncCase
from tservice.core.disk.files import sync_path as flush
from tservice.mcp import locked_files, survey
from tservice.mcp.config_files import list_unsupported_agents
from tservice.mcp.model import TargetStatus
from tservice.mcp.survey import write_target


class McpSyncReadingTests(SyncCase):
    def test_every_enabled_cli_is_read_then_copilot(self) -> None:
        found = [(target.location.id, target.status.value) for target in self.look().targets]
        self.assertEqual(
            [
                ("primary", "ok"),
                ("opencode", "absent"),
                ("codex", "absent"),
                ("gemini", "ok"),
                ("antigravity", "absent"),
                ("copilot", "absent"),
            ],
            found,
        )

    def test_reading_creates_and_writes_nothing(self) -> None:
        self.servers(self.claude, one=RUN)
        before = self.claude.read_bytes()
        self.assertEqual(("one",), self.target("gemini").added)
        self.assertEqual(before, self.claude.read_bytes())
        self.assertEqual([self.claude], [*self.home.iterdir()])

    def test_file_of_a_missing_cli_counts(self) -> None:
        self.servers(self.home / ".copilot/mcp-config.json", one=RUN)
        self.assertEqual(TargetStatus.OK, self.target("copilot").status)
        self.assertEqual(("one",), self.target("primary").added)

    def test_relocated_configuration_folders_are_used(self) -> None:
        elsewhere = self.home / "elsewhere"
        for variable, name, path in (
            ("CLAUDE_CONFIG_DIR", "primary", ".claude.json"),
            ("GEMINI_CLI_HOME", "gemini", ".gemini/settings.json"),
            ("XDG_CONFIG_HOME", "opencode", "opencode/opencode.json"),
            ("CODEX_HOME", "codex", "config.toml"),
            ("COPILOT_HOME", "copilot", "mcp-config.json"),
        ):
            self.environ = {variable: str(elsewhere)}
            self.assertEqual(elsewhere / path, self.target(name).path)
            self.environ = {variable: ""}
            self.assertNotEqual(elsewhere / path, self.target(name).path)
            self.environ = {variable: "~/relative"}
            found = self.target(name)
            self.assertEqual((TargetStatus.SKIPPED, None), (found.status, found.path))
            self.assertEqual(f"~/relative/{path}", found.location.stated)

    def test_shared_file_is_one_target(self) -> None:
        shared = self.home / "shared"
        shared.mkdir()
        self.environ = {"CLAUDE_CONFIG_DIR": str(shared), "COPILOT_HOME": str(self.home / "link")}
        (self.home / "link").symlink_to(shared)
        (shared / "mcp-config.json").symlink_to(shared / ".claude.json")
        self.servers(shared / ".claude.json", one=RUN)
        self.installed = {"copilot"}
        ids = [target.location.id for target in self.look().targets]
        self.assertEqual(["primary", "opencode", "codex", "gemini", "antigravity"], ids)
        self.assertTrue(self.look().targets[0].location.installed)

    def test_installed_agents_without_a_file_are_unsupported(self) -> None:
        self.assertEqual((), list_unsupported_agents(self.entries(), self.has))
        self.installed = {"pi", "shell"}
        self.assertEqual(("Pi",), list_unsupported_agents(self.entries(), self.has))

    def test_unreadable_files_are_reported_without_content(self) -> None:
        for content in (
            b'{"s3cr3t": ',
            b'"s3cr3t"',
            b"\xff\xfes3cr3t",
            b'\xef\xbb\xbf{"s3cr3t":1}',
        ):
            self.claude.write_bytes(content)
            found = self.target("primary")
            self.assertEqual((TargetStatus.UNREADABLE, ()), (found.status, found.added))
            self.assertNotIn("s3cr3t", str(found.error))
        for bound, text in (("LIMIT", "{      }"), ("SIGN_LIMIT", '{"a": {}, "b": []}')):
            with patch.object(locked_files, bound, 5):
                self.claude.write_text(text)
                self.assertEqual(TargetStatus.UNREADABLE, self.target("primary").status)

    def test_too_many_escapes_are_unreadable(self) -> None:
        """They cost as much to read as values do, with the interpreter held."""
        self.put(self.claude, '{"a": "' + "\\n" * 7_500_000 + '"}')
        self.assertEqual("larger than", str(self.target("primary").error)[14:25])
        self.put(self.claude, '{"a": "' + "\\n" * locked_files.SIGN_LIMIT + '"}')
        found = self.target("primary")
        self.assertEqual(TargetStatus.UNREADABLE, found.status)
        self.assertIn(f"more than {locked_files.SIGN_LIMIT} values and escapes", str(found.error))

    def test_unclosed_strings_and_comments_are_read_in_time(self) -> None:
        """C{bench/hostile.py} measures it: the square of these took seconds."""
        for text in ('"' + '\\"' * 20_000, "/**" + " /" * 200_000):
            for path in (self.gemini, self.home / ".config/opencode/opencode.json"):
                self.put(path, text)
            for name in ("gemini", "opencode"):
                self.assertEqual(TargetStatus.UNREADABLE, self.target(name).status)

    def test_unreadable_file_neither_gives_nor_receives_servers(self) -> None:
        self.put(self.claude, "{ no")
        self.servers(self.gemini, one=RUN)
        found = self.sync()
        self.assertEqual("{ no", self.claude.read_text())
        self.assertEqual((), found["primary"].added)

    def test_failed_file_access_is_reported(self) -> None:
        self.claude.symlink_to(self.home / "nowhere")
        self.assertEqual(TargetStatus.FAILED, self.target("primary").status)
        self.claude.unlink()
        self.claude.symlink_to(self.claude)
        self.assertEqual(TargetStatus.FAILED, self.target("primary").status)
        self.claude.unlink()
        self.claude.mkdir()
        self.assertEqual(TargetStatus.FAILED, self.target("primary").status)
        self.claude.rmdir()
        os.mkfifo(self.claude)
        self.assertEqual(TargetStatus.FAILED, self.target("primary").status)
        (self.home / ".gemini").write_text("a file")
        self.assertEqual("Not a directory", self.target("gemini").error)

    def test_additional_configuration_file_must_be_readable_too(self) -> None:
        self.servers(self.home / ".copilot/mcp-config.json", one=RUN)
        self.put(self.home / ".copilot/settings.json", "{ s3cr3t")
        found = self.target("copilot")
        self.assertEqual(TargetStatus.UNREADABLE, found.status)
        self.assertEqual(
            "settings.json in the same folder: not valid JSON (line 1, column 3)", found.error
        )

    def test_server_disabled_in_the_additional_file_is_disabled(self) -> None:
        self.servers(self.home / ".copilot/mcp-config.json", one=RUN)
        self.put(self.home / ".copilot/settings.json", {"disabledMcpServers": ["one"]})
        self.assertEqual(("one",), self.look().offer.disabled)
        self.assertEqual((), self.target("primary").added)


class FileSwapper:
    """Another program that makes a link of a file, and a file of the link, as a seed has it."""

    def __init__(self, path: Path, outside: Path) -> None:
        self._path, self._link = path, path.with_name("link")
        self._link.symlink_to(outside)
        self._turns = Random(7)

    def swap(self) -> None:
        """In half of the cases."""
        if self._turns.random() < 0.5:
            return
        if self._path.is_symlink():
            self.rest()
            self._path.write_text('{"mcpServers": {}}')
        else:
            self._path.unlink()
            self._link.rename(self._path)

    def rest(self) -> None:
        """There is no link in the file's place."""
        if self._path.is_symlink():
            self._path.rename(self._link)

    @contextmanager
    def at_each_step(self) -> Iterator[None]:
        """A turn before each call that a write makes of these."""
        with ExitStack() as stack:
            for name in ("replace_config", "_get_mode", "sync_path"):
                stack.enter_context(
                    patch.object(locked_files, name, self._after(getattr(locked_files, name)))
                )
            yield

    def _after(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def swapped(*given: Any, **named: Any) -> Any:
            self.swap()
            return call(*given, **named)

        return swapped


class McpSyncWritingTests(SyncCase):
    def test_every_cli_receives_the_servers_of_the_others(self) -> None:
        self.installed |= {"codex", "opencode", "antigravity", "copilot"}
        self.servers(self.claude, one=RUN)
        self.put(self.home / ".codex/config.toml", '[mcp_servers.two]\nurl = "http://h/mcp"\n')
        found = self.sync()
        self.assertEqual({TargetStatus.OK}, {target.status for target in found.values()})
        for target in self.look().targets:
            assert target.table is not None
            self.assertEqual({"one", "two"}, set(target.table.names), target.location.id)
            self.assertEqual((), target.added)

    def test_previous_content_is_kept_as_a_backup(self) -> None:
        self.servers(self.claude, one=RUN)
        self.servers(self.gemini, two=RUN)
        before = self.gemini.read_bytes()
        self.sync()
        backup = self.gemini.with_name("settings.json.service-bak")
        self.assertEqual(before, backup.read_bytes())
        self.assertEqual(0o600, stat.S_IMODE(backup.stat().st_mode))
        self.servers(self.claude, three=RUN)
        before = self.gemini.read_bytes()
        self.sync()
        self.assertEqual(before, backup.read_bytes())
        self.sync()
        self.assertEqual(before, backup.read_bytes())

    def test_file_modes_are_kept_or_narrowed_for_secrets(self) -> None:
        self.servers(self.claude, one=RUN)
        self.servers(self.gemini, two=RUN)
        self.gemini.chmod(0o644)
        self.sync()
        self.assertEqual(0o644, stat.S_IMODE(self.gemini.stat().st_mode))
        self.servers(self.claude, keyed=KEYED)
        self.sync()
        self.assertEqual(0o600, stat.S_IMODE(self.gemini.stat().st_mode))

    def test_new_configuration_files_and_folders_are_private(self) -> None:
        self.servers(self.claude, one=RUN)
        old = os.umask(0)
        self.addCleanup(os.umask, old)
        self.sync()
        self.assertEqual(0o600, stat.S_IMODE(self.gemini.stat().st_mode))
        self.assertEqual(0o700, stat.S_IMODE(self.gemini.parent.stat().st_mode))
        self.assertFalse((self.home / ".codex").exists())

    def test_line_ends_are_kept(self) -> None:
        self.servers(self.claude, one=RUN)
        self.gemini.parent.mkdir()
        self.gemini.write_bytes(b'{\r\n  "a": 1\r\n}\r\n')
        self.sync()
        self.assertTrue(self.gemini.read_bytes().startswith(b'{\r\n  "a": 1,\r\n  "mcp'))

    def test_linked_file_is_written_at_its_target(self) -> None:
        self.servers(self.claude, one=RUN)
        kept = self.servers(self.home / "dotfiles" / "gemini.json", two=RUN)
        self.gemini.parent.mkdir()
        self.gemini.symlink_to("../dotfiles/gemini.json")
        self.sync()
        self.assertTrue(self.gemini.is_symlink())
        self.assertEqual(["two", "one"], self.names(kept))
        self.assertEqual(["gemini.json"], [path.name for path in kept.parent.iterdir()])

    def test_configuration_is_not_written_through_planted_links(self) -> None:
        self.servers(self.claude, one=RUN)
        self.servers(self.gemini, two=RUN)
        mine = self.put(self.home / "mine", "mine")
        link = self.gemini.with_name("settings.json.service-bak")
        link.symlink_to(mine)
        self.assertEqual(TargetStatus.FAILED, self.sync()["gemini"].status)
        self.assertEqual("mine", mine.read_text())

    def test_opencode_file_with_comments_is_written(self) -> None:
        self.servers(self.claude, one=RUN)
        folder = self.home / ".config/opencode"
        relaxed = self.put(folder / "opencode.jsonc", '{\n  // mine\n  "mcp": {},\n}\n')
        self.put(folder / "opencode.json", '{"mcp": {"two": {}}}')
        found = self.sync()["opencode"]
        self.assertEqual((relaxed, ("one",)), (found.path, found.added))
        self.assertIn("// mine", relaxed.read_text())
        self.assertEqual('{"mcp": {"two": {}}}', (folder / "opencode.json").read_text())

    def test_file_of_another_user_is_left_alone(self) -> None:
        self.servers(self.claude, one=RUN)
        self.servers(self.gemini)
        before = self.gemini.read_bytes()
        with patch.object(os, "geteuid", lambda: os.getuid() + 1):
            found = self.sync()["gemini"]
        # For somebody who is not root, the folder is another user's, too.
        reasons = {0: "belongs to another user"}
        reason = reasons.get(os.getuid(), "its folder can be changed by another user")
        self.assertEqual((TargetStatus.FAILED, reason), (found.status, found.error))
        self.assertEqual(before, self.gemini.read_bytes())

    def test_folder_of_another_user_is_left_alone(self) -> None:
        """Who can change the folder can lead the write elsewhere, at any moment."""
        self.servers(self.claude, one=RUN)
        self.servers(self.gemini)
        before = self.gemini.read_bytes()
        self.gemini.parent.chmod(0o777)
        found = self.sync()["gemini"]
        self.assertEqual(
            (TargetStatus.FAILED, "its folder can be changed by another user"),
            (found.status, found.error),
        )
        self.assertEqual(before, self.gemini.read_bytes())
        self.gemini.parent.chmod(0o700)
        self.assertEqual(TargetStatus.OK, self.sync()["gemini"].status)

    def test_file_replaced_by_a_link_is_not_written(self) -> None:
        """A file elsewhere is never given what was made of another one."""
        self.servers(self.claude, one=RUN)
        outside = self.servers(self.home / "outside" / "precious.json", mine=RUN)
        before = outside.read_bytes()
        self.servers(self.gemini)
        swapper = FileSwapper(self.gemini, outside)
        with swapper.at_each_step():
            for _ in range(100):
                swapper.rest()
                self.servers(self.gemini)
                self.sync()
                now = json.loads(outside.read_text())["mcpServers"]
                self.assertEqual(RUN, now.get("mine"), "what was there is there")
                outside.write_bytes(before)

    def test_change_between_read_and_write_is_kept(self) -> None:
        """The CLI itself writes the file, after it was read and before it is replaced."""
        self.servers(self.claude, one=RUN)
        self.servers(self.gemini)
        changes = iter([{"late": RUN}])
        real = flush

        def meanwhile(path: Path) -> None:
            real(path)
            if change := next(changes, None):
                self.servers(self.gemini, **change)

        with patch.object(locked_files, "sync_path", meanwhile):
            found = self.sync()["gemini"]
        self.assertEqual((TargetStatus.OK, ("one",)), (found.status, found.added))
        self.assertEqual(["late", "one"], self.names(self.gemini))

    def test_constantly_changing_file_is_left_alone(self) -> None:
        self.servers(self.claude, one=RUN)
        self.servers(self.gemini)
        count = iter(range(100))
        with patch.object(
            locked_files,
            "sync_path",
            lambda path: self.servers(self.gemini, **{str(next(count)): RUN}),
        ):
            found = self.sync()["gemini"]
        self.assertEqual(
            (TargetStatus.FAILED, "is being changed by another program"),
            (found.status, found.error),
        )
        self.assertEqual(survey.TRIES, next(count))
        left = {path.name for path in self.gemini.parent.iterdir()}
        self.assertEqual({"settings.json", "settings.json.service-bak"}, left)

    def test_name_added_between_read_and_write_is_kept(self) -> None:
        self.servers(self.claude, one=RUN)
        self.servers(self.gemini)
        found = self.look()
        self.put(self.gemini, '{"mcpServers": {"one": null}}')
        [target] = [target for target in found.targets if target.location.id == "gemini"]
        self.assertEqual((), write_target(target, found.offer.servers, self.locks).added)
        self.assertEqual('{"mcpServers": {"one": null}}', self.gemini.read_text())
