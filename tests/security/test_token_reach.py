"""What a token reaches, one operation after the other and by what each of them leads to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tests.run_figures import report_figure
from tests.security.matrix_rows import CLI, JOB, ROWS, SESSION
from tests.security.token_effects import (
    EFFECTS,
    NEVER,
    Capability,
    get_effects,
    reachable_operations,
)
from tests.security.tunnel_harness import SecurityTunnelCase
from tests.unit.http.site_driver import MemoryTransport, SiteConnection, request_head
from tservice.core.kernel.scopes import Scope
from tservice.http.operations import ResponseStyle
from tservice.settings.model import Settings
from tservice.settings.scopes import SETTING_SCOPES
from tservice.tunnel.model import ROTATION_SECONDS

CREDENTIALS = ("accounts", "auth_sessions", "api_tokens", "push_subscriptions")
"""Tables of those who may come in, and of where word goes after a token has ended."""

WITHOUT: frozenset[Capability] = frozenset()
KNOWN = {
    Scope.SESSIONS_READ: WITHOUT,
    Scope.SESSIONS_INPUT: {Capability.SHELL},
    Scope.SESSIONS_MANAGE: {Capability.SHELL},
    Scope.WAITS: WITHOUT,
    Scope.EVENTS: WITHOUT,
    Scope.SETTINGS: {Capability.STEERS},
    Scope.CRON: {Capability.SHELL, Capability.LASTS},
    Scope.GIT: WITHOUT,
    Scope.APPROVALS: {Capability.SHELL, Capability.LASTS},
    Scope.ADMIN: {Capability.SHELL, Capability.LASTS, Capability.STEERS, Capability.PUBLISHES},
}
"""What each scope leads to, as docs/reference/scopes.rst says.  More than this is an escalation."""


class TokenReachTableTests(SynchronousTestCase):
    """What is declared, followed through."""

    def test_no_route_reachable_by_token_gives_a_credential(self) -> None:
        for scope in Scope:
            powers = {
                power for name in reachable_operations(scope) for power in get_effects(name).powers
            }
            self.assertEqual(set(KNOWN[scope]), powers, scope)
            self.assertEqual(set(), powers & NEVER, scope)

    def test_declared_routes_lead_to_existing_operations(self) -> None:
        self.assertLessEqual(set(EFFECTS), set(ROWS))
        for name, effects in EFFECTS.items():
            self.assertLessEqual(effects.opens, set(ROWS), name)

    def test_effects_of_every_changing_operation_were_reviewed(self) -> None:
        changing = {name for name in ROWS if not name.startswith("GET ")}
        self.assertEqual(set(), changing - set(EFFECTS))

    def test_routes_that_give_a_credential_have_no_token_scope(self) -> None:
        for name, effects in EFFECTS.items():
            if effects.powers & NEVER:
                self.assertIsNone(ROWS[name].scope, name)

    def test_login_code_is_shown_only_to_people(self) -> None:
        self.assertEqual({"GET /q/{code}"}, EFFECTS["GET /api/tunnel/qr"].opens)
        self.assertNotIn(
            "GET /q/{code}", reachable_operations(Scope.EVENTS) | reachable_operations(Scope.ADMIN)
        )

    def test_every_setting_was_reviewed(self) -> None:
        names = {field.alias or name for name, field in Settings.model_fields.items()}
        self.assertEqual(names, set(SETTING_SCOPES))


class OperationTests(SecurityTunnelCase):
    """What is true, tried out: an admin's token with every scope calls all that lets it in."""

    def setUp(self) -> None:
        super().setUp()
        self.everything = [scope.value for scope in Scope]
        self.token = self.world.token("root", *self.everything)

    def credentials(self) -> Any:
        """Everything by which somebody may come in."""
        rows = []
        for table in CREDENTIALS:
            for row in self.world.database.query_rows(f"SELECT * FROM {table}"):
                kept = dict(row)
                for volatile in ("last_used_at", "expires_at"):
                    kept.pop(volatile, None)
                rows.append((table, *kept.values()))
        words = set(self.world.capabilities._known)
        return rows, words, (self.world.folder / "hook-secret").read_bytes()

    def filled(self, value: Any) -> Any:
        text = json.dumps(value).replace(SESSION, self.world.session)
        return json.loads(text.replace("{cases}", str(self.world.cases("root"))))

    def calls(self) -> Iterator[tuple[str, str, Any]]:
        """The operations that a token may call, what ends sessions last."""
        job = self.world.good("root", "POST", "/api/cron/jobs", self.filled(JOB))["job"]["id"]
        self.world.good("root", "PUT", "/api/settings", {"cliManagementEnabled": True})
        self.world.good("root", "POST", "/api/clis", self.filled(CLI))
        for it in sorted(self.world.operations, key=lambda it: it.method == "DELETE"):
            if it.scope is None or it.style in (ResponseStyle.STREAM, ResponseStyle.WEBSOCKET):
                continue
            row = ROWS[it.name]
            path = it.path
            for name, value in (row.path or {"id": SESSION}).items():
                path = path.replace(f"{{{name}}}", self.filled(value).replace("{job}", job))
            query = f"?{self.filled(row.query)}" if row.query else ""
            yield it.method, path + query, self.filled(row.body)

    def test_every_operation_was_reviewed(self) -> None:
        found = {it.name: it.scope for it in self.world.operations}
        self.assertEqual(found, {name: row.scope for name, row in ROWS.items()})
        self.assertEqual([], [it.name for it in self.world.operations if not it.scope_reason])

    def test_no_call_with_a_token_creates_or_changes_a_credential(self) -> None:
        calls = list(self.calls())
        before = self.credentials()
        done = []
        for method, path, body in calls:
            found = self.ask(method, path, body, headers=self.token)
            self.assertNotEqual(401, found.status, (method, path))
            self.assertNotIn("set-cookie", found.headers, (method, path))
            self.assertNotIn("/q/", found.body, (method, path))
            self.assertEqual(before, self.credentials(), (method, path))
            if found.status == 200:
                done.append(path)
        self.world.good("root", "POST", "/api/tokens", {"name": "x", "scopes": ["admin"]})
        self.assertNotEqual(before, self.credentials(), "what people do is seen")
        report_figure(f"{len(calls)} operations called, {len(done)} of them did as they were asked")
        self.assertGreater(len(done), 40)

    def test_token_never_sees_a_login_code(self) -> None:
        for method, path in (("GET", "qr"), ("POST", "qr/regenerate")):
            found = self.ask(method, f"/api/tunnel/{path}", headers=self.token)
            self.assertEqual((403, "FORBIDDEN"), (found.status, found.error))

    def test_token_never_receives_a_login_code(self) -> None:
        """It is told to the admin's own pages alone: by rotation, and when it was used."""
        streams = [self.stream(self.token), self.stream(self.cookie())]
        code = self.code()
        self.world.clock.advance(ROTATION_SECONDS)
        self.assertEqual("root", self.who(self.enter(code)))
        self.world.good("root", "POST", "/api/tunnel/qr/regenerate")
        heard = [stream.value() for stream in streams]
        self.assertEqual([False, True], [b"/q/" in found for found in heard])
        self.assertEqual([False, True], [b"tunnel:qrRotated" in found for found in heard])
        self.assertIn(b"tunnel:qrAuthUsed", heard[0])

    def test_settings_events_need_the_settings_scope(self) -> None:
        """They hold names of folders, and the order of sessions that a token may not reach."""
        scopes: list[tuple[list[str], list[str] | None]] = [
            (["events"], None),
            (["events"], [self.world.session]),
            (["events", "settings"], None),
        ]
        streams = [
            self.stream(self.world.token("root", *names, sessions=sessions))
            for names, sessions in scopes
        ]
        streams.append(self.stream(self.cookie("ann")))
        self.world.good("root", "PUT", "/api/settings", {"displayName": "told"})
        heard = [b"settings:changed" in stream.value() for stream in streams]
        self.assertEqual([False, False, True, True], heard)

    def test_bound_token_receives_events_of_no_other_session(self) -> None:
        made = self.world.good("ann", "POST", "/api/sessions", {"mode": "shell"})
        other = made["session"]["id"]
        bound = self.world.token("ann", "events", "sessions:read", sessions=[self.world.session])
        streams = [self.stream(bound), self.stream(self.cookie("ann"))]
        order = {"order": [self.world.session, other]}
        self.world.good("ann", "PUT", "/api/session-order", order)
        self.world.good("ann", "PUT", f"/api/sessions/{other}/name", {"name": "elsewhere"})
        self.world.good("ann", "DELETE", f"/api/sessions/{other}")
        heard = [other.encode() in stream.value() for stream in streams]
        self.assertEqual([False, True], heard, streams[0].value())

    def stream(self, headers: dict[str, str]) -> SiteConnection:
        connection = SiteConnection(self.world.site, MemoryTransport("10.1.1.1"))
        self.addCleanup(connection.lose)
        connection.send(request_head("GET", "/api/events", headers))
        self.assertIn(b"event: init", connection.value())
        return connection

    def test_tunnel_address_needs_the_admin_scope(self) -> None:
        for scopes, told in ((["sessions:read"], None), (["sessions:read", "admin"], True)):
            token = self.world.token("root", *scopes)
            found = json.loads(self.ask("GET", "/api/status", headers=token).body)
            self.assertEqual(told, found["data"]["tunnel"]["url"] and True)

    def test_settings_publish_no_secret(self) -> None:
        """Each field by itself, with the scope that changes settings and no other."""
        token = self.world.token("root", "settings")
        values = json.loads(self.ask("GET", "/api/settings", headers=token).body)["data"]
        refused = set()
        for name in SETTING_SCOPES:
            value = {} if name == "voiceSettings" else values[name]
            value = not value if isinstance(value, bool) else value
            found = self.ask("PUT", "/api/settings", {name: value}, headers=token)
            if found.status != 200:
                self.assertEqual((403, "FORBIDDEN"), (found.status, found.error), name)
                self.assertIn("admin", found.body)
                refused.add(name)
        self.assertEqual({name for name, wants in SETTING_SCOPES.items() if wants}, refused)
        self.assertEqual({"tunnelEnabled", "agentTokens", "trustFolders"}, refused)

    def test_tunnel_may_be_controlled_with_an_admin_token(self) -> None:
        for scopes, status in ((["settings"], 403), (["settings", "admin"], 200)):
            token = self.world.token("root", *scopes)
            for wanted in (True, False):
                body = {"tunnelEnabled": wanted, "displayName": "x"}
                found = self.ask("PUT", "/api/settings", body, headers=token)
                self.assertEqual(status, found.status, found)
        stored = json.loads((self.world.folder / "settings.json").read_text())
        self.assertEqual(False, stored["tunnelEnabled"])

    def test_database_has_no_unreviewed_credential_table(self) -> None:
        """A new one with a secret in it must be looked at here."""
        secret = set()
        for (table,) in self.world.database.query_rows(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ):
            columns = {
                row["name"] for row in self.world.database.query_rows(f"PRAGMA table_info({table})")
            }
            if columns & {"password_hash", "token_hash", "secret", "auth"}:
                secret.add(table)
        self.assertLessEqual(secret, set(CREDENTIALS))
