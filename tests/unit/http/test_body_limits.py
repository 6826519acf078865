"""Tests for L{tservice.http.body_limits}."""

from __future__ import annotations

import json
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import Field
from twisted.trial.unittest import SynchronousTestCase

from tservice.http.body_limits import (
    EMPTY_BODY,
    JSON_BODY_LIMIT,
    LEAST_BODY_LIMIT,
    MAX_VALUES,
    SPARE_VALUES,
    find_body_limits,
)
from tservice.http.models import RequestBody

Text = Annotated[str, Field(max_length=2_000)]


class Kind(Enum):
    LONG = "x" * 100
    SHORT = "x"


class Inner(RequestBody):
    text: Text
    flag: bool | None = None


class Known(RequestBody):
    """Every kind of field that says how much it takes."""

    text: Text
    number: Annotated[int, Field(ge=0, le=5)] = 0
    kind: Annotated[Kind, Field(strict=False)] = Kind.SHORT
    word: Literal["a", "b"] = "a"
    inner: Inner | None = None
    several: Annotated[tuple[Inner, ...], Field(max_length=3)] = ()
    named: Annotated[dict[Text, Text | bool], Field(max_length=2)] | None = None


class Text1(RequestBody):
    text: str


class Anything(RequestBody):
    data: dict[str, Any] | None = None


class Many(RequestBody):
    items: list[Text]


class Tree(RequestBody):
    inner: Tree | None = None


class BoundsTests(SynchronousTestCase):
    """What a body may have, read from its model."""

    def test_what_the_model_takes_fits(self) -> None:
        widest = "\U0001f600" * 2_000
        inner = {"text": widest, "flag": False}
        full = {
            "text": widest,
            "number": 5,
            "kind": "x" * 100,
            "word": "b",
            "inner": inner,
            "several": [inner] * 3,
            "named": {"a" + widest[1:]: widest, widest: widest},
        }
        raw = json.dumps(full, indent=2).encode()
        Known.model_validate_json(raw)
        bounds = find_body_limits(Known)
        self.assertTrue(len(raw) <= bounds.size < 1.1 * len(raw), (len(raw), bounds))
        # Names and values of the model, what it nests, and the two of the dict.
        self.assertEqual(2 + 7 * 2 - 3 + 4 * (2 + 4) + 2 + 2 + 4, bounds.values - SPARE_VALUES)

    def test_what_is_open(self) -> None:
        self.assertEqual(JSON_BODY_LIMIT, find_body_limits(Text1).size)
        self.assertEqual(2 + 2 + SPARE_VALUES, find_body_limits(Text1).values)
        for model in (Anything, Many, Tree):
            bounds = find_body_limits(model)
            self.assertEqual((JSON_BODY_LIMIT, MAX_VALUES), (bounds.size, bounds.values))

    def test_nothing_to_say(self) -> None:
        self.assertEqual(EMPTY_BODY, find_body_limits(None))
        self.assertEqual(LEAST_BODY_LIMIT, find_body_limits(RequestBody).size)
