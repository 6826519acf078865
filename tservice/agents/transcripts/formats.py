"""Formats by mode, for transcripts that are files of JSON lines. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from tservice.agents.transcripts import claude, codex, gemini, pi
from tservice.agents.transcripts.model import Message, Tally
from tservice.agents.transcripts.usage.record import MessageUsage

_Says = Callable[[Mapping[str, Any]], Message | None]


@frozen(kw_only=True)
class Format:
    """Format of one agent's lines.

    @ivar advance: returns the tally after one more line.
    @ivar used: returns the usage of a line's message, given the tally before that line.
    @ivar said: returns the message of a line, if it contains one.
    @ivar given: returns the prompt of a line, if no earlier line reported the same one.
    """

    advance: Callable[[Tally, Mapping[str, Any]], Tally]
    used: Callable[[Tally, Mapping[str, Any]], MessageUsage | None]
    said: _Says
    given: Callable[[Mapping[str, Any]], str | None]


def _by_the_user(said: _Says) -> Callable[[Mapping[str, Any]], str | None]:
    def given(found: Mapping[str, Any]) -> str | None:
        words = said(found)
        return words.text if words is not None and words.role == "user" else None

    return given


FORMATS: Mapping[str, Format] = {
    "primary": Format(
        advance=claude.advance, used=claude.used, said=claude.said, given=claude.given
    ),
    "codex": Format(
        advance=codex.advance, used=codex.used, said=codex.said, given=_by_the_user(codex.said)
    ),
    "gemini": Format(
        advance=gemini.advance, used=gemini.used, said=gemini.said, given=_by_the_user(gemini.said)
    ),
    "pi": Format(advance=pi.advance, used=pi.used, said=pi.said, given=_by_the_user(pi.said)),
}
