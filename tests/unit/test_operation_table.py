"""A field that changes in the table is seen by everything that is made from it.

The OpenAPI document and its page, the Python and TypeScript types, the manual page and completion,
the matrix of who may call what, and the arguments of MCP tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, ClassVar
from unittest.mock import patch

import pytest
from attrs import evolve
from pydantic import BaseModel, Field, ValidationError, create_model
from twisted.trial.unittest import SynchronousTestCase
from twisted.web.template import flattenString

from docs import generate
from tests.non_empty import require_items
from tests.security.harness import SecurityHarness
from tests.security.matrix_rows import ROWS
from tools import pyclient
from tools.typescript import web_types
from tservice.client.commands import completing
from tservice.client.commands.record import CommandOption
from tservice.client.commands.table import COMMANDS
from tservice.client.mcp.plan import PlannedRequest
from tservice.client.mcp.tools import TOOLS, McpTool
from tservice.core.kernel.errors import ServiceError
from tservice.core.kernel.scopes import Scope
from tservice.http.docs.html_page import render_page
from tservice.http.docs.openapi import make_document
from tservice.http.operations import Operation
from tservice.http.validation.body import read_query
from tservice.http.validation.models import QueryParameters, RequestBody

FULL: Mapping[str, Mapping[str, Any]] = {
    "new_session": {
        "mode": "m" * 24,
        "workingDir": "/" * 4096,
        "caseName": "c" * 128,
        "name": "n" * 128,
        "prompt": "p" * 65_536,
    },
    "send_input": {
        "sessionId": "s",
        "text": "t" * 65_536,
        "wait": ["stop", "exit", "idle", "blocked", "working"],
        "timeoutMs": 600_000,
    },
    "send_key": {"sessionId": "s", "key": "k" * 16},
    "wait": {
        "sessionIds": ["s" * 36] * 100,
        "until": ["stop", "exit", "idle", "blocked", "working"],
        "timeoutMs": 600_000,
        "mode": "all",
    },
    "wait_output": {"sessionId": "s", "match": "m" * 200, "timeoutMs": 600_000},
    "read_screen": {"sessionId": "s", "lines": 10_000},
    "read_conversation": {
        "sessionId": "s",
        "limit": 500,
        "after": "c" * 200,
        "before": 2**53,
        "branch": "b" * 100,
    },
    "list_changes": {"sessionId": "s", "base": "b" * 250},
    "create_pull_request": {
        "sessionId": "s",
        "title": "t" * 250,
        "body": "b" * 60_000,
        "base": "b" * 250,
        "draft": True,
        "reviewers": ["r" * 100] * 15,
    },
    "read_check_log": {"sessionId": "s", "job": "1" * 20},
    "reply_review_comment": {
        "sessionId": "s",
        "commentId": "c",
        "state": "declined",
        "text": "t" * 8000,
    },
    "add_approval_rule": {
        "scope": {"caseName": "c"},
        "tool": "Bash",
        "match": {"command": {"prefix": ["p"]}},
        "action": "allow",
        "expiresAt": 10**15,
        "note": "n" * 80,
    },
    "delete_approval_rule": {"ruleId": "r"},
    "answer_approval": {
        "approvalId": "a",
        "action": "text",
        "option": 9,
        "text": "t" * 4000,
        "expectFrame": "f" * 128,
    },
}
"""Every argument of the tools that take more than a session, as long as it may be."""


def asked(tool: McpTool) -> Iterator[PlannedRequest]:
    """What a tool asks when it is given everything."""
    names = {field.alias or name for name, field in tool.takes.model_fields.items()}
    given = FULL.get(tool.name, {"sessionId": "s"} if "sessionId" in names else {})
    plan = tool.plan(tool.takes.model_validate(given))
    answer: Any = None
    try:
        while True:
            ask = plan.send(answer)
            yield ask
            answer = {"session": {"id": "s"}, "terminalBuffer": "", "delivered": True}
            answer = [] if ask.path in ("/sessions", "/cases") and ask.method == "GET" else answer
    except StopIteration:
        return


def not_taken(table: Iterable[Operation]) -> set[tuple[str, str]]:
    """What tools send that no operation takes: by the tool and the field."""
    found = set()
    for tool in TOOLS:
        for ask in asked(tool):
            operation = next(each for each in table if fits(each, ask))
            found |= {(tool.name, name) for name in refused(ask.body, operation.body)}
            found |= {(tool.name, name) for name in unasked(ask.query, operation.query)}
    return found


def refused(body: Mapping[str, Any] | None, model: type[BaseModel] | None) -> set[str]:
    """The fields of a body that are unknown, or of another type or bound, or missing."""
    try:
        (model or RequestBody).model_validate(dict(body or {}))
    except ValidationError as error:
        return {str(fault["loc"][0]) for fault in error.errors()}
    return set()


def unasked(query: Mapping[str, Any] | None, model: type[BaseModel] | None) -> set[str]:
    """The same of a query, of which the service ignores what it does not know."""
    sent = {name.encode(): [str(value).encode()] for name, value in (query or {}).items()}
    known = () if model is None else model.model_fields.items()
    unknown = set(query or ()) - {field.alias or name for name, field in known}
    try:
        read_query(sent, model or QueryParameters)
    except ServiceError as error:
        return unknown | {str(error).partition(":")[0]}
    return unknown


def fits(operation: Operation, ask: PlannedRequest) -> bool:
    """Whether that is the operation that a tool asks."""
    steps, wanted = operation.path.split("/"), f"/api{ask.path}".split("/")
    alike = all(step == word or step[:1] == "{" for step, word in zip(steps, wanted, strict=False))
    return operation.method == ask.method and len(steps) == len(wanted) and alike


class OneTableTests(SynchronousTestCase):
    table: ClassVar[tuple[Operation, ...]]

    @classmethod
    def setUpClass(cls) -> None:
        world = SecurityHarness()
        cls.table = world.operations
        world.close()

    def changed(self, name: str, **changes: Any) -> tuple[Operation, ...]:
        return tuple(evolve(each, **changes) if each.name == name else each for each in self.table)

    @pytest.mark.long
    def test_operation_field_reaches_every_generated_document(self) -> None:
        body = create_model("KeyBody", __base__=RequestBody, key_renamed=(int, ...))
        before = make_document(self.table, "1")
        after = make_document(self.changed("POST /api/sessions/{id}/send-key", body=body), "1")
        made = [
            ("keyRenamed", lambda found: str(found["components"]["schemas"])),
            ("keyRenamed: int", lambda found: "".join(pyclient.files(found).values())),
            ("keyRenamed: number", lambda found: web_types(found, {})),
            ("keyRenamed", self.page),
        ]
        for word, make in require_items(made):
            self.assertNotIn(word, make(before))
            self.assertIn(word, make(after))

    def page(self, found: Any) -> str:
        return self.successResultOf(flattenString(None, render_page(found))).decode()

    def test_mcp_tools_send_only_fields_of_operations(self) -> None:
        self.assertEqual(set(), not_taken(self.table))
        body = create_model("KeyBody", __base__=RequestBody, key_renamed=(str, ...))
        changed = self.changed("POST /api/sessions/{id}/send-key", body=body)
        self.assertEqual({("send_key", "key"), ("send_key", "keyRenamed")}, not_taken(changed))

    def test_mcp_fields_with_another_type_or_length_are_detected(self) -> None:
        for change in ({"key": (int, ...)}, {"key": (Annotated[str, Field(max_length=15)], ...)}):
            body = create_model("KeyBody", __base__=RequestBody, **change)
            changed = self.changed("POST /api/sessions/{id}/send-key", body=body)
            self.assertEqual({("send_key", "key")}, not_taken(changed))

    def test_scope_matrix_matches_the_table(self) -> None:
        """Written by hand on purpose: it is not made from the table, but held against it."""
        self.assertEqual(set(), self.unlike(self.table))
        changed = self.changed("GET /api/sessions", scope=Scope.ADMIN)
        self.assertEqual({"GET /api/sessions"}, self.unlike(changed))

    def unlike(self, table: Iterable[Operation]) -> set[str]:
        return {each.name for each in table if ROWS[each.name].scope != each.scope}

    def test_command_option_reaches_every_document_and_completion(self) -> None:
        option = CommandOption(("--renamed",), "A word that nobody has used", value="WORD")
        changed = tuple(
            command._replace(options=(*command.options, option))
            if command.name == "ls"
            else command
            for command in COMMANDS
        )
        for make in (generate.commands_table, generate.commands_list):
            self.assertNotIn("renamed", make())
            with patch.object(generate, "COMMANDS", changed):
                self.assertIn("renamed", make())
        self.assertNotIn("renamed", completing.build_completion_script("bash"))
        with patch.object(completing, "COMMANDS", changed):
            self.assertIn("renamed", completing.build_completion_script("bash"))
