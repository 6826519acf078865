"""The command of the hook that waits for a decision, run for real."""

from __future__ import annotations

import json

from tests.held_port import HeldPort
from tests.unit.agents.hooks.shell_case import PAYLOAD, ShellCase
from tests.unit.agents.shell_runner import SECRET, SHELLS, LoopbackServer, run_shell
from tservice.agents.channels.decision_script import build_dialog_hook
from tservice.agents.hooks.hook_script import is_own_hook

COMMAND = build_dialog_hook().command
DECISION = b'{"hookSpecificOutput": {"decision": {"message": "it\'s $HOME \\\\n"}}}'


class DecisionCommandTests(ShellCase):
    """L{build_dialog_hook}."""

    def run_hook(self, answer: bytes, shell: str = "sh", **env: str) -> bytes:
        """What the agent reads; the command succeeds whatever happens."""
        server = LoopbackServer(answer=answer)
        self.addCleanup(server.close)
        self.server.close()
        self.server = server
        given = {**self.env, "SERVICE_API_URL": server.url, **env}
        done = run_shell(shell, COMMAND, json.dumps(PAYLOAD).encode(), given)
        self.assertEqual((0, b""), (done.returncode, done.stderr))
        return done.stdout

    def test_decision_is_printed_as_it_is(self) -> None:
        for shell in SHELLS:
            self.assertEqual(DECISION + b"\n", self.run_hook(DECISION, shell))
            (posted,) = self.server.posted
            self.assertEqual("/base/api/hook-event/decision", posted.path)
            self.assertEqual(SECRET, posted.secret)
            self.assertEqual(
                {"sessionId": "11111111-2222", "data": PAYLOAD}, json.loads(posted.body)
            )

    def test_other_responses_print_nothing(self) -> None:
        for answer in (b"", b'{"success": false, "error": "x"}', b"<html>", b"null"):
            self.assertEqual(b"", self.run_hook(answer))

    def test_missing_service_prints_nothing(self) -> None:
        held = HeldPort()
        self.addCleanup(held.close)
        away = f"http://127.0.0.1:{held.number}"
        self.assertEqual(b"", self.run_hook(DECISION, SERVICE_API_URL=away))
        self.assertEqual(b"", self.run_hook(DECISION, SERVICE_SESSION_ID=""))
        self.assertEqual([], self.server.posted)

    def test_command_is_recognized_as_the_services_own(self) -> None:
        self.assertTrue(is_own_hook(COMMAND))
        self.assertNotIn(SECRET, COMMAND)
