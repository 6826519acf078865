"""Every route of the OpenAPI document against bad input: a 4xx names the field, nothing changes."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from twisted.trial.unittest import SynchronousTestCase

from bench.client import new_session
from tests.integration.harness import PATIENCE, Daemon

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
HOOKS = ("/api/hook-event", "/api/status-telemetry")
WEBSOCKET = "/ws/"
STREAM = "/api/events"


class BadInputTests(SynchronousTestCase):
    """The real daemon, with one session that nothing may change."""

    def setUp(self) -> None:
        self.daemon = Daemon()
        self.addCleanup(self.daemon.close)
        self.daemon.start()
        self.session = new_session(self.daemon)
        self.secret = (self.daemon.data / "hook-secret").read_text().strip()
        self.document = self.daemon.request("GET", "/api/openapi.json").json()
        self.before = self.state()

    def state(self) -> dict[str, Any]:
        found = {
            path: self.daemon.request("GET", path).data()
            for path in ("/api/sessions", "/api/settings", "/api/clis")
        }
        for session in found["/api/sessions"]:
            for name in ("status", "statusReason", "lastActivityAt"):
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
            if path in HOOKS:
                connection.putheader("X-Service-Hook-Secret", self.secret)
            if body is not None:
                connection.putheader("Content-Type", "application/json")
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def check(self, what: str, answer: tuple[int, bytes], *names: str) -> None:
        """A 4xx whose text begins with one of C{names}: the first fault is the one that is told."""
        status, content = answer
        self.assertTrue(400 <= status < 500, f"{what}: {status} {content[:300]!r}")
        if names:
            error = json.loads(content)["error"]
            self.assertIn(error.partition(":")[0].partition(".")[0], names, f"{what}: {error}")

    def schema(self, operation: dict[str, Any]) -> dict[str, Any] | None:
        content = operation.get("requestBody", {}).get("content", {})
        return self.resolve(content["application/json"]["schema"]) if content else None

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
        return path.replace("{id}", self.session).replace("{name}", "nobody")

    def test_bodies(self) -> None:
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
        for kind, sample in SAMPLES.items():
            if kind not in allowed and allowed:
                yield json.dumps({name: sample}).encode()
        yield b'{"%b": "\\ud800"}' % name.encode()

    def test_huge_bodies(self) -> None:
        for method, path, operation in self.routes():
            if self.schema(operation) is None or path in HOOKS:
                continue  # what an agent tells of itself may be longer
            body = b'{"a": "' + b"x" * (1024 * 1024) + b'"}'
            try:
                status, _ = self.send(method, self.concrete(path), body)
            except (BrokenPipeError, ConnectionResetError):
                continue  # refused while it was sent
            self.assertEqual(413, status, f"{method} {path}")
        self.assertEqual(self.before, self.state())

    def test_paths(self) -> None:
        for method, path, operation in self.routes():
            if "{" not in path or path.startswith(WEBSOCKET):
                continue
            for bad in IDS:
                where = path.replace("{id}", bad.replace(" ", "%20")).replace("{name}", bad)
                body = b"{}" if self.schema(operation) is not None else None
                self.check(f"{method} {where[:80]}", self.send(method, where, body))
        self.assertEqual(self.before, self.state())

    def test_queries(self) -> None:
        for method, path, _ in self.routes():
            if method != "GET" or path in (STREAM,) or path.startswith(WEBSOCKET):
                continue
            for query in QUERIES:
                status, content = self.send(method, f"{self.concrete(path)}?{query}")
                self.assertLess(status, 500, f"{path}?{query}: {content[:200]!r}")
        self.assertEqual(self.before, self.state())

    def test_nul_in_text(self) -> None:
        for path, body, names in (
            ("/api/sessions", {"name": "a\0b"}, "name"),
            ("/api/sessions", {"workingDir": "/tmp\0/x"}, "workingDir"),
            (f"/api/sessions/{self.session}/name", {"name": "a\x1bb"}, "name"),
        ):
            method = "PUT" if path.endswith("/name") else "POST"
            self.check(path, self.send(method, path, json.dumps(body).encode()), names)
        self.assertEqual(self.before, self.state())
