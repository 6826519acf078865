"""File types by name and first bytes, and limits (pure)."""

from __future__ import annotations

import re
import unicodedata

from attrs import frozen

from tservice.core.errors import ErrorCode, ServiceError, invalid_field
from tservice.core.files import is_secret as is_secret
from tservice.core.locations.location import OWN_LOCATION, LocationId
from tservice.core.text import is_mark

TREE_ENTRIES = 5000
TREE_DEPTH = 10
FOLDER_NAMES = 200_000
"""Names of one folder that are read; the first in order are shown."""

TEXT_BYTES = 10 * 1024 * 1024
"""Largest file that is shown as text, in bytes (protocol-files)."""
CONTENT_BYTES = 1024 * 1024
"""Bytes of one answer, whatever number of lines was requested."""
CONTENT_LINES = 10_000
EDIT_BYTES = 512 * 1024

UNEXPANDED_FOLDERS = frozenset(
    {".git", "node_modules", "dist", "build", "target", "vendor", "venv", "__pycache__"}
)
"""Folders that are listed, and entered only on request (protocol-files)."""

UPLOADS = ".service-uploads"
LEGACY_UPLOADS = ".claude-images"
"""Folder of images in the predecessor program: readable, and swept (protocol-uploads)."""

GENERATED_NAME = re.compile(r"(?:(?:paste|upload|screenshot)-[0-9]{10,16}-[0-9a-f]{6,32}[.-].*|"
                  r"\.(?:paste|upload|edit)-[0-9a-f]{16}\.part)", re.DOTALL)  # fmt: skip
"""Names that only the service generates: no other files are swept."""

KEPT_SECONDS = 7 * 24 * 3600.0
SWEEP_SECONDS = 3600.0

IMAGE_BYTES = 50 * 1024 * 1024
IMAGES_A_MINUTE = 30
UPLOAD_BYTES = 100 * 1024 * 1024
UPLOAD_FILES = 20
DAY_BYTES = 10 * 1024**3
"""Bytes that an account may upload per day (protocol-uploads)."""
FREE_BYTES, FREE_PERCENT = 10**9, 5
"""Disk space that an upload must leave free: both limits hold."""
SCREENSHOT_BYTES = 10 * 1024 * 1024
SCREENSHOTS_LISTED = 50
FORM_SPARE = 64 * 1024
"""Bytes of a form in addition to its files: heads and boundaries."""

TRANSFERS = 16
"""Concurrent uploads and downloads of one session."""

HEAD_BYTES = 64
"""Number of first bytes needed to recognize an image type."""

_HEIC = frozenset({b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"})
_NAME_SIGNS = re.compile(r"[^\w.-]")
"""Characters that are replaced: an agent reads a path in a prompt up to a blank."""


@frozen(kw_only=True)
class Workspace:
    """Folder that a session works in.

    @ivar session_id: session whose limits apply.
    @ivar folder: the path as the session has it.
    @ivar place: location whose rights apply to all operations.
    @ivar owner: account that owns it; C{None}: there is one user, or it belongs to the service.
    """

    session_id: str
    folder: str
    place: LocationId = OWN_LOCATION
    owner: str | None = None


def secret_refused() -> ServiceError:
    """Return the 403 error for a file with secrets."""
    return ServiceError(ErrorCode.FORBIDDEN, "path: files with secrets are not handed out")


def outside_refused() -> ServiceError:
    """Return the 403 error for a path that leads outside the workspace."""
    return ServiceError(ErrorCode.FORBIDDEN, "path: outside the workspace of the session")


def check_path(path: str) -> None:
    """Check that a path is valid.

    @raise ServiceError: 400.
    """
    if not path or len(path) > 4096 or "\0" in path:
        raise invalid_field("path", "must be a path of 1 to 4096 characters")


def image_type(head: bytes) -> str | None:
    """Return the file extension of an image by its first bytes; C{None} if unknown.

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


def image_type_by_name(filename: str) -> str | None:
    """Return the image type that a file name claims."""
    return _EXTENSIONS.get(filename.rpartition(".")[2].lower()) if "." in filename else None


def safe_file_name(filename: str | None) -> str:
    """Return the last part of a received name, made safe for a folder.

    >>> plain_name("../../a b.txt")
    'a_b.txt'
    """
    last = (filename or "").replace("\\", "/").rpartition("/")[2]
    # Some systems decompose letters with accents; use the composed form.
    composed = unicodedata.normalize("NFC", last)
    clean = "".join(_safe_character(each) for each in composed).strip(". ")
    while len(clean.encode()) > 150 or (clean[:1] and is_mark(clean[0])):
        clean = clean[1:]
    return clean or "file"


def _safe_character(sign: str) -> str:
    """Return C{sign} if it is a word character in any script, else an underscore."""
    return sign if is_mark(sign) or not _NAME_SIGNS.match(sign) else "_"
