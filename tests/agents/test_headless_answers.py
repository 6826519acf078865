"""Each CLI answers once by the command that suggestions are made with (protocol-suggestions)."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tests.agents.cli_cache import CliUnavailable, install_cli
from tests.agents.contract_harness import skip_reason
from tests.agents.harness import AgentEnvironmentHarness, base_env
from tests.agents.netns import loopback_only
from tests.agents.recipes import RECIPES
from tservice.clis.interfaces import ONE_SHOT_COMMANDS, PRIMARY

GOOD = '{"suggestions": [{"prompt": "a", "why": "b", "kind": "verify"}]}'
TOOLLESS = "A short title"
"""What the stub says to whoever offers it no tool, whatever it was asked."""


class HeadlessAnswerTests(SynchronousTestCase):
    def answer(self, cli: str) -> str:
        """What the CLI prints when it is given a prompt by its standard input."""
        try:
            binary = install_cli(cli, os.environ).binary
        except CliUnavailable as why:
            reason = skip_reason(why, cli)
            if reason is None:
                raise
            raise SkipTest(reason) from why
        with ExitStack() as held:
            isolated = held.enter_context(loopback_only())
            # What is killed may still make a last file.
            made = tempfile.TemporaryDirectory(prefix="tw-", ignore_cleanup_errors=True)
            folder = Path(held.enter_context(made))
            world = held.enter_context(AgentEnvironmentHarness(cli, folder, isolated=isolated))
            env = base_env(world.place.home, isolated=isolated)
            env |= RECIPES[cli](world.place, trusted=False).env
            # The Node.js that is installed beside a CLI that needs a newer one than the machine's.
            env["PATH"] = f"{binary.parent}:{env['PATH']}"
            scratch = folder / "scratch"
            scratch.mkdir()
            mode = PRIMARY if cli == "claude" else cli
            done = subprocess.run(
                ONE_SHOT_COMMANDS[mode].build_argv(str(binary), ""),
                input=f"Predict.\n\nSAY: {GOOD}\n",
                capture_output=True,
                text=True,
                env={**env, "NO_COLOR": "1", "TERM": "dumb"},
                cwd=scratch,
                timeout=120,
                check=True,
            )
            return done.stdout

    def test_codex_prints_the_answer_once(self) -> None:
        self.assertEqual(GOOD, self.answer("codex").strip())

    def test_opencode_prints_the_answer_once(self) -> None:
        self.assertEqual(GOOD, self.answer("opencode").strip())

    def test_gemini_prints_the_answer_once(self) -> None:
        self.assertIn(GOOD.replace('"', '\\"'), self.answer("gemini"))

    def test_clients_without_tools_print_the_answer_once(self) -> None:
        self.assertEqual(TOOLLESS, self.answer("pi").strip())
        self.assertIn(f'"result":"{TOOLLESS}"', self.answer("claude"))
