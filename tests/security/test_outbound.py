"""The page of outgoing requests lists all that the service makes in a user's name."""

from __future__ import annotations

import re
from pathlib import Path

import tservice
from tests.security.fencecase import FenceCase

SOURCE = Path(tservice.__file__).parent
PAGE = SOURCE.parent / "docs" / "reference" / "outgoing.rst"
MAKES = re.compile(
    r"(?:OutboundClient|GuardedEndpoint|HostnameEndpoint|(?<!\w)Agent|clone_arguments)\(|listenUDP\("
)
REQUESTS = {
    "notify/build.py": "Webhook",
    "push/build.py": "Push message",
    "models/build.py": "Model endpoint",
    "webviews/build.py": "Web tab",
    "webviews/routes/upstream.py": "Web tab",
    "git/changing/clone.py": "Clone",
    "voice/upstream_connector.py": "Dictation",
    "hosts/wake_signals.py": "Remote host",
}
"""Which row each module that connects to something makes; others stand in the page by hand."""
BENEATH = {"core/net/outbound.py", "core/net/guarded.py", "git/changing/clone_environment.py"}
"""What these are made of."""
SET: tuple[tuple[str, str, object], ...] = (
    ("PUT", "/api/webhook", {"url": "https://example.org/x"}),
    ("POST", "/api/webhook/test", {}),
    ("POST", "/api/model-endpoints", {"label": "m", "baseUrl": "http://127.0.0.1:1"}),
    ("POST", "/api/model-endpoints/m/discover-models", None),
    ("PUT", "/api/settings", {"customModelEndpointsEnabled": True}),
    ("POST", "/api/remote-hosts", {"id": "h", "host": "127.0.0.1"}),
    ("POST", "/api/tunnel/start", None),
    ("POST", "/api/clis/codex/install", None),
    ("POST", "/api/container-hosts", {"id": "c"}),
    ("POST", "/api/cases/remote-link", {"name": "r", "hostId": "h", "path": "/"}),
)


class OutboundTests(FenceCase):
    """The rows and the code say the same."""

    def test_every_module_that_connects_has_its_row(self) -> None:
        found = {
            str(path.relative_to(SOURCE))
            for path in SOURCE.rglob("*.py")
            if "client" not in path.relative_to(SOURCE).parts and MAKES.search(path.read_text())
        }
        self.assertEqual({*REQUESTS, *BENEATH}, found)
        page = PAGE.read_text()
        for row in REQUESTS.values():
            self.assertIn(f"   * - {row}\n", page)

    def test_account_sets_no_address_of_the_service(self) -> None:
        before = self.world.snapshot()
        for method, path, body in SET:
            answer = self.call(method, path, body)
            self.assertEqual((403, "FORBIDDEN"), (answer.status, answer.error), (path, answer.body))
        self.assertEqual(before, self.world.snapshot())
