"""Tests for L{tservice.http.validation.body} and L{tservice.http.validation.validation_errors}."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Annotated, Any, Literal
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field, field_validator
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.http.site_driver import ApiHarness
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.values.value_limits import count_parsed_values, count_values, exceeds_value_limit
from tservice.http.operations import AccessRule, Operation, OperationCall
from tservice.http.validation.body import (
    MAX_DEPTH,
    MAX_DIGITS,
    parse_json,
    read_body,
    read_query,
    validate_data,
)
from tservice.http.validation.body_limits import MAX_VALUES, SPARE_VALUES
from tservice.http.validation.models import QueryBool, QueryInt, QueryParameters, RequestBody


class InnerBody(RequestBody):
    at_most: float = Field(le=10)


class SampleBody(RequestBody):
    cols: int = Field(ge=1, le=500)
    name: str | None = Field(None, max_length=8)
    mode: Literal["shell", "primary"] = "shell"
    on: bool = False
    inner: InnerBody | None = None
    list_of: tuple[InnerBody, ...] = Field((), max_length=2, strict=False)
    either: int | Annotated[str, Field(max_length=3)] | list[str] = 1
    anything: Any = None

    @field_validator("name")
    @classmethod
    def _clean(cls, value: str | None) -> str | None:
        if value is not None and "\0" in value:
            raise ValueError("must not hold NUL")
        return value


class LooseBody(RequestBody):
    data: dict[str, Any] = Field(default_factory=dict)
    numbers: list[float] = Field(default_factory=list)


class AskedQuery(QueryParameters):
    timeout: QueryInt = 60000
    fresh: QueryBool = False
    until: tuple[str, ...] = ()
    max_repos: Annotated[str, Field(max_length=3)] = "12"
    limit: Annotated[QueryInt, Field(le=100)] = 5


def read(raw: bytes, content_type: str = "application/json", optional: bool = False) -> SampleBody:
    return read_body(raw, content_type, SampleBody, optional)


class BodyTests(SynchronousTestCase):
    """What is refused, and in which words."""

    def assertSays(self, text: str, raw: bytes, **options: Any) -> None:
        error = self.assertRaises(ServiceError, read, raw, **options)
        self.assertEqual((ErrorCode.INVALID_INPUT, text), (error.code, error.message))

    def test_valid_body_is_parsed(self) -> None:
        found = read(b'{"cols": 3, "listOf": [{"atMost": 1}], "name": null}')
        self.assertEqual((3, 1.0, None), (found.cols, found.list_of[0].at_most, found.name))

    def test_broken_rules_are_named(self) -> None:
        for raw, text in [
            (b'{"cols": 501}', "cols: must be at most 500"),
            (b'{"cols": 0}', "cols: must be at least 1"),
            (b"{}", "cols: is required"),
            (b'{"cols": null}', "cols: must be an integer"),
            (b'{"cols": "5"}', "cols: must be an integer"),
            (b'{"cols": 5.0}', "cols: must be an integer"),
            (b'{"cols": true}', "cols: must be an integer"),
            (b'{"cols": 1, "on": 1}', "on: must be true or false"),
            (b'{"cols": 1, "name": "123456789"}', "name: must be at most 8 characters"),
            (b'{"cols": 1, "name": "\\u0000"}', "name: must not hold NUL"),
            (b'{"cols": 1, "mode": "x"}', "mode: must be one of 'shell' or 'primary'"),
            (b'{"cols": 1, "colz": 1}', "colz: is not a known field"),
            (b'{"cols": 1, "inner": {"atMost": 11}}', "inner.atMost: must be at most 10"),
            (b'{"cols": 1, "inner": {}}', "inner.atMost: is required"),
            (b'{"cols": 1, "inner": {"at_most": 1}}', "inner.atMost: is required"),
            (b'{"cols": 1, "inner": []}', "inner: must be an object"),
            (b'{"cols": 1, "listOf": {}}', "listOf: must be a list"),
            (b'{"cols": 1, "listOf": [{"atMost": 1}, 2]}', "listOf.1: must be an object"),
            (b'{"cols": 1, "either": {}}', "either: must be an integer, a string or a list"),
            (b'{"cols": 1, "either": [1]}', "either.0: must be a string"),
            (b'{"cols": 1, "either": "abcd"}', "either: must be at most 3 characters"),
            (b"[]", "body: must be an object"),
            (b"null", "body: must be an object"),
        ]:
            self.assertSays(text, raw)

    def test_malformed_json_is_refused(self) -> None:
        for raw in (b"{", b'{"cols": 1,}', b"{'cols': 1}", b"\xef\xbb\xbf{}", b'{"cols": NaN}'):
            self.assertSays("body: must be JSON", raw)
        for raw in (b"-Infinity", b'{"cols": 01}', b'"\x01"', b"{}{}"):
            self.assertSays("body: must be JSON", raw)
        for raw in (b"\xff", b'{"name": "\xed\xa0\x80"}', b"\xff\xfe{\x00}\x00"):
            self.assertSays("body: must be UTF-8", raw)
        self.assertSays("body: must hold finite numbers only", b'{"cols": 1e999}')

    def test_unpaired_surrogate_names_its_field(self) -> None:
        rule = "must not hold half a surrogate pair"
        self.assertSays(f"name: {rule}", b'{"name": "a\\ud800"}')
        self.assertSays(f"anything.0.x: {rule}", b'{"anything": [{"x": "\\uDFFFa"}]}')
        self.assertSays(f"body: {rule}", b'"\\udc00\\ud800"')
        self.assertSays(f"anything.0: {rule}", b'{"anything": ["\\ud83d", "\\ude00"]}')
        self.assertSays(f"\\udc00: {rule}", b'{"\\udc00": 1}')
        self.assertEqual("😀", read(b'{"cols": 1, "name": "\\ud83d\\ude00"}').name)

    def test_repeated_name_is_refused(self) -> None:
        self.assertSays("cols: must not be repeated", b'{"cols": 1, "x": 1, "cols": 2}')

    def test_nesting_is_bounded(self) -> None:
        deep = f"body: must not be nested deeper than {MAX_DEPTH}"
        for levels in (MAX_DEPTH, 500, 3_000):
            self.assertSays(deep, b'{"anything":' + b"[" * levels + b"]" * levels + b"}")
            self.assertSays(deep, b'{"a":' * (levels + 1) + b"1" + b"}" * (levels + 1))
        levels = MAX_DEPTH - 1
        read(b'{"cols":1,"anything":' + b"[" * levels + b"]" * levels + b"}")
        read(b'{"cols":1,"anything":[' + b"[]," * 500 + b"[]]}")

    def test_long_and_infinite_numbers_are_refused(self) -> None:
        most = f"body: must hold no integer of more than {MAX_DIGITS} digits"
        finite = "body: must hold finite numbers only"
        for number in ("1" * (MAX_DIGITS + 1), "-" + "9" * MAX_DIGITS, "9" * 5000):
            self.assertSays(most, b'{"anything": [%b]}' % number.encode())
        for place in range(MAX_DIGITS):
            raw = b'{"anything": %b%d.5}' % (b" " * place, 10**MAX_DIGITS)
            self.assertSays("cols: is required", raw)
            self.assertSays(most, raw.replace(b".5", b""))
        zeros = MAX_DIGITS - 1
        self.assertEqual(10**zeros, read(b'{"cols":1,"anything":1%b}' % (b"0" * zeros)).anything)
        for number in ("-1E999", "1e0309", "9" * 280 + "e+50", "9" * 400 + ".5"):
            self.assertSays(finite, b'{"cols": 1, "anything": {"x": [%b]}}' % number.encode())
        text = '"1e999 ' + "9" * 999 + '"'
        self.assertEqual(text[1:-1], read(b'{"cols":1,"anything":%b}' % text.encode()).anything)

    def test_too_many_values_are_not_parsed(self) -> None:
        crowd = f"body: must hold at most {MAX_VALUES} values and names"
        for unit in (b"[", b"0,", b"[],", b"{},", b'"",', b'{"a":0},', b'"\\\\\\"",'):
            raw = b'{"cols":1,"anything":[' + unit * MAX_VALUES + b"0]}"
            with patch("tservice.http.validation.body.json.loads", side_effect=AssertionError):
                self.assertSays(crowd, raw)
        few = 9_000
        for unit in (b'",[{:"', b'"\\",[{:\\\\"', b"1.5"):
            found = read(b'{"cols":1,"anything":[' + (unit + b",") * few + b"0]}")
            self.assertEqual(few + 1, len(found.anything))

    def test_many_unknown_names_are_refused_by_the_first(self) -> None:
        names = b"".join(b',"x%d":0' % number for number in range(4_000))
        with patch("tservice.http.validation.body.explain_error", side_effect=AssertionError):
            self.assertSays("x0: is not a known field", b'{"cols": 1' + names + b"}")
        few = b"".join(b',"x%d":0' % number for number in range(SPARE_VALUES))
        self.assertSays("x0: is not a known field", b'{"cols": 1' + few + b"}")

    def test_empty_body_is_refused_unless_optional(self) -> None:
        self.assertSays("body: is required", b"")
        self.assertSays("body: is required", b" \n")
        self.assertSays("cols: is required", b"", optional=True)
        self.assertEqual({}, read_body(b"", "", LooseBody, True).data)

    def test_content_type_must_be_json(self) -> None:
        for kind in ("", "application/json; charset=utf-8", "Text/Plain;charset=UTF-8"):
            self.assertEqual(1, read(b'{"cols": 1}', kind).cols)
        for kind in ("application/x-www-form-urlencoded", "multipart/form-data", "json"):
            self.assertSays("content-type: must be application/json", b"{}", content_type=kind)

    def test_quoted_input_is_shortened_and_cleaned(self) -> None:
        long = "\x1b[31m" + "x" * 999
        error = self.assertRaises(ServiceError, read, json.dumps({"cols": 1, long: 1}).encode())
        self.assertNotIn("\x1b", error.message)
        self.assertTrue(len(error.message) < 250)


class BodyQueryTests(SynchronousTestCase):
    """Query strings."""

    def ask(self, **args: list[bytes]) -> AskedQuery:
        return read_query({name.encode(): values for name, values in args.items()}, AskedQuery)

    def assertSays(self, text: str, **args: list[bytes]) -> None:
        self.assertEqual(text, self.assertRaises(ServiceError, self.ask, **args).message)

    def test_valid_query_is_parsed(self) -> None:
        found = self.ask(timeout=[b"5"], fresh=[b"1"], until=[b"a", b"b,c"], unknown=[b"\xff"])
        self.assertEqual((5, True, ("a", "b,c")), (found.timeout, found.fresh, found.until))
        self.assertEqual(AskedQuery(), self.ask())

    def test_integers_of_any_length_are_clamped(self) -> None:
        """Whoever clamps them must get them: they end where an integer of a database does."""
        most = 10**18 - 1
        for text, wanted in (
            (b"9" * 18, most),
            (b"1" + b"0" * 18, most),
            (b"9" * 5000, most),
            (b"-" + b"9" * 5000, -most),
            (b"0" * 5000 + b"7", 7),
            (b"000", 0),
        ):
            self.assertEqual(wanted, self.ask(timeout=[text]).timeout)

    def test_invalid_query_values_are_refused(self) -> None:
        self.assertSays("timeout: must not be repeated", timeout=[b"1", b"2"])
        for value in (b"", b"1.0", b" 1", b"1_0", b"+", b"0x1", b"\xd9\xa1"):
            self.assertSays("timeout: must be an integer", timeout=[value])
        self.assertSays("limit: must be at most 100", limit=[b"9" * 5000])
        self.assertSays("fresh: must be one of 0, 1, false, true", fresh=[b"yes"])
        self.assertSays("until: must be UTF-8", until=[b"a", b"\xff"])
        self.assertSays("maxRepos: must be at most 3 characters", maxRepos=[b"1234"])


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(list(SampleBody.model_json_schema()["properties"]))
            | st.text(max_size=4),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


async def echo(call: OperationCall) -> object:
    assert call.body is not None
    return {"got": call.body.model_dump(mode="json")}


def taking(model: type[RequestBody], path: str) -> Operation:
    return Operation(
        method="POST",
        path=path,
        access=AccessRule.USER,
        handler=echo,
        summary="",
        tag="",
        body=model,
        optional_body=True,
    )


SIGNLESS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=9) | st.dictionaries(st.text("ab", max_size=3), inner, max_size=9)
    ),
    max_leaves=30,
)
"""Values without a sign of JSON in their texts."""


class BodyPropertyTests(SynchronousTestCase):
    """Nothing that a caller can send is a server error."""

    def test_name_as_long_as_the_body_is_no_server_error(self) -> None:
        """No step is taken for each of its characters, and little of it is told back."""
        name, steps = "k" * 900_000, 0

        def count(frame: object, event: str, given: object) -> None:
            nonlocal steps
            steps += 1

        for text in (
            f'{{"{name}": 1}}',
            f'{{"{name}": 1, "{name}": 1}}',
            f'{{"{name}": "\\ud800"}}',
        ):
            sys.setprofile(count)
            try:
                error = self.assertRaises(
                    ServiceError, read_body, text.encode(), "", SampleBody, optional=False
                )
            finally:
                sys.setprofile(None)
            self.assertLess(len(error.message), 300)
            self.assertLess(steps, 20_000)

    def setUp(self) -> None:
        self.api = ApiHarness(
            [taking(SampleBody, "/api/a"), taking(LooseBody, "/api/b"), taking(InnerBody, "/api/c")]
        )

    def check(self, path: str, raw: bytes) -> None:
        answer = self.api.request("POST", path, raw)
        if answer.status == 200:
            assert "got" in answer.data
            return
        status, code, text = answer.error
        assert (status, code) == (400, "INVALID_INPUT"), answer
        field, _, rule = text.partition(": ")
        assert field, text
        assert rule, text

    @settings(max_examples=example_count(300), deadline=None)
    @given(ANY_JSON, st.sampled_from(["/api/a", "/api/b", "/api/c"]))
    def test_any_json_is_no_server_error(self, value: object, path: str) -> None:
        self.check(path, json.dumps(value).encode())

    @settings(max_examples=example_count(140), deadline=None)
    @given(st.dictionaries(st.sampled_from(["cols", "name", "inner", "numbers"]), ANY_JSON))
    def test_almost_valid_body_is_no_server_error(self, value: dict[str, object]) -> None:
        self.check("/api/a", json.dumps({"cols": 5, **value}).encode())
        self.check("/api/b", json.dumps({"numbers": [value.get("cols")]}).encode())

    @settings(max_examples=example_count(100), deadline=None)
    @given(st.binary(max_size=40))
    def test_any_bytes_are_no_server_error(self, raw: bytes) -> None:
        self.check("/api/a", raw)

    @settings(max_examples=example_count(100), deadline=None)
    @given(ANY_JSON)
    def test_valid_json_is_parsed_as_json_does(self, value: object) -> None:
        """Our reader takes exactly what it hands on."""
        try:
            found = parse_json(json.dumps(value).encode())
        except ServiceError:
            return
        assert json.loads(json.dumps(value, allow_nan=False)) == found

    @settings(max_examples=example_count(140), deadline=None)
    @given(ANY_JSON, st.sampled_from([None, 1]))
    def test_json_values_are_counted_without_parsing(
        self, value: object, indent: int | None
    ) -> None:
        raw = json.dumps(value, indent=indent).encode()
        for enough in (1, 1_000):
            counted = count_values(raw, enough)
            assert values_in(value) <= counted or counted > enough, raw
            if counted > enough:
                assert counted <= 2 * values_in(value) + 1, raw

    @given(st.text(alphabet=',:[{"\\a ', max_size=12), st.integers(1, 10))
    def test_short_text_is_judged_like_a_counted_one(self, text: str, most: int) -> None:
        self.assertEqual(count_values(text.encode(), most) > most, exceeds_value_limit(text, most))

    @settings(max_examples=example_count(140), deadline=None)
    @given(SIGNLESS)
    def test_parsed_values_are_counted_like_their_text(self, value: object) -> None:
        counted = count_values(json.dumps(value).encode(), 1_000)
        assert count_parsed_values(value, 1_000) == counted
        assert (count_parsed_values(value, 5) > 5) == (counted > 5)

    @settings(max_examples=example_count(140), deadline=None)
    @given(
        st.dictionaries(st.sampled_from(["cols", "name", "inner", "listOf", "x"]), SIGNLESS)
        | SIGNLESS,
        st.sampled_from([5, 64]),
        st.booleans(),
    )
    def test_parsed_data_is_checked_like_its_text(
        self, value: object, values: int, optional: bool
    ) -> None:
        raw = b"" if value is None else json.dumps(value).encode()
        found = outcome(lambda: validate_data(value, SampleBody, optional, values))
        assert found == outcome(lambda: read_body(raw, "", SampleBody, optional, values))


def outcome(read: Callable[[], SampleBody]) -> SampleBody | str:
    """What was read, or why not."""
    try:
        return read()
    except ServiceError as error:
        return error.message


def values_in(value: object) -> int:
    """Values and names."""
    if isinstance(value, dict):
        return 1 + len(value) + sum(map(values_in, value.values()))
    return 1 + sum(map(values_in, value)) if isinstance(value, list) else 1
