"""An agent's own token in the assembled service (protocol-agent-tokens): its children, no more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.trial.unittest import SynchronousTestCase

from tests.non_empty import require_items
from tests.run_figures import report_figure
from tests.security.harness import SecurityAnswer, SecurityHarness
from tests.security.matrix_rows import JOB, ROWS, SESSION
from tests.unit.http.site_driver import MemoryTransport, SiteConnection, request_head
from tservice.http.operations import AccessRule, ResponseStyle
from tservice.runtime.launch_context import LaunchContext
from tservice.sessions.life.creator import CHILDREN
from tservice.tokens.agent_tokens import FOLDER, LIFETIME, SCOPES

OPEN = {"GET /api/status", "GET /api/sessions", "GET /api/cases", "GET /api/cases/agent-created",
        "GET /api/model-endpoints", "GET /api/reboot-restore", "POST /mcp", "POST /api/sessions",
        "GET /api/waits"}  # fmt: skip
"""What it may ask that is about no session; answers leave out what is not its."""

OF_ITS_OWN = {"GET /api/sessions/{id}/comments", "POST /api/sessions/{id}/comments/{comment}/reply"}
"""What it may ask about its own session: the comments that a person sent to it."""


ATTACHED = {"hostId": "far", "remoteSessionName": "work"}
REFUSED = "Session {} not found"


class InstalledCliHarness(SecurityHarness):
    """One with a CLI, or a program of its name."""

    def _program(self) -> LaunchContext:
        folder = self.folder / "programs"
        folder.mkdir(exist_ok=True)
        (folder / "claude").write_text("#!/bin/sh\n")
        (folder / "claude").chmod(0o755)
        found = super()._program()
        return evolve(found, environ={**found.environ, "PATH": f"{folder}:/usr/bin:/bin"})


class AgentTokenLimitTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.world = InstalledCliHarness()
        self.addCleanup(self.world.close)
        self.world.populate()
        self.good("root", "PUT", "/api/settings", {"agentTokens": True})
        self.parent = self.made("ann")
        self.token = self.token_of(self.parent)

    def good(self, who: str, method: str, path: str, body: Any = None) -> Any:
        return self.world.good(who, method, path, body)

    def made(self, who: str, **fields: Any) -> str:
        wanted = {"mode": "shell", "start": True, **fields}
        found: str = self.good(who, "POST", "/api/sessions", wanted)["session"]["id"]
        return found

    def file(self, session: str) -> Path:
        return self.world.folder / FOLDER / session

    def token_of(self, session: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.file(session).read_text().strip()}"}

    def ask(self, method: str, path: str, body: Any = None) -> SecurityAnswer:
        return self.world.ask(method, path, body, self.token)

    def child(self) -> str:
        body = {"mode": "primary", "start": False}
        found = self.ask("POST", "/api/sessions", body)
        self.assertEqual(200, found.status, found.body)
        made: str = json.loads(found.body)["data"]["session"]["id"]
        return made

    def test_token_file_is_private_and_named_in_the_pane(self) -> None:
        path = self.file(self.parent)
        self.assertEqual(
            (0o600, 0o700), (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777)
        )
        spec = self.world.host.panes[self.parent].spec
        self.assertEqual(str(path), spec.env["SERVICE_AGENT_TOKEN_FILE"])
        self.assertNotIn(path.read_text().strip(), str(spec.env))

    def test_agent_tokens_are_off_by_default(self) -> None:
        self.good("root", "PUT", "/api/settings", {"agentTokens": False})
        self.assertEqual(401, self.ask("GET", "/api/sessions").status)
        self.assertFalse(self.file(self.parent).exists())
        other = self.made("ann")
        self.assertFalse(self.file(other).exists())
        self.assertNotIn("SERVICE_AGENT_TOKEN_FILE", self.world.host.panes[other].spec.env)

    def test_agent_token_controls_its_child_sessions(self) -> None:
        one = self.child()
        record = self.good("ann", "GET", f"/api/sessions/{one}")
        self.assertEqual(self.parent, record["parentSessionId"])
        listed = json.loads(self.ask("GET", "/api/sessions").body)["data"]
        self.assertEqual([one], [each["id"] for each in listed])
        self.assertEqual(200, self.ask("PUT", f"/api/sessions/{one}/name", {"name": "a"}).status)
        for session in (self.parent, self.world.session):
            self.assertEqual(404, self.ask("GET", f"/api/sessions/{session}").status)
        self.assertEqual(200, self.ask("DELETE", f"/api/sessions/{one}").status)

    def test_number_of_child_sessions_is_limited(self) -> None:
        for _ in range(CHILDREN):
            self.child()
        found = self.ask("POST", "/api/sessions", {"mode": "primary"})
        self.assertEqual((422, "OPERATION_FAILED"), (found.status, found.error))

    def test_child_of_a_foreign_session_is_refused(self) -> None:
        body = {"mode": "primary", "parentSessionId": self.world.session}
        self.assertEqual(404, self.ask("POST", "/api/sessions", body).status)

    def test_agent_token_bypasses_no_permission(self) -> None:
        found = self.ask("POST", "/api/sessions", {"mode": "shell"})
        self.assertEqual((403, "FORBIDDEN"), (found.status, found.error))

    def test_child_session_gets_no_token(self) -> None:
        child = self.made("ann", parentSessionId=self.parent)
        self.assertFalse(self.file(child).exists())
        # A person made it a child, so the parent reaches it too.
        self.assertEqual(200, self.ask("GET", f"/api/sessions/{child}").status)

    def test_agent_token_ends_with_its_session(self) -> None:
        for end in ("exits", "is deleted"):
            session = self.made("ann")
            token, path = self.token_of(session), self.file(session)
            self.assertEqual(200, self.world.ask("GET", "/api/sessions", None, token).status)
            if end == "exits":
                self.world.host.panes[session].exit_program(0)
            else:
                self.good("ann", "DELETE", f"/api/sessions/{session}")
            self.assertEqual(401, self.world.ask("GET", "/api/sessions", None, token).status, end)
            self.assertFalse(path.exists(), end)

    def test_agent_token_expires_with_its_open_connections(self) -> None:
        child = self.made("ann", parentSessionId=self.parent)
        waiting = SiteConnection(self.world.site, MemoryTransport("10.1.1.1"))
        self.addCleanup(waiting.lose)
        path = f"/api/sessions/{child}/wait-output?match=x&timeout=600000"
        waiting.send(request_head("GET", path, self.token))
        self.assertEqual(b"", waiting.value())
        self.good("root", "PUT", "/api/settings", {"agentTokens": False})
        self.assertIn(b"401", waiting.value())
        self.good("root", "PUT", "/api/settings", {"agentTokens": True})
        session = self.made("ann")
        self.token = self.token_of(session)
        self.world.clock.advance(LIFETIME - 60)
        self.assertEqual(200, self.ask("GET", "/api/sessions").status)
        self.world.clock.advance(61)
        self.assertEqual(401, self.ask("GET", "/api/sessions").status)

    def test_agent_token_ends_with_its_owner(self) -> None:
        self.good("root", "PATCH", "/api/admin/users/ann", {"enabled": False})
        self.assertEqual(401, self.ask("GET", "/api/sessions").status)

    def test_agent_token_reaches_no_session_but_its_children(self) -> None:
        """Every route, about a session that is no child: the parent itself."""
        job = self.good("ann", "POST", "/api/cron/jobs", self.filled(JOB))["job"]["id"]
        asked = 0
        for it in require_items(self.world.operations):
            if (
                it.access in (AccessRule.PUBLIC, AccessRule.CAPABILITY, AccessRule.HOOK)
                or it.name in OPEN
            ):
                continue
            if it.style is ResponseStyle.WEBSOCKET:
                continue
            row, path = ROWS[it.name], it.path
            for name, value in (row.path or {"id": SESSION}).items():
                value = self.filled(value).replace("{job}", job).replace("{token}", "none")
                path = path.replace(f"{{{name}}}", value)
            query = f"?{self.filled(row.query)}" if row.query else ""
            before = self.world.snapshot()
            found = self.ask(it.method, path + query, self.filled(row.body))
            harmless = (
                it.scope in SCOPES and it.access is not AccessRule.OWNER and it.method == "GET"
            )
            harmless = harmless or it.name in OF_ITS_OWN
            wanted = {400, 403, 404} | ({200} if harmless else set())
            self.assertIn(found.status, wanted, (it.name, found.body))
            self.assertNotIn(
                self.parent, found.body.replace(REFUSED.format(self.parent), ""), it.name
            )
            self.assertEqual(before, self.world.snapshot(), it.name)
            asked += 1
        report_figure(f"{asked} operations asked with an agent's token")

    def test_agent_token_of_an_admin_has_no_admin_rights(self) -> None:
        """What is for admins, and what is a case's, is not for their agents' tokens."""
        self.token = self.token_of(self.made("root"))
        box = {"label": "Box", "engine": "podman", "image": "x", "extraCreateArgs": ["-e", "A=b"]}
        self.good("root", "POST", "/api/container-hosts", box)
        self.good("root", "POST", "/api/cases", {"name": "mine"})
        far = {"label": "far", "host": "far.example", "username": "me"}
        self.good("root", "POST", "/api/remote-hosts", far)
        for status, method, path, body in (
            (403, "GET", "/api/container-hosts", None),
            (404, "GET", "/api/cases/mine", None),
            (404, "GET", "/api/cases/mine/git-status", None),
            (404, "GET", "/api/cases/mine/container", None),
            # Whatever runs in it is no agent that asks before it acts.
            (403, "POST", "/api/sessions", {"mode": "primary", "attachRemoteSession": ATTACHED}),
        ):
            found = self.ask(method, path, body)
            self.assertEqual(status, found.status, (path, found.body))

    def filled(self, value: Any) -> Any:
        text = json.dumps(value).replace(SESSION, self.parent)
        return json.loads(text.replace("{cases}", str(self.world.cases("ann"))))
