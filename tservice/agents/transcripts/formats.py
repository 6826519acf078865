"""Whose lines read how: the modes whose transcripts are files of JSON lines.  Pure."""

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
    """One agent's lines.

    @ivar advance: the tally after one more line.
    @ivar used: what a line tells that a message used, by the tally before that line.
    @ivar said: what a line says, if it is something that one side said.
    @ivar given: the prompt that a line tells of, if no line before it told of that one.
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
