"""Limits of file operations, and file types by name and by first bytes."""

from __future__ import annotations

import re
import unicodedata

from attrs import frozen

from tservice.core.disk.files import is_secret_file as is_secret_file
from tservice.core.kernel.errors import ErrorCode, ServiceError, make_field_error
from tservice.core.locations.location import OWN_LOCATION, LocationId
from tservice.core.values.text import is_combining_character

TREE_ENTRIES = 5000
TREE_DEPTH = 10
FOLDER_NAMES = 200_000
"""Maximum number of names that are read from one folder. The first of them in order are listed."""

TEXT_BYTES = 10 * 1024 * 1024
"""Largest file that is shown as text, in bytes (protocol-files)."""
CONTENT_BYTES = 1024 * 1024
"""Maximum size of one response in bytes, regardless of the number of lines requested."""
CONTENT_LINES = 10_000
EDIT_BYTES = 512 * 1024

UNEXPANDED_FOLDERS = frozenset(
    {".git", "node_modules", "dist", "build", "target", "vendor", "venv", "__pycache__"}
)
"""Names of folders that appear in a tree without their entries, unless requested
(protocol-files).
"""

UPLOADS = ".service-uploads"
LEGACY_UPLOADS = ".claude-images"
"""Folder for images of the predecessor program. Its files can be read, and old ones are removed
(protocol-uploads).
"""

GENERATED_NAME = re.compile(r"(?:(?:paste|upload|screenshot)-[0-9]{10,16}-[0-9a-f]{6,32}[.-].*|"
                  r"\.(?:paste|upload|edit)-[0-9a-f]{16}\.part)", re.DOTALL)  # fmt: skip
"""Pattern of file names that only the service generates. Other files are never removed as old
uploads.
"""

KEPT_SECONDS = 7 * 24 * 3600.0
SWEEP_SECONDS = 3600.0

IMAGE_BYTES = 50 * 1024 * 1024
IMAGES_A_MINUTE = 30
UPLOAD_BYTES = 100 * 1024 * 1024
UPLOAD_FILES = 20
DAY_BYTES = 10 * 1024**3
"""Maximum number of bytes that an account may upload per day (protocol-uploads)."""
FREE_BYTES, FREE_PERCENT = 10**9, 5
"""Disk space that an upload must leave free: both limits hold."""
SCREENSHOT_BYTES = 10 * 1024 * 1024
SCREENSHOTS_LISTED = 50
FORM_SPARE = 64 * 1024
"""Maximum number of bytes of a form besides its files, for part headers and boundaries."""

TRANSFERS = 16
"""Maximum number of concurrent uploads and downloads of one session."""

HEAD_BYTES = 64
"""Number of bytes at the beginning of a file that are enough to recognize an image type."""

_HEIC = frozenset({b"heic", b"heix", b"hevc", b"heim", b"heis", b"mif1", b"msf1"})
_NAME_SIGNS = re.compile(r"[^\w.-]")
"""Characters that are replaced in the name of an upload, as a path in a prompt ends at a space."""


@frozen(kw_only=True)
class Workspace:
    """Folder that a session works in.

    @ivar session_id: id of the session, to which the limits apply.
    @ivar folder: path of the folder as stored in the session.
    @ivar place: location of the session. File operations run with the rights of its OS user.
    @ivar owner: account that owns the session. C{None} if there is only one user, or if the session
        belongs to the service.
    """

    session_id: str
    folder: str
    place: LocationId = OWN_LOCATION
    owner: str | None = None


def make_secret_error() -> ServiceError:
    """Return the 403 error for a file with secrets."""
    return ServiceError(ErrorCode.FORBIDDEN, "path: files with secrets are not handed out")


def make_outside_error() -> ServiceError:
    """Return the 403 error for a path that leads outside the workspace."""
    return ServiceError(ErrorCode.FORBIDDEN, "path: outside the workspace of the session")


def check_path(path: str) -> None:
    """Check that a path received from a client has a valid form.

    @raise ServiceError: 400 if the path is invalid.
    """
    if not path or len(path) > 4096 or "\0" in path:
        raise make_field_error("path", "must be a path of 1 to 4096 characters")


def detect_image_type(head: bytes) -> str | None:
    """Return the file extension for an image with the first bytes C{head}, or C{None} for other
    files.

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


def get_claimed_image_type(filename: str) -> str | None:
    """Return the image type that a file name's extension claims, or C{None} for other
    extensions.
    """
    return _EXTENSIONS.get(filename.rpartition(".")[2].lower()) if "." in filename else None


def sanitize_file_name(filename: str | None) -> str:
    """Return the last component of a file name sent by a client, with unsafe characters replaced.

    >>> safe_file_name("../../a b.txt")
    'a_b.txt'
    """
    last = (filename or "").replace("\\", "/").rpartition("/")[2]
    # Some systems decompose letters with accents; use the composed form.
    composed = unicodedata.normalize("NFC", last)
    clean = "".join(_replace_unsafe_character(each) for each in composed).strip(". ")
    while len(clean.encode()) > 150 or (clean[:1] and is_combining_character(clean[0])):
        clean = clean[1:]
    return clean or "file"


def _replace_unsafe_character(sign: str) -> str:
    """Return C{sign} unchanged if it is a letter or digit of any script, otherwise an
    underscore.
    """
    return sign if is_combining_character(sign) or not _NAME_SIGNS.match(sign) else "_"
