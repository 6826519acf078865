"""Is an input a prompt or raw bytes? (wire 1.5, 26)"""

from __future__ import annotations

import unicodedata

from tservice.sessions.journal import Kind

_TEXT_CONTROLS = "\n\t"


def classify(text: str, use_mux: bool | None, *, typed: bool = False) -> tuple[Kind, bytes]:
    """How to type C{text}, and what: a prompt without its Enter, or the bytes as they are.

    @param use_mux: C{True} forces a prompt, C{False} raw bytes.
    @param typed: a prompt is typed key by key.
    """
    if use_mux or (use_mux is None and looks_like_prompt(text)):
        kind = Kind.TYPED if typed else Kind.PROMPT
        return kind, prompt_text(text).encode("utf-8", "replace")
    return Kind.RAW, text.encode("utf-8", "replace")


def looks_like_prompt(text: str) -> bool:
    """Printable text (LF and TAB count as such) and exactly one trailing CR."""
    if not text.endswith("\r"):
        return False
    body = text[:-1]
    if not body.strip(_TEXT_CONTROLS):
        return False
    return all(c in _TEXT_CONTROLS or unicodedata.category(c) != "Cc" for c in body)


def prompt_text(text: str) -> str:
    """The text of a prompt: one trailing CR off, line ends LF, no other control character.

    ESC would end the paste early and what follows it would be typed.
    """
    text = text.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in text if c in _TEXT_CONTROLS or unicodedata.category(c) != "Cc")
