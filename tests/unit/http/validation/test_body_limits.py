"""Tests for L{tservice.http.validation.body_limits}."""

from __future__ import annotations

import json
from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import Field
from twisted.trial.unittest import SynchronousTestCase

from tservice.http.validation.body_limits import (
    EMPTY_BODY,
    JSON_BODY_LIMIT,
    LEAST_BODY_LIMIT,
    MAX_VALUES,
    SPARE_VALUES,
    find_body_limits,
)
from tservice.http.validation.models import RequestBody

Text = Annotated[str, Field(max_length=2_000)]


class BoundKind(Enum):
    LONG = "x" * 100
    SHORT = "x"


class BoundInner(RequestBody):
    text: Text
    flag: bool | None = None


class BoundKnown(RequestBody):
    """Every kind of field that says how much it takes."""

    text: Text
    number: Annotated[int, Field(ge=0, le=5)] = 0
    kind: Annotated[BoundKind, Field(strict=False)] = BoundKind.SHORT
    word: Literal["a", "b"] = "a"
    inner: BoundInner | None = None
    several: Annotated[tuple[BoundInner, ...], Field(max_length=3)] = ()
    named: Annotated[dict[Text, Text | bool], Field(max_length=2)] | None = None


class BoundText(RequestBody):
    text: str


class BoundAnything(RequestBody):
    data: dict[str, Any] | None = None


class BoundMany(RequestBody):
    items: list[Text]


class BoundTree(RequestBody):
    inner: BoundTree | None = None


class BoundsTests(SynchronousTestCase):
    """What a body may have, read from its model."""

    def test_size_bound_fits_the_largest_body_of_the_model(self) -> None:
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
        BoundKnown.model_validate_json(raw)
        bounds = find_body_limits(BoundKnown)
        self.assertTrue(len(raw) <= bounds.size < 1.1 * len(raw), (len(raw), bounds))
        # Names and values of the model, what it nests, and the two of the dict.
        self.assertEqual(2 + 7 * 2 - 3 + 4 * (2 + 4) + 2 + 2 + 4, bounds.values - SPARE_VALUES)

    def test_open_models_have_the_general_bounds(self) -> None:
        self.assertEqual(JSON_BODY_LIMIT, find_body_limits(BoundText).size)
        self.assertEqual(2 + 2 + SPARE_VALUES, find_body_limits(BoundText).values)
        for model in (BoundAnything, BoundMany, BoundTree):
            bounds = find_body_limits(model)
            self.assertEqual((JSON_BODY_LIMIT, MAX_VALUES), (bounds.size, bounds.values))

    def test_model_without_fields_has_minimal_bounds(self) -> None:
        self.assertEqual(EMPTY_BODY, find_body_limits(None))
        self.assertEqual(LEAST_BODY_LIMIT, find_body_limits(RequestBody).size)
