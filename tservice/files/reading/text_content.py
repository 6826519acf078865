"""File contents for display: lines of a text, or a description of other files (protocol-files)."""

from __future__ import annotations

import codecs
import hashlib
import mimetypes
import os
from typing import Any

from attrs import frozen

from tservice.files.confined_path import AccessRules, ConfinedEntry, ConfinedFolder
from tservice.files.model import (
    CONTENT_BYTES,
    CONTENT_LINES,
    EDIT_BYTES,
    HEAD_BYTES,
    TEXT_BYTES,
    detect_image_type,
    is_secret_file,
    make_secret_error,
)

_PIECE = 1024 * 1024
_SAMPLE = 64 * 1024
_STRIDE = 64 * 1024

_BYTES = "application/octet-stream"

_MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""Byte order marks of encodings other than UTF-8. Longer marks come first."""

_MEDIA = {"image": "image", "audio": "audio", "video": "video"}


@frozen(kw_only=True)
class TextRequest:
    """Parameters of a request for lines of a file.

    @ivar start: number of the first line, from 1. C{lines} is the maximum number of lines. Values
        out of range are clamped.
    @ivar reveal: true to show the contents of an environment file.
    """

    path: str
    start: int = 1
    lines: int = 500
    reveal: bool = False


def describe_file(workspace: str, wanted: TextRequest, closed: AccessRules) -> dict[str, Any]:
    """Return the body of the response to C{GET file-content}, without the field C{url}.

    @raise ServiceError: 400 if it is not a regular file; 403 if it is outside or a secret.
    @raise OSError: the file is missing or may not be read.
    """
    with ConfinedFolder(workspace, closed) as beneath, beneath.resolve_path(wanted.path) as spot:
        check_not_secret(spot, reveal=wanted.reveal)
        descriptor = spot.open_file()
        try:
            return _describe_opened(descriptor, spot, wanted)
        finally:
            os.close(descriptor)


def check_not_secret(spot: ConfinedEntry, *, reveal: bool = False) -> None:
    """Refuse a file that is a secret, by the requested path or by the path with links resolved.

    @param reveal: true to allow an environment file.
    @raise ServiceError: 403 for a secret.
    """
    if not spot.is_folder and any(is_secret_file(path, reveal=reveal) for path in spot.paths):
        raise make_secret_error()


def _describe_opened(descriptor: int, spot: ConfinedEntry, wanted: TextRequest) -> dict[str, Any]:
    status = os.fstat(descriptor)
    about = {
        "path": spot.path,
        "size": status.st_size,
        "mtimeMs": status.st_mtime_ns // 1_000_000,
    }
    head = os.pread(descriptor, _SAMPLE, 0)
    kind, mime = classify_file(spot.name, head)
    if kind == "binary":
        return {**about, "type": kind, "mime": mime, "reason": explain_binary(head)}
    if kind is not None:
        return {**about, "type": kind, "mime": mime}
    if status.st_size > TEXT_BYTES:
        reason = f"The file is larger than {TEXT_BYTES // 1024**2} MiB."
        return {**about, "type": "binary", "mime": mime, "tooLarge": True, "reason": reason}
    content = read_up_to(descriptor, TEXT_BYTES)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        mime, reason = _BYTES, explain_binary(content)
        return {**about, "type": "binary", "mime": mime, "reason": reason}
    fixed = _explain_not_editable(content, spot)
    return {
        **about,
        **extract_lines(text, wanted.start, wanted.lines),
        "hash": hashlib.sha256(content).hexdigest(),
        "eol": detect_line_ends(content),
        "editable": fixed is None,
        **({} if fixed is None else {"reason": fixed}),
    }


def _explain_not_editable(content: bytes, spot: ConfinedEntry) -> str | None:
    if len(content) > EDIT_BYTES:
        return f"The file is larger than {EDIT_BYTES // 1024} KiB and can only be read."
    if not os.access(".", os.W_OK, dir_fd=spot.folder, effective_ids=True):
        return "You may not write to the file's folder, so the file can only be read."
    return None


def explain_binary(content: bytes) -> str:
    r"""Return the reason why a file cannot be shown as text.

    >>> explain_binary(b"\xff\xfea\x00")
    'The file is UTF-16 text. Only UTF-8 text can be shown and edited.'
    """
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            return f"The file is {encoding} text. Only UTF-8 text can be shown and edited."
    if b"\0" in content:
        return "The file contains NUL bytes, so it is not shown as text."
    try:
        content.decode()
    except UnicodeDecodeError as error:
        what = f"byte {error.start + 1} is 0x{content[error.start]:02X}"
        return f"The file is not UTF-8 text ({what}), so it cannot be edited."
    return "The file is not text."


def classify_file(name: str, head: bytes) -> tuple[str | None, str]:
    """Return the kind of a file and its media type. The kind C{None} means text, by the first
    bytes.
    """
    image = detect_image_type(head[:HEAD_BYTES])
    if image is not None:
        return "image", mimetypes.types_map.get(f".{image}", f"image/{image}")
    if head.startswith(b"%PDF-"):
        return "pdf", "application/pdf"
    guessed = mimetypes.guess_type(name)[0] or _BYTES
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


def extract_lines(text: str, start: int, lines: int) -> dict[str, Any]:
    """Return the requested lines of C{text} with their position.

    The lines have L{CONTENT_BYTES} at most. A single line that is longer is cut.
    """
    total = text.count("\n") + (not text.endswith("\n") and bool(text))
    start = max(start, 1)
    lines = min(max(lines, 1), CONTENT_LINES)
    begin = _find_line(text, 0, start - 1)
    end = _find_line(text, begin, lines)
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


def _find_line(text: str, at: int, count: int) -> int:
    """Return the offset of the line C{count} lines after offset C{at}, or the end of the text.

    The search advances in strides that are halved. A loop over ten million single lines would hold
    the interpreter lock for a second.
    """
    stride = _STRIDE
    while count and at < len(text):
        passed = text.count("\n", at, at + stride)
        if passed < count or stride == 1:
            at, count = at + stride, count - passed
        else:
            stride //= 2
    return min(at, len(text))


def detect_line_ends(content: bytes) -> str:
    """Return C{lf}, C{crlf} or C{mixed} for the line ends in C{content}."""
    both, single = content.count(b"\r\n"), content.count(b"\n")
    if not both:
        return "lf"
    return "crlf" if both == single else "mixed"


def read_up_to(descriptor: int, limit: int) -> bytes:
    """Read a file from its current position, at most C{limit} bytes."""
    pieces, at = [], 0
    while at < limit and (piece := os.pread(descriptor, min(_PIECE, limit - at), at)):
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces)
