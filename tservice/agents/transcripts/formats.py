"""Whose lines read how: the modes whose transcripts are files of JSON lines.  Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from tservice.agents.transcripts import claude, codex, gemini, pi
from tservice.agents.transcripts.model import Message, Tally


@frozen(kw_only=True)
class Format:
    """One agent's lines.

    @ivar advance: the tally after one more line.
    @ivar said: what a line says, if it is something that one side said.
    """

    advance: Callable[[Tally, Mapping[str, Any]], Tally]
    said: Callable[[Mapping[str, Any]], Message | None]


FORMATS: Mapping[str, Format] = {
    "primary": Format(advance=claude.advance, said=claude.said),
    "codex": Format(advance=codex.advance, said=codex.said),
    "gemini": Format(advance=gemini.advance, said=gemini.said),
    "pi": Format(advance=pi.advance, said=pi.said),
}
