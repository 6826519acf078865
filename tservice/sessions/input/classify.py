"""Is an input a prompt or raw bytes? (protocol-prompts)"""

from __future__ import annotations

import re

from tservice.core.errors import invalid
from tservice.sessions.input.journal import InputKind

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""But LF and TAB, which are text."""


def classify(text: str, use_mux: bool | None, *, typed: bool = False) -> tuple[InputKind, bytes]:
    """How to type C{text}, and what: a prompt without its Enter, or the bytes as they are.

    @param use_mux: C{True} forces a prompt, C{False} raw bytes.
    @param typed: a prompt is typed key by key.
    """
    if use_mux or (use_mux is None and looks_like_prompt(text)):
        kind = InputKind.TYPED if typed else InputKind.PROMPT
        return kind, prompt_text(text).encode("utf-8", "replace")
    return InputKind.RAW, text.encode("utf-8", "replace")


def looks_like_prompt(text: str) -> bool:
    """Printable text (LF, TAB and line ends count as such) and exactly one trailing CR or CRLF."""
    body = _body(text)
    if body is None or not body.strip() or _ends_bare(body):
        return False
    return _is_text(body)


def prompt_text(text: str) -> str:
    """The text of a prompt: one trailing CR off, line ends LF, no other control character.

    ESC would end the paste early and what follows it would be typed.
    """
    body = _body(text)
    text = (text if body is None else body).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", text)


def check_text(text: str, use_mux: bool | None) -> None:
    """Refuse white space alone as a prompt; a bare CR is a key (protocol-prompts).

    @raise ServiceError: 400 naming C{input}.
    """
    body = _body(text)
    if use_mux is False or not body or body.strip() or _ends_bare(body):
        return
    if use_mux or _is_text(body):
        raise invalid("input", "a prompt needs more than white space")


def _body(text: str) -> str | None:
    """C{text} without the CR or CRLF that submits it; C{None} where it has none."""
    for end in ("\r\n", "\r"):
        if text.endswith(end):
            return text.removesuffix(end)
    return None


def _ends_bare(body: str) -> bool:
    """Whether another Enter stands before the one that submits."""
    return body.endswith("\r")


def _is_text(body: str) -> bool:
    return _CONTROLS.search(body.replace("\r", "\n")) is None
