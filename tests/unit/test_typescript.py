"""The types of the browser UI, from schemas."""

from __future__ import annotations

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tools.typescript import Types, operations

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


def operation(data: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return an operation that answers with C{data} in an envelope."""
    envelope = {"properties": {"success": {"const": True}, "data": data}}
    answer = {"content": {"application/json": {"schema": envelope}}}
    return {"responses": {"200": answer}, **more}


def parameter(name: str, place: str, required: bool, kind: str) -> dict[str, Any]:
    return {"name": name, "in": place, "required": required, "schema": {"type": kind}}


class OperationTests(SynchronousTestCase):
    def interface(self, **methods: Any) -> str:
        schemas = {name: schema for name, schema in SCHEMAS.items() if "__" not in name}
        return operations({"paths": {"/api/jobs/{id}": methods}}, Types(schemas))

    def test_operation_has_its_answer_query_and_body(self) -> None:
        query = [
            parameter("id", "path", True, "string"),
            parameter("all", "query", False, "boolean"),
        ]
        job = {"$ref": "#/components/schemas/JobAnswer"}
        body = {"required": True, "content": {"application/json": {"schema": job}}}
        self.assertIn(
            '  "/api/jobs/{id}": {\n'
            "    get: { answer: Job[]; query?: { all?: boolean } };\n"
            "    put: { answer: null; body: Job };\n"
            "  };\n",
            self.interface(
                put=operation({"type": "null"}, requestBody=body),
                get=operation({"type": "array", "items": job}, parameters=query),
            ),
        )

    def test_query_is_required_with_a_required_parameter(self) -> None:
        query = [
            parameter("path", "query", True, "string"),
            parameter("n", "query", False, "integer"),
        ]
        found = self.interface(get=operation({"type": "null"}, parameters=query))
        self.assertIn("get: { answer: null; query: { path: string; n?: number } };", found)

    def test_optional_body_is_optional(self) -> None:
        body = {"content": {"application/json": {"schema": {"type": "string"}}}}
        found = self.interface(post=operation({"type": "null"}, requestBody=body))
        self.assertIn("post: { answer: null; body?: string };", found)

    def test_operations_without_json_are_left_out(self) -> None:
        upload: dict[str, Any] = {"content": {"multipart/form-data": {}}}
        text: dict[str, Any] = {"responses": {"200": {"content": {"text/plain": {}}}}}
        found = self.interface(get=text, post=operation({}, requestBody=upload))
        self.assertNotIn("/api/jobs", found)
