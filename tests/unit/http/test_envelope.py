"""Whatever handlers return, the answer is JSON in UTF-8 that says the same."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import PydanticSerializationError
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.core.kernel.errors import HTTP_STATUS, ErrorCode, ServiceError
from tservice.http.envelope import dump_json, make_failure_response, make_success_response
from tservice.http.operations import RawReply, ResponseStyle

TEXT = st.text(st.characters(), max_size=20)
"""Half surrogates included: agents cut their texts anywhere, and file names may hold anything."""

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def as_shown(value: Any) -> Any:
    """The value as a client must find it."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, list):
        return [as_shown(item) for item in value]
    if isinstance(value, dict):
        return {as_shown(name): as_shown(item) for name, item in value.items()}
    return value


def no_constant(name: str) -> Any:
    raise AssertionError(f"{name} is no JSON")


def read(content: bytes) -> Any:
    return json.loads(content.decode("utf-8"), parse_constant=no_constant)


class MomentModel(BaseModel):
    """With a name that differs in JSON."""

    at_ms: str = Field(alias="atMs")
    model_config = ConfigDict(populate_by_name=True)


class EnvelopeProperties(SynchronousTestCase):
    @settings(max_examples=example_count(400), deadline=None)
    @given(VALUES, st.booleans())
    def test_success_holds_the_returned_value(self, value: object, in_reply: bool) -> None:
        found = make_success_response(
            RawReply(content=value) if in_reply else value, ResponseStyle.ENVELOPE
        )
        want = {} if value is None else as_shown(value)
        self.assertEqual({"success": True, "data": want}, read(found.content))

    @settings(max_examples=example_count(400), deadline=None)
    @given(TEXT, st.sampled_from(ErrorCode))
    def test_error_holds_code_and_text(self, text: str, code: ErrorCode) -> None:
        found = make_failure_response(ServiceError(code, text))
        shown = read(found.content)
        self.assertEqual(HTTP_STATUS[code], found.status)
        self.assertEqual((False, code.value), (shown["success"], shown["errorCode"]))
        self.assertEqual(as_shown(text), shown["error"])
        self.assertEqual({"success", "error", "errorCode"}, set(shown))


class DumpTests(SynchronousTestCase):
    def test_unpaired_surrogate_is_written_as_a_question_mark(self) -> None:
        """So that one character that was cut in two does not cost the whole answer."""
        self.assertEqual(b'{"a?":["?b",null]}', dump_json({"a\udcff": ["\ud83db", float("nan")]}))

    def test_unpaired_surrogate_in_a_model_is_written_as_a_question_mark(self) -> None:
        self.assertEqual(
            b'[{"atMs":"a?"}]', dump_json([MomentModel.model_construct(at_ms="a\ud800")])
        )

    def test_value_that_is_no_json_is_an_error(self) -> None:
        self.assertRaises(PydanticSerializationError, dump_json, {"a": object()})
