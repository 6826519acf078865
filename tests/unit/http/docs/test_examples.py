"""The examples and links of the document of the whole service (protocol-openapi)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from twisted.trial.unittest import SynchronousTestCase

from tests.non_empty import require_items
from tests.security.harness import SecurityHarness, populated_harness
from tests.security.matrix_rows import ROWS
from tservice.http.docs.examples import EXAMPLES
from tservice.http.docs.links import OPERATION_LINKS, find_links
from tservice.http.docs.openapi import make_document, make_operation_id
from tservice.http.docs.tags import TAGS
from tservice.http.operations import Operation

WELL_FORMED = {200, 401, 403, 404, 409, 422}
"""What a body may come to that says what it should: done, or refused for what there is."""
SESSION = EXAMPLES["PUT /api/session-order"]["order"][0]
OF_AGENTS = "mode shell"
"""In a refusal that is about the session, for it is none of an agent."""


class OpenApiExampleTests(SynchronousTestCase):
    """Each is sent, and none is refused for what it says."""

    def test_examples_are_accepted(self) -> None:
        folder = Path(self.mktemp()).resolve()
        folder.mkdir(parents=True)
        with populated_harness() as here:
            here.good("root", "PUT", "/api/settings", {"cliManagementEnabled": True})
            done = 0
            for operation in sorted(here.operations, key=lambda each: each.ends_access):
                example = EXAMPLES.get(operation.name)
                if example is not None:
                    done += self.send(here, operation, example, folder)
        self.assertGreater(done, 30)

    def send(
        self, here: SecurityHarness, operation: Operation, example: Mapping[str, Any], folder: Path
    ) -> bool:
        row = ROWS[operation.name]
        path = operation.path
        for name, value in (row.path or {"id": here.session}).items():
            path = path.replace(f"{{{name}}}", value.format(job="none", token="none", tab="none"))
        text = json.dumps(example).replace("/srv/project", str(folder))
        body = json.loads(text.replace(SESSION, here.session))
        who = "ann" if row.access == "owner" else "root"
        found = here.ask(operation.method, path, body, {"Cookie": here.cookies[who]})
        of_agents = found.status == 400 and OF_AGENTS in found.body
        self.assertTrue(of_agents or found.status in WELL_FORMED, (operation.name, found.body))
        return found.status == 200


class OpenApiLinkTests(SynchronousTestCase):
    """Each begins at a part of an answer that there is, and leads to operations that there are."""

    table: ClassVar[tuple[Operation, ...]]
    found: ClassVar[dict[str, Any]]

    @classmethod
    def setUpClass(cls) -> None:
        here = SecurityHarness()
        cls.table = here.operations
        cls.found = make_document(cls.table, "1")
        here.close()

    def test_links_lead_to_existing_operations(self) -> None:
        names = {each.name: make_operation_id(each.method, each.path) for each in self.table}
        self.assertLessEqual(set(OPERATION_LINKS), set(names))
        for operation in self.table:
            if operation.name in OPERATION_LINKS:
                ahead = find_links(operation, self.table, names)
                self.assertTrue(ahead, operation.path)
                entry = self.found["paths"][operation.path][operation.method.lower()]
                self.assertEqual(ahead, entry["responses"]["200"]["links"])

    def test_links_begin_at_fields_of_the_answer(self) -> None:
        for name, way in OPERATION_LINKS.items():
            method, path = name.split()
            media = self.found["paths"][path][method.lower()]["responses"]["200"]["content"]
            schema = media["application/json"]["schema"]["properties"]["data"]
            for step in way.value.split("/"):
                schema = self.step(schema, step)
            self.assertEqual("string", schema["type"], name)

    def step(self, schema: Any, name: str) -> Any:
        if "$ref" in schema:
            schema = self.found["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        for choice in schema.get("anyOf", [schema]):
            inner = choice
            if "$ref" in inner:
                inner = self.found["components"]["schemas"][inner["$ref"].rpartition("/")[2]]
            if name.isdigit() and "items" in inner:
                return inner["items"]
            if name in inner.get("properties", {}):
                return inner["properties"][name]
        raise AssertionError(f"no {name} in {schema}")

    def test_every_request_body_has_an_example(self) -> None:
        bodies = {each.name for each in self.table if each.body is not None}
        self.assertEqual(bodies, set(EXAMPLES))

    def test_every_api_tag_is_explained(self) -> None:
        self.assertEqual(set(), {each.tag for each in self.table} - set(TAGS))

    def test_every_schema_is_referenced(self) -> None:
        text = json.dumps(self.found)
        for name in require_items(self.found["components"]["schemas"]):
            self.assertIn(f'#/components/schemas/{name}"', text)

    def test_bounds_have_their_json_schema_names(self) -> None:
        query = self.found["paths"]["/api/admin/audit"]["get"]["parameters"][0]
        self.assertLessEqual({"minimum", "maximum"}, set(query["schema"]))

    def test_base_path_is_the_server_url(self) -> None:
        self.assertEqual([{"url": "/"}], self.found["servers"])
        self.assertEqual([{"url": "/box"}], make_document((), "1", "/box")["servers"])
