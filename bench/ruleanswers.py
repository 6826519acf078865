"""Answers of approval rules to a hook that waits: in the service, and for the agent."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from http.client import HTTPConnection
from urllib.parse import urlsplit

from bench.report import Row, percentile
from tests.agents.mock_tui.scenario import MockScenario
from tests.integration.agents.harness import PlayedSession, played_daemon
from tests.integration.harness import DaemonHarness
from tservice.agents.channels.decision_script import DECISION_PATH, build_dialog_hook

ANSWERS = 200
LIMIT = 0.05
"""Seconds for the service's answer, from the connection of the hook on; promised of 95 %."""
HOOK_LIMIT = 0.3
"""Seconds for the hook's process, most of which are the starts of C{sh} and C{curl}."""
ALLOWED = b'{"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior"'
RULE = {
    "scope": {"all": True},
    "tool": "Bash",
    "action": "allow",
    "match": {"command": {"prefix": ["npm", "test"]}},
}


class _WaitingAgent:
    """Session whose hook asks again and again."""

    def __init__(self, daemon: DaemonHarness) -> None:
        session = PlayedSession(daemon, "primary", MockScenario(trust=False))
        secret = daemon.data / "hook-secret"
        data = {
            "hook_event_name": "PermissionRequest",
            "tool_name": "Bash",
            "tool_input": {"command": "npm test -q", "description": "Run the tests"},
            "cwd": str(session.work),
        }
        self.payload = json.dumps(data).encode()
        self.body = json.dumps({"sessionId": session.id, "data": data}).encode()
        self.url = urlsplit(daemon.url)
        self.headers = {
            "Content-Type": "application/json",
            "X-Service-Hook-Secret": secret.read_text().strip(),
        }
        self.environment = {
            "PATH": os.environ["PATH"],
            "SERVICE_SESSION_ID": session.id,
            "SERVICE_API_URL": daemon.url,
            "SERVICE_HOOK_SECRET_FILE": str(secret),
        }

    def post_request(self) -> bytes:
        """Ask on a connection of its own, as the hook does."""
        connection = HTTPConnection(str(self.url.hostname), self.url.port)
        connection.request("POST", DECISION_PATH, self.body, self.headers)
        answer = connection.getresponse().read()
        connection.close()
        return answer

    def run_hook(self) -> bytes:
        """Run the command that the agent runs."""
        command = ["sh", "-c", build_dialog_hook().command]
        return subprocess.run(
            command, input=self.payload, env=self.environment, stdout=subprocess.PIPE, check=True
        ).stdout


def _time_answers(ask: Callable[[], bytes]) -> list[float]:
    seconds = []
    for _ in range(ANSWERS):
        before = time.perf_counter()
        answer = ask()
        seconds.append(time.perf_counter() - before)
        if not answer.startswith(ALLOWED):
            raise AssertionError(f"no rule answered: {answer!r}")
    return seconds


def run(_: DaemonHarness) -> list[Row]:
    """Return two rows for each way: the median and the 95th percentile."""
    daemon = played_daemon()
    try:
        daemon.start()
        daemon.request("POST", "/api/approval-rules", RULE).data()
        agent = _WaitingAgent(daemon)
        found = []
        for name, ask, limit in (
            ("request to answer", agent.post_request, LIMIT),
            ("hook's process", agent.run_hook, HOOK_LIMIT),
        ):
            seconds = _time_answers(ask)
            for share, at_most in ((0.5, None), (0.95, 1.0)):
                found.append(
                    Row(
                        name=f"rule's answer, {name}, p{share * 100:.0f} of {ANSWERS}",
                        ours=percentile(seconds, share) * 1000,
                        peer=limit * 1000,
                        unit="ms",
                        against="limit",
                        at_most=at_most,
                    )
                )
        return found
    finally:
        daemon.close()
