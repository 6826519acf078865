"""C{/api/model-endpoints} through the real site."""

from __future__ import annotations

import json
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred

from tests.callers import GRANTED
from tests.event_helpers import to_wire
from tests.non_empty import require_items
from tests.unit.http.site_driver import parse_http_answer, request_head
from tests.unit.models.harness import ADMIN, KEY, URL, ModelCase, start_coroutine
from tests.unit.right_checks import DENIED
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.kernel.events import EventAudience
from tservice.http.operations import AccessRule
from tservice.models.discovery import ROUND_INTERVAL
from tservice.models.endpoint_file import FILE_NAME
from tservice.models.model import ENDPOINT_LIMIT

PATH = "/api/model-endpoints"


class ModelEndpointTests(ModelCase):
    """Made, changed, forgotten."""

    @property
    def file(self) -> Any:
        return self.machine.config.data_dir / FILE_NAME

    def put(self, endpoint: Any, **body: Any) -> Any:
        return self.api.request("PUT", f"{PATH}/{endpoint['id']}", body)

    def kept(self) -> Any:
        return json.loads(self.file.read_text())["endpoints"]

    def test_endpoint_is_created_changed_and_deleted(self) -> None:
        made = self.endpoint(authStyle="api-key", defaultModelId="m")
        expected = {
            "id": made["id"], "label": "here", "baseUrl": URL, "apiKeySet": True,
            "authStyle": "api-key", "models": [], "lastDiscoveredAt": None, "defaultModelId": "m",
        }  # fmt: skip
        self.assertEqual(expected, made)
        self.assertEqual([expected], self.api.get(PATH).data)
        self.assertEqual({"endpoints": [expected]}, self.last("model:endpointsChanged"))
        self.assertEqual(0o600, self.file.stat().st_mode & 0o777)
        changed = self.put(made, label="there", defaultModelId=None).data["endpoint"]
        self.assertEqual(("there", True), (changed["label"], changed["apiKeySet"]))
        self.assertNotIn("defaultModelId", changed)
        self.assertEqual(KEY, self.kept()[0]["apiKey"])
        self.assertFalse(self.put(made, apiKey="").data["endpoint"]["apiKeySet"])
        self.assertEqual({}, self.api.request("DELETE", f"{PATH}/{made['id']}").data)
        self.assertEqual([], self.kept())
        self.assert_error(404, made["id"], self.put(made, label="x"))

    def test_token_cannot_redirect_the_api_key(self) -> None:
        made, elsewhere = self.endpoint(), "http://127.0.0.1:9999"
        self.gate.identity = evolve(ADMIN, method="token", token="t", scopes=frozenset({"admin"}))
        self.assert_error(403, "baseUrl", self.put(made, baseUrl=elsewhere))
        self.assert_error(403, "baseUrl", self.put(made, baseUrl=f"{URL}/other", label="there"))
        self.assertEqual((URL, KEY), (self.kept()[0]["baseUrl"], self.kept()[0]["apiKey"]))
        self.assertTrue(
            self.put(made, baseUrl=f"{URL}/v1", label="x").data["endpoint"]["apiKeySet"]
        )
        self.put(made, baseUrl=elsewhere, apiKey="another-key-0123456789")
        self.assertEqual("another-key-0123456789", self.kept()[0]["apiKey"])
        self.gate.identity = ADMIN
        self.assertEqual(URL, self.put(made, baseUrl=URL).data["endpoint"]["baseUrl"])

    def test_api_key_appears_nowhere_else(self) -> None:
        made = self.endpoint()
        self.put(made, label="other")
        said = str(self.machine.events) + repr(self.models._registry.list_endpoints())
        self.assertNotIn(KEY, said)
        self.assertNotIn(KEY, self.redactor.redact_text(f"a line with {KEY}"))
        self.put(made, apiKey="another-key-0123456789")
        self.assertIn(KEY, self.redactor.redact_text(KEY), "one that is not kept any more")
        self.assertNotIn("another", self.redactor.redact_text("another-key-0123456789"))

    def test_switched_off_feature_refuses_first(self) -> None:
        """Before anything else of a request is judged."""
        made = self.endpoint()
        self.switch(False)
        for method, path, body in [
            ("GET", PATH, None),
            ("POST", PATH, {"nope": 1}),
            ("PUT", f"{PATH}/none", {"nope": 1}),
            ("DELETE", f"{PATH}/{made['id']}", None),
            ("POST", f"{PATH}/none/discover-models", None),
            ("GET", f"{PATH}/none/running-status", None),
            ("POST", "/api/sessions/none/custom-model", {"nope": 1}),
        ]:
            self.assert_error(403, "customModelEndpoints", self.api.request(method, path, body))
        answer = self.make(endpointId=made["id"], modelId="m")
        self.assert_error(403, "customModelEndpointsEnabled", answer)

    def test_changes_are_for_admins(self) -> None:
        for operation in require_items(self.feature.operations):
            expected = AccessRule.USER if operation.method == "GET" else AccessRule.ADMIN
            if operation.path.startswith("/api/sessions"):
                expected = AccessRule.OWNER
            self.assertIs(expected, operation.access, operation.path)

    def test_invalid_endpoint_fields_are_refused(self) -> None:
        made = self.endpoint()
        bad: list[tuple[dict[str, Any], str]] = [
            ({"label": ""}, "label"),
            ({"label": "x" * 61}, "label"),
            ({"baseUrl": "x"}, "baseUrl"),
            ({"baseUrl": "http://169.254.169.254"}, "baseUrl"),
            ({"authStyle": "basic"}, "authStyle"),
            ({"apiKey": "a b"}, "apiKey"),
            ({"defaultModelId": "-x"}, "defaultModelId"),
            ({"models": []}, "models"),
        ]
        for body, word in bad:
            self.assert_error(400, word, self.put(made, **body))
            answer = self.api.post(PATH, {"label": "n", "baseUrl": URL, **body})
            self.assert_error(400, word, answer)
        self.assert_error(400, "baseUrl", self.api.post(PATH, {"label": "n"}))
        self.assertEqual(1, len(self.kept()))

    def test_labels_must_be_unique(self) -> None:
        self.endpoint()
        other = self.endpoint(label="there")
        answer = self.api.post(PATH, {"label": "HERE ", "baseUrl": URL})
        self.assertEqual((409, "ALREADY_EXISTS"), answer.error[:2])
        self.assertEqual((409, "ALREADY_EXISTS"), self.put(other, label="here").error[:2])
        self.assertEqual("there", self.put(other, label="there").data["endpoint"]["label"])

    def test_endpoints_are_limited_in_number(self) -> None:
        for number in range(ENDPOINT_LIMIT):
            self.endpoint(label=f"number {number}")
        answer = self.api.post(PATH, {"label": "more", "baseUrl": URL})
        self.assert_error(422, str(ENDPOINT_LIMIT), answer)

    def test_endpoints_survive_a_restart(self) -> None:
        made = self.endpoint(authStyle="api-key", defaultModelId="m")
        self.server.offers(m=5)
        self.api.request("POST", f"{PATH}/{made['id']}/discover-models")
        before = self.api.get(PATH).data
        again = self.built().service
        self.run_now(again.start())
        self.assertEqual(before, [to_wire(each) for each in again.list_endpoints()])
        self.successResultOf(again.stop())

    def test_right_lost_during_the_request_changes_no_endpoint(self) -> None:
        """It waits for the changes of others, and for the server's answer."""
        made = self.endpoint()
        self.server.offers(m=5)
        before, service = self.kept(), self.models

        for change in (
            service.add_endpoint({"label": "x", "base_url": URL}, DENIED),
            service.remove_endpoint(made["id"], DENIED),
            service.discover_models(made["id"], DENIED),
        ):
            refused = self.failureResultOf(start_coroutine(change), ServiceError)
            self.assertEqual(ErrorCode.FORBIDDEN, refused.value.code)
        self.assertEqual(before, self.kept())

    def test_unusable_endpoints_file_is_left_alone(self) -> None:
        """It is left as it is, and nothing is written over it."""
        for content, mode in [("{", 0o600), ('{"endpoints": [{}]}', 0o600), ("{}", 0o600),
                              ('{"endpoints": []}', 0o644)]:  # fmt: skip
            self.file.write_text(content)
            self.file.chmod(mode)
            again = self.built().service
            self.run_now(again.start())
            self.assertEqual([], again.list_endpoints())
            refused = self.failureResultOf(
                start_coroutine(again.add_endpoint({"label": "x", "base_url": URL}, GRANTED))
            )
            self.assertEqual(409, refused.value.status)
            self.assertEqual(content, self.file.read_text())
            self.successResultOf(again.stop())
        told = [each for each in self.logged if "not available" in each]
        self.assertEqual(4, len(told))


class DiscoveryTests(ModelCase):
    """What a server offers, and what it has loaded."""

    def discover(self, endpoint: Any) -> Any:
        return self.api.request("POST", f"{PATH}/{endpoint['id']}/discover-models")

    def test_offered_models_are_discovered(self) -> None:
        made = self.endpoint(defaultModelId="old")
        self.server.offers(a=50_000, b=None)
        models = [{"id": "a", "contextLength": 50_000}, {"id": "b"}]
        self.assertEqual({"models": models}, self.discover(made).data)
        (shown,) = self.api.get(PATH).data
        self.assertEqual(models, shown["models"])
        self.assertEqual(int(self.clock.seconds() * 1000), shown["lastDiscoveredAt"])
        self.assertNotIn("defaultModelId", shown)
        self.assertEqual(f"Bearer {KEY}", self.server.asked[0].headers["Authorization"])

    def test_failed_discovery_gives_its_reason(self) -> None:
        made = self.endpoint(defaultModelId="kept")
        self.assert_error(422, "Connection refused", self.discover(made))
        for status, body, words in [
            (401, b"{}", "HTTP 401"),
            (302, b"", "redirects"),
            (200, b"<html>", "JSON"),
            (200, b"{}", "list of models"),
        ]:
            self.server.replies[f"{URL}/v1/models"] = (status, body)
            self.assert_error(422, words, self.discover(made))
        self.assertEqual("kept", self.api.get(PATH).data[0]["defaultModelId"])
        self.assert_error(404, "none", self.discover({"id": "none"}))

    def test_loaded_models_are_reported(self) -> None:
        made = self.endpoint()
        path = f"{PATH}/{made['id']}/running-status"
        self.assertEqual({"supported": False, "running": []}, self.api.get(path).data)
        self.server.runs("a")
        running = [{"model": "a", "state": "ready"}]
        self.assertEqual({"supported": True, "running": running}, self.api.get(path).data)

    def test_simultaneous_questions_share_one_request(self) -> None:
        """Whoever may ask could have the service open connections without number."""
        made = self.endpoint()
        self.server.runs("a")
        self.server.held = held = Deferred[None]()
        path = f"{PATH}/{made['id']}/running-status"
        asking = [self.api.connect() for _ in range(5)]
        for connection in asking:
            connection.send(request_head("GET", path, {"Host": "localhost"}))
        self.assertEqual(1, len(self.server.asked))
        held.callback(None)
        answers = [parse_http_answer(connection.value()) for connection in asking]
        self.assertEqual([True] * 5, [answer.data["supported"] for answer in answers])
        self.api.get(path)
        self.assertEqual(2, len(self.server.asked), "another question, another answer")

    def test_question_is_not_shared_with_another_address(self) -> None:
        made = self.endpoint()
        path = f"{PATH}/{made['id']}/running-status"
        self.server.held = held = Deferred[None]()
        first = self.api.connect()
        first.send(request_head("GET", path, {"Host": "localhost"}))
        changed = {"baseUrl": "http://127.0.0.1:2"}
        self.api.request("PUT", f"{PATH}/{made['id']}", changed)
        self.api.get(path)
        urls = [request.url for request in self.server.asked]
        self.assertEqual([f"{URL}/running", "http://127.0.0.1:2/running"], urls)
        held.callback(None)

    def test_models_are_polled_every_five_minutes(self) -> None:
        """Every five minutes, while the feature is on; what does not answer changes nothing."""
        one, two = self.endpoint(), self.endpoint(label="two", baseUrl="http://127.0.0.1:2")
        self.server.offers(a=1)
        self.clock.advance(ROUND_INTERVAL - 1)
        self.assertEqual([], self.server.asked)
        self.clock.advance(1)
        shown = {each["id"]: each["models"] for each in self.api.get(PATH).data}
        self.assertEqual({one["id"]: [{"id": "a", "contextLength": 1}], two["id"]: []}, shown)
        self.server.asked.clear()
        self.switch(False)
        self.clock.advance(ROUND_INTERVAL)
        self.assertEqual([], self.server.asked)
        self.switch(True)
        self.clock.advance(ROUND_INTERVAL)
        self.assertEqual(3, len(self.server.asked))
        silent = [each for each in self.logged if "Connection refused" in each]
        self.assertEqual(1, len(silent), "said once")

    def test_stop_ends_the_polling(self) -> None:
        self.endpoint()
        self.server.held = Deferred()
        self.clock.advance(ROUND_INTERVAL)
        self.assertEqual(1, len(self.server.asked))
        stopped = self.models.stop()
        self.successResultOf(stopped)
        self.assertEqual([], self.flushLoggedErrors())
        self.assertEqual([], [call for call in self.clock.getDelayedCalls() if call.active()])

    def test_model_swap_is_published_to_its_users(self) -> None:
        made = self.endpoint()
        session = self.make(endpointId=made["id"], modelId="a").data["session"]
        path = f"{PATH}/{made['id']}/running-status"
        for loaded in (("a",), ("a", "b"), ("a",), ()):
            self.server.runs(*loaded)
            self.api.get(path)
        self.assertNotIn("model:swappedOut", self.names)
        self.server.runs("a")
        self.api.get(path)
        self.server.runs("b")
        self.api.get(path)
        sessions = [{"id": session["id"], "name": session["name"]}]
        expected = {"endpointId": made["id"], "modelId": "a", "sessions": sessions}
        self.assertEqual(expected, self.last("model:swappedOut"))
        event = next(e for e in self.machine.events if e.name == "model:swappedOut")
        self.assertIs(EventAudience.OWNER, event.name.audience)
