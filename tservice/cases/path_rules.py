"""Rules for folders that may become a case (protocol-case-paths).

Most functions do not access the disk.  A path is checked twice: as given, and with symbolic links
resolved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from attrs import field, frozen

from tservice.core.kernel.errors import ServiceError, make_field_error

PATH_LENGTH = 4096
"""Maximum characters of a path, as in the operating system."""

SYSTEM = ("bin", "boot", "dev", "etc", "proc", "run", "sbin", "sys", "usr", "var")
"""Top-level folders that are refused, including everything in them."""
LIBRARIES = "lib"
"""Prefix of further top-level folders that are refused, such as C{/lib64}."""
CREDENTIALS = (
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config", ".local", ".claude",
    ".codex", ".gemini", ".pi",
)  # fmt: skip
"""Folders in a home folder that are refused, including everything in them."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")


@frozen(kw_only=True)
class FolderBounds:
    """Folders of this machine to which the rules refer.

    @ivar homes: home folder of the caller, which C{~} means, and home folder of the service's user.
    @ivar cases: all folders of local cases.
    """

    homes: tuple[PurePosixPath, ...]
    data_dir: PurePosixPath
    cases: tuple[PurePosixPath, ...] = field(factory=tuple)


def normalize_path(text: str, bounds: FolderBounds) -> str:
    """Return C{text} as an absolute path without C{~}, C{.}, C{..} and repeated slashes.

    @raise ServiceError: 400 for the field C{path}.
    """
    if not text or len(text) > PATH_LENGTH:
        raise _make_path_error(f"1 to {PATH_LENGTH} characters")
    if _CONTROL.search(text):
        raise _make_path_error("must not hold control characters")
    if text == "~" or text.startswith("~/"):
        text = str(bounds.homes[0]) + text[1:]
    if not text.startswith("/"):
        raise _make_path_error("must be absolute, or begin with ~/")
    parts = [part for part in text.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise _make_path_error("must not hold ..")
    return "/" + "/".join(parts)


def find_refusal(path: str, bounds: FolderBounds) -> str | None:
    """Return the reason why no case may be at C{path}; C{None} if it is allowed.

    @param path: a result of L{normalize_path}.
    """
    place = PurePosixPath(path)
    if path == "/":
        return "must not be /"
    top = place.parts[1]
    if top in SYSTEM or top.startswith(LIBRARIES):
        return f"must not be in /{top}, a folder of the system"
    for home in bounds.homes:
        if home.is_relative_to(place):
            return "must not be a home folder, or above one"
        for name in CREDENTIALS:
            if place.is_relative_to(home / name):
                return f"must not be in ~/{name}, where credentials are"
    if place.is_relative_to(bounds.data_dir):
        return "must not be in the service's own folder"
    if any(place.is_relative_to(folder) for folder in bounds.cases):
        return "must not be in a folder of cases: make one by its name alone"
    return None


def check_path(path: str, bounds: FolderBounds) -> None:
    """Fail if L{find_refusal} has a reason why no case may be at C{path}.

    @raise ServiceError: 400 for the field C{path}.
    """
    why = find_refusal(path, bounds)
    if why is not None:
        raise _make_path_error(why)


def resolve_bounds(bounds: FolderBounds) -> FolderBounds:
    """Return the bounds with symbolic links resolved.  Blocks."""

    def resolve_path(path: PurePosixPath) -> PurePosixPath:
        return PurePosixPath(Path(path).resolve())

    def add_resolved(paths: Iterable[PurePosixPath]) -> tuple[PurePosixPath, ...]:
        known = tuple(paths)
        return (*known, *(resolve_path(path) for path in known))

    return FolderBounds(
        homes=add_resolved(bounds.homes),
        data_dir=resolve_path(bounds.data_dir),
        cases=add_resolved(bounds.cases),
    )


def _make_path_error(rule: str) -> ServiceError:
    return make_field_error("path", rule)


def check_remote_path(text: str) -> str:
    """Return a remote host's path unchanged if it is absolute or begins with C{~/}.

    @raise ServiceError: 400 for the field C{remotePath}.
    """
    if _CONTROL.search(text):
        raise make_field_error("remotePath", "must not hold control characters")
    if not text.startswith("/") and text != "~" and not text.startswith("~/"):
        raise make_field_error("remotePath", "must be absolute, or begin with ~/")
    if ".." in text.split("/"):
        raise make_field_error("remotePath", "must not hold ..")
    return text
