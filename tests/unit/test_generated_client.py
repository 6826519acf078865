"""The Python client is made from the operations: what changes there changes here."""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from tools.generated import CLIENT, WEB_TYPES, make_generated_code, write_generated_code
from tools.pyclient import Records, files, snake

REFERENCE = "#/components/schemas/"
USER: Any = [{"basic": []}, {"token": ["waits"]}]


def document() -> dict[str, Any]:
    """Two operations that send and answer records."""
    answer = {"$ref": f"{REFERENCE}a__jobs__routes__Answer"}
    return {
        "paths": {
            "/api/jobs/{id}": {
                "put": {
                    "operationId": "putJobsId", "summary": "Change a job.", "tags": ["Jobs"],
                    "security": USER, "responses": enveloped(answer),
                    "parameters": [{"name": "id", "in": "path", "required": True,
                                    "schema": {"type": "string"}}],
                    "requestBody": {"required": True, "content": {"application/json": {
                        "schema": {"$ref": f"{REFERENCE}JobBody"}}}},
                },
                "get": {
                    "operationId": "getJobsId", "summary": "A job.", "tags": ["Jobs"],
                    "security": USER, "responses": enveloped(answer),
                    "parameters": [
                        {"name": "id", "in": "path", "required": True,
                         "schema": {"type": "string"}},
                        {"name": "timeout", "in": "query", "required": False,
                         "schema": {"type": "integer"}},
                        {"name": "from", "in": "query", "required": True,
                         "schema": {"enum": ["now", "then"]}},
                    ],
                },
            },
            "/api/me": {"get": {"operationId": "getMe", "summary": "Who.", "tags": ["People"],
                                "security": [{"basic": []}], "responses": enveloped(answer)}},
        },
        "components": {"schemas": {
            "JobBody": {"type": "object", "description": "A \"job\".", "required": ["name"],
                        "properties": {"name": {"type": "string"},
                                       "tags": {"type": "array", "items": {"type": "string"}}}},
            "a__jobs__routes__Answer": {
                "type": "object", "required": ["at"],
                "properties": {"at": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                               "kind": {"$ref": f"{REFERENCE}Kind"},
                               "more": {"type": "object",
                                        "additionalProperties": {"type": "number"}}}},
            "Kind": {"enum": ["x", "y"], "type": "string"},
            "Error": {"type": "object", "required": ["errorCode"],
                      "properties": {"errorCode": {"enum": ["NOT_FOUND"]}}},
        }},
    }  # fmt: skip


def enveloped(answer: Mapping[str, Any]) -> dict[str, Any]:
    schema = {"properties": {"success": {"const": True}, "data": answer}}
    return {"200": {"content": {"application/json": {"schema": schema}}}}


class GeneratedClientFilesTests(SynchronousTestCase):
    def test_generated_client_has_records_and_methods(self) -> None:
        found = files(document())
        self.assertEqual(["jobs.py", "operations.py"], sorted(found))
        for line in (
            "class JobBody(TypedDict):",
            '    """A job."""',
            "    name: str",
            "    tags: NotRequired[list[str]]",
            "class JobsAnswer(TypedDict):",
            "    at: int | None",
            '    kind: NotRequired[Literal["x", "y"]]',
            "    more: NotRequired[dict[str, float]]",
            "class Jobs(Calling):",
            "    async def put_jobs_id(self, id: str, body: JobBody) -> JobsAnswer:",
        ):
            self.assertIn(line, found["jobs.py"].splitlines())
        get = next(line for line in found["jobs.py"].splitlines() if "get_jobs_id" in line)
        self.assertIn('*, from_: Literal["now", "then"], timeout: int | None = None)', get)
        self.assertIn("wait_ms=get_hold_milliseconds(timeout))", found["jobs.py"])
        self.assertIn("class Operations(Jobs):", found["operations.py"])
        for text in found.values():
            ast.parse(text)

    def test_changed_field_changes_the_generated_client(self) -> None:
        changed = copy.deepcopy(document())
        fields = changed["components"]["schemas"]["JobBody"]["properties"]
        fields["name"] = {"type": "integer"}
        self.assertIn("    name: int\n", files(changed)["jobs.py"])

    def test_operation_without_a_token_scope_is_not_generated(self) -> None:
        self.assertNotIn("get_me", "".join(files(document()).values()))

    def test_names_are_converted_to_snake_case(self) -> None:
        self.assertEqual("get_sessions_id_git_status", snake("getSessionsIdGitStatus"))
        self.assertRaises(ValueError, Records, {"a__x__model__Kind": {}, "b__x__Kind": {}})
        self.assertRaises(KeyError, Records({}).of, {"$ref": f"{REFERENCE}Gone"})


class WrittenCodeTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.root = Path(self.mktemp())
        (self.root / "docs").mkdir(parents=True)
        (self.root / "docs/openapi.json").write_text(json.dumps(document()))
        (self.root / "docs/events.json").write_text('{"job:ran": {"type": "string"}}')

    def test_files_are_written_and_old_ones_removed(self) -> None:
        folder = self.root / CLIENT
        folder.mkdir(parents=True)
        for name in ("__init__.py", "gone.py"):
            (folder / name).touch()
        write_generated_code(self.root)
        names = sorted(file.name for file in folder.iterdir())
        self.assertEqual(["__init__.py", "jobs.py", "operations.py"], names)
        self.assertIn('"job:ran": string;', (self.root / WEB_TYPES).read_text())

    def test_file_without_a_change_is_left_alone(self) -> None:
        write_generated_code(self.root)
        before = (self.root / WEB_TYPES).stat()
        write_generated_code(self.root)
        after = (self.root / WEB_TYPES).stat()
        self.assertEqual((before.st_ino, before.st_mtime_ns), (after.st_ino, after.st_mtime_ns))

    def test_code_of_this_tree_is_up_to_date(self) -> None:
        """As a test run brings it up to date."""
        root = Path(__file__).resolve().parents[2]
        for path, text in make_generated_code().items():
            self.assertEqual(text, (root / path).read_text("utf-8"), path)
