"""A file as it is shown: lines of text, or what it is instead (protocol-files)."""

from __future__ import annotations

import hashlib
import mimetypes
import os
from typing import Any

from attrs import frozen

from tservice.files.beneath import Beneath, Closed, Spot
from tservice.files.model import (
    CONTENT_BYTES,
    CONTENT_LINES,
    EDIT_BYTES,
    HEAD_BYTES,
    TEXT_BYTES,
    image_type,
    is_secret,
    secret,
)

_PIECE = 1024 * 1024
_SAMPLE = 64 * 1024
_STRIDE = 64 * 1024

_MEDIA = {"image": "image", "audio": "audio", "video": "video"}


@frozen(kw_only=True)
class TextWanted:
    """What is asked for.

    @ivar start: the first line, from 1; C{lines}: how many at most.  Both are clamped.
    @ivar reveal: an environment file may be shown.
    """

    path: str
    start: int = 1
    lines: int = 500
    reveal: bool = False


def show(workspace: str, wanted: TextWanted, closed: Closed) -> dict[str, Any]:
    """The answer of C{GET file-content}, less C{url}.

    @raise ServiceError: 400: no regular file; 403: outside, or a secret.
    @raise OSError: it is missing, or may not be read.
    """
    with Beneath(workspace, closed) as beneath, beneath.find(wanted.path) as spot:
        check_open(wanted.path, spot, reveal=wanted.reveal)
        descriptor = spot.open()
        try:
            return _describe(descriptor, spot, wanted)
        finally:
            os.close(descriptor)


def check_open(asked: str, spot: Spot, *, reveal: bool = False) -> None:
    """Refuse a secret, by the name that was asked for and by its own.

    @raise ServiceError: 403.
    """
    if spot.is_folder:
        return
    last = asked.rstrip("/").rpartition("/")[2]
    if is_secret(last, reveal=reveal) or is_secret(spot.name, reveal=reveal):
        raise secret()


def _describe(descriptor: int, spot: Spot, wanted: TextWanted) -> dict[str, Any]:
    status = os.fstat(descriptor)
    about = {
        "path": spot.path,
        "size": status.st_size,
        "mtimeMs": status.st_mtime_ns // 1_000_000,
    }
    head = os.pread(descriptor, _SAMPLE, 0)
    kind, mime = sort_of(spot.name, head)
    if kind is not None:
        return {**about, "type": kind, "mime": mime}
    if status.st_size > TEXT_BYTES:
        return {**about, "type": "binary", "mime": mime, "tooLarge": True}
    content = read_all(descriptor, TEXT_BYTES)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return {**about, "type": "binary", "mime": "application/octet-stream"}
    editable = len(content) <= EDIT_BYTES and os.access(
        ".", os.W_OK, dir_fd=spot.folder, effective_ids=True
    )
    return {
        **about,
        **excerpt(text, wanted.start, wanted.lines),
        "hash": hashlib.sha256(content).hexdigest(),
        "eol": line_ends(content),
        "editable": editable,
    }


def sort_of(name: str, head: bytes) -> tuple[str | None, str]:
    """What a file is, and its media type; C{None}: text, as far as its first bytes tell."""
    image = image_type(head[:HEAD_BYTES])
    if image is not None:
        return "image", mimetypes.types_map.get(f".{image}", f"image/{image}")
    if head.startswith(b"%PDF-"):
        return "pdf", "application/pdf"
    guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
    if _looks_like_text(head):
        return None, guessed
    return _MEDIA.get(guessed.partition("/")[0], "binary"), guessed


def _looks_like_text(head: bytes) -> bool:
    if b"\0" in head:
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        # The sample may end within a character.
        return len(head) == _SAMPLE and error.start >= len(head) - 3
    return True


def excerpt(text: str, start: int, lines: int) -> dict[str, Any]:
    """Some lines of C{text}, with where they are in it.

    Of one answer there are L{CONTENT_BYTES} at most; of a single line that is longer, its
    beginning.
    """
    total = text.count("\n") + (not text.endswith("\n") and bool(text))
    start = max(start, 1)
    lines = min(max(lines, 1), CONTENT_LINES)
    begin = _line(text, 0, start - 1)
    end = _line(text, begin, lines)
    content = text[begin:end]
    if len(content) > CONTENT_BYTES:
        cut = content.rfind("\n", 0, CONTENT_BYTES) + 1
        content = content[: cut or CONTENT_BYTES]
    return {
        "content": content,
        "totalLines": total,
        "from": start,
        "truncated": begin + len(content) < len(text),
    }


def _line(text: str, at: int, count: int) -> int:
    """Where the line begins that is C{count} lines behind C{at}, or the end.

    In strides that are halved: ten million lines one by one take a second of everybody's time.
    """
    stride = _STRIDE
    while count and at < len(text):
        passed = text.count("\n", at, at + stride)
        if passed < count or stride == 1:
            at, count = at + stride, count - passed
        else:
            stride //= 2
    return min(at, len(text))


def line_ends(content: bytes) -> str:
    """C{lf}, C{crlf} or C{mixed}."""
    both, single = content.count(b"\r\n"), content.count(b"\n")
    if not both:
        return "lf"
    return "crlf" if both == single else "mixed"


def read_all(descriptor: int, limit: int) -> bytes:
    """Everything, but not more than C{limit} bytes."""
    pieces, at = [], 0
    while at < limit and (piece := os.pread(descriptor, min(_PIECE, limit - at), at)):
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces)
