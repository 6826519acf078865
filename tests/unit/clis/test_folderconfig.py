"""The files of a working folder that can make an agent run something."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.clis.capabilities import FolderSource, is_agent_configuration
from tservice.clis.model import CliKind, parse_entry
from tservice.clis.stock_entries import load_stock_entries
from tservice.core.kernel.errors import ServiceError


def stock_sources() -> list[FolderSource]:
    return [
        source
        for entry in load_stock_entries().values()
        for source in entry.capabilities.folder_config or ()
    ]


class FolderConfigTests(SynchronousTestCase):
    """The rule, and the stock entries' lists."""

    def test_every_stock_agent_says_what_configures_it(self) -> None:
        for entry in load_stock_entries().values():
            declared = entry.capabilities.folder_config
            self.assertIsNotNone(declared, entry.id)
            self.assertEqual(entry.kind is CliKind.AGENT, bool(declared), entry.id)

    def test_configuration_files_are_known_wherever_they_stand(self) -> None:
        for path in (
            ".claude/settings.json",
            ".claude/settings.local.json",
            "/home/ann/case/.claude/settings.json",
            "packages/web/.mcp.json",
            ".Claude/Settings.JSON",
            "./.claude//settings.json",
            ".claude/skills/deploy/SKILL.md",
            ".claude/hooks/deep/er/run.sh",
            "opencode.json",
            ".opencode/plugin/evil.ts",
            ".codex/config.toml",
            ".gemini/settings.json",
            ".env",
            ".pi/extensions/a/index.ts",
            ".agents/mcp_config.json",
        ):
            self.assertTrue(is_agent_configuration(path, stock_sources()), path)

    def test_a_folder_on_the_way_to_one_counts(self) -> None:
        for path in (".claude", "a/.claude", "a/.opencode/", ".codex", "x/.claude/skills"):
            self.assertTrue(is_agent_configuration(path, stock_sources()), path)

    def test_other_files_do_not_count(self) -> None:
        for path in (
            "",
            "README.md",
            "settings.json",
            "hooks/run.sh",
            "claude/settings.json",
            ".claude/CLAUDE.md",
            "src/opencode.json.txt",
            ".claude-old/settings.json",
            ".environment",
        ):
            self.assertFalse(is_agent_configuration(path, stock_sources()), path)

    def test_bad_paths_are_refused(self) -> None:
        entry = load_stock_entries()["pi"].model_dump(mode="json", by_alias=True, exclude_none=True)
        for path in ("/etc/passwd", "", "a b", "a//b"):
            capabilities = {**entry["capabilities"], "folderConfig": [{"path": path}]}
            with self.assertRaises(ServiceError) as caught:
                parse_entry({**entry, "capabilities": capabilities})
            self.assertIn("folderConfig.0.path", caught.exception.message)
