"""Classification of an input as a prompt or as raw bytes (protocol-prompts)."""

from __future__ import annotations

import re

from attrs import frozen

from tservice.core.kernel.errors import make_field_error
from tservice.sessions.input.entry import InputKind
from tservice.sessions.record.requests import InputRequest, check_input

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters except LF and TAB, which are text."""


_SEQUENCES = re.compile(
    r"\x1b\[200~[^\x1b]*\x1b\[201~|\x1b\[[0-9;:?<>=]*[ABCDEFGHIPQRSZu~]|\x1bO[A-Za-z]|\x1b[ -~]"
)
"""Pasted texts and the sequences of keys. The sequences of colours are none of them."""


@frozen
class ClassifiedInput:
    """Request whose kind and bytes are decided.

    @ivar data: a prompt without its Enter, or raw bytes.
    """

    request: InputRequest
    kind: InputKind
    data: bytes


def classify_request(request: InputRequest) -> ClassifiedInput:
    """Check C{request}, and decide its kind and its bytes. Later steps do not look at its text.

    @raise ServiceError: 400, 413: see L{check_input} and L{refuse_blank_prompt}.
    """
    check_input(request)
    refuse_blank_prompt(request.text, request.use_mux)
    text, use_mux = request.text, request.use_mux
    if use_mux or (use_mux is None and looks_like_prompt(text)):
        kind = InputKind.TYPED if request.typed else InputKind.PROMPT
        return ClassifiedInput(request, kind, sanitize_prompt(text).encode("utf-8", "replace"))
    return ClassifiedInput(request, InputKind.RAW, text.encode("utf-8", "replace"))


def looks_like_prompt(text: str) -> bool:
    """Return true if C{text} is printable text with exactly one trailing CR or CRLF.

    LF, TAB and line ends count as printable.
    """
    body = _strip_submit(text)
    if body is None or not body.strip() or _ends_with_enter(body):
        return False
    return _is_text(body)


def sanitize_prompt(text: str) -> str:
    """Return the text of a prompt without one trailing CR, with LF line ends and no other control
    characters.

    An ESC would end the paste early, and the rest would be typed as keys.
    """
    body = _strip_submit(text)
    text = (text if body is None else body).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", text)


def refuse_blank_prompt(text: str, use_mux: bool | None) -> None:
    """Refuse a prompt that is only white space. A single CR is a key press and allowed
    (protocol-prompts).

    @raise ServiceError: 400 naming C{input}.
    """
    if use_mux is False:
        return
    body = _strip_submit(text)
    if not body or body.strip() or _ends_with_enter(body):
        return
    if use_mux or _is_text(body):
        raise make_field_error("input", "a prompt needs more than white space")


def refuse_control_characters(text: str, use_mux: bool | None) -> None:
    """Refuse a prompt with control characters (protocol-prompts).

    Typed as keys they would do something else, and without them the prompt would be another one.
    Keys, escape sequences and bracketed pastes without further text are raw input, not a prompt.

    @raise ServiceError: 400 naming C{input}.
    """
    body = _strip_submit(text)
    if use_mux is False or (body is None and not use_mux):
        return
    if _is_text(text if body is None else body) or (body and _ends_with_enter(body)):
        return
    if use_mux or _CONTROLS.sub("", _SEQUENCES.sub("", text)).strip():
        raise make_field_error(
            "input",
            "a prompt may have no control characters but line ends and tabs; "
            "send keys and bytes with useMux false",
        )


def _strip_submit(text: str) -> str | None:
    """Return C{text} without its final CR or CRLF; C{None} if it does not end with one."""
    for end in ("\r\n", "\r"):
        if text.endswith(end):
            return text.removesuffix(end)
    return None


def _ends_with_enter(body: str) -> bool:
    """Return true if the text, without its final Enter, ends with another Enter."""
    return body.endswith("\r")


def _is_text(body: str) -> bool:
    return _CONTROLS.search(body.replace("\r", "\n")) is None
