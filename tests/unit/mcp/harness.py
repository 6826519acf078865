"""A home folder with the configuration of CLIs, and a sync of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tservice.clis.interfaces import CliEntry
from tservice.clis.stock_entries import load_stock_entries
from tservice.mcp.config_files import find_config_files
from tservice.mcp.survey import SyncSurvey, SyncTarget, survey_files, write_target

RUN = {"command": "run", "args": ["-v"]}
KEYED = {"command": "run", "env": {"KEY": "s3cr3t"}}


class SyncCase(SynchronousTestCase):
    """A home folder, where Claude Code and Gemini CLI are installed."""

    def setUp(self) -> None:
        self.home = Path("home").absolute()
        self.home.mkdir()
        self.locks = Path("locks").absolute()
        self.environ: dict[str, str] = {}
        self.installed = {"primary", "gemini"}
        self.claude = self.home / ".claude.json"
        self.gemini = self.home / ".gemini" / "settings.json"

    def put(self, path: Path, text: str | Mapping[str, Any]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text, indent=2) + "\n")
        return path

    def servers(self, path: Path, **servers: Any) -> Path:
        return self.put(path, {"mcpServers": servers})

    def entries(self) -> list[CliEntry]:
        return sorted(load_stock_entries().values(), key=lambda entry: entry.order)

    def has(self, entry: CliEntry) -> bool:
        return entry.id in self.installed

    def look(self) -> SyncSurvey:
        return survey_files(find_config_files(self.entries(), self.home, self.environ, self.has))

    def target(self, name: str) -> SyncTarget:
        [found] = [target for target in self.look().targets if target.location.id == name]
        return found

    def sync(self) -> dict[str, SyncTarget]:
        found = self.look()
        return {
            target.location.id: write_target(target, found.offer.servers, self.locks)
            if target.added
            else target
            for target in found.targets
        }

    def names(self, path: Path) -> list[str]:
        return [*json.loads(path.read_text())["mcpServers"]]
