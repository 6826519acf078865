"""Play an agent CLI: C{python -m tests.agents.mock_tui FAMILY [the CLI's own arguments]}."""

from __future__ import annotations

import argparse
import os
import sys
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

from tests.agents.mock_tui.claude import MockClaude
from tests.agents.mock_tui.claude_session import MockClaudeOptions
from tests.agents.mock_tui.families import FAMILIES
from tests.agents.mock_tui.scenario import load
from tests.agents.mock_tui.simple import SimpleMock
from tests.agents.mock_tui.terminal import MockApp, run

VERSIONS = {
    "claude": "2.1.197 (Claude Code)",
    "codex": "codex-cli 0.169.0",
    "gemini": "0.61.0",
    "opencode": "1.18.33",
    "pi": "0.73.1",
}
ROOT_REFUSED = (
    "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"
)
MODELS = {
    "opus": ("claude-opus-4-8[1m]", "Opus 4.8 (1M context)"),
    "sonnet": ("claude-sonnet-5", "Sonnet 5"),
    "haiku": ("claude-haiku-4-5", "Haiku 4.5"),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="claude", allow_abbrev=False)
    parser.add_argument("--permission-mode", default="default")
    parser.add_argument("--dangerously-skip-permissions", action="store_true")
    parser.add_argument("--model", default="opus")
    parser.add_argument("--effort", default="high")
    parser.add_argument("--settings")
    parser.add_argument("--session-id")
    parser.add_argument("--resume", "-r")
    parser.add_argument("--continue", "-c", dest="go_on", action="store_true")
    return parser


def _newest(home: Path) -> str | None:
    """The id of the transcript that was written to last."""
    files = sorted(home.glob(".claude/projects/*/*.jsonl"), key=lambda each: each.stat().st_mtime)
    return files[-1].stem if files else None


def claude(arguments: Sequence[str]) -> MockApp:
    """Claude Code with this command line.

    @raise SystemExit: root asked for no permissions outside a sandbox.
    """
    known, _ = _parser().parse_known_args(arguments)
    bypass = known.dangerously_skip_permissions or known.permission_mode == "bypassPermissions"
    if bypass and os.geteuid() == 0 and os.environ.get("IS_SANDBOX") != "1":
        raise SystemExit(ROOT_REFUSED)
    home = Path(os.environ["HOME"])
    old = known.resume or (_newest(home) if known.go_on else None)
    model, display = MODELS.get(known.model, (known.model, known.model))
    options = MockClaudeOptions(
        home=home,
        cwd=Path.cwd(),
        env=dict(os.environ),
        session=old or known.session_id or str(uuid.uuid4()),
        source="resume" if old else "startup",
        mode="bypassPermissions" if bypass else known.permission_mode,
        model=model,
        display=display,
        effort=known.effort,
        settings=known.settings,
    )
    return MockClaude(options, load(os.environ), time.monotonic())


def main(arguments: Sequence[str]) -> int:
    """Play; the exit status is the agent's."""
    family, *rest = arguments
    if "--version" in rest:
        print(VERSIONS[family])
        return 0
    if family == "claude":
        return run(claude(rest))
    place = (Path(os.environ["HOME"]), Path.cwd())
    return run(SimpleMock(FAMILIES[family], place, load(os.environ), time.monotonic()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
