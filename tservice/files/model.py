"""What is known of files by their names and first bytes, and the bounds (pure)."""

from __future__ import annotations

import re
import unicodedata

from attrs import frozen

from tservice.core.errors import ErrorCode, ServiceError, invalid
from tservice.core.files import is_secret as is_secret
from tservice.core.places.place import OWN, PlaceId
from tservice.core.text import is_mark

TREE_ENTRIES = 5000
TREE_DEPTH = 10
FOLDER_NAMES = 200_000
"""Names of one folder that are looked at, of which the first in order are shown."""

TEXT_BYTES = 10 * 1024 * 1024
"""What is larger is no text to be shown (protocol-files)."""
CONTENT_BYTES = 1024 * 1024
"""Of one answer, whatever number of lines was asked for."""
CONTENT_LINES = 10_000
EDIT_BYTES = 512 * 1024

NOT_ENTERED = frozenset(
    {".git", "node_modules", "dist", "build", "target", "vendor", "venv", "__pycache__"}
)
"""Listed, and entered only where they are asked for (protocol-files)."""

UPLOADS = ".service-uploads"
OLDER_UPLOADS = ".claude-images"
"""Where images were kept by what people used before: readable, and swept (protocol-uploads)."""

OURS = re.compile(r"(?:(?:paste|upload|screenshot)-[0-9]{10,16}-[0-9a-f]{6,32}[.-].*|"
                  r"\.(?:paste|upload|edit)-[0-9a-f]{16}\.part)", re.DOTALL)  # fmt: skip
"""Names that only the service gives: nothing else is ever swept."""

KEPT_SECONDS = 7 * 24 * 3600.0
SWEEP_SECONDS = 3600.0

IMAGE_BYTES = 50 * 1024 * 1024
IMAGES_A_MINUTE = 30
UPLOAD_BYTES = 100 * 1024 * 1024
UPLOAD_FILES = 20
DAY_BYTES = 10 * 1024**3
"""That an account may upload in a day (protocol-uploads)."""
FREE_BYTES, FREE_PERCENT = 10**9, 5
"""What an upload leaves free of the disk: both."""
SCREENSHOT_BYTES = 10 * 1024 * 1024
SCREENSHOTS_LISTED = 50
FORM_SPARE = 64 * 1024
"""Bytes of a form beside its files: heads and boundaries."""

TRANSFERS = 16
"""Bodies of one session that go up or down at a time."""

HEAD_BYTES = 64
"""As many of the first bytes as it takes to tell what an image is."""

_HEIC = frozenset({b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"})
_NAME_SIGNS = re.compile(r"[^\w.-]")
"""An agent reads a path in a prompt up to a blank."""


@frozen(kw_only=True)
class Workspace:
    """Where a session works.

    @ivar session_id: whose bounds hold.
    @ivar folder: as the session has it.
    @ivar place: with whose rights everything is done.
    @ivar owner: the account whose it is; C{None}: there is one user, or it is the service's.
    """

    session_id: str
    folder: str
    place: PlaceId = OWN
    owner: str | None = None


def secret() -> ServiceError:
    """The 403 of a file with secrets."""
    return ServiceError(ErrorCode.FORBIDDEN, "path: files with secrets are not handed out")


def outside() -> ServiceError:
    """The 403 of a path that leads out of the workspace."""
    return ServiceError(ErrorCode.FORBIDDEN, "path: outside the workspace of the session")


def check_path(path: str) -> None:
    """Refuse what is no path.

    @raise ServiceError: 400.
    """
    if not path or len(path) > 4096 or "\0" in path:
        raise invalid("path", "must be a path of 1 to 4096 characters")


def image_type(head: bytes) -> str | None:
    """The file extension of an image by its first bytes; C{None}: it is none that is known.

    >>> image_type(b"GIF89a...")
    'gif'
    """
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if head.startswith(b"\xff\xd8\xff"):
        return "jpg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    if head[4:8] == b"ftyp" and head[8:12] in _HEIC:
        return "heic"
    if head.startswith(b"BM") and len(head) >= 14 and head[6:10] == b"\0\0\0\0":
        return "bmp"
    return None


_EXTENSIONS = {
    "png": "png",
    "jpg": "jpg",
    "jpeg": "jpg",
    "gif": "gif",
    "webp": "webp",
    "bmp": "bmp",
    "heic": "heic",
    "heif": "heic",
}


def image_named(filename: str) -> str | None:
    """The kind of image that a name promises."""
    return _EXTENSIONS.get(filename.rpartition(".")[2].lower()) if "." in filename else None


def plain_name(filename: str | None) -> str:
    """The last part of a name that somebody sent, fit for a folder of ours.

    >>> plain_name("../../a b.txt")
    'a_b.txt'
    """
    last = (filename or "").replace("\\", "/").rpartition("/")[2]
    # One spelling for letters that some systems write with their accents apart.
    composed = unicodedata.normalize("NFC", last)
    clean = "".join(_sign_of_name(each) for each in composed).strip(". ")
    while len(clean.encode()) > 150 or (clean[:1] and is_mark(clean[0])):
        clean = clean[1:]
    return clean or "file"


def _sign_of_name(sign: str) -> str:
    """C{sign}, if it is one of a word in any script."""
    return sign if is_mark(sign) or not _NAME_SIGNS.match(sign) else "_"
