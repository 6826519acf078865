"""The types of the browser UI, from schemas."""

from __future__ import annotations

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from docs.typescript import Types

SCHEMAS: dict[str, Any] = {
    "JobAnswer": {
        "type": "object",
        "description": "A job;\n  C{at} in milliseconds.",
        "properties": {
            "at": {"type": "integer"},
            "kind": {"$ref": "#/components/schemas/Kind"},
            "last": {"anyOf": [{"$ref": "#/components/schemas/RunAnswer"}, {"type": "null"}]},
            "odd-name": {"type": "array", "items": {"enum": ["a", "b"]}},
        },
        "required": ["at", "last"],
    },
    "a__b__RunAnswer": {"type": "object", "additionalProperties": {"type": "number"}},
    "RunAnswer": {"type": "object", "additionalProperties": False},
    "Kind": {"type": "string", "enum": ["x", "y"]},
    "JobQuery": {"type": "object"},
}


class TypesTests(SynchronousTestCase):
    def types(self, **more: Any) -> Types:
        schemas = {name: schema for name, schema in SCHEMAS.items() if "__" not in name}
        return Types({**schemas, **more})

    def test_an_interface(self) -> None:
        self.assertIn(
            "/** A job; `at` in milliseconds. */\n"
            "export interface Job {\n"
            "  at: number;\n"
            '  kind?: "x" | "y";\n'
            "  last: Run | null;\n"
            '  "odd-name"?: ("a" | "b")[];\n'
            "}\n",
            self.types().text(),
        )

    def test_what_has_no_fields(self) -> None:
        self.assertIn("export type Run = Record<string, never>;\n", self.types().text())
        self.assertEqual("Record<string, number>", self.types().of(SCHEMAS["a__b__RunAnswer"]))
        self.assertEqual("Record<string, unknown>", self.types().of({"type": "object"}))
        self.assertEqual("unknown", self.types().of({}))

    def test_queries_are_no_json(self) -> None:
        self.assertNotIn("JobQuery", self.types().text())

    def test_one_of_several(self) -> None:
        choices = [{"const": "a"}, {"$ref": "#/components/schemas/RunAnswer"}]
        for word in ("anyOf", "oneOf"):
            self.assertEqual('"a" | Run', self.types().of({word: choices}))

    def test_a_name_that_is_taken_keeps_its_end(self) -> None:
        found = self.types(Job={"type": "object", "properties": {"a": {"type": "string"}}}).text()
        self.assertIn("export interface JobAnswer {", found)
        self.assertIn("export interface Job {\n  a?: string;", found)

    def test_two_of_one_name_are_an_error(self) -> None:
        self.assertRaises(ValueError, Types, SCHEMAS)

    def test_a_reference_to_nothing_is_an_error(self) -> None:
        self.assertRaises(KeyError, self.types().of, {"$ref": "#/components/schemas/Gone"})
