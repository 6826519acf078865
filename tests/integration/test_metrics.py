"""C{GET /metrics} of the real daemon: what an operator watches is counted."""

from __future__ import annotations

import re

from twisted.trial.unittest import SynchronousTestCase

from bench.client import new_session
from tests.integration.harness import DaemonHarness
from tests.waiting import wait_until


class DaemonMetricsTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.daemon = DaemonHarness()
        self.addCleanup(self.daemon.close)
        self.daemon.start()

    def text(self) -> str:
        return self.daemon.request("GET", "/metrics").body.decode()

    def metric(self, name: str) -> float:
        """The value of a series, spelled as it is shown; its name may hold labels."""
        text = self.text()
        found = re.search(rf"(?m)^tservice_{re.escape(name)} (\S+)$", text)
        assert found is not None, text
        return float(found[1])

    def test_metrics_count_sessions_output_and_errors(self) -> None:
        self.assertEqual(0, self.metric("output_bytes_total"))
        session = new_session(self.daemon)
        typed = {"input": "echo out-$((40 + 2))\r"}
        self.daemon.request("POST", f"/api/sessions/{session}/input", typed)
        self.daemon.request("GET", f"/api/sessions/{session}/wait-output?match=out-42&from=buffer")
        idle = 'tservice_sessions{mode="shell",status="idle"} 1.0'
        # A shell prints what it was told to before it is idle again.
        wait_until("an idle shell", lambda: idle in self.text().splitlines(), told=self.text)
        self.assertGreater(self.metric("output_bytes_total"), len("out-42"))
        self.daemon.request("GET", "/api/sessions/nobody")
        asked = 'http_requests_total{method="GET",route="/api/sessions/{id}",status="404"}'
        self.assertEqual(1, self.metric(asked))
        seconds = 'http_request_seconds_count{route="/api/sessions/{id}/wait-output"}'
        self.assertEqual(1, self.metric(seconds))

    def test_metrics_of_an_idle_service_are_zero(self) -> None:
        for name in ("websockets", "event_streams", "parked_waits", "logged_errors_total"):
            self.assertEqual(0, self.metric(name), name)
        for direction in ("in", "out"):
            series = f'websocket_bytes_total{{direction="{direction}"}}'
            self.assertEqual(0, self.metric(series))
