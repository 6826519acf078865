"""The types of the browser UI, from schemas."""

from __future__ import annotations

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tools.typescript import Types

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

    def test_model_becomes_an_interface(self) -> None:
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

    def test_model_without_fields_becomes_an_empty_record(self) -> None:
        self.assertIn("export type Run = Record<string, never>;\n", self.types().text())
        self.assertEqual("Record<string, number>", self.types().of(SCHEMAS["a__b__RunAnswer"]))
        self.assertEqual("Record<string, unknown>", self.types().of({"type": "object"}))
        self.assertEqual("unknown", self.types().of({}))

    def test_query_models_have_no_typescript_types(self) -> None:
        self.assertNotIn("JobQuery", self.types().text())

    def test_any_of_and_one_of_become_a_union(self) -> None:
        choices = [{"const": "a"}, {"$ref": "#/components/schemas/RunAnswer"}]
        for word in ("anyOf", "oneOf"):
            self.assertEqual('"a" | Run', self.types().of({word: choices}))

    def test_duplicate_name_keeps_its_suffix(self) -> None:
        found = self.types(Job={"type": "object", "properties": {"a": {"type": "string"}}}).text()
        self.assertIn("export interface JobAnswer {", found)
        self.assertIn("export interface Job {\n  a?: string;", found)

    def test_two_models_of_one_name_are_an_error(self) -> None:
        self.assertRaises(ValueError, Types, SCHEMAS)

    def test_reference_to_a_missing_schema_is_an_error(self) -> None:
        self.assertRaises(KeyError, self.types().of, {"$ref": "#/components/schemas/Gone"})
