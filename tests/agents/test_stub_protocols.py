"""The stub model's pure halves: prompt to plan, requests read, answers written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.stub import anthropic, chat, gemini, responses, wire
from tests.agents.stub.record import ModelPrompt, ModelRecord, digest, turns
from tests.agents.stub.script import (
    CLOSING,
    CallDirective,
    FailDirective,
    SayDirective,
    ShellDirective,
    directive,
    plan,
)
from tests.agents.stub.tools import fitted, shell_call

pytestmark = pytest.mark.essential

SHELL = {"Bash": {"properties": {"command": {"type": "string"}}, "required": ["command"]}}


def events(steps: Any) -> list[Any]:
    """The JSON data of all events of an answer."""
    rows = wire.whole(steps).decode().splitlines()
    data = [row.removeprefix("data: ") for row in rows if row.startswith("data: ")]
    return [json.loads(each) for each in data if each != "[DONE]"]


class StubScriptTests(SynchronousTestCase):
    def test_last_directive_of_a_prompt_counts(self) -> None:
        self.assertEqual(SayDirective(text="two"), directive("SAY: one\nSAY: two\nwords"))

    def test_escaped_line_ends_of_a_directive_are_decoded(self) -> None:
        self.assertEqual(SayDirective(text="a\nb"), directive("SAY: a\\nb"))

    def test_directive_word_inside_a_sentence_is_ignored(self) -> None:
        self.assertIs(None, directive("please SAY: nothing"))
        self.assertEqual(SayDirective(text="one"), directive('SAY: one\nTOOL: Bash {"command": "e'))

    def test_closing_sentence_follows_a_tool_call(self) -> None:
        self.assertEqual(
            SayDirective(text=CLOSING), plan("RUN: ls", last_tool="Bash", has_tools=True)
        )

    def test_fail_directive_still_fails_after_a_tool_call(self) -> None:
        self.assertEqual(
            FailDirective(status=529), plan("FAIL: 529", last_tool="x", has_tools=True)
        )

    def test_run_directive_without_tools_is_answered_in_words(self) -> None:
        self.assertIsInstance(plan("RUN: ls", last_tool=None, has_tools=False), SayDirective)

    def test_plan_file_is_written_before_the_plan_is_shown(self) -> None:
        steps = [
            plan("PLAN:", last_tool=last, has_tools=True, plan_file="/p.md")
            for last in (None, "Write", "ExitPlanMode")
        ]
        self.assertEqual(
            ["Write", "ExitPlanMode"], [s.name for s in steps if isinstance(s, CallDirective)]
        )
        self.assertEqual(SayDirective(text=CLOSING), steps[2])

    def test_slow_directive_lasts_as_long_as_requested(self) -> None:
        said = directive("SLOW: 3")
        assert isinstance(said, SayDirective)
        self.assertEqual(3.0, len(said.text.split()) * said.pause)


class StubRequestReadingTests(SynchronousTestCase):
    def test_anthropic_request_reads_the_newest_text_block(self) -> None:
        content = [
            {"type": "text", "text": "<system-reminder>x</system-reminder>"},
            {"type": "text", "text": "failed before"},
            {"type": "text", "text": "now"},
        ]
        asked = anthropic.read({"messages": [{"role": "user", "content": content}]})
        self.assertEqual(("now", None, True), (asked.prompt, asked.last_tool, asked.side))

    def test_anthropic_request_finds_the_prompt_of_a_tool_result(self) -> None:
        messages = [
            {"role": "user", "content": "RUN: ls"},
            {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "content": "x"}]},
        ]
        asked = anthropic.read({"messages": messages, "tools": [{"name": "Bash"}]})
        self.assertEqual(("RUN: ls", "Bash", False), (asked.prompt, asked.last_tool, asked.side))

    def test_chat_takes_the_last_prompt_and_tool(self) -> None:
        messages = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
        asked = chat.read({"messages": [*messages, {"role": "tool", "content": "x"}]})
        self.assertEqual(("hi", ""), (asked.prompt, asked.last_tool))

    def test_responses_drop_context_added_by_the_client(self) -> None:
        given = [
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"role": "user", "content": "<environment_context>x"},
        ]
        self.assertEqual("hi", responses.read({"input": given}).prompt)

    def test_gemini_routing_requests_are_side_requests(self) -> None:
        body = {
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}],
            "generationConfig": {"responseMimeType": "application/json"},
        }
        self.assertTrue(gemini.read(body).side)


class StubAnswerTests(SynchronousTestCase):
    def test_anthropic_stream_keeps_the_whole_text(self) -> None:
        sent = events(
            anthropic.stream("1", ModelPrompt(prompt=""), SayDirective(text="a b c", pause=1))
        )
        deltas = [each["delta"]["text"] for each in sent if each["type"] == "content_block_delta"]
        self.assertEqual("a b c", "".join(deltas))
        self.assertEqual("message_stop", sent[-1]["type"])

    def test_anthropic_stream_numbers_its_content_blocks(self) -> None:
        sent = events(
            anthropic.stream("1", ModelPrompt(prompt=""), SayDirective(text="x", think=1))
        )
        starts = [each["index"] for each in sent if each["type"] == "content_block_start"]
        self.assertEqual([0, 1], starts)

    def test_tool_arguments_survive_every_protocol(self) -> None:
        call = CallDirective(name="Bash", arguments={"command": 'echo "ü"'})
        asked = ModelPrompt(prompt="")
        found = [
            json.loads(events(anthropic.stream("1", asked, call))[-4]["delta"]["partial_json"]),
            json.loads(
                events(chat.stream("1", asked, call))[1]["choices"][0]["delta"]["tool_calls"][0][
                    "function"
                ]["arguments"]
            ),
            json.loads(responses.whole("1", asked, call)["output"][0]["arguments"]),
            gemini.whole("1", asked, call)["candidates"][0]["content"]["parts"][0]["functionCall"][
                "args"
            ],
        ]
        self.assertEqual([dict(call.arguments)] * 4, found)

    def test_limit_headers_hold_status_and_reset_time(self) -> None:
        headers = anthropic.limit_headers(1000.0, {"rejected": 1, "reset": 60, "five_hour": 1.0})
        self.assertEqual("rejected", headers["anthropic-ratelimit-unified-5h-status"])
        self.assertEqual("1060", headers["anthropic-ratelimit-unified-reset"])


class StubToolCallTests(SynchronousTestCase):
    def test_shell_call_uses_the_shell_tool_of_the_client(self) -> None:
        call = shell_call(ModelPrompt(prompt="", tools=SHELL), ShellDirective(command="ls"))
        self.assertEqual(CallDirective(name="Bash", arguments={"command": "ls"}), call)

    def test_shell_call_takes_command_arrays_and_fills_required_parameters(self) -> None:
        schema = {
            "properties": {"command": {"type": "array"}, "kind": {"enum": ["a", "b"]}},
            "required": ["command", "kind"],
        }
        call = shell_call(
            ModelPrompt(prompt="", tools={"shell": schema}), ShellDirective(command="ls")
        )
        assert call is not None
        self.assertEqual({"command": ["sh", "-c", "ls"], "kind": "a"}, call.arguments)

    def test_no_matching_tool_gives_no_shell_call(self) -> None:
        self.assertIs(None, shell_call(ModelPrompt(prompt=""), ShellDirective(command="ls")))

    def test_write_call_fits_a_tool_with_other_parameter_names(self) -> None:
        schema: dict[str, Any] = {"properties": {"filePath": {}, "content": {}}}
        call = CallDirective(name="Write", arguments={"file_path": "/x", "content": "y"})
        fit = fitted(ModelPrompt(prompt="", tools={"write": schema}), call)
        self.assertEqual(("write", {"filePath": "/x", "content": "y"}), (fit.name, fit.arguments))


class StubRecordTests(SynchronousTestCase):
    def folded(self, *asked: tuple[ModelPrompt, str]) -> list[tuple[str, str, int]]:
        record = ModelRecord()
        for moment, (each, outcome) in enumerate(asked):
            number = record.begin("x", each, SayDirective(text=""), moment)
            record.end(number, outcome, moment)  # type: ignore[arg-type]
        return [(turn.prompt, turn.outcome, turn.requests) for turn in turns(record.requests)]

    def test_tool_results_continue_a_turn(self) -> None:
        found = self.folded(
            (ModelPrompt(prompt="a"), "tool"), (ModelPrompt(prompt="a", last_tool="Bash"), "said")
        )
        self.assertEqual([("a", "said", 2)], found)

    def test_retries_are_one_turn_and_repeats_are_two(self) -> None:
        failed, said = (ModelPrompt(prompt="a"), "failed"), (ModelPrompt(prompt="a"), "said")
        self.assertEqual([("a", "said", 2)], self.folded(failed, said))
        self.assertEqual([("a", "said", 1)] * 2, self.folded(said, said))

    def test_side_requests_are_no_turns(self) -> None:
        self.assertEqual([], self.folded((ModelPrompt(prompt="title", side=True), "said")))

    def test_full_record_raises_overflow(self) -> None:
        record = ModelRecord(limit=1)
        record.begin("x", ModelPrompt(prompt=""), SayDirective(text=""), 0.0)
        with self.assertRaises(OverflowError):
            record.begin("x", ModelPrompt(prompt=""), SayDirective(text=""), 0.0)

    @given(some.text(max_size=5000))
    def test_hash_is_of_the_whole_prompt(self, text: str) -> None:
        record = ModelRecord()
        record.begin("x", ModelPrompt(prompt=text), SayDirective(text=""), 0.0)
        kept = record.requests[0]
        self.assertEqual((digest(text), len(text)), (kept.sha256, kept.length))
