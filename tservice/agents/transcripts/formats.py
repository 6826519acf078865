"""Formats, by mode, of transcripts that are files of JSON lines.

This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from tservice.agents.transcripts.model import TranscriptMessage, TranscriptTally
from tservice.agents.transcripts.parsers import claude, codex, copilot, gemini, pi, qwen
from tservice.agents.transcripts.usage.record import MessageUsage

_Says = Callable[[Mapping[str, Any]], TranscriptMessage | None]


@frozen(kw_only=True)
class LineFormat:
    """Functions that interpret the lines of one agent's transcripts.

    @ivar advance_tally: returns the tally after one more line.
    @ivar parse_usage: returns the usage of the message in a line, given the tally before that line.
    @ivar depends_on_earlier_lines: true if the meaning of a line depends on the tally, because the
        agent reports totals, or writes its conversation again.
    @ivar parse_message: returns the message in a line; C{None} without one.
    @ivar parse_prompt: returns the prompt in a line, if no earlier line contains the same one.
    """

    advance_tally: Callable[[TranscriptTally, Mapping[str, Any]], TranscriptTally]
    parse_usage: Callable[[TranscriptTally, Mapping[str, Any]], MessageUsage | None]
    parse_message: _Says
    parse_prompt: Callable[[Mapping[str, Any]], str | None]
    depends_on_earlier_lines: bool = False


def _make_prompt_parser(said: _Says) -> Callable[[Mapping[str, Any]], str | None]:
    def parse_user_prompt(found: Mapping[str, Any]) -> str | None:
        words = said(found)
        return words.text if words is not None and words.role == "user" else None

    return parse_user_prompt


FORMATS: Mapping[str, LineFormat] = {
    "primary": LineFormat(
        advance_tally=claude.advance_tally,
        parse_usage=claude.parse_usage,
        parse_message=claude.parse_message,
        parse_prompt=claude.parse_prompt,
    ),
    "codex": LineFormat(
        advance_tally=codex.advance_tally,
        parse_usage=codex.parse_usage,
        parse_message=codex.parse_message,
        parse_prompt=_make_prompt_parser(codex.parse_message),
        depends_on_earlier_lines=True,
    ),
    "copilot": LineFormat(
        advance_tally=copilot.advance_tally,
        parse_usage=copilot.parse_usage,
        parse_message=copilot.parse_message,
        parse_prompt=_make_prompt_parser(copilot.parse_message),
    ),
    "gemini": LineFormat(
        advance_tally=gemini.advance_tally,
        parse_usage=gemini.parse_usage,
        parse_message=gemini.parse_message,
        parse_prompt=_make_prompt_parser(gemini.parse_message),
        depends_on_earlier_lines=True,
    ),
    "pi": LineFormat(
        advance_tally=pi.advance_tally,
        parse_usage=pi.parse_usage,
        parse_message=pi.parse_message,
        parse_prompt=_make_prompt_parser(pi.parse_message),
    ),
    "qwen": LineFormat(
        advance_tally=qwen.advance_tally,
        parse_usage=qwen.parse_usage,
        parse_message=qwen.parse_message,
        parse_prompt=_make_prompt_parser(qwen.parse_message),
    ),
}
