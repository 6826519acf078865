"""Every request is answered exactly once, whatever else is sent: MCP on pipes, by a grammar."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tests.unit.client.mcp import grammar
from tests.unit.client.mcp.grammar import RpcLine
from tservice.client.mcp.plan import PlannedRequest
from tservice.client.mcp.protocol import VERSIONS, RpcServer
from tservice.client.mcp.stdio import StdioServer
from tservice.client.mcp.tools import select_tools

thorough = settings(max_examples=example_count(300), deadline=None, database=None)


def conversations() -> st.SearchStrategy[tuple[str, list[RpcLine]]]:
    """A revision, and up to so many lines that no call is one too many."""
    return st.sampled_from(VERSIONS).flatmap(
        lambda version: st.tuples(
            st.just(version), st.lists(grammar.lines(version), min_size=1, max_size=2)
        )
    )


class StdioFuzzTests(SynchronousTestCase):
    async def send(self, ask: PlannedRequest) -> Any:
        return []

    @thorough
    @given(conversations())
    def test_each_generated_request_is_answered_once(
        self, conversation: tuple[str, list[RpcLine]]
    ) -> None:
        version, sent = conversation
        greeting = {"jsonrpc": "2.0", "id": "greeting", "method": "initialize",
                    "params": {"protocolVersion": version}}  # fmt: skip
        source = BytesIO(b"\n".join([json.dumps(greeting).encode(), *(line.raw for line in sent)]))
        sink = BytesIO()
        StdioServer(
            RpcServer(select_tools(None), self.send, notices=True), source, sink
        ).serve_messages()
        first, *answers = [json.loads(line) for line in sink.getvalue().splitlines()]
        self.assertEqual(("greeting", version), (first["id"], first["result"]["protocolVersion"]))
        self.assertEqual(grammar.expected_codes(sent), grammar.answered_codes(answers))
        batches = sum(isinstance(answer, list) for answer in answers)
        self.assertEqual(sum(bool(line.is_batch and line.wanted) for line in sent), batches)
