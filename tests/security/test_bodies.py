"""What the worst body of each route can make the reactor do, counted (protocol-errors)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from types import UnionType
from typing import Annotated, Any, get_args, get_origin
from unittest.mock import patch

from pydantic import BaseModel, ValidationError
from twisted.trial.unittest import SynchronousTestCase

from tests.non_empty import require_items
from tests.security.harness import SecurityHarness
from tservice.core.kernel.errors import ServiceError
from tservice.core.values.value_limits import count_values
from tservice.http.operations import AccessRule, Operation
from tservice.http.validation import body
from tservice.http.validation.body_limits import (
    JSON_BODY_LIMIT,
    LEAST_BODY_LIMIT,
    MAX_VALUES,
    BodyLimits,
)
from tservice.http.validation.validation_errors import explain_error

FAULTS = 500
"""Faults that are found in one body at most: to find one and to tell it takes some microseconds."""

UNITS: list[Any] = [[], {}, {"x": 0}, {"x": {}}, "\0", "", 0, 0.5]
"""A body is crowded with one of them."""

BIGGER = {
    "POST /api/hook-event",
    "POST /api/hook-event/decision",
    "POST /api/cron/jobs",
    "POST /api/cron/preview",
    "PUT /api/cron/jobs/{id}",
    "PUT /api/sessions/{id}/file-content",
}
"""Routes that take more than a JSON body does elsewhere; where they are it is said why."""
MESSAGES = {"POST /mcp"}
"""Routes that parse their JSON bodies by themselves, under the same bounds."""


def hostile(model: type[BaseModel], bounds: BodyLimits) -> Iterator[bytes]:
    """Bodies of as many faults as C{bounds} let in: at the top, and in each field.

    Ten values are spared for what stands around a crowd.
    """
    for unit in UNITS:
        text = json.dumps(unit, separators=(",", ":"))
        marks = 1 + sum(text.count(sign) for sign in ",:[{")
        most = min((bounds.values - 10) // marks, (bounds.size - 99) // (len(text) + 1))
        crowds: list[Any] = [[unit] * most]
        most = min((bounds.values - 10) // (marks + 1), (bounds.size - 99) // (len(text) + 8))
        crowds.append({f"{number:x}": unit for number in range(most)})
        for crowd in crowds:
            for given in (crowd, *placed(model, crowd)):
                yield json.dumps(given, separators=(",", ":")).encode()


def enumerations_in(model: type[BaseModel]) -> Iterator[tuple[str, type[Enum]]]:
    """The names of a model's fields, as JSON has them, that take a word of an enumeration."""
    for name, field in model.model_fields.items():
        of_union = get_args(field.annotation) if get_origin(field.annotation) is UnionType else ()
        for kind in (field.annotation, *of_union):
            inner = get_args(kind)[0] if get_origin(kind) is Annotated else kind
            if isinstance(inner, type) and issubclass(inner, Enum):
                yield field.alias or name, inner


def placed(model: type[BaseModel], value: Any) -> Iterator[dict[str, Any]]:
    """A body for each field of C{model} and of what it nests, with C{value} there."""
    for name, field in model.model_fields.items():
        yield {field.alias or name: value}
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from ({field.alias or name: inner} for inner in placed(kind, value))


class WorstBodyTests(SynchronousTestCase):
    """Every route of the real table."""

    def setUp(self) -> None:
        self.world = SecurityHarness()
        self.addCleanup(self.world.close)

    def faults(self, operation: Operation, raw: bytes) -> int:
        found = []

        def noted(error: Any, data: Any, whole: str) -> ServiceError:
            found.append(error.error_count())
            return explain_error(error, data, whole)

        model, bounds = operation.body, operation.body_limits
        assert model is not None
        with patch.object(body, "explain_error", noted):
            self.assertRaises(ServiceError, body.read_body, raw, "", model, True, bounds.values)
        return sum(found)

    def test_public_routes_accept_only_small_bodies(self) -> None:
        public = [each for each in self.world.operations if each.access is AccessRule.PUBLIC]
        self.assertIn("/api/login", [each.path for each in public])
        for each in public:
            self.assertEqual(LEAST_BODY_LIMIT, each.body_limits.size, each.path)

    def test_every_route_has_body_bounds(self) -> None:
        for each in require_items(self.world.operations):
            bounds = each.body_limits
            self.assertTrue(bounds.values <= MAX_VALUES, each.path)
            name = f"{each.method} {each.path}"
            if each.streams:
                # A form, of which nothing is held and nothing parsed as JSON.
                self.assertIsNotNone(each.body_limit, name)
                continue
            self.assertEqual(name in BIGGER, bounds.size > JSON_BODY_LIMIT, name)
            if each.body is None and name not in BIGGER:
                least = JSON_BODY_LIMIT if name in MESSAGES else LEAST_BODY_LIMIT
                self.assertEqual(least, bounds.size, each.path)

    def test_number_of_validation_faults_is_bounded(self) -> None:
        for each in require_items(self.world.operations):
            if each.body is None:
                continue
            for raw in hostile(each.body, each.body_limits):
                self.assertTrue(count_values(raw, MAX_VALUES) <= each.body_limits.values, raw[:80])
                found = self.faults(each, raw)
                self.assertTrue(found <= FAULTS, (each.path, found, raw[:80]))

    def test_json_lists_are_accepted_for_tuples_and_sets(self) -> None:
        """Models are strict, and a list of JSON is no tuple: fields must say that it may be one."""
        for each in require_items(self.world.operations):
            if each.body is None:
                continue
            for data in placed(each.body, []):
                try:
                    each.body.model_validate(data)
                except ValidationError as error:
                    kinds = {found["type"] for found in error.errors()}
                    self.assertEqual(set(), kinds & {"tuple_type", "set_type"}, (each.path, data))

    def test_enumeration_values_are_accepted(self) -> None:
        """A text of JSON is no member to a strict model: fields must say that it may be one."""
        tried = 0
        for each in self.world.operations:
            if each.body is None:
                continue
            for name, kind in enumerations_in(each.body):
                data = {name: next(iter(kind)).value}
                try:
                    each.body.model_validate(data)
                except ValidationError as error:
                    wrong = {found["loc"][0] for found in error.errors()}
                    self.assertNotIn(name, wrong, (each.path, data))
                tried += 1
        self.assertGreater(tried, 5)

    def test_oversized_login_body_is_refused(self) -> None:
        names = ",".join(f'"{number:x}":0' for number in range(100_000))
        answer = self.world.ask("POST", "/api/login", ("{" + names + "}").encode())
        self.assertEqual((413, "PAYLOAD_TOO_LARGE"), (answer.status, answer.error))
