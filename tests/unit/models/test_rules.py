"""The rules on endpoints, and what servers answer."""

from __future__ import annotations

from typing import Any

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.models import server_answers
from tservice.core.kernel.errors import ServiceError
from tservice.models.endpoint_client import build_request
from tservice.models.model import (
    MODEL_LIMIT,
    AuthStyle,
    ModelEndpoint,
    OfferedModel,
    apply_patch,
    check_model_id,
    find_displaced_model,
    find_swapped_models,
    is_context_small,
    replace_models,
)
from tservice.models.responses import make_endpoint_response
from tservice.models.server_responses import (
    ResponseUnreadable,
    RunningModels,
    parse_models,
    parse_running,
)

KEY = "sk-0123456789"
ENDPOINT = ModelEndpoint(
    id="e", label="here", base_url="http://127.0.0.1:8080/v1/", api_key=SecretStr(KEY)
)


class ModelServerAnswerTests(SynchronousTestCase):
    """Each server in its own words."""

    def test_model_lists_of_each_server_are_read(self) -> None:
        for text, expected in [
            (server_answers.LLAMA_SERVER, [("unsloth/gemma-4-31B-it-GGUF", 32768)]),
            (server_answers.LLAMA_SERVER_OLD, [("../models/Meta-Llama-3.1-8B.gguf", 131072)]),
            (server_answers.LLAMA_SWAP, [("qwen3.5-9b", None), ("seat", None)]),
            (server_answers.OLLAMA, [("llama3.2:latest", None)]),
            (server_answers.VLLM, [("Qwen/Qwen2.5-1.5B-Instruct", 16384)]),
            (server_answers.ROUTER, [("anthropic/some-model", 200000)]),
        ]:
            found = [(each.id, each.context_length) for each in parse_models(text.encode())]
            self.assertEqual(expected, found)

    def test_first_known_context_length_counts(self) -> None:
        item = '"context_length": %s, "context_window": 2, "max_model_len": 3'
        for said, length in [
            ("1", 1),
            ("null", 2),
            ('"1"', 2),
            ("true", 2),
            ("-1", 2),
            ("9e99", 2),
        ]:
            body = '{"data": [{"id": "m", ' + item % said + "}]}"
            self.assertEqual(length, parse_models(body.encode())[0].context_length, said)

    def test_running_models_are_read(self) -> None:
        found = parse_running(server_answers.LLAMA_SWAP_RUNNING.encode())
        self.assertTrue(found.supported)
        self.assertEqual((("qwen3.5-9b", "ready"), ("seat", "stopping")), found.models)
        self.assertEqual(("qwen3.5-9b",), found.loaded_names)
        for other in ("", "[]", "null", '{"error": "not found"}', '{"running": true}'):
            self.assertEqual(RunningModels(supported=False), parse_running(other.encode()))

    def test_other_answers_are_no_model_list(self) -> None:
        for other in (b"", b"<html>", b"[]", b"{}", b'{"data": {}}', b"[" * 100_000, b"\xff"):
            with self.assertRaises(ResponseUnreadable):
                parse_models(other)

    def test_answer_with_too_many_values_is_refused(self) -> None:
        crowd = b'{"data": [' + b"{}," * 100_000 + b"{}]}"
        with self.assertRaisesRegex(ResponseUnreadable, "too many"):
            parse_models(crowd)
        self.assertEqual(RunningModels(supported=False), parse_running(crowd))

    def test_model_lists_are_bounded(self) -> None:
        many = (
            b'{"data": [' + b",".join(b'{"id": "%d"}' % n for n in range(MODEL_LIMIT + 5)) + b"]}"
        )
        self.assertEqual(MODEL_LIMIT, len(parse_models(many)))
        odd = '{"data": [{"id": "%s"}, {"id": ""}, {"id": 3}, 4, {"id": "a\\nb"}]}' % ("x" * 201)
        self.assertEqual((), parse_models(odd.encode()))

    @given(st.binary(max_size=60) | st.sampled_from([b'{"data":[{"id":"m","meta":[]}]}']))
    def test_any_bytes_are_read_or_refused(self, body: bytes) -> None:
        """A server may send whatever it likes."""
        parse_running(body)
        try:
            parse_models(body)
        except ResponseUnreadable as error:
            self.assertIn("did not answer", str(error))


class EndpointRuleTests(SynchronousTestCase):
    """Endpoints."""

    def refused(self, word: str, **patch: Any) -> None:
        error = self.assertRaises(ServiceError, apply_patch, ENDPOINT, patch)
        self.assertEqual(400, error.status)
        self.assertIn(word, error.message)

    def test_endpoint_fields_are_checked(self) -> None:
        self.refused("baseUrl", base_url="ftp://x")
        self.refused("baseUrl", base_url="http://u:p@127.0.0.1")
        self.refused("baseUrl", base_url="http://169.254.169.254/v1")
        self.refused("baseUrl", base_url="http://metadata.google.internal")
        self.refused("baseUrl", base_url="http://127.0.0.1/?a=b")
        self.refused("label", label="  ")
        self.refused("label", label="a\nb")
        self.refused("apiKey", api_key=SecretStr("a\r\nX: y"))
        self.refused("defaultModelId", default_model_id="-x")
        private = apply_patch(ENDPOINT, {"base_url": "http://192.168.1.5:8080"})
        self.assertEqual("http://192.168.1.5:8080", private.root)

    def test_root_url_drops_the_version_path(self) -> None:
        for url in ("http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/"):
            self.assertEqual("http://h:1", evolve(ENDPOINT, base_url=url).root)
        self.assertEqual("http://h/a", evolve(ENDPOINT, base_url="http://h/a/v1").root)

    def test_representation_hides_the_key(self) -> None:
        shown = make_endpoint_response(ENDPOINT)
        for text in (repr(shown), repr(ENDPOINT), str(ENDPOINT), repr(ENDPOINT.api_key)):
            self.assertNotIn(KEY, text)
        self.assertTrue(shown.api_key_set)

    def test_key_is_sent_as_configured(self) -> None:
        bearer = build_request(ENDPOINT, "/v1/models")
        self.assertEqual("http://127.0.0.1:8080/v1/models", bearer.url)
        self.assertEqual(f"Bearer {KEY}", bearer.headers["Authorization"])
        keyed = build_request(evolve(ENDPOINT, auth_style=AuthStyle.API_KEY), "/running")
        self.assertEqual(KEY, keyed.headers["x-api-key"])
        self.assertNotIn("Authorization", keyed.headers)
        none = build_request(evolve(ENDPOINT, api_key=None), "/running")
        self.assertFalse({"Authorization", "x-api-key"} & set(none.headers))

    def test_model_ids_are_checked(self) -> None:
        for good in ("m", "qwen3:8b", "Qwen/Qwen2.5-7B", "a@q4_k_m", "../models/x.gguf"):
            check_model_id("modelId", good)
        for bad in ("", "-m", "a b", "a\n", 'a"', "a'", "a;b", "$(x)", "a`", "x" * 201, "a\\"):
            self.assertRaises(ServiceError, check_model_id, "modelId", bad)

    def test_default_model_no_longer_offered_is_dropped(self) -> None:
        chosen = evolve(ENDPOINT, default_model_id="a")
        kept = replace_models(chosen, [OfferedModel(id="a"), OfferedModel(id="b")], 5)
        self.assertEqual(("a", 5), (kept.default_model_id, kept.last_discovered_at))
        self.assertIsNone(replace_models(kept, [OfferedModel(id="b")], 6).default_model_id)

    def test_questions_before_a_start_depend_on_size_and_loaded_model(self) -> None:
        self.assertEqual(
            [True, False, False], [is_context_small(n) for n in (39_999, 40_000, None)]
        )
        self.assertEqual("a", find_displaced_model(("a", "b"), "c"))
        self.assertIsNone(find_displaced_model(("a", "b"), "b"))
        self.assertIsNone(find_displaced_model((), "b"))

    def test_swapped_out_models_are_found(self) -> None:
        a, b = frozenset("a"), frozenset("b")
        self.assertEqual(a, find_swapped_models(a, b))
        self.assertEqual(frozenset(), find_swapped_models(a, a | b))
        self.assertEqual(frozenset(), find_swapped_models(a, frozenset()), "only unloaded")
