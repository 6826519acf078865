"""Whose lines read how: the modes whose transcripts are files of JSON lines.  Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import frozen

from tservice.agents import (
    transcript_claude,
    transcript_codex,
    transcript_gemini,
    transcript_pi,
)
from tservice.agents.transcript_model import Message, Tally


@frozen(kw_only=True)
class Format:
    """One agent's lines.

    @ivar advance: the tally after one more line.
    @ivar said: what a line says, if it is something that one side said.
    """

    advance: Callable[[Tally, Mapping[str, Any]], Tally]
    said: Callable[[Mapping[str, Any]], Message | None]


FORMATS: Mapping[str, Format] = {
    "primary": Format(advance=transcript_claude.advance, said=transcript_claude.said),
    "codex": Format(advance=transcript_codex.advance, said=transcript_codex.said),
    "gemini": Format(advance=transcript_gemini.advance, said=transcript_gemini.said),
    "pi": Format(advance=transcript_pi.advance, said=transcript_pi.said),
}
