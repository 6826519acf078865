"""What the log, the metrics and the description tell of git, the webhook and the doctor."""

from __future__ import annotations

from typing import Any

from tests.integration.harness import DaemonCase, DaemonHarness
from tests.unit.git.random_repositories import run_git

SECRET = "s3cr3t-path"
ROUTES = {
    "/api/sessions/{id}/git-status": ["get"],
    "/api/sessions/{id}/git-diff": ["get"],
    "/api/webhook": ["get", "put"],
    "/api/webhook/test": ["post"],
    "/api/doctor": ["get"],
}


class WatchedTests(DaemonCase):
    def setUp(self) -> None:
        self.service: DaemonHarness = self.daemon().start()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        return self.service.request(method, path, body).data()

    def metrics(self) -> list[str]:
        return self.service.request("GET", "/metrics").body.decode().splitlines()

    def test_changes_are_audited_without_secrets(self) -> None:
        url = f"http://127.0.0.1:9/{SECRET}"
        self.ask("PUT", "/api/webhook", {"url": url, "kind": "generic"})
        self.ask("POST", "/api/webhook/test")
        self.ask("GET", "/api/doctor?category=core")
        found = self.ask("GET", "/api/admin/audit?limit=50")["entries"]
        mine = [entry for entry in found if "webhook" in entry["action"]]
        self.assertEqual(
            ["POST /api/webhook/test", "PUT /api/webhook"], [entry["action"] for entry in mine]
        )
        self.assertEqual({"fields": ["kind", "url"]}, mine[1]["detail"])
        self.assertNotIn(SECRET, repr(found))
        self.assertNotIn(SECRET, self.service.log)

    def test_requests_are_counted_by_route(self) -> None:
        root = self.service.home / "w"
        root.mkdir()
        run_git(root, "init", "-q", "-b", "main", "--template=")
        body = {"mode": "shell", "start": False, "workingDir": str(root)}
        made = self.ask("POST", "/api/sessions", body)["session"]["id"]
        self.assertEqual("ok", self.ask("GET", f"/api/sessions/{made}/git-status")["state"])
        lines = self.metrics()
        for gauge in ("git_processes", "webhook_waiting", "doctor_processes"):
            self.assertIn(f"tservice_{gauge} 0.0", lines)
        route = '{method="GET",route="/api/sessions/{id}/git-status",status="200"}'
        self.assertIn(f"tservice_http_requests_total{route} 1.0", lines)

    def test_openapi_document_describes_the_new_routes(self) -> None:
        document = self.service.request("GET", "/api/openapi.json").json()
        for path, methods in ROUTES.items():
            self.assertEqual(methods, sorted(set(document["paths"][path]) & {"get", "put", "post"}))
        text = repr(document["components"])
        for field in ("commit", "needed", "urlMasked"):
            self.assertIn(f"'{field}'", text)
