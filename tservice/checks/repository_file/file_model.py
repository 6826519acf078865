"""Records of files with checks, and the rules that need no effects (protocol-checks-file)."""

from __future__ import annotations

import difflib
import hashlib
import unicodedata
from collections.abc import Callable
from enum import StrEnum

from attrs import evolve, frozen

from tservice.checks.model import Check, FailurePolicy
from tservice.core.kernel.errors import ServiceError
from tservice.core.locations.location import LocationId

FILE_NAME = ".tservice.yaml"
FILE_BYTES = 64 * 1024
MAX_LINES = 2000
"""Maximum number of lines of a file."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Unicode categories of characters that could hide from a person what the file does."""


class FileState(StrEnum):
    """State of a file with checks."""

    NONE = "none"
    UNAPPROVED = "unapproved"
    APPROVED = "approved"
    CHANGED = "changed"
    """Another content of the file was approved, so its checks do not count."""
    INVALID = "invalid"


class InvalidCheckFile(Exception):
    """Raised if a file cannot count; the text is the reason for a person."""


@frozen(kw_only=True)
class CheckFolder:
    """Folder of a session or case in which the file is looked for.

    @ivar owner: account that owns the session or case; C{None} in single-user mode.
    """

    owner: str | None
    location_id: LocationId
    path: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Owner, location and path, to which an approval belongs."""
        found = self.location_id
        return self.owner or "", f"{found.kind.value}:{found.name}:{found.part}", self.path


@frozen(kw_only=True)
class CheckFileContent:
    """Checks that a file describes."""

    checks: tuple[Check, ...]
    on_failure: FailurePolicy
    max_attempts: int


@frozen(kw_only=True)
class FileApproval:
    """Approval of the content that a file had.

    @ivar hash: SHA-256 of the file, as hexadecimal digits.
    @ivar approved_at: Unix milliseconds.
    @ivar approved_by: name of the person.
    """

    hash: str
    text: str
    content: CheckFileContent
    approved_at: int
    approved_by: str


@frozen(kw_only=True)
class CheckFile:
    """File with checks, compared with what was approved.

    @ivar hash: as L{FileApproval.hash}; empty without a file.
    @ivar content: C{None} unless the file is valid.
    @ivar problem: the reason why the file is invalid.
    @ivar approval: approval of the folder's file, whatever content it has now.
    @ivar diff: unified diff from the approved text to that of the file, if they differ.
    """

    state: FileState
    hash: str = ""
    text: str = ""
    content: CheckFileContent | None = None
    problem: str | None = None
    approval: FileApproval | None = None
    diff: str = ""


def judge_file(
    data: bytes | None,
    approval: FileApproval | None,
    parse: Callable[[str], CheckFileContent],
) -> CheckFile:
    """Compare a file with its approval.

    @param data: content of the file; C{None} if there is none.
    @param parse: returns the checks that the text describes; raises C{ServiceError} or
        L{InvalidCheckFile}.
    """
    if data is None:
        return CheckFile(state=FileState.NONE, approval=approval)
    found = CheckFile(state=FileState.INVALID, hash=hash_file(data), approval=approval)
    try:
        found = evolve(found, text=decode_text(data))
        found = evolve(found, content=parse(found.text), diff=_compare_texts(approval, found.text))
    except InvalidCheckFile as error:
        return evolve(found, problem=str(error))
    except ServiceError as error:
        return evolve(found, problem=error.message)
    if approval is None:
        return evolve(found, state=FileState.UNAPPROVED)
    is_same = approval.hash == found.hash
    return evolve(found, state=FileState.APPROVED if is_same else FileState.CHANGED)


def hash_file(data: bytes) -> str:
    """Return the hash by which a content is approved."""
    return hashlib.sha256(data).hexdigest()


def decode_text(data: bytes) -> str:
    """Return the content of a file as text that shows all that it contains.

    @raise InvalidCheckFile: it is not UTF-8, has too many lines, or has invisible characters.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InvalidCheckFile("it is not UTF-8") from None
    lines = text.replace("\r\n", "\n").split("\n")
    if len(lines) > MAX_LINES:
        raise InvalidCheckFile(f"it has more than {MAX_LINES} lines")
    for number, line in enumerate(lines, 1):
        for sign in line:
            if sign != "\t" and unicodedata.category(sign) in _HIDDEN:
                raise InvalidCheckFile(
                    f"line {number} has the invisible character U+{ord(sign):04X}"
                )
    return text


def _compare_texts(approval: FileApproval | None, text: str) -> str:
    if approval is None or approval.text == text:
        return ""
    lines = difflib.unified_diff(approval.text.split("\n"), text.split("\n"), lineterm="")
    # The first two lines would name the files.
    return "\n".join([*lines][2:])
