"""Every route of the OpenAPI document against bad input: a 4xx names the field, nothing changes."""

from __future__ import annotations

import base64
import http.client
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.integration.harness import PATIENCE, DaemonHarness
from tests.security.matrix_rows import CLI, ROWS

SAMPLES: dict[str, Any] = {
    "string": "text",
    "integer": 7,
    "number": 1.5,
    "boolean": True,
    "array": [{}],
    "object": {"bogus": 1},
}
BODIES = {
    "not JSON": (b"{", "body"),
    "not UTF-8": (b'{"a": "\xff"}', "body"),
    "NaN": (b'{"a": NaN}', "body"),
    "too deep": (b'{"a": ' + b"[" * 500 + b"]" * 500 + b"}", "body"),
    "a list": (b"[]", "body"),
    "a number": (b"7", "body"),
    "null": (b"null", "body"),
    "twice": (b'{"a": 1, "a": 2}', "a"),
    "unknown field": (b'{"bogus": 1}', "bogus"),
}
IDS = ("..%2f..%2fetc%2fpasswd", "%00", "%ff%fe", "x" * 3000, "%F0%9F%92%A9", "..", "a%2Fb", " ")
QUERIES = (
    "timeout=-1",
    "timeout=x",
    "lines=%00",
    "match=",
    "limit=1e9",
    "q=%ff",
    "until=,",
    "fresh=2",
)
VOLATILE = (
    "status",
    "statusReason",
    "lastActivityAt",
    "foreground",
    "lastExitStatus",
    "serverPorts",
    "sessions",
)
"""What time alone changes of sessions, and of C{GET /api/me}'s like."""

NO_STATE = (
    "/api/admin/audit",
    "/api/docs",
    "/api/docs.css",
    "/api/doctor",
    "/api/events",
    "/api/openapi.json",
    "/api/status",
    "/api/waits",
    "/healthz",
    "/metrics",
)
"""Tell of the time, of what was refused, or nothing; or stay open."""

NUL = (
    ("POST", "/api/sessions", "name"),
    ("POST", "/api/sessions", "workingDir"),
    ("PUT", "/api/sessions/{id}/name", "name"),
    ("POST", "/api/cron/jobs", "name"),
    ("POST", "/api/cron/jobs", "workingDir"),
    ("POST", "/api/cron/jobs", "promptText"),
    ("POST", "/api/cron/jobs", "notes"),
    ("PUT", "/api/cron/jobs/{id}", "name"),
    ("POST", "/api/tokens", "name"),
    ("POST", "/api/clis", "label"),
    ("PUT", "/api/settings", "displayName"),
    ("PUT", "/api/settings", "defaultWorkingDir"),
    ("PUT", "/api/webhook", "url"),
    ("POST", "/api/push/subscriptions", "endpoint"),
    ("POST", "/api/admin/users", "username"),
)
"""Texts that are shown, stored or handed to the system: no NUL goes in."""

LIMIT = 1024 * 1024
"""Bytes of a body (protocol-requests), and where a longer one is needed."""
LIMITS = {
    "/api/cron/jobs": 2 * LIMIT,
    "/api/cron/preview": 2 * LIMIT,
    "/api/sessions/{id}/file-content": 4 * LIMIT,
}

HOOKS = ("/api/hook-event", "/api/hook-event/decision", "/api/status-telemetry")
WEBSOCKET = "/ws/"
STREAM = "/api/events"


class BadInputTests(SynchronousTestCase):
    """The real daemon, with one session that nothing may change."""

    environment: Mapping[str, str] = {}
    headers: Mapping[str, str] = {}

    def setUp(self) -> None:
        self.daemon = DaemonHarness(**self.environment)
        self.addCleanup(self.daemon.close)
        self.daemon.start()
        self.secret = (self.daemon.data / "hook-secret").read_text().strip()
        self.document = self.get("/api/openapi.json")
        shell = {"mode": "shell", "start": True, "workingDir": str(self.daemon.home)}
        self.session = self.make("/api/sessions", shell)["session"]["id"]
        enabled = {
            "cliManagementEnabled": True,
            "mcpSyncEnabled": True,
            "customModelEndpointsEnabled": True,
            "readMyMindEnabled": True,
        }
        self.make("/api/settings", enabled, method="PUT")
        self.things = self.make_things()
        self.state()  # the first look may find what had not been looked up yet
        self.before = self.state()

    def make_things(self) -> dict[str, str]:
        """Something of each kind that a path can name, by the beginning of the path."""
        job = {**self.good("POST", "/api/cron/jobs"), "enabled": False}
        token = {"name": "kept", "scopes": ["sessions:read"]}
        self.make("/api/clis", {**CLI, "id": "own"})
        return {
            "/api/cron": self.make("/api/cron/jobs", job)["job"]["id"],
            "/api/tokens": self.make("/api/tokens", token)["record"]["id"],
            "/api/clis/custom": "own",
            "/api/clis": "codex",
        }

    def make(self, path: str, body: object, method: str = "POST") -> Any:
        return self.daemon.request(method, path, body, self.headers).data()

    def get(self, path: str) -> Any:
        answer = self.daemon.request("GET", path, headers=self.headers).json()
        return answer.get("data", answer)

    def good(self, method: str, path: str) -> Any:
        """A body that would be taken."""
        text = json.dumps(ROWS[f"{method} {path}"].body)
        text = text.replace("{cases}", str(self.daemon.home))
        return json.loads(text.replace("{session}", getattr(self, "session", "")))

    def state(self) -> dict[str, Any]:
        """All that can be read without naming a thing, and the session."""
        found = {
            path: self.get(path)
            for method, path, _ in self.routes()
            if method == "GET" and "{" not in path and path not in NO_STATE
        }
        for session in found["/api/sessions"]:
            for name in VOLATILE:
                session.pop(name, None)
        return found

    def routes(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        for path, methods in self.document["paths"].items():
            for method, operation in methods.items():
                if method in ("get", "post", "put", "patch", "delete"):
                    yield method.upper(), path, operation

    def send(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        where = urlsplit(self.daemon.url)
        connection = http.client.HTTPConnection(str(where.hostname), where.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_accept_encoding=True)
            for name, value in self.headers.items():
                connection.putheader(name, value)
            if path in HOOKS:
                connection.putheader("X-Service-Hook-Secret", self.secret)
            if body is not None:
                connection.putheader("Content-Type", "application/json")
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            found = answer.status, answer.read()
        finally:
            connection.close()
        self.documented(method, path, found)
        return found

    def documented(self, method: str, path: str, answer: tuple[int, bytes]) -> None:
        """The document tells of every status that comes."""
        # A word of its own comes before one that may be any.
        for pattern, methods in sorted(
            self.document["paths"].items(), key=lambda item: item[0].count("{")
        ):
            shape = re.escape(pattern).replace(r"\{", "{").replace(r"\}", "}")
            if re.fullmatch(re.sub(r"{\w+}", "[^/]+", shape), path.partition("?")[0]):
                told = methods.get(method.lower(), {}).get("responses", {})
                self.assertIn(str(answer[0]), told, f"{method} {path[:80]}: {answer[1][:200]!r}")
                return

    def check(self, what: str, answer: tuple[int, bytes], *names: str) -> None:
        """A 4xx whose text begins with one of C{names}: the first fault is the one that is told."""
        status, content = answer
        self.assertTrue(400 <= status < 500, f"{what}: {status} {content[:300]!r}")
        if names:
            error = json.loads(content)["error"]
            if isinstance(error, dict):  # JSON-RPC has codes of its own
                self.assertIn(error["code"], (-32700, -32600), what)
                return
            self.assertIn(error.partition(":")[0].partition(".")[0], names, f"{what}: {error}")

    def schema(self, operation: dict[str, Any]) -> dict[str, Any] | None:
        found = self.content(operation).get("application/json")
        return None if found is None else self.resolve(found["schema"])

    def content(self, operation: dict[str, Any]) -> dict[str, Any]:
        """The types of body that are asked for."""
        found: dict[str, Any] = operation.get("requestBody", {}).get("content", {})
        return found

    def resolve(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            schema = self.document["components"]["schemas"][name]
        return schema

    def types(self, schema: dict[str, Any]) -> set[str]:
        schema = self.resolve(schema)
        found: set[str] = set()
        for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
            found |= self.types(part)
        kind = schema.get("type", [])
        found |= {kind} if isinstance(kind, str) else set(kind)
        if "enum" in schema or "const" in schema:
            found.add("string")
        return found | ({"integer"} if "number" in found else set())

    def concrete(self, path: str) -> str:
        """The path of a thing that is there, where there can be one."""
        for start, name in self.things.items():
            if path.startswith(start):
                return re.sub(r"{\w+}", name, path)
        return re.sub(r"{\w+}", self.session, path)

    def test_hostile_bodies_are_refused_on_every_route(self) -> None:
        count = 0
        for method, path, operation in self.routes():
            schema = self.schema(operation)
            if schema is None:
                continue
            where, required = self.concrete(path), schema.get("required", [])
            for what, (body, names) in BODIES.items():
                self.check(
                    f"{method} {path}: {what}", self.send(method, where, body), names, *required
                )
                count += 1
            for name, inner in schema.get("properties", {}).items():
                for body in self.wrong_values(name, self.types(inner)):
                    what = f"{method} {path}: {body[:60]!r}"
                    self.check(what, self.send(method, where, body), name, *required)
                    count += 1
        self.assertGreater(count, 200)
        self.assertEqual(self.before, self.state())

    def wrong_values(self, name: str, allowed: set[str]) -> Iterator[bytes]:
        for value in self.wrong(allowed):
            yield b'{"%b": %b}' % (name.encode(), value)

    def wrong(self, allowed: set[str]) -> Iterator[bytes]:
        """JSON that is none of these types, and a text that is no text."""
        for kind, sample in SAMPLES.items():
            if kind not in allowed and allowed:
                yield json.dumps(sample).encode()
        yield b'"\\ud800"'

    def test_bodies_are_refused_where_none_is_expected(self) -> None:
        count = 0
        for method, path, operation in self.routes():
            if method == "GET" or self.content(operation):
                continue  # forms that are none: test_files.py
            for title, (body, name) in BODIES.items():
                answer = self.send(method, self.concrete(path), body)
                self.check(f"{method} {path}: {title}", answer, name)
                count += 1
        self.assertGreater(count, 100)
        self.assertEqual(self.before, self.state())

    def test_single_fault_in_a_valid_body_is_named(self) -> None:
        """The fault is named although everything beside it is right, in inner records too."""
        count = 0
        for method, path, operation in self.routes():
            schema = self.schema(operation)
            if schema is None or ROWS[f"{method} {path}"].body is None:
                continue
            good = self.good(method, path)
            for where, allowed in self.fields(schema):
                # Beside a field of an inner record, the ones that it lacks may be named.
                names = tuple(".".join(where[:depth]) for depth in range(len(where), 0, -1))
                for value in self.wrong(allowed):
                    body = nested(good, where, value)
                    answer = self.send(method, self.concrete(path), body)
                    what = f"{method} {path}: {where} = {value[:40]!r}"
                    self.assertEqual(400, answer[0], f"{what}: {answer[1][:300]!r}")
                    error = json.loads(answer[1])["error"]
                    self.assertTrue(error.startswith(names), f"{what}: {error}")
                    count += 1
        self.assertGreater(count, 400)
        self.assertEqual(self.before, self.state())

    def fields(
        self, schema: dict[str, Any], outer: tuple[str, ...] = ()
    ) -> Iterator[tuple[tuple[str, ...], set[str]]]:
        """Every field of a body: its place, its JSON types."""
        for name, inner in schema.get("properties", {}).items():
            place = (*outer, name)
            yield place, self.types(inner)
            for part in (inner, *inner.get("anyOf", ()), *inner.get("oneOf", ())):
                yield from self.fields(self.resolve(part), place)

    def test_huge_bodies_are_refused_on_every_route(self) -> None:
        for method, path, operation in self.routes():
            if self.schema(operation) is None or path in HOOKS:
                continue  # what an agent tells of itself may be longer
            limit = LIMITS.get(path) or LIMITS.get(path.split("/{")[0], LIMIT)
            body = b'{"a": "' + b"x" * limit + b'"}'
            try:
                status, _ = self.send(method, self.concrete(path), body)
            except (BrokenPipeError, ConnectionResetError):
                continue  # refused while it was sent
            self.assertEqual(413, status, f"{method} {path}")
        self.assertEqual(self.before, self.state())

    def test_hostile_paths_are_refused_on_every_route(self) -> None:
        for method, path, operation in self.routes():
            if "{" not in path or path.startswith(WEBSOCKET):
                continue
            for bad in IDS:
                where = re.sub(r"{\w+}", bad.replace(" ", "%20"), path)
                body = b"{}" if self.schema(operation) is not None else None
                self.check(f"{method} {where[:80]}", self.send(method, where, body))
        self.assertEqual(self.before, self.state())

    def test_hostile_queries_cause_no_server_error(self) -> None:
        for method, path, _ in self.routes():
            if method != "GET" or path in (STREAM,) or path.startswith(WEBSOCKET):
                continue
            for query in QUERIES:
                status, content = self.send(method, f"{self.concrete(path)}?{query}")
                self.assertLess(status, 500, f"{path}?{query}: {content[:200]!r}")
        self.assertEqual(self.before, self.state())

    def test_nul_in_a_text_field_is_refused_on_every_route(self) -> None:
        served = {(method, path) for method, path, _ in self.routes()}
        for method, path, name in NUL:
            if (method, path) in served:
                body = json.dumps({**self.good(method, path), name: "/a\0b"}).encode()
                self.check(f"{method} {path}", self.send(method, self.concrete(path), body), name)
        self.assertEqual(self.before, self.state())


@pytest.mark.extended
class MultiUserBadInputTests(BadInputTests):
    """The routes of accounts too, by an admin."""

    environment = {
        "SERVICE_MULTIUSER": "1",
        "SERVICE_USERNAME": "root",
        "SERVICE_PASSWORD": "correct horse",
    }
    headers = {"Authorization": "Basic " + base64.b64encode(b"root:correct horse").decode()}

    def make_things(self) -> dict[str, str]:
        self.make("/api/admin/users", {"username": "bob", "role": "user"})
        return {**super().make_things(), "/api/admin/users": "bob"}


def nested(body: dict[str, Any], where: tuple[str, ...], value: bytes) -> bytes:
    """The body with C{value}, raw JSON, at a place inside."""
    first, *rest = where
    if rest:
        held = body.get(first)
        inner = nested(dict(held) if isinstance(held, dict) else {}, tuple(rest), value)
    else:
        inner = value
    kept = {name: item for name, item in body.items() if name != first}
    start = json.dumps(kept)[:-1] + (", " if kept else "")
    return start.encode() + json.dumps(first).encode() + b": " + inner + b"}"
