"""Formats by mode, for transcripts that are files of JSON lines. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from tservice.agents.transcripts import claude, codex, gemini, pi
from tservice.agents.transcripts.model import TranscriptMessage, TranscriptTally
from tservice.agents.transcripts.usage.record import MessageUsage

_Says = Callable[[Mapping[str, Any]], TranscriptMessage | None]


@frozen(kw_only=True)
class LineFormat:
    """Format of one agent's lines.

    @ivar advance: returns the tally after one more line.
    @ivar used: returns the usage of a line's message, given the tally before that line.
    @ivar said: returns the message of a line, if it contains one.
    @ivar given: returns the prompt of a line, if no earlier line reported the same one.
    """

    advance_tally: Callable[[TranscriptTally, Mapping[str, Any]], TranscriptTally]
    parse_usage: Callable[[TranscriptTally, Mapping[str, Any]], MessageUsage | None]
    parse_message: _Says
    parse_prompt: Callable[[Mapping[str, Any]], str | None]


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
    ),
    "gemini": LineFormat(
        advance_tally=gemini.advance_tally,
        parse_usage=gemini.parse_usage,
        parse_message=gemini.parse_message,
        parse_prompt=_make_prompt_parser(gemini.parse_message),
    ),
    "pi": LineFormat(
        advance_tally=pi.advance_tally,
        parse_usage=pi.parse_usage,
        parse_message=pi.parse_message,
        parse_prompt=_make_prompt_parser(pi.parse_message),
    ),
}
