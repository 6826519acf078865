"""Tests for L{tservice.http.docs.openapi}, L{apidocs}, L{metrics} and L{status}."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import jsonschema_rs
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.non_empty import require_items
from tests.unit.held_threads import HeldThreads
from tests.unit.http.sample_operations import SampleHandlers, sample_operation
from tests.unit.http.site_driver import ApiHarness
from tservice.access.cookie_sessions import CookieSessionRegistry
from tservice.access.cookie_store import MemoryCookieStore
from tservice.access.routes import AccessRoutes
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_failure_error
from tservice.core.kernel.events import EventHub
from tservice.core.workers.worker_pool import SynchronousThreads
from tservice.http.docs.openapi import make_document, make_operation_id
from tservice.http.docs.page import ApiDocs
from tservice.http.event_stream import EventStreams
from tservice.http.metrics import MetricSource, MetricsRegistry, make_gauge
from tservice.http.operation_decorator import collect_operations
from tservice.http.operations import AccessRule, Operation, ResponseStyle
from tservice.status.routes import StatusRoutes
from tservice.status.service import StatusResponse, UserStatus


def status(identity: Identity) -> StatusResponse:
    return StatusResponse(
        version="1",
        sessions=[],
        user=UserStatus(username=identity.username, role="admin", multi_user=False),
        server_time=5,
    )


def whole_table() -> tuple[list[Operation], ApiDocs, MetricsRegistry]:
    """Everything that this layer itself serves, and the samples."""
    clock = Clock()
    cookies = CookieSessionRegistry(MemoryCookieStore(), clock, lambda size: b"x" * size)
    docs, metrics = ApiDocs("1.2.3", SynchronousThreads()), MetricsRegistry()
    table = [
        *collect_operations(AccessRoutes(cookies, None, "admin", False)),
        *collect_operations(EventStreams(EventHub(), clock, "b", status)),
        *collect_operations(StatusRoutes(status)),
        *collect_operations(metrics),
        *collect_operations(docs),
        *SampleHandlers().table(),
        sample_operation("GET", "/ws/{id}", None, style=ResponseStyle.WEBSOCKET),
        sample_operation(
            "GET", "/api/sessions/{id}", None, access=AccessRule.OWNER, errors=(ErrorCode.CONFLICT,)
        ),
        sample_operation("POST", "/api/hook", None, access=AccessRule.HOOK),
        sample_operation("GET", "/api/admin", None, access=AccessRule.ADMIN),
    ]
    docs.set_operations(table)
    return table, docs, metrics


class OpenApiDocumentTests(SynchronousTestCase):
    """The document describes the whole table."""

    def setUp(self) -> None:
        self.table, self.docs, self.metrics = whole_table()
        self.found: Any = make_document(self.table, "1.2.3")
        self.api = ApiHarness(self.table)

    def test_every_operation_is_documented(self) -> None:
        for entry in require_items(self.table):
            path = entry.path.replace(":path", "")
            methods = self.found["paths"][path]
            self.assertTrue(entry.method == "ANY" or entry.method.lower() in methods, entry.path)

    def test_schema_references_exist(self) -> None:
        text = self.api.get("/api/openapi.json").content.decode()
        names = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
        self.assertIn("SizeBody", names)
        self.assertEqual(set(), names - set(self.found["components"]["schemas"]))

    def test_operation_names_are_unique_and_parameters_declared(self) -> None:
        ids = []
        for path, methods in self.found["paths"].items():
            for entry in methods.values():
                ids.append(entry["operationId"])
                declared = {p["name"] for p in entry.get("parameters", []) if p["in"] == "path"}
                self.assertEqual(set(re.findall(r"\{(\w+)\}", path)), declared)
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(
            "getSessionsIdGitStatus", make_operation_id("GET", "/api/sessions/{id}/git-status")
        )

    def test_document_schemas_are_valid_json_schemas(self) -> None:
        for schema in self.found["components"]["schemas"].values():
            jsonschema_rs.meta.validate(
                {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
            )

    def answers(self, method: str, path: str) -> dict[str, Any]:
        found: dict[str, Any] = self.found["paths"][path][method]["responses"]
        return found

    def test_documented_errors_follow_from_the_operation(self) -> None:
        for method, path, want in (
            ("post", "/api/size", {"200", "400", "401", "403", "413", "429", "500"}),
            ("get", "/healthz", {"200", "403", "500"}),
            ("get", "/api/sessions/{id}", {"200", "401", "403", "404", "409", "414", "429", "500"}),
            ("get", "/api/events", {"200", "400", "401", "403", "414", "429", "500", "503"}),
            (
                "delete",
                "/api/things/{id}",
                {"200", "400", "401", "403", "404", "414", "429", "500"},
            ),
            ("post", "/api/upload", {"200", "401", "403", "413", "429", "500"}),
            ("get", "/ws/{id}", {"101", "401", "403", "404", "414", "426", "429", "500"}),
            ("post", "/api/login", {"200", "400", "401", "403", "413", "429", "500"}),
        ):
            self.assertEqual(want, set(self.answers(method, path)), path)
        self.assertIn("FORBIDDEN", self.answers("get", "/api/admin")["403"]["description"])
        self.assertEqual({"text/plain"}, set(self.answers("post", "/api/login")["401"]["content"]))

    def test_security_follows_the_access(self) -> None:
        paths = self.found["paths"]
        self.assertEqual([], paths["/healthz"]["get"]["security"])
        self.assertEqual({"hookSecret": []}, paths["/api/hook"]["post"]["security"][0])
        ways = [sorted(way) for way in paths["/api/me"]["get"]["security"]]
        self.assertEqual([["basic"], ["cookie", "pageKey"], ["cookie"]], ways)
        self.assertEqual({"token": ["events"]}, paths["/api/events"]["get"]["security"][-1])

    def test_answers_match_their_documented_schemas(self) -> None:
        shared = {"components": self.found["components"]}
        for path in ("/api/me", "/api/status", "/healthz"):
            media = self.answers("get", path)["200"]["content"]["application/json"]
            answer = self.api.get(path)
            self.assertEqual(200, answer.status)
            jsonschema_rs.validate({**shared, **media["schema"]}, answer.json())

    def test_document_is_served(self) -> None:
        answer = self.api.get("/api/openapi.json")
        self.assertEqual("application/json", answer.headers["content-type"])
        self.assertEqual(self.found, answer.json())
        self.assertEqual(answer.content, self.api.get("/api/v1/openapi.json").content)


class _LinkParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


class ApiDocsPageTests(SynchronousTestCase):
    """The page for people."""

    def setUp(self) -> None:
        self.table, _, _ = whole_table()
        self.api = ApiHarness(self.table)
        self.page = self.api.get("/api/docs")

    def test_page_lists_every_operation(self) -> None:
        text = self.page.content.decode()
        for entry in require_items(self.table):
            self.assertIn(f"<code>{entry.path.replace(':path', '')}</code>", text)

    def test_page_fits_the_content_policy(self) -> None:
        parser = _LinkParser()
        parser.feed(self.page.content.decode())
        self.assertNotIn("script", [tag for tag, _ in parser.seen])
        for tag, attributes in parser.seen:
            self.assertNotIn("style", attributes, tag)
            self.assertEqual([], [name for name in attributes if name.startswith("on")])
            for name in ("href", "src"):
                link = attributes.get(name) or ""
                self.assertTrue(link.startswith("#") or link in ("", "docs.css", "openapi.json"))

    def test_page_links_resolve(self) -> None:
        parser = _LinkParser()
        parser.feed(self.page.content.decode())
        ids = {attributes.get("id") for _, attributes in parser.seen}
        for _, attributes in require_items(parser.seen):
            href = attributes.get("href") or ""
            self.assertTrue(not href.startswith("#") or href[1:] in ids, href)

    def test_page_text_is_escaped(self) -> None:
        docs = ApiDocs("<b>", SynchronousThreads())
        docs.set_operations(
            [sample_operation("GET", "/x", None, summary="<script>alert(1)</script>")]
        )
        page = ApiHarness(collect_operations(docs)).get("/api/docs").content
        self.assertNotIn(b"<script>", page)
        self.assertNotIn(b"<b>", page)

    def test_document_is_built_once_in_a_thread(self) -> None:
        """Whoever asks meanwhile waits for the same; what was refused is asked for again."""
        threads = HeldThreads()
        docs = ApiDocs("1", threads)
        docs.set_operations([sample_operation("GET", "/x", None)])
        call: Any = None

        def ask() -> list[Deferred[object]]:
            return [
                Deferred.fromCoroutine(each(call)) for each in (docs.serve_openapi, docs.serve_page)
            ]

        asked = [*ask(), *ask()]
        self.assertEqual(1, len(threads.begun))
        threads.refuse(make_failure_error("too many requests wait"))
        for each in asked:
            self.failureResultOf(each, ServiceError)
        asked = [*ask(), *ask()]
        self.assertEqual(1, len(threads.begun))
        threads.finish()
        for each in (*asked, *ask()):
            self.successResultOf(each)
        self.assertEqual([], threads.begun)

    def test_stylesheet_is_served(self) -> None:
        answer = self.api.get("/api/docs.css")
        self.assertEqual("text/css; charset=utf-8", answer.headers["content-type"])


class HttpMetricsTests(SynchronousTestCase):
    """Counting, and asking."""

    def setUp(self) -> None:
        self.metrics = MetricsRegistry()
        table = [*collect_operations(self.metrics), *SampleHandlers().table()]
        self.api = ApiHarness(table, on_response=self.metrics.count_response)

    def lines(self) -> list[str]:
        answer = self.api.get("/metrics")
        self.assertTrue(answer.headers["content-type"].startswith("text/plain"))
        return answer.content.decode().splitlines()

    def test_requests_are_counted_by_route(self) -> None:
        for _ in range(3):
            self.api.get("/api/things/1")
        self.api.get("/api/nope")
        self.api.request("BREW", "/api/nope")
        lines = self.lines()
        for line in (
            'tservice_http_requests_total{method="GET",route="/api/things/{id}",status="200"} 3.0',
            'tservice_http_requests_total{method="GET",route="none",status="404"} 1.0',
            'tservice_http_requests_total{method="other",route="none",status="404"} 1.0',
            'tservice_http_request_seconds_count{route="/api/things/{id}"} 3.0',
        ):
            self.assertIn(line, lines)

    def test_gauges_are_evaluated_when_read(self) -> None:
        sessions: dict[tuple[str, ...], float] = {}
        self.metrics.add_source(
            MetricSource("sessions", "Sessions.", lambda: sessions, ("mode", "status"))
        )
        self.metrics.add_source(make_gauge("streams", "Streams.", lambda: 7))
        sessions["shell", "idle"] = 2
        lines = self.lines()
        self.assertIn('tservice_sessions{mode="shell",status="idle"} 2.0', lines)
        self.assertIn("tservice_streams 7.0", lines)

    def test_metric_name_can_be_registered_once(self) -> None:
        streams = MetricSource("streams", "Streams.", dict)
        self.metrics.add_source(streams)
        self.assertRaises(ValueError, self.metrics.add_source, streams)

    def test_two_metric_registries_share_no_measures(self) -> None:
        other = MetricsRegistry()
        self.metrics.add_source(make_gauge("streams", "Streams.", lambda: 7))
        other.add_source(make_gauge("streams", "Streams.", lambda: 8))
        self.assertIn("tservice_streams 7.0", self.lines())
        self.assertIn(b"tservice_streams 8.0", other.format_text())


class HealthTests(SynchronousTestCase):
    """What a supervisor and a client ask."""

    def test_health_route_answers_ok(self) -> None:
        answer = ApiHarness(collect_operations(StatusRoutes(status))).get("/healthz")
        self.assertEqual(b'{"ok":true}', answer.content)

    def test_status_answer_has_every_field(self) -> None:
        found = ApiHarness(collect_operations(StatusRoutes(status))).get("/api/status").data
        self.assertEqual(
            {
                "version": "1",
                "installedVersion": None,
                "sessions": [],
                "changes": [],
                "cronJobs": 0,
                "approvals": [],
                "customNotices": False,
                "checks": [],
                "planUsage": None,
                "pullRequests": [],
                "tunnel": {"running": False, "url": None},
                "user": {"username": "admin", "role": "admin", "multiUser": False},
                "serverTime": 5,
                "timeZone": "UTC",
            },
            found,
        )
